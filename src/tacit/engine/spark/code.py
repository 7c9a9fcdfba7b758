"""On executors, before people are brought together: rows as they were read become ids that
can be compared, places of items, and numbers.

What is wrong with a row is a mark in place of its item, and goes with the rows to where they
are packed: an exception would be logged with the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.ids import BLANKS, CONTROL, clean
from tacit.data.ratings import LATEST
from tacit.data.reading.cells import from_text, numbers_of
from tacit.data.reading.columns import Roles
from tacit.data.reading.delimited import BlockReader
from tacit.data.reading.dialect import AROUND, Dialect
from tacit.errors import DataError
from tacit.repr import shapes

FAULT = "fault"
"""A column beside those of a row: what is wrong with its line; 0 where nothing is."""
UNLISTED = -1
"""In place of an item: rows of items that the catalogue does not list, and how many."""
FAULTS = {
    -2: "a row has no person",
    -3: "a row has no item",
    -4: "a rating is missing or no number",
    -5: "a rating is off the scale",
    -6: "a time is missing or no number of seconds",
    -7: "the times look like milliseconds",
    -8: "an id holds a control character or a line end",
    -9: "a line has too many fields, a quotation mark that is never closed, or text behind one",
    -10: "a line holds bytes that are not UTF-8 text",
}
REMEDIES = {
    -4: "leave rows without a rating out, or choose the column with --columns rating=NAME",
    -5: "give the lowest and the highest possible rating, such as --scale 1,5",
    -6: "write times as seconds since 1970 or as dates such as 2005-09-06; if days come first, "
    "say --dates dmy; or leave the column out with --columns time=none",
    -7: "give seconds since 1970: divide by 1,000",
    -9: "a row is one line: close the quotation mark, and put quotes around fields that hold the "
    "delimiter",
    -10: "save the files as UTF-8",
}
UNREAD, NO_TEXT = -9, -10
"""Marks of `Code` for a line that cannot be read."""
COLUMNS = {"user": "user", "item": "item", "rating": "value", "time": "time"}


@dataclass(frozen=True)
class Code:
    """Rows of `user`, `item` and where they are there `value` and `time`, as
    `tacit.engine.spark.table` selects them."""

    __repr__ = shapes

    items: Sequence[str]
    low: float
    high: float
    rated: bool
    timed: bool
    dates: str = "iso"
    decimal: str = "."

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows of `user`, `item`, `value` and `time`."""
        listed: Any = None
        for batch in batches:
            if not batch.num_rows:
                continue
            items = batch.column("item")
            if listed is None:
                listed = listed_as(self.items, items.type)
            yield self._coded(batch, listed)

    def _coded(self, batch: Any, listed: ListedIds) -> Any:
        import pyarrow as pa

        user = cleaned(batch.column("user"))
        names = cleaned(batch.column("item"))
        item = listed.catalogue_rows(names)
        value = np.ones(batch.num_rows, np.float32)
        time = np.zeros(batch.num_rows, np.int64)
        if self.timed:
            item = self._timed(batch.column("time"), time, item)
        if self.rated:
            item = self._rated(batch.column("value"), value, item)
        for ids, role in ((names, "item"), (user, "user")):
            item[flags(is_controlled(batch.column(role)))] = -8
            item[flags(is_empty(ids))] = -3 if role == "item" else -2
        if FAULT in batch.schema.names:  # as the lines of a text were read
            fault = batch.column(FAULT).to_numpy(zero_copy_only=False)
            item[fault < 0] = fault[fault < 0]
        away = item < 0
        if away.any():
            # One row for each kind of mark, with its number.
            marks, counts = np.unique(item[away], return_counts=True)
            nobody = pa.nulls(len(marks), user.type)
            user = pa.concat_arrays([user.filter(pa.array(~away)), nobody])
            item = np.concatenate([item[~away], marks])
            value = np.concatenate([value[~away], counts.astype(np.float32)])
            time = np.concatenate([time[~away], np.zeros(len(marks), np.int64)])
        return pa.RecordBatch.from_arrays(
            [
                user,
                pa.array(item, pa.int32()),
                pa.array(value, pa.float32()),
                pa.array(time, pa.int64()),
            ],
            ["user", "item", "value", "time"],
        )

    def _rated(
        self, column: Any, value: NDArray[np.float32], item: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        numbers = as_numbers(column, self.decimal)
        wrong = ~((numbers >= self.low) & (numbers <= self.high))
        missing = np.isnan(numbers)
        value[:] = np.where(wrong, 0, numbers)
        item[wrong] = -5
        item[missing] = -4
        return item

    def _timed(
        self, column: Any, time: NDArray[np.int64], item: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        column = as_seconds(column, self.dates)
        time[:] = column.fill_null(0).to_numpy(zero_copy_only=False)
        item[time > LATEST] = -7
        item[flags(column.is_null())] = -6
        return item


@dataclass(frozen=True, eq=False)
class ListedIds:
    """The items of a catalogue as a column of ids can be looked up in it."""

    __repr__ = shapes

    ids: Any
    place: NDArray[np.int32]

    def catalogue_rows(self, names: Any) -> NDArray[np.int32]:
        """The place of each item in the catalogue; `UNLISTED` where it has none."""
        import pyarrow.compute as pc

        matches = pc.index_in(names, value_set=self.ids).fill_null(-1)
        at = matches.to_numpy(zero_copy_only=False)
        if not len(self.place):
            return np.full(len(at), UNLISTED, np.int32)
        return np.where(at < 0, UNLISTED, self.place[at]).astype(np.int32)


def listed_as(items: Sequence[str], kind: Any) -> ListedIds:
    """The ids of a catalogue in the type of a column; a text that is no whole number stands
    in no column of numbers."""
    import pyarrow as pa

    if not pa.types.is_integer(kind):
        return ListedIds(pa.array(list(items), pa.string()), np.arange(len(items), dtype=np.int32))
    numbered = [
        (int(name), row)
        for row, name in enumerate(items)
        if name.removeprefix("-").isdecimal() and str(int(name)) == name
    ]
    return ListedIds(
        pa.array([number for number, _ in numbered], pa.int64()),
        np.array([row for _, row in numbered], np.int32),
    )


def as_numbers(ratings: Any, decimal: str = ".") -> NDArray[np.float64]:
    """Ratings as numbers; of text by the rules of one machine."""
    import pyarrow as pa

    if pa.types.is_string(ratings.type):
        import polars as pl

        return numbers_of(pl.Series(ratings).str.strip_chars(AROUND), decimal)
    numbers = ratings.to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64)


def as_seconds(times: Any, dates: str = "iso") -> Any:
    """Times as seconds; of text by the rules of one machine. Null where there is none."""
    import pyarrow as pa

    if not pa.types.is_string(times.type):
        return times
    import polars as pl

    seconds = from_text(pl.Series(times).str.strip_chars(AROUND), dates)
    return seconds.to_arrow().cast(pa.int64())


def cleaned(ids: Any) -> Any:
    """Ids as they are compared (`tacit.data.ids`), a column at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type):
        return ids.cast(pa.int64())
    texts = ids.cast(pa.string())
    if flags(pc.string_is_ascii(texts).fill_null(True)).all():
        return pc.utf8_trim(texts, characters=BLANKS)
    # By the very rule of one machine: that of Arrow depends on its version.
    coded = texts.dictionary_encode()
    cleaned_texts = [clean(text) for text in coded.dictionary.to_pylist()]
    return pa.array(cleaned_texts, pa.string()).take(coded.indices)


def is_controlled(ids: Any) -> Any:
    """Which cells hold a character that no id does."""
    import polars as pl
    import pyarrow as pa

    if pa.types.is_integer(ids.type):
        return pa.array(np.zeros(len(ids), bool))
    texts = pl.Series(ids.cast(pa.large_string())).str.strip_chars(AROUND)
    return texts.str.contains(CONTROL).fill_null(False).to_arrow()


def is_empty(ids: Any) -> Any:
    """Mask of the cells without an id: null or the empty text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type):
        return ids.is_null()
    return pc.equal(pc.binary_length(ids), 0).fill_null(True)


def flags(column: Any) -> NDArray[np.bool_]:
    """A column of booleans as numpy has them."""
    return np.asarray(column.to_numpy(zero_copy_only=False), bool)


@dataclass(frozen=True)
class IdRows:
    """Rows of one column of ids: those of each partition, as they are compared, once each;
    and, without a name, how many rows there are. Of items alone, whose ids are public."""

    __repr__ = shapes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yields each new id once (`name`), and at the end the number of rows (`count`)."""
        import pyarrow as pa
        import pyarrow.compute as pc

        emitted: Any = None
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            ids = cleaned(batch.column(0)).unique()
            names = ids.filter(pa.array(~flags(is_empty(ids))))
            if emitted is not None:
                is_emitted = pc.is_in(names, value_set=emitted)
                names = names.filter(pc.invert(is_emitted))
            if not len(names):
                continue
            emitted = names if emitted is None else pa.concat_arrays([emitted, names])
            yield _count_batch(names.cast(pa.string()), 0)
        yield _count_batch(pa.nulls(1, pa.string()), rows)


def _count_batch(names: Any, count: int) -> Any:
    import pyarrow as pa

    counts = pa.array([count] * len(names), pa.int64())
    return pa.RecordBatch.from_arrays([names, counts], ["name", "count"])


# On executors: lines of text become rows of cells, by the rules of one machine.
#
# Guarantee: a row is a function of its line and of the header (`tacit.data.reading.dialect`). A
# line that equals the header line is a header again: each file of a folder begins with it.


@dataclass(frozen=True)
class LineRows:
    """Rows of `user`, `item` and where they are there `value` and `time`, as texts."""

    __repr__ = shapes

    dialect: Dialect
    roles: Roles
    header: str
    """The header line; empty where there is none."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The columns that are read, and what is wrong with a line."""
        import pyarrow as pa

        reader = BlockReader("", self.dialect, self.roles)
        heads = {self.header.encode(), b"\xef\xbb\xbf" + self.header.encode()}
        for batch in batches:
            texts = batch.column(0).cast(pa.binary()).to_pylist()
            lines = [line for line in texts if line and line.strip(b" \t")]
            if self.header:
                lines = [line for line in lines if line not in heads]
            if lines:
                yield self._block(lines, reader)

    def _block(self, lines: list[bytes], reader: BlockReader) -> Any:
        import numpy as np
        import pyarrow as pa

        faults = np.zeros(len(lines), np.int32)
        try:
            columns = self._columns(b"\n".join(lines) + b"\n", reader)
        except DataError:
            columns = {role: [] for role in self.roles.used()}
            for position, line in enumerate(lines):
                faults[position] = self._read_line(line, reader, columns)
        arrays = {COLUMNS[role]: pa.array(cells, pa.string()) for role, cells in columns.items()}
        return pa.RecordBatch.from_pydict(arrays | {FAULT: pa.array(faults, pa.int32())})

    def _columns(self, data: bytes, reader: BlockReader) -> dict[str, list[Any]]:
        columns = reader.columns(reader.readable(data, 1), 1)
        return {role: cells.to_list() for role, cells in columns.items()}

    def _read_line(self, line: bytes, reader: BlockReader, columns: dict[str, list[Any]]) -> int:
        """One line, where some line of its block cannot be read; what is wrong with it."""
        fault = 0
        cells: dict[str, list[Any]] = {role: [None] for role in columns}
        try:
            line.decode()
            cells = self._columns(line + b"\n", reader)
        except UnicodeDecodeError:
            fault = NO_TEXT
        except DataError:
            fault = UNREAD
        for role, cell in cells.items():
            columns[role] += cell[:1]
        return fault
