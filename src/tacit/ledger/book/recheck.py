"""What `verify` asks of every entry again, years later."""

from __future__ import annotations

from tacit.ledger.book.chain import damaged
from tacit.ledger.book.entry import Entry
from tacit.ledger.book.rules import BookState, check_details
from tacit.ledger.software import software

ROUNDING = 1e-9
"""On totals that were added up in another order."""


def recheck(state: BookState, entry: Entry, location: str) -> None:
    """Refuse an entry that should not have been admitted after those before it."""
    if entry.kind == "commit":
        if entry.of not in state.reserved:
            raise damaged(location, f"entry {entry.number} commits an entry that reserves nothing")
        check_details(state.reserved[entry.of], entry.events)
    if entry.kind != "reserve" or entry.evaluation:
        return
    for unit, total in state.totals().items():
        if total > state.caps[unit][0] * (1 + ROUNDING):
            raise damaged(location, f"entry {entry.number} overspends the cap per {unit}")
        noted = entry.totals.get(unit)
        if entry.version == software() and (noted is None or abs(noted - total) > ROUNDING * total):
            raise damaged(
                location,
                f"the total per {unit} noted in entry {entry.number} is not the sum of the entries",
            )
