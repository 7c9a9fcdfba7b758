"""One table of attacks with what is said about it, as Markdown and as a page that stands
alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from tacit import __version__
from tacit.page import page, paragraph, table


class Sheet(NamedTuple):
    """A table with what is said about it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    words: tuple[str, ...]
    """How to read it."""
    more_title: str
    more: list[str]
    """In a file only."""

    def markdown(self, command: str) -> str:
        """With the command and the day."""
        lines = [
            f"# {self.title}",
            "",
            f"By `{command}`, {_today()}.",
            "",
            *(f"{line}\n" for line in self.words),
            _line(self.columns),
            _line(["---"] * len(self.columns)),
            *(_line(row) for row in self.rows),
            "",
            f"## {self.more_title}",
            "",
            *(f"- {line}" for line in self.more),
        ]
        return "\n".join(lines) + "\n"

    def html(self, command: str) -> str:
        """The same as a page, for the file of a privacy officer."""
        from tacit.auditing.audit_page import LIMITS

        paragraphs = "".join(paragraph(line) for line in self.more)
        sections = [
            ("", "".join(paragraph(line) for line in self.words)),
            ("The table", table(self.columns, self.rows)),
            (self.more_title, paragraphs),
            ("What it cannot show", "".join(map(paragraph, LIMITS))),
        ]
        return page(
            self.title,
            sections,
            lead="Attacks on what is promised about single people, and which claims fell.",
            footer=f"Tacit {__version__}, {_today()}, by: {command}",
        )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
