"""An audit as tables in Markdown, for a page of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tacit.auditing.attacks import WORST
from tacit.auditing.audit_page import COLUMNS, line

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit

PAIRS = ("method", "unit", "what was seen", "witness")


def audit_text(audit: Audit) -> str:
    """The command, one row a claim, and the pairs that a search found."""
    claims = _table(COLUMNS, (line(audit, finding) for finding in audit.best))
    sure = (
        f"The chance that any true claim of the table is called refuted is at most "
        f"{audit.mistake:g}."
    )
    pairs = [
        (finding.method, finding.unit, finding.note, finding.witness)
        for finding in audit.findings
        if finding.attack == WORST
    ]
    text = f"`{audit.command}`\n\n{claims}\n\n{sure}\n"
    if pairs:
        text += f"\nThe worst pair of neighbours that a search found:\n\n{_table(PAIRS, pairs)}\n"
    return text


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    every = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in every)
