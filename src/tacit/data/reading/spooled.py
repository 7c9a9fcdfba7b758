"""A table whose rows may be more than memory: it ends as a packed file instead of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import LONGEST, Catalogue
from tacit.data.packed.bare import BareFile
from tacit.data.packed.names import Names, Numbers
from tacit.data.packed.packed import Packed, facts_of, open_pack
from tacit.data.packed.store import MOST_VALUES, Numbered, PackWriter, RecordShape, refused
from tacit.data.ratings import Notes, Ratings, check_latest, format_count
from tacit.data.reading.assemble import (
    Duplicates,
    RowsRead,
    merge_repeats,
    need_two_people,
    sort_rows,
)
from tacit.data.reading.cells import TABLE, Codes, IdColumn, Number, present
from tacit.data.reading.table import Table
from tacit.data.schema import Schema
from tacit.errors import DataError
from tacit.repr import shapes

NONE = 0xFFFFFFFF
"""The row of an item that the catalogue does not list."""
SORT_BYTES = 64
"""Working memory for each row of a bucket while it is sorted."""
Progress = Callable[[int, int, str], None]
PIECE = 1 << 22
"""Rows that are handled at a time."""


class Coded(NamedTuple):
    """Ids in their order, and how a number of the file becomes the place of its id."""

    names: Names | list[str]
    place: Callable[[Codes], Codes]

    def __repr__(self) -> str:
        return shapes(self)


@dataclass
class SpooledTable(Table):
    """Collects blocks of rows in scratch files beside `target`, and writes the pack."""

    target: Path = Path()
    memory: int = 1 << 30
    """Bytes that sorting may take."""
    told: Progress | None = None

    __repr__ = shapes

    def __post_init__(self) -> None:
        folder = self.target.parent
        self.spools: dict[str, Spool[Any]] = {
            "user": Spool(np.uint32, folder),
            "item": Spool(np.uint32, folder),
            "value": Spool(np.float32, folder),
            "time": Spool(np.int64, folder),
            "line": Spool(np.int64, folder),
        }
        self.users = IdColumn(self.spools["user"])
        self.items = IdColumn(self.spools["item"])
        self.values = self.spools["value"]
        self.times = self.spools["time"]
        self.lines = self.spools["line"]
        self._found: NDArray[np.float32] = np.zeros(0, np.float32)
        self._first = self._last = 0

    def _add(
        self,
        values: NDArray[np.float64],
        time: NDArray[np.int64] | None,
        lines: NDArray[np.int64] | None,
    ) -> None:
        narrow = values.astype(np.float32)
        self._see(narrow)
        super()._add(values, time, lines)
        if time is not None and len(time):
            earliest, latest = int(time.min()), int(time.max())
            is_first_block = self.times.size == len(time)
            self._first = earliest if is_first_block else min(self._first, earliest)
            self._last = latest if is_first_block else max(self._last, latest)

    def _see(self, values: NDArray[np.float32]) -> None:
        """Which values there are, until they are too many for a table."""
        if len(self._found) > MOST_VALUES:
            return
        at = np.searchsorted(self._found, values)
        near = np.append(self._found, np.float32(np.nan))[at]
        if (near != values).any():
            fresh = np.unique(values[near != values])
            self._found = np.union1d(self._found, fresh).astype(np.float32)

    def finish(
        self, label: str, layout: str, catalogue: Catalogue | None, duplicates: Duplicates
    ) -> Ratings:
        """The pack, open."""
        if not self.rows:
            raise DataError(
                "there is no rating in it",
                place=label,
                remedy="give a file with at least one row of data",
            )
        check_latest(self._last, label)
        notes = Notes(layout=layout, messages=self._messages())
        work = _Sorting(self, label, notes, catalogue, duplicates)
        try:
            return work.packed()
        finally:
            for column in self.spools.values():
                column.close()


class _Sorting:
    """From scratch files to the pack."""

    def __init__(
        self,
        table: SpooledTable,
        label: str,
        notes: Notes,
        catalogue: Catalogue | None,
        duplicates: Duplicates,
    ) -> None:
        self.table = table
        self.label = label
        self.notes = notes
        self.duplicates = duplicates
        self.schema: Schema = table.schema
        self.people = coded(table.users)
        self.items, self.item_names = self._items(catalogue)
        self.timed = table.times.size > 0
        self.below = 0
        """Ratings below what counts as a like."""

    def _items(self, catalogue: Catalogue | None) -> tuple[Callable[[Codes], Codes], Sequence[str]]:
        coded_items = coded(self.table.items)
        names = list(coded_items.names)
        if catalogue is None:
            if any(len(name) > LONGEST for name in names):
                raise DataError(
                    f"an item's id has more than {LONGEST:,} letters",
                    place=self.label,
                    remedy="check the quotes and the delimiter",
                )
            return coded_items.place, names
        rows = [catalogue.index.get(name, NONE) for name in names]
        listed = np.array(rows, np.uint32)
        return lambda codes: listed[coded_items.place(codes)], catalogue.ids

    def packed(self) -> Packed:
        """The pack, open."""
        table = self.table
        target = table.target
        values: tuple[float, ...] | None = None
        if len(table._found) <= MOST_VALUES and self.duplicates != "mean":
            values = tuple(map(float, table._found))
        times = (table._first, table._last) if self.timed else None
        shape = RecordShape(len(self.item_names), values, times)
        buckets = self._distributed()
        alive = np.zeros(len(self.people.names), np.bool_)
        try:
            with PackWriter(target, shape) as writer:
                for first, last, rows in buckets.buckets():
                    counts, cells = self._sorted(rows, first, last)
                    has_ratings = counts > 0
                    alive[first:last] = has_ratings
                    writer.add(counts, cells)  # who takes part follows from the table
                    self._report_progress(last, len(alive), "sort")
                self._check_left(writer.cells, int(alive.sum()))
                facts = facts_of(self.schema, self._noted())
                writer.finish(self.people.names, self.item_names, facts)
        finally:
            buckets.close()
        return open_pack(target)

    def _noted(self) -> Notes:
        if not self.below:
            return self.notes
        threshold = self.schema.positive or 0.0
        message = f"dropped {format_count(self.below, 'rating')} below {threshold:g}"
        return replace(self.notes, messages=(*self.notes.messages, message))

    def _report_progress(self, completed: int, total: int, stage: str) -> None:
        if self.table.told is not None:
            self.table.told(completed, total, stage)

    def _distributed(self) -> RowBuckets:
        """All rows, with places instead of ids, in buckets of people."""
        table = self.table
        users = table.spools["user"]
        size = len(self.people.names)
        counts = np.zeros(size, np.int64)
        for block in users.blocks():
            counts += np.bincount(self.people.place(block), minlength=size)
        kinds = [("user", "<u4"), ("item", "<u4"), ("value", "<f4")]
        if self.timed:
            kinds.append(("time", "<i8"))
        if table.keep_lines:
            kinds.append(("line", "<i8"))
        record = np.dtype(kinds)
        rows_per_bucket = max(table.memory // SORT_BYTES, 1 << 10)
        buckets = RowBuckets(counts, rows_per_bucket, record, table.target.parent)
        columns: dict[str, Iterator[Any]] = {
            name: table.spools[name].blocks() for name in record.names or ()
        }
        dropped = 0
        for start in range(0, users.size, PIECE):
            parts = {name: next(column) for name, column in columns.items()}
            rows = np.empty(len(parts["user"]), record)
            for name, part in parts.items():
                rows[name] = part
            rows["user"] = self.people.place(parts["user"])
            rows["item"] = self.items(parts["item"])
            listed = rows["item"] != NONE
            if not listed.all():
                dropped += int(len(rows) - np.count_nonzero(listed))
                rows = rows[listed]
            buckets.add(rows)
            self._report_progress(start + PIECE, users.size, "distribute")
        self.notes = replace(self.notes, dropped_items=dropped)
        users.close()
        table.spools["item"].close()
        return buckets

    def _sorted(
        self, rows: NDArray[Any], first: int, last: int
    ) -> tuple[NDArray[np.int64], Numbered]:
        """A bucket in the order of the pack, one rating a cell."""
        names = rows.dtype.names or ()

        def column(name: str) -> Any:
            return np.ascontiguousarray(rows[name]) if name in names else None

        user = column("user") - np.uint32(first)
        cells = RowsRead(user, column("item"), column("value"), column("time"), column("line"))
        ptr = np.zeros(last - first + 1, np.int64)
        if cells.user.size:
            ptr = sort_rows(cells, last - first)
            spot = f"{self.table.unit} {{}}".format
            ptr, merged = merge_repeats(cells, ptr, self.duplicates, self.label, spot)
            self.notes = replace(self.notes, duplicates=self.notes.duplicates + merged)
        if self.schema.positive is not None:
            keep = cells.value >= np.float32(self.schema.positive)
            self.below += int(keep.size - np.count_nonzero(keep))
            ptr = np.concatenate([[0], np.cumsum(keep)])[ptr]
            cells.user = cells.user[:0]
            cells.item, cells.value = cells.item[keep], cells.value[keep]
            cells.time = None if cells.time is None else cells.time[keep]
        return np.diff(ptr), Numbered(cells.item, cells.value, cells.time)

    def _check_left(self, cells: int, people: int) -> None:
        """As `assemble` does."""
        if cells:
            need_two_people(people, self.label)
            return
        remedy = "give a file with explicit ratings"
        message = "no rating is left"
        if self.notes.dropped_items:
            message = "no rating is of an item in the catalogue"
            remedy = "check that both files use the same item ids"
        elif self.below:
            message += f" of {self.schema.positive:g} or more"
            remedy = "lower --positive"
        raise DataError(message, place=self.label, remedy=remedy)


def coded(column: IdColumn) -> Coded:
    """The ids of a column in the order that `IdColumn.finish` gives them."""
    numbers: Any = column.numbers
    if column.codes is not None:
        names, ranks = column.ordered()
        return Coded(names, lambda codes: ranks[codes])
    top = highest(numbers)
    if top < TABLE:
        occurs = np.zeros(top + 1, np.bool_)
        for block in numbers.blocks():
            occurs |= present(block, top + 1)
        table = np.cumsum(occurs, dtype=np.uint32)
        table -= 1
        ids = np.flatnonzero(occurs).astype(np.uint32)
        return Coded(Numbers(ids), lambda codes: table[codes])
    ids = unique_ids(numbers)

    def ranked(codes: Codes) -> Codes:
        return np.searchsorted(ids, codes).astype(np.uint32)

    return Coded(Numbers(ids), ranked)


# Tables larger than memory: columns in scratch files, sorted by person in buckets.
#
# 1. Blocks are appended to one scratch file for each column as they come.
# 2. When all ids are known, rows go into buckets, each of some people one after the other and
#    of about so many rows as may be sorted at once.
# 3. Each bucket is sorted, its repeats are merged, and it is written to the pack.
#
# Scratch files have no name and mode 0600: whatever ends the process, they are gone.


class Spool(Generic[Number]):
    """A column in a scratch file: like `Growing`, but for the whole in one array."""

    def __init__(self, dtype: type[Number] | np.dtype[Any], folder: Path):
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.size = 0
        self.folder = folder
        with refused(folder):
            self.file = BareFile.scratch(folder)

    def add(self, block: NDArray[Any]) -> None:
        """Append a block."""
        rows = np.ascontiguousarray(block, self.dtype)
        if rows.size:
            self._put(rows, self.size)
        self.size += block.size

    def _put(self, rows: NDArray[Any], first: int) -> None:
        with refused(self.folder):
            offset = first * self.dtype.itemsize
            self.file.write(rows.view(np.uint8), offset)

    def run(self, first: int, last: int) -> NDArray[Number]:
        """Rows `first` to `last`."""
        rows = np.empty(last - first, self.dtype)
        if rows.size:
            offset = first * self.dtype.itemsize
            self.file.read(rows.view(np.uint8), offset)
        return rows

    def blocks(self) -> Iterator[NDArray[Number]]:
        """All rows, some at a time."""
        for first in range(0, self.size, PIECE):
            yield self.run(first, min(first + PIECE, self.size))

    def change(self, transform: Callable[[NDArray[Number]], NDArray[Any]]) -> None:
        """Put other numbers in the place of those that are there."""
        for first in range(0, self.size, PIECE):
            last = min(first + PIECE, self.size)
            self._put(transform(self.run(first, last)).astype(self.dtype), first)

    def finish(self) -> NDArray[Number]:
        """The whole, for a column that is known to be short."""
        return self.run(0, self.size)

    def close(self) -> None:
        """Let the file go."""
        self.file.close()


class RowBuckets:
    """Rows of people one after the other, in a scratch file for each run of people."""

    def __init__(
        self, counts: NDArray[np.int64], rows_per_bucket: int, record: Any, folder: Path
    ) -> None:
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        cuts = np.searchsorted(
            ends, np.arange(rows_per_bucket, total, rows_per_bucket), side="left"
        )
        self.edges = np.unique(np.concatenate([[0], cuts + 1, [len(counts)]]))
        self.edges = self.edges[self.edges <= len(counts)]
        size = len(self.edges) - 1
        self.files: list[Spool[Any]] = [Spool(record, folder) for _ in range(size)]
        of_each = np.repeat(np.arange(size, dtype=np.uint16), np.diff(self.edges))
        self.bucket = of_each

    def add(self, rows: NDArray[Any]) -> None:
        """Rows with the place of their person; their order is kept in each bucket."""
        bucket = self.bucket[rows["user"]]
        order = np.argsort(bucket, kind="stable")
        rows = rows[order]
        ends = np.cumsum(np.bincount(bucket, minlength=len(self.files)))
        first = 0
        for file, last in zip(self.files, ends.tolist(), strict=True):
            if last > first:
                file.add(rows[first:last])
            first = last

    def buckets(self) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """The first person of each bucket, the one after its last, and its rows."""
        for index, file in enumerate(self.files):
            first, last = int(self.edges[index]), int(self.edges[index + 1])
            rows = file.finish()
            file.close()
            yield first, last, rows

    def close(self) -> None:
        """Let all files go."""
        for file in self.files:
            file.close()


def unique_ids(column: Spool[np.uint32]) -> Codes:
    """The numbers that occur, ascending."""
    ids = np.zeros(0, np.uint32)
    for block in column.blocks():
        ids = np.union1d(ids, np.unique(block)).astype(np.uint32)
    return ids


def highest(column: Spool[np.uint32]) -> int:
    """The largest number."""
    return max((int(block.max()) for block in column.blocks()), default=0)
