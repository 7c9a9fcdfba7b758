"""The weeks of a calendar as they stand in its folder, held against the book.

Guarantee: a folder that is older than the book (restored from a backup), a book that is older
than the folder, a list of people that was changed, and arrays that were changed are each
refused before anything is drawn. So is a copy of the folder that has drawn noise of its own
for a week that another copy has released.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import BookError, Failure, ModelError
from tacit.fitting.counted import Counted, calendar_key, sealed
from tacit.fitting.diary import BegunWeek, CountedPeople, Diary, damaged
from tacit.ledger.book.book import Book
from tacit.ledger.book.receipts import Receipt
from tacit.ledger.book.weeks import Week, weeks
from tacit.rounds.calendar import Calendar

Whole = NDArray[np.int64]
OLDER_FOLDER = (
    "the calendar's folder is older than the book: it knows nothing of release {}, in which "
    "people were counted"
)
OTHER_FOLDER = (
    "release {} was made from another copy of the calendar's folder: what this one has drawn for "
    "it was never released, and nothing may build on it"
)
RESTORE = "bring back the latest copy of the folder; nothing was released"


@dataclass(frozen=True)
class CalendarStanding:
    """How far a calendar is."""

    book: list[Week]
    counted: Counted
    """Everybody of the weeks that are over."""
    seal: str
    """Of the lists of these weeks."""

    @property
    def done(self) -> int:
        """Weeks that have ended in the book."""
        return sum(week.ended is not None for week in self.book)

    @property
    def open(self) -> Week | None:
        """A week that has begun and not ended."""
        return self.book[-1] if len(self.book) > self.done else None


def standing(diary: Diary, book: Book, receipt: Receipt, calendar: Calendar) -> CalendarStanding:
    """Where the calendar is, if folder and book agree."""
    recorded = weeks(book, receipt)
    key = key_of(book, receipt)
    _check_book(diary, book, recorded)
    participation, seal = Counted(calendar), ""
    for week in recorded:
        listed = diary.read(diary.week(week.number) / "people.json", CountedPeople)
        if listed is None:
            raise BookError(OLDER_FOLDER.format(week.number), place=book.place, remedy=RESTORE)
        names = tuple(listed.names)
        digests = _left_behind(diary, week.number - 1)
        if sealed(seal, names, digests) != week.counted:
            raise BookError(
                f"the list of people of release {week.number} is not the one that the book "
                "has sealed",
                place=book.place,
                remedy=RESTORE,
            )
        if week.ended is not None:
            seal = week.counted
            participation.count(names)
            if not _left_behind(diary, week.number):
                raise BookError(OLDER_FOLDER.format(week.number), place=book.place, remedy=RESTORE)
            if week.ended.left not in (None, keyed_digest(diary, week.number, key)):
                raise BookError(
                    OTHER_FOLDER.format(week.number),
                    place=book.place,
                    remedy="go on with the copy that made it",
                )
    return CalendarStanding(recorded, participation, seal)


def key_of(book: Book, receipt: Receipt) -> bytes:
    """The key of a calendar's lists."""
    secret = book.store.key(create=False)
    if secret is None:
        raise Failure("the book has lost its key")
    return calendar_key(secret, receipt.hash)


def keyed_digest(diary: Diary, number: int, key: bytes) -> str:
    """Keyed digest of what a week has left behind, for the book. Keyed, because exact sums are
    among it."""
    mac = hmac.new(key, b"kept\0", "sha256")
    for name, digest in sorted(_left_behind(diary, number).items()):
        mac.update(f"{name} {digest}\n".encode())
    return mac.hexdigest()


def _check_book(diary: Diary, book: Book, recorded: list[Week]) -> None:
    """Every entry that the folder names must be in the book."""
    hashes = {week.begun.hash for week in recorded}
    number = 1
    while (beginning := diary.read(diary.week(number) / "begun.json", BegunWeek)) is not None:
        if beginning.entry not in hashes:
            raise BookError(
                f"the book is older than the calendar's folder: it does not know that "
                f"release {number} has begun",
                place=book.place,
                remedy="bring back the latest copy of the book; nothing was released",
            )
        number += 1


def _left_behind(diary: Diary, number: int) -> dict[str, str]:
    """The digests of a week's arrays, as they were when it ended; nothing before the first."""
    if number < 1:
        return {}
    return diary.read(diary.week(number) / "digests.json", dict[str, str]) or {}


def past_arrays(diary: Diary, week: int, stem: str, kind: str) -> list[Whole]:
    """One part in all weeks before this one: its `sums` or its `noisy` numbers, each as it
    was when its week ended."""
    arrays = []
    for number in range(1, week):
        path = diary.week(number) / f"{stem}.{kind}.npy"
        array = diary.array(path)
        if array is None:
            raise damaged(path)
        arrays.append(array)
    return arrays


def check_arrays(diary: Diary, week: int) -> None:
    """Refuse arrays of earlier weeks that are not what they were."""
    for number in range(1, week):
        digests = _left_behind(diary, number)
        if diary.digests(number) != digests:
            raise ModelError(
                f"the sums of release {number} were changed after it was made", remedy=RESTORE
            )
