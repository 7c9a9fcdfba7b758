"""Documents that an officer forwards: one page or one Markdown file, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tacit.cli.options import several
from tacit.cli.overwrite import may_write
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.ledger.statement.document import Document

ENDINGS = (".html", ".md")

document_options = several(
    click.option(
        "--out", metavar="FILE", help="Write a document to forward: .html (prints well) or .md."
    ),
    click.option("--overwrite", is_flag=True, help="Replace the file in --out."),
)


def check_document(out: str | None, overwrite: bool, as_json: bool) -> None:
    """Refuse, before anything is looked at, a document that could not be written."""
    if out is None:
        if overwrite:
            raise SettingError("--overwrite is for --out", remedy="add --out page.html")
        return
    if as_json:
        raise SettingError("--out writes a document and --json prints", remedy="give one of them")
    if Path(out).suffix.lower() not in ENDINGS:
        raise SettingError(
            f"{out} does not end in .html or .md", remedy="name the document after its format"
        )
    may_write(out, overwrite)


def write_document(document: Document, out: str) -> None:
    """In the format that the name ends in."""
    from tacit.evaluation.report.charts import write
    from tacit.ledger.statement.render import to_html, to_markdown

    markdown = Path(out).suffix.lower() == ".md"
    text = to_markdown(document) if markdown else to_html(document)
    write(out, text.encode())
