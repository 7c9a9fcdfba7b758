"""The private data: who rated what, how, and when. Text ids at the border, dense integers
inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ids import clean
from tacit.data.schema import Schema
from tacit.errors import DataError
from tacit.notices import localize
from tacit.page import table
from tacit.repr import shapes
from tacit.validation import Suggesting

MOST = 1 << 32
"""Positions of ratings are 32-bit."""


def check_size(cells: int) -> None:
    """Refuse more ratings than indices can count."""
    if cells >= MOST:
        raise DataError(f"there are {MOST} ratings or more", remedy="split the data")


LATEST = 100_000_000_000
"""Seconds: the year 5138. Milliseconds since 1973 are above it."""


def check_times(ratings: Ratings, label: str) -> None:
    """Refuse times that are no seconds."""
    time = ratings.time
    if time is not None and len(time):
        check_latest(int(time.max()), label)


def check_latest(time: int, label: str) -> None:
    """Refuse a last time that is no second."""
    if time > LATEST:
        raise DataError(
            "the times look like milliseconds",
            place=label,
            remedy="give seconds since 1970: divide by 1,000; or leave the column out with "
            "--columns time=none",
        )


def format_count(count: int, noun: str) -> str:
    """`1 row`, `2,500 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Notes:
    """What the owner is told about reading; never part of a model or of a statement."""

    duplicates: int = 0
    dropped_items: int = 0
    """Ratings of items that the given catalogue does not list."""
    layout: str = ""
    messages: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Which column was read as what, in words: names of columns are no cells."""
    numbered: bool = False
    """Whether people have no ids of their own and are named by their place in the file: then
    nothing that must stay with a person may follow from her name."""

    __repr__ = shapes

    def lines(self) -> list[str]:
        """What was noticed in the rows, in words. Counts are of private rows: for the owner
        only."""
        lines = [localize(message) for message in self.messages]
        if self.duplicates:
            lines.append(f"merged {format_count(self.duplicates, 'duplicate rating')}")
        if self.dropped_items:
            lines.append(
                f"dropped {format_count(self.dropped_items, 'rating')} of items outside the "
                "catalogue"
            )
        return lines


@dataclass(frozen=True)
class ByItem:
    """The ratings in item order: `cell` points into the user-ordered arrays, so no value is
    copied."""

    ptr: NDArray[np.int64]
    user: NDArray[np.uint32]
    cell: NDArray[np.uint32]

    __repr__ = shapes


@dataclass(frozen=True, eq=False)
class Ratings(Suggesting):
    """Ratings in user order (compressed rows, items ascending in each row, at most one
    rating a cell).

    `value` is in the scale of the schema. `items` are the public ids (of the catalogue if
    one was given, so an item may have no rating); `users` are the ids of people who have at
    least one rating.
    """

    schema: Schema
    users: Sequence[str]
    items: Sequence[str]
    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
    value: NDArray[np.float32]
    time: NDArray[np.int64] | None = None
    notes: Notes = field(default_factory=Notes)
    everyone: Sequence[str] | None = None
    """Ids of all people of the table, in the order of `users`, where a catalogue or a threshold
    of likes left some of them without a rating; None where all of them are in `users`."""

    __repr__ = shapes

    def _repr_html_(self) -> str:
        """Shapes and which columns were read, for the owner; never a cell."""
        rows = [
            ("people", f"{self.n_users:,}"),
            ("items", f"{self.n_items:,}"),
            ("ratings", f"{len(self):,}"),
            ("scale", f"{self.schema.low:g} to {self.schema.high:g}"),
            ("times", "no" if self.time is None else "yes"),
            *(("columns", localize(line)) for line in self.notes.columns),
            *(("noticed", line) for line in self.notes.lines()),
        ]
        return table(("Ratings: private", "for the owner only"), rows)

    @property
    def n_users(self) -> int:
        """People with at least one rating."""
        return len(self.ptr) - 1

    @property
    def n_items(self) -> int:
        """Items of the catalogue, rated or not."""
        return len(self.items)

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def by_item(self) -> ByItem:
        """The other order, made once."""
        from tacit.kernels.order import by_item  # compiled on first use

        check_size(len(self))
        return ByItem(*by_item(self.ptr, self.item, self.n_items))

    @cached_property
    def user(self) -> NDArray[np.uint32]:
        """The person of each cell."""
        return np.repeat(np.arange(self.n_users, dtype=np.uint32), np.diff(self.ptr))

    def row(self, index: int) -> slice:
        """The cells of one person."""
        return slice(int(self.ptr[index]), int(self.ptr[index + 1]))

    def without(self, people: Iterable[str]) -> tuple[Ratings, int]:
        """The ratings of all others, and how many of `people` were found: for those who have
        asked to be left out. Private in neither: the number is for the owner. Items stay,
        also those that nobody else rated (`rated`)."""
        if self.notes.numbered:
            raise DataError(
                "people of this layout have no ids of their own, so nobody can be named",
                remedy="take their rows out of the data before they are read",
            )
        gone = {clean(person) for person in people}
        keep = np.array([user not in gone for user in self.users], bool)
        remaining = self.take(np.repeat(keep, np.diff(self.ptr)))
        if self.everyone is None:
            return remaining, int((~keep).sum())
        others = [user for user in self.everyone if user not in gone]
        return replace(remaining, everyone=others), len(self.everyone) - len(others)

    def rated(self) -> Ratings:
        """The same without items that have no rating: where ids come from the ratings, an
        item that only somebody left out had rated would tell of her."""
        has_ratings = np.bincount(self.item, minlength=self.n_items) > 0
        new_row = np.cumsum(has_ratings) - 1
        names = [self.items[int(row)] for row in np.flatnonzero(has_ratings)]
        item = new_row[self.item].astype(np.uint32)
        return replace(self, items=names, item=item)

    def with_everyone(self) -> Ratings:
        """The same with `everyone`, people without a rating too: for engines that show who
        takes part, where somebody who is missing would tell what she rated."""
        if self.everyone is None:
            return self
        counts = dict(zip(self.users, np.diff(self.ptr).tolist(), strict=True))
        sizes = [counts.get(user, 0) for user in self.everyone]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return replace(self, users=self.everyone, ptr=ptr, everyone=None)

    def filtered(self, keep: NDArray[np.bool_]) -> Ratings:
        """The ratings where `keep` holds, when a catalogue or a threshold decides: people who
        are left with none stay in `everyone`."""
        retained = self.take(keep)
        if self.everyone is None and retained.n_users == self.n_users:
            return retained
        return replace(retained, everyone=self.users if self.everyone is None else self.everyone)

    def take(self, keep: NDArray[np.bool_], *, drop_empty: bool = True) -> Ratings:
        """The ratings where `keep` holds; people left with none disappear unless
        `drop_empty` is false."""
        # By places: a mask is looked through once, and not for every array.
        cells = np.flatnonzero(keep)
        ptr = np.searchsorted(cells, self.ptr)
        users: Sequence[str] = self.users
        if drop_empty:
            alive = np.flatnonzero(np.diff(ptr) > 0)
            users = [self.users[int(i)] for i in alive]
            ptr = np.concatenate([ptr[:1], ptr[1:][alive]])
        time = None if self.time is None else self.time.take(cells)
        return Ratings(
            self.schema,
            users,
            self.items,
            ptr,
            self.item.take(cells),
            self.value.take(cells),
            time,
            self.notes,
        )


# Ratings over the rows of a public catalogue.


def aligned(ratings: Ratings, items: Catalogue) -> Ratings:
    """The ratings over the rows of a public catalogue; ratings of other items are dropped
    and counted. People who are left with none stay in `everyone` alone."""
    if list(items.ids) == list(ratings.items):
        return ratings
    rows = np.array([items.index.get(name, -1) for name in ratings.items], np.int64)
    row = rows[ratings.item]
    retained = ratings.filtered(row >= 0)
    new_rows = row[row >= 0]
    order = np.lexsort((new_rows, retained.user))
    dropped = retained.notes.dropped_items + int((row < 0).sum())
    return replace(
        retained,
        items=items.ids,
        item=new_rows[order].astype(np.uint32),
        value=retained.value[order],
        time=retained.time[order] if retained.time is not None else None,
        notes=replace(retained.notes, dropped_items=dropped),
    )
