"""The bare HTML page of everything that Tacit writes for people to keep: reports, statements,
audits, reproductions.

One file that stands alone: its style is inside, it runs no script and asks for nothing from
anywhere, which its own policy also says to the browser. It is light or dark as the reader's
screen is, fits a phone, and prints in black on white. Equal arguments give equal bytes.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from tacit.redaction import one_line

LONGEST_NAME = 20
"""Letters of a cell that stays on one line."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Nothing is fetched and nothing runs, whatever got into a title."""


def page(
    title: str,
    sections: Iterable[tuple[str, str]],
    *,
    lead: str = "",
    notice: str = "",
    footer: str = "",
    style: str = "",
    language: str = "en",
) -> str:
    """A whole page: a title, a lead of one paragraph, a notice that nobody overlooks, and
    sections of (heading, HTML).

    `title`, headings, `lead`, `notice` and `footer` are plain text; the body of a section is
    HTML and its caller escapes it (`escaped`, `paragraph`, `table`). A section without a
    heading stands on the paper itself. `style` is added to the style sheet.
    """
    parts = [
        "<!doctype html>",
        f'<html lang="{escaped(language)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="robots" content="noindex">',
        f"<title>{escaped(title)}</title>",
        f"<style>\n{_style()}{style}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{escaped(title)}</h1>",
    ]
    if lead:
        parts.append(paragraph(lead, "lead"))
    if notice:
        parts.append(paragraph(notice, "notice"))
    parts += [_section(heading, body) for heading, body in sections]
    if footer:
        parts.append(f"<footer>{escaped(footer)}</footer>")
    parts += ["</main>", "</body>", "</html>"]
    return "\n".join(parts) + "\n"


def escaped(text: object) -> str:
    """Text as HTML, in which nothing acts on the page or on the order of its letters."""
    return html.escape(one_line(str(text)), quote=True)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text; `kind` is a class of the style sheet."""
    return f"<p{_kind(kind)}>{escaped(text)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> str:
    """A table of plain cells; a column whose cells all look like numbers stands to the
    right, and names are not broken at their hyphens. None is a dash."""
    cells = [["–" if cell is None else str(cell) for cell in row] for row in rows]
    kinds = [_kind_of([row[column] for row in cells]) for column in range(len(columns))]
    head = "".join(
        f'<th scope="col"{_kind(kind)}>{escaped(name)}</th>'
        for name, kind in zip(columns, kinds, strict=True)
    )
    body = "\n".join(_row(row, kinds) for row in cells)
    heading = f"<caption>{escaped(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{heading}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def card(figure: str, text: str, *, warn: bool = False) -> str:
    """A number that is to be seen first, and what it means."""
    kind = "card warn" if warn else "card"
    return f'<div class="{kind}"><b>{escaped(figure)}</b>{escaped(text)}</div>'


def cards(parts: Iterable[str]) -> str:
    """Several cards beside each other."""
    return f'<div class="cards">{"".join(parts)}</div>'


def _row(row: Sequence[str], kinds: Sequence[str]) -> str:
    cells = (
        f"<td{_kind(kind)}>{escaped(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _section(heading: str, body: str) -> str:
    if not heading:
        return f'<section class="plain">\n{body}\n</section>'
    return f"<section>\n<h2>{escaped(heading)}</h2>\n{body}\n</section>"


def _kind_of(column: Sequence[str]) -> str:
    """The class of a column's cells."""
    if not column:
        return ""
    if all(_numeric(cell) for cell in column):
        return "number"
    return "word" if all(len(cell) <= LONGEST_NAME for cell in column) else ""


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _numeric(cell: str) -> bool:
    bare = cell.replace(",", "").replace("−", "-").strip("%+±≤≥~ ")
    if bare in ("–", "", "inf", "twin"):
        return True
    try:
        [float(part) for part in bare.split("±")]
    except ValueError:
        return False
    return True


@cache
def _style() -> str:
    return files("tacit").joinpath("page.css").read_text(encoding="utf-8")
