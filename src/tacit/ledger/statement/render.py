"""A document as a page that prints well, and as Markdown."""

from __future__ import annotations

import re

from tacit import page
from tacit.ledger.statement.document import Block, Document, Section, TextTable
from tacit.ledger.statement.statement import Statement
from tacit.ledger.statement.story import _paragraphs, title
from tacit.redaction import one_line

STYLE = """
td:first-child { color: var(--soft); }
td:first-child:nth-last-child(2) { width: 15rem; }
th.number:first-child:nth-last-child(2) { width: 50%; }
td.number:first-child:nth-last-child(2) { width: 50%; white-space: normal; }
th.number, td.number { text-align: left; }
td { overflow-wrap: anywhere; }
td:first-child:nth-last-child(n+7), td:first-child:nth-last-child(n+7) ~ td:not(:last-child),
th:first-child:nth-last-child(n+7) ~ th { white-space: nowrap; }
td:first-child:nth-last-child(n+7) ~ td:last-child { min-width: 7rem; overflow-wrap: break-word; }
.card b { font-size: 1.5rem; }
.whole { white-space: nowrap; }
@media screen and (max-width: 36rem) {
  td:first-child:nth-last-child(2) { width: 6.5rem; }
}
.annex h3 { margin-top: 1rem; }
@media print {
  html { font-size: 8.5pt; line-height: 1.35; }
  p, ul { max-width: none; margin-bottom: .35rem; }
  h2 { font-size: 1.2rem; margin-bottom: .3rem; }
  section { margin-bottom: .7rem; }
  th, td { padding-top: .15rem; padding-bottom: .15rem; }
  .annex h3 { margin: .5rem 0 .1rem; }
  h2, h3 { break-after: avoid; }
  p, li { break-inside: avoid; }
}
"""
"""On paper nothing is torn that belongs together, and no sheet is left half empty."""
ANNEX = "Technical annex: the questions of NIST SP 800-226"


def to_html(document: Document) -> str:
    """One file that stands alone."""
    cards = page.cards(page.card(*card, warn=document.warn) for card in document.cards)
    parts = [("", cards)]
    parts += [(head, _html_blocks(blocks)) for head, blocks in document.sections]
    annexed = "\n".join(
        f"<h3>{page.escaped(head)}</h3>\n{_html_blocks(blocks)}" for head, blocks in document.annex
    )
    if annexed:
        parts.append((ANNEX, f'<div class="annex">{annexed}</div>'))
    return page.page(
        document.title,
        parts,
        lead=document.lead,
        notice=document.notice,
        footer=document.footer.replace("`", ""),
        style=STYLE,
    )


def short_html(statement: Statement) -> str:
    """The numbered sentences, for a notebook."""
    points = "".join(
        f"<li>{_coded(lead)}{_listed(items)}</li>" for lead, *items in _paragraphs(statement)
    )
    return f"<p><b>{page.escaped(title(statement))}</b></p><ol>{points}</ol>"


def _listed(items: list[str]) -> str:
    if not items:
        return ""
    return f"<ul>{''.join(f'<li>{_coded(item)}</li>' for item in items)}</ul>"


def _html_blocks(blocks: tuple[Block, ...]) -> str:
    return "\n".join(_html(block) for block in blocks)


def _html(block: Block) -> str:
    if isinstance(block, str):
        return f"<p>{_coded(block)}</p>"
    if isinstance(block, TextTable):
        return page.table(block.columns, block.rows)
    items = "".join(f"<li>{_coded(item)}</li>" for item in block)
    return f"<ul>{items}</ul>"


def _coded(text: str) -> str:
    """Escaped, with `backticks` as code and numbers such as 1e-06 in one piece."""
    coded = re.sub(r"`([^`]*)`", r"<code>\1</code>", page.escaped(text))
    return re.sub(r"\b(\d[\d.]*e-\d+)\b", r'<span class="whole">\1</span>', coded)


def to_markdown(document: Document) -> str:
    """Plain Markdown, with tables."""
    lines = [f"# {_plain(document.title)}", "", _plain(document.lead), ""]
    if document.notice:
        lines += [f"> **{_plain(document.notice)}**", ""]
    lines += [f"- **{_plain(figure)}** {_plain(meaning)}" for figure, meaning in document.cards]
    lines.append("")
    for section in document.sections:
        lines += _markdown(section, "##")
    if document.annex:
        lines += [f"## {ANNEX}", ""]
    for section in document.annex:
        lines += _markdown(section, "###")
    lines.append(_plain(document.footer))
    return "\n".join(lines) + "\n"


def _markdown(section: Section, mark: str) -> list[str]:
    heading, blocks = section
    lines = [f"{mark} {_plain(heading)}", ""]
    for block in blocks:
        if isinstance(block, str):
            lines.append(_plain(block))
        elif isinstance(block, TextTable):
            lines.append(_row(block.columns))
            lines.append(_row(tuple("---" for _ in block.columns)))
            lines += [_row(row) for row in block.rows]
        else:
            lines += [f"- {_plain(item)}" for item in block]
        lines.append("")
    return lines


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_plain(cell).replace('|', '&#124;') for cell in cells)} |"


def _plain(text: str) -> str:
    """One line, in which nothing of a stranger is markup."""
    return one_line(text).replace("<", "&lt;")
