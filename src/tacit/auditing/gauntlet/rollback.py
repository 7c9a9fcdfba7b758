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
from tacit.auditing.verdict import make_finding
from tacit.errors import BudgetError
from tacit.ledger.book.book import Book, Receipt, open_book
from tacit.notices import unnoted


def ledger_rollback(exhibit: Exhibit) -> Cell:
    """Charge the method's own events twice, with the old book back in between."""
    if not exhibit.events:
        return exhibit.skip("ledger rollback", "a twin is booked nowhere and says NOT PRIVATE")
    target = exhibit.target
    with tempfile.TemporaryDirectory() as folder, unnoted():
        path, backup = Path(folder, "book.sqlite"), Path(folder, "old")
        book = open_book(path, "invented people")
        book.cap(target.epsilon * (1 + 1e-6), target.delta, target.unit)
        shutil.copy(path, backup)
        try:
            receipt = charged(exhibit, book)
        except BudgetError:
            return make_finding(
                target, "ledger rollback", 0.0, note="refused: nothing bounds it under a cap"
            )
        note, leak = "a second charge was admitted under the cap", True
        try:
            charged(exhibit, book)
        except BudgetError:
            shutil.copy(backup, path)
            charged(exhibit, book)
            leak = book.contains(receipt.hash)
            note = "the statement made since is not in the old book"
    return make_finding(target, "ledger rollback", 0.0, leak=leak, note=note)


def charged(exhibit: Exhibit, book: Book) -> Receipt:
    """One fit of this method, as the book is charged for it."""
    target = exhibit.target
    return book.reserve(
        exhibit.events,
        unit=target.unit,
        budget=(target.epsilon, target.delta),
        purpose="a fit",
        method=target.method,
        token=secrets.token_hex(16),  # every fit is a request of its own
    )
