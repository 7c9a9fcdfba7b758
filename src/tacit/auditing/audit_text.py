"""An audit as a table in Markdown, for a page of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.auditing.audit_page import COLUMNS, line

if TYPE_CHECKING:
    from tacit.auditing.audit import Audit


def audit_text(audit: Audit) -> str:
    """The command, and one row a claim."""
    rows = [COLUMNS, tuple("---" for _ in COLUMNS)]
    rows += [tuple(line(audit, finding)) for finding in audit.best]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    sure = (
        f"The chance that any true claim of the table is called refuted is at most "
        f"{audit.mistake:g}."
    )
    return f"`{audit.command}`\n\n{table}\n\n{sure}\n"
