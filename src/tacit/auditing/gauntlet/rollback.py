"""Rollback of a ledger: spend, put an old copy of the book back, spend again.

The old copy verifies, for it is a true book. What exposes it is any statement made since: it
carries the hash of its entry, which the old copy does not know. What a twin publishes is in
no book, and what a paper prints is refused under a cap.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from pathlib import Path

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.verdict import found
from tacit.errors import BudgetError
from tacit.ledger.book.book import Book, Receipt, open_book
from tacit.spoken import unnoted

NAME = "ledger rollback"


def attack(shown: Exhibit) -> Cell:
    """Charge the method's own events twice, with the old book back in between."""
    if not shown.events:
        return shown.skip(NAME, "a twin is booked nowhere and says NOT PRIVATE")
    target = shown.target
    with tempfile.TemporaryDirectory() as folder, unnoted():
        place, kept = Path(folder, "book.sqlite"), Path(folder, "old")
        book = open_book(place, "invented people")
        book.cap(target.epsilon * (1 + 1e-6), target.delta, target.unit)
        shutil.copy(place, kept)
        try:
            first = charged(shown, book)
        except BudgetError:
            return found(target, NAME, 0.0, note="refused: nothing bounds it under a cap")
        note, leak = "a second charge was admitted under the cap", True
        try:
            charged(shown, book)
        except BudgetError:
            shutil.copy(kept, place)
            charged(shown, book)
            leak = book.contains(first.hash)
            note = "the statement made since is not in the old book"
    return found(target, NAME, 0.0, leak=leak, note=note)


def charged(shown: Exhibit, book: Book) -> Receipt:
    """One fit of this method, as the book is charged for it."""
    target = shown.target
    return book.reserve(
        shown.events,
        unit=target.unit,
        budget=(target.epsilon, target.delta),
        purpose="a fit",
        method=target.method,
        token=secrets.token_hex(16),  # every fit is a request of its own
    )
