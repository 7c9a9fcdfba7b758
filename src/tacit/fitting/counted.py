"""Who was counted in a calendar, and who may be: a keyed list that its owner keeps and the book
seals.

Guarantee: `admit` gives each person's row to at most `most` weeks, at least `gap` apart, and
each of her ratings to at most one. What is listed of a person is an HMAC of her id under a key
that is made from the book's, so the list tells its thief nothing without that key. What is
published does not depend on who was refused: a row too many is left out in silence.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.errors import DataError, Failure
from tacit.rounds.calendar import Calendar

BYTES = 16
"""Of a name: two people share one with a chance below 1e-20 among a thousand million."""


def names_of(people: Iterable[str], key: bytes) -> list[str]:
    """Keyed digests (HMAC-SHA-256, shortened to `BYTES`) by which people are listed."""
    return [
        hmac.new(key, person.encode(), hashlib.sha256).hexdigest()[: 2 * BYTES] for person in people
    ]


def need_ids(ratings: Ratings) -> None:
    """Refuse tables without ids of people: who was counted could not be recognised next time."""
    if ratings.notes.numbered:
        raise DataError(
            "people of this layout have no ids of their own, so nobody can be counted once",
            remedy="give a table with ids of people",
        )


def calendar_key(book_key: bytes, entry: str) -> bytes:
    """The key under which one calendar lists the people it has counted."""
    mac = hmac.new(book_key, b"tacit calendar\0" + entry.encode(), "sha256")
    return mac.digest()


@dataclass(frozen=True)
class Turn:
    """Who is counted this week, and with which ratings."""

    names: tuple[str, ...]
    ratings: Ratings

    def digest(self, key: bytes) -> str:
        """Keyed digest of all cells: detects that a week is resumed with other ratings than it was
        begun with."""
        rated = self.ratings
        mac = hmac.new(key, b"cells\0", hashlib.sha256)
        for array in (rated.ptr, rated.item, rated.value):
            mac.update(np.ascontiguousarray(array).tobytes())
        mac.update("\0".join(self.names).encode())
        mac.update("\0".join(rated.items).encode())
        return mac.hexdigest()


class Counted:
    """Everybody who was counted so far: by name, the weeks."""

    def __init__(self, calendar: Calendar) -> None:
        self.calendar = calendar
        self.weeks = 0
        self._turns: dict[str, list[int]] = {}

    def may_count(self, name: str) -> bool:
        """Whether this person may be counted in the week that comes."""
        counted_weeks = self._turns.get(name, ())
        if len(counted_weeks) >= self.calendar.most:
            return False
        return not counted_weeks or self.weeks + 1 - counted_weeks[-1] >= self.calendar.gap

    def last_week(self, name: str) -> int:
        """The last week in which she was counted; 0 for never."""
        counted_weeks = self._turns.get(name)
        return counted_weeks[-1] if counted_weeks else 0

    def count(self, names: Sequence[str]) -> None:
        """One more week. Refused as a whole if anybody in it was counted too often."""
        if len(set(names)) != len(names):
            raise Failure("a person would be counted twice in one release")
        if not all(map(self.may_count, names)):
            raise Failure(
                "a person's row is offered once too often: this calendar counts her no more"
            )
        self.weeks += 1
        for name in names:
            self._turns.setdefault(name, []).append(self.weeks)

    def admit(self, ratings: Ratings, names: Sequence[str], ends: Mapping[int, int] | None) -> Turn:
        """Of these ratings, those that count in the week that comes. `ends` has the last
        second of every week up to it, where ratings have times: then a rating counts in the
        week after the last one of its person, or in none."""
        need_ids(ratings)
        allowed = np.array([self.may_count(name) for name in names], np.bool_)
        keep = np.repeat(allowed, np.diff(ratings.ptr))
        if ends is not None:
            keep &= self._in_time(ratings, names, ends)
        admitted = ratings.take(keep)
        name_of = dict(zip(ratings.users, names, strict=True))
        return Turn(tuple(name_of[user] for user in admitted.users), admitted)

    def _in_time(
        self, ratings: Ratings, names: Sequence[str], ends: Mapping[int, int]
    ) -> NDArray[np.bool_]:
        assert ratings.time is not None
        week_end = ends[self.weeks + 1]
        none = np.iinfo(np.int64).min
        since = np.array(
            [ends[week] if (week := self.last_week(n)) else none for n in names], np.int64
        )
        row_since = np.repeat(since, np.diff(ratings.ptr))
        result: NDArray[np.bool_] = (ratings.time <= week_end) & (ratings.time > row_since)
        return result


def sealed(previous: str, names: Sequence[str], digests: Mapping[str, str]) -> str:
    """The digest that the book keeps of a week's list: of all lists so far, and of what the
    week before has left behind."""
    hasher = hashlib.sha256(previous.encode())
    for name in names:
        hasher.update(b"\0" + name.encode())
    for name in sorted(digests):
        hasher.update(f"\n{name} {digests[name]}".encode())
    return hasher.hexdigest()
