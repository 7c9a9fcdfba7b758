"""Rows to Ratings: items outside the catalogue dropped, people's rows in order, one rating
a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import LONGEST, Catalogue
from tacit.data.ratings import Notes, Ratings, check_size, format_count
from tacit.data.reading.cells import Codes, present, relabel
from tacit.data.schema import Schema
from tacit.errors import DataError
from tacit.repr import shapes

Duplicates = Literal["last", "mean", "error"]
SMALL = 3_000_000
"""Up to this many ratings numpy has sorted them before the compiled kernel would have loaded."""


@dataclass
class RowsRead:
    """One entry a row, in the order of the file; arrays are let go as soon as they are in order."""

    user: Codes
    item: Codes
    value: NDArray[Any]
    """Of any type that holds the ratings; float32 in the end."""
    time: NDArray[Any] | None = None
    """Seconds, or days if so said; 64-bit seconds in the end."""
    line: NDArray[np.int64] | None = None
    """Only kept where a repeated pair is an error."""
    in_days: bool = False

    __repr__ = shapes

    def take(self, which: NDArray[np.bool_] | Codes) -> None:
        """Keep or reorder, one array at a time."""
        self.user = self.user[which]
        self.item = self.item[which]
        self.value = self.value[which]
        self.time = self.time[which] if self.time is not None else None
        self.line = self.line[which] if self.line is not None else None


def assemble(
    cells: RowsRead,
    user_names: Sequence[str],
    item_names: Sequence[str],
    schema: Schema,
    notes: Notes,
    label: str,
    catalogue: Catalogue | None = None,
    duplicates: Duplicates = "last",
    spot: Callable[[int], str] = "line {}".format,
) -> Ratings:
    """Ratings in user order. Ids are in an order that depends on their set only. `spot`
    puts a line into words."""
    check_size(cells.user.size)
    has_rows = None
    if catalogue is not None:
        has_rows = present(cells.user, len(user_names))
        rows_before = cells.item.size
        drop_unlisted(cells, item_names, catalogue)
        notes = replace(notes, dropped_items=rows_before - cells.item.size)
        item_names = catalogue.ids
    elif any(len(name) > LONGEST for name in item_names):
        raise DataError(
            f"an item's id has more than {LONGEST:,} letters",
            place=label,
            remedy="check the quotes and the delimiter",
        )
    if not cells.user.size:
        if notes.dropped_items:
            message, remedy = (
                "no rating is of an item in the catalogue",
                "check that both files use the same item ids",
            )
        else:
            message, remedy = ("no rating is left", "give a file with explicit ratings")
        raise DataError(message, place=label, remedy=remedy)
    everyone = None if has_rows is None else [user_names[int(k)] for k in np.flatnonzero(has_rows)]
    user_names = drop_absent(cells, user_names)
    if everyone is not None and len(everyone) == len(user_names):
        everyone = None
    need_two_people(len(user_names), label)
    ptr = sort_rows(cells, len(user_names))
    ptr, repeated = merge_repeats(cells, ptr, duplicates, label, spot)
    notes = replace(notes, duplicates=repeated)
    ratings = Ratings(
        schema, user_names, item_names, ptr, cells.item, cells.value, cells.time, notes, everyone
    )
    return ratings if schema.positive is None else only_likes(ratings, schema.positive, label)


def only_likes(ratings: Ratings, threshold: float, label: str) -> Ratings:
    """Ratings of `threshold` and more. After repeats are merged: who rated 5 and later 1 does
    not like it."""
    keep = ratings.value >= np.float32(threshold)
    dropped = int(keep.size - np.count_nonzero(keep))
    if not dropped:
        return ratings
    if dropped == keep.size:
        raise DataError(
            f"no rating is left of {threshold:g} or more", place=label, remedy="lower --positive"
        )
    likes = ratings.filtered(keep)
    need_two_people(likes.n_users, label)
    messages = (
        *ratings.notes.messages,
        f"dropped {format_count(dropped, 'rating')} below {threshold:g}",
    )
    return replace(likes, notes=replace(ratings.notes, messages=messages))


def need_two_people(people: int, label: str) -> None:
    """Refuse the ratings of one person: there is nobody to learn from."""
    if people == 1:
        raise DataError(
            "the ratings are of one person only",
            place=label,
            remedy="give ratings of at least two people; for one person's own list see recommend",
        )


def drop_unlisted(cells: RowsRead, names: Sequence[str], catalogue: Catalogue) -> None:
    """Ratings of items outside the catalogue go; item codes become rows of the catalogue."""
    none = 0xFFFFFFFF
    rows = np.array([catalogue.index.get(name, none) for name in names], np.uint32)
    relabel(cells.item, rows)
    listed = cells.item != none
    if not listed.all():
        cells.take(listed)


def drop_absent(cells: RowsRead, names: Sequence[str]) -> Sequence[str]:
    """People left without a rating disappear."""
    alive = present(cells.user, len(names))
    if alive.all():
        return names
    relabel(cells.user, np.cumsum(alive, dtype=np.uint32) - np.uint32(1))
    return [names[int(k)] for k in np.flatnonzero(alive)]


def sort_rows(cells: RowsRead, n_users: int) -> NDArray[np.int64]:
    """Cells by (user, item), repeated pairs in the order of the file; gives the starts of
    the rows."""
    if cells.user.size <= SMALL:
        ptr, order = by_row_plain(cells.user, cells.item, n_users)
        gather: Callable[[NDArray[Any], Codes, Any], NDArray[Any]] = gather_plain
    else:
        from tacit.kernels import order as kernel  # compiled on first use

        ptr, order = kernel.by_row(cells.user, cells.item, n_users)
        gather = kernel.gather
    cells.user = np.empty(0, np.uint32)  # the rows say it from here on
    cells.item = gather(cells.item, order, np.uint32)
    cells.value = gather(cells.value, order, np.float32)
    cells.line = gather(cells.line, order, np.int64) if cells.line is not None else None
    if cells.time is not None:
        cells.time = gather(cells.time, order, np.int64)
        if cells.in_days:
            cells.time *= 86_400
    return ptr


def gather_plain(values: NDArray[Any], order: Codes, dtype: Any) -> NDArray[Any]:
    """The numpy twin of `kernels.order.gather`."""
    return values[order].astype(dtype, copy=False)


def by_row_plain(user: Codes, item: Codes, n_users: int) -> tuple[NDArray[np.int64], Codes]:
    """The numpy twin of `kernels.order.by_row`."""
    key = user.astype(np.int64) << 32 | item
    counts = np.bincount(user, minlength=n_users)
    if np.all(key[1:] >= key[:-1]):
        order = np.arange(user.size, dtype=np.uint32)
    else:
        order = np.argsort(key, kind="stable").astype(np.uint32)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order


def merge_repeats(
    cells: RowsRead,
    ptr: NDArray[np.int64],
    duplicates: Duplicates,
    label: str,
    spot: Callable[[int], str],
) -> tuple[NDArray[np.int64], int]:
    """One rating a cell. The latest by time wins, then the last in the file; or their mean;
    or an error."""
    same = cells.item[1:] == cells.item[:-1]  # row k+1 repeats row k
    starts = ptr[1:-1]  # of people, of whom some may have nothing left
    same[starts[(starts > 0) & (starts < cells.item.size)] - 1] = False
    repeats = int(np.count_nonzero(same))
    if not repeats:
        return ptr, 0
    follows = np.concatenate([[False], same])
    if duplicates == "error":
        raise repeated_pair(cells, int(follows.argmax()), repeats, label, spot)
    touched = np.flatnonzero(follows | np.concatenate([same, [False]]))
    starts = np.flatnonzero(~follows[touched])  # of each run of equal cells, within `touched`
    heads = touched[starts]
    lengths = np.diff(np.append(starts, touched.size))
    if cells.time is not None:
        when = cells.time[touched]
        latest = np.maximum.reduceat(when, starts)
        winner = np.where(when == np.repeat(latest, lengths), np.arange(touched.size), -1)
        retained = touched[np.maximum.reduceat(winner, starts)]
        cells.time[heads] = latest
    else:
        retained = touched[starts + lengths - 1]
    if duplicates == "mean":
        cells.value[heads] = (
            np.add.reduceat(cells.value[touched].astype(np.float64), starts) / lengths
        )
    else:
        cells.value[heads] = cells.value[retained]
    ptr = ptr - np.searchsorted(np.flatnonzero(follows), ptr)
    keep = np.logical_not(follows, out=follows)
    cells.item, cells.value = cells.item[keep], cells.value[keep]
    cells.time = cells.time[keep] if cells.time is not None else None
    return ptr, repeats


def repeated_pair(
    cells: RowsRead, second: int, repeats: int, label: str, spot: Callable[[int], str]
) -> DataError:
    """The error for a person who rated an item twice, with both places."""
    locations = ""
    if cells.line is not None:
        locations = (
            f", first {spot(int(cells.line[second - 1]))} and {spot(int(cells.line[second]))}"
        )
    return DataError(
        f"a person and an item are repeated in {format_count(repeats, 'row')}{locations}",
        place=label,
        remedy="remove one of each, or choose --duplicates last or mean",
    )
