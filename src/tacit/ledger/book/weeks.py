"""The weeks of a calendar, as entries of the book: each begins with the keyed list of who is
counted and ends with what was released.

Guarantee: a week begins once, with one list, after the week before it has ended; it ends
once, with one artefact. Asked again for the same, the book answers with the entry it has, so
that a crash on either side of an entry is mended by asking again. The book is what a restored
folder is compared with: it knows of weeks that an old folder has forgotten, and an old book
does not know the entries that a folder names (`tacit.fitting.refresh`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.errors import BookError
from tacit.ledger.book.book import Book
from tacit.ledger.book.chain import Chain, append, load
from tacit.ledger.book.entry import Entry
from tacit.ledger.book.receipts import Receipt
from tacit.ledger.book.rules import BookState, replay


@dataclass(frozen=True)
class Week:
    """One week as far as it is in the book."""

    number: int
    begun: Entry
    ended: Entry | None = None

    @property
    def counted_digest(self) -> str:
        """Digest of the keyed list of everybody who was counted up to this week."""
        return self.begun.counted or ""


def weeks(book: Book, receipt: Receipt) -> list[Week]:
    """All weeks of a calendar that have begun, in order; the reservation must be there."""
    state = replay(book.entries())
    _reserved(book, state, receipt)
    return _weeks(state, receipt)


def begin_week(
    book: Book, receipt: Receipt, number: int, participation: str, horizon: int
) -> Entry:
    """Write down who is counted, before any of it is summed."""

    def draft(weeks: list[Week]) -> Entry | dict[str, Any]:
        if number <= len(weeks):
            begin_entry = weeks[number - 1].begun
            if begin_entry.counted != participation:
                raise BookError(
                    f"release {number} has begun with another list of people",
                    place=book.place,
                    remedy="restore the calendar's folder as it was",
                )
            return begin_entry
        over = not weeks or weeks[-1].ended is not None
        if number != len(weeks) + 1 or not over or number > horizon:
            raise BookError(
                f"release {number} is not the next one of this calendar",
                place=book.place,
                remedy="releases are made one after the other",
            )
        return {"counted": participation}

    return _write(book, receipt, number, draft)


def end_week(book: Book, receipt: Receipt, number: int, artefact: str, arrays_digest: str) -> Entry:
    """Write down what was released, and of which arrays it was made."""

    def draft(weeks: list[Week]) -> Entry | dict[str, Any]:
        if not 1 <= number <= len(weeks):
            raise BookError(f"release {number} has not begun", place=book.place)
        end_entry = weeks[number - 1].ended
        if end_entry is None:
            return {"artefact": artefact, "left": arrays_digest}
        if end_entry.artefact != artefact or end_entry.left not in (None, arrays_digest):
            raise BookError(
                f"release {number} was made already, and is another one",
                place=book.place,
                remedy="restore the calendar's folder as it was",
            )
        return end_entry

    return _write(book, receipt, number, draft)


def _write(book: Book, receipt: Receipt, number: int, draft: Any) -> Entry:
    """In one transaction: the entry that is there, or one more."""
    with book.store.write() as session:
        chain: Chain = load(book.store, session, book.population)
        state = replay(chain.entries)
        _reserved(book, state, receipt)
        drafted = draft(_weeks(state, receipt))
        if isinstance(drafted, Entry):
            return drafted
        fields = {"kind": "week", "of": receipt.number, "week": number, **drafted}
        return append(book.store, session, chain, fields)


def _reserved(book: Book, state: BookState, receipt: Receipt) -> None:
    reservation = state.reserved.get(receipt.number)
    if reservation is None or reservation.hash != receipt.hash:
        raise BookError(
            f"entry {receipt.number}, which paid for this calendar, is not in the book: the "
            "book was restored from an old copy, or is another one",
            place=book.place,
            remedy="bring back the latest copy of the book",
        )


def _weeks(state: BookState, receipt: Receipt) -> list[Week]:
    weeks: list[Week] = []
    for entry in state.weeks.get(receipt.number, ()):
        if entry.counted is not None:
            weeks.append(Week(len(weeks) + 1, entry))
        elif weeks:
            weeks[-1] = Week(weeks[-1].number, weeks[-1].begun, entry)
    return weeks
