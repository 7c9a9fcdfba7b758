"""Columns of cells to arrays: ids to dense integers, ratings to numbers, times to seconds.
A cell that cannot be read is a fault, reported by its row so that the reader can name the
line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.data.ids import BLANKS, clean, two_ways
from tacit.data.reading.dialect import COMMA

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.uint32]
Number = TypeVar("Number", bound=np.generic)
TABLE = 1 << 27
"""Integer ids below this get a lookup table (640 MB at the very most); larger ones are sorted."""


PIECE = 1 << 20
"""Ratings handled at a time where numpy needs wide temporaries."""


class Fault(Exception):
    """The first row of a block that cannot be read, counted from 0, and the role of its cell."""

    def __init__(self, row: int, role: str) -> None:
        super().__init__(row, role)
        self.row, self.role = row, role


class IdColumn:
    """Ids as they come, block by block. Integers in their shortest form stay numbers; all
    else is text by the rule of `tacit.data.ids`."""

    def __init__(self, numbers: Column | None = None) -> None:
        self.numbers: Column = numbers or Growing(np.uint32)
        self.codes: dict[str, int] | None = None
        """Code of each text once a text was seen; until then the ids themselves are the numbers."""

    def add_numbers(self, numbers: Codes) -> None:
        """Ids known to be written as plain integers."""
        self.numbers.add(numbers if self.codes is None else self._encode_numbers(numbers))

    @staticmethod
    def check(cells: pl.Series, role: str) -> None:
        """A Fault at the first cell without an id."""
        import polars as pl

        empty = cells.is_null()
        if cells.dtype == pl.String:
            empty |= cells.str.strip_chars(BLANKS) == ""
        if empty.any():
            raise Fault(int(empty.arg_max() or 0), role)

    def add(self, cells: pl.Series) -> None:
        """One more block of ids, as they stand in the file."""
        import polars as pl

        numbers = plain_numbers(cells)
        if numbers is not None:
            self.add_numbers(numbers)
            return
        if self.codes is None:
            self.codes = {}
            self.numbers.change(self._encode_numbers)
        self.numbers.add(self._encode_text(cells.cast(pl.String)))

    def _encode_numbers(self, numbers: Codes) -> Codes:
        import polars as pl

        return self._encode_text(pl.Series(numbers).cast(pl.String))

    def _encode_text(self, cells: pl.Series) -> Codes:
        import polars as pl

        assert self.codes is not None
        known = cells.unique()
        fresh = [self.codes.setdefault(clean(text), len(self.codes)) for text in known.to_list()]
        codes = cells.replace_strict(
            known, pl.Series(fresh, dtype=pl.UInt32), return_dtype=pl.UInt32
        )
        return codes.to_numpy().astype(np.uint32, copy=False)

    def clash(self) -> tuple[int, int] | None:
        """The first rows of two ids that denote one number, if there are any."""
        found = None if self.codes is None else two_ways(self.codes)
        if found is None or self.codes is None:
            return None
        rows = [self.numbers.first(self.codes[text]) for text in found]
        return min(rows), max(rows)

    def finish(self) -> tuple[Codes, list[str]]:
        """Dense codes and the ids they stand for, in an order that is a function of the set
        of ids only."""
        every = self.numbers.finish()
        if self.codes is None:
            return dense_numbers(every)
        names, place = self.ordered()
        relabel(every, place)
        return every, names

    def ordered(self) -> tuple[list[str], Codes]:
        """Where texts were seen: the ids in their order, and the place of each code in it."""
        names = list(self.codes or ())
        order = natural_order(names)
        place = np.empty(len(names), np.uint32)
        place[order] = np.arange(len(names), dtype=np.uint32)
        return [names[k] for k in order], place


def plain_numbers(cells: pl.Series) -> Codes | None:
    """The cells as numbers if each is an integer below 2^32 in its shortest form (`7`,
    never `07`, `+7` or `7.0`)."""
    import polars as pl

    if cells.dtype == pl.String:
        odd = (cells.str.starts_with("0") & (cells.str.len_bytes() > 1)) | cells.str.starts_with(
            "+"
        )
        if odd.any():
            return None
        numbers = cells.cast(pl.UInt32, strict=False)
    elif cells.dtype.is_integer():
        numbers = cells.cast(pl.UInt32, strict=False)
    else:
        return None
    if numbers.null_count():
        return None
    return numbers.to_numpy().astype(np.uint32, copy=False)


def dense_numbers(numbers: Codes) -> tuple[Codes, list[str]]:
    """Codes by rank, in place."""
    if not numbers.size:
        return numbers, []
    top = int(numbers.max())
    if top < TABLE:
        seen = present(numbers, top + 1)
        ids = np.flatnonzero(seen)
        table = np.cumsum(seen, dtype=np.uint32)
        table -= 1
        relabel(numbers, table)
    else:
        ids, inverse = np.unique(numbers, return_inverse=True)
        numbers = inverse.astype(np.uint32)
    return numbers, list(map(str, ids.tolist()))


def relabel(codes: Codes, table: Codes) -> None:
    """`table[codes]`, in place and piece by piece: numpy would widen all codes to 64 bits first."""
    for start in range(0, codes.size, PIECE):
        block = codes[start : start + PIECE]
        block[:] = table[block]


def present(codes: Codes, size: int) -> NDArray[np.bool_]:
    """Which of the codes below `size` occur."""
    seen = np.zeros(size, np.bool_)
    for start in range(0, codes.size, PIECE):
        seen[codes[start : start + PIECE]] = True
    return seen


def natural_order(names: Sequence[str]) -> list[int]:
    """By number if every id is a row of digits (then by text: `1` before `01`), else by text."""
    if all(name.isascii() and name.isdigit() for name in names):
        return sorted(range(len(names)), key=lambda k: _as_number(names[k]))
    return sorted(range(len(names)), key=names.__getitem__)


def _as_number(digits: str) -> tuple[int, str, int]:
    """What orders rows of digits by number, however long they are."""
    short = digits.lstrip("0")
    return len(short), short, len(digits)


class Column(Protocol):
    """Numbers as they come, block by block: in memory, or in a file."""

    size: int

    def add(self, block: NDArray[Any]) -> None:
        """Append a block."""

    def change(self, how: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        """Put other numbers in the place of those that are there."""

    def first(self, number: int) -> int:
        """Where a number stands first."""

    def at(self, row: int) -> int:
        """The number in one row."""

    def finish(self) -> NDArray[Any]:
        """The whole; nothing may be added after."""


class Growing(Generic[Number]):
    """An array that grows by blocks. It is widened in place (the pages move, the bytes do
    not), so that a hundred million ratings never exist twice, as a list of blocks and as
    their whole."""

    def __init__(self, dtype: type[Number]) -> None:
        self.buffer: NDArray[Number] = np.empty(0, dtype)
        self.size = 0

    def add(self, block: NDArray[Any]) -> None:
        """Append a block; the buffer grows by an eighth when it is full."""
        end = self.size + block.size
        if end > self.buffer.size:
            self.buffer.resize(max(end, self.buffer.size * 9 // 8 + (1 << 16)), refcheck=False)
        self.buffer[self.size : end] = block
        self.size = end

    def change(self, how: Callable[[NDArray[Number]], NDArray[Any]]) -> None:
        """Put other numbers in the place of those that are there."""
        for start in range(0, self.size, PIECE):
            block = self.buffer[start : min(start + PIECE, self.size)]
            block[:] = how(block)

    def first(self, number: int) -> int:
        """Where a number stands first."""
        return int((self.buffer[: self.size] == number).argmax())

    def at(self, row: int) -> int:
        """The number in one row."""
        return int(self.buffer[row])

    def finish(self) -> NDArray[Number]:
        """The whole; nothing may be added after."""
        whole, self.buffer = (
            self.buffer,
            np.empty(0, self.buffer.dtype),
        )  # no view: it would keep the memory
        if whole.size != self.size:
            whole.resize(self.size, refcheck=False)
        return whole


def numbers_of(cells: pl.Series) -> NDArray[np.float64]:
    """Numbers, with a decimal point or a decimal comma; NaN where there is none."""
    import polars as pl

    if cells.dtype.is_nested():  # a list is no number: as a text that is none
        return np.full(len(cells), np.nan)
    numbers = cells.cast(pl.Float64, strict=False)
    if numbers.null_count() and cells.dtype == pl.String:
        pointed = cells.str.replace(f"^{COMMA.pattern}$", "$1.$2")
        numbers = pointed.cast(pl.Float64, strict=False)
    return numbers.to_numpy().astype(np.float64, copy=False)


def seconds(cells: pl.Series) -> NDArray[np.int64]:
    """Seconds since 1970 from numbers, dates or ISO text."""
    import polars as pl

    kind = cells.dtype
    if kind == pl.Date or isinstance(kind, pl.Datetime):
        numbers = cells.cast(pl.Datetime("us")).dt.epoch("s")
    elif kind.is_float():
        numbers = cells.floor().cast(pl.Int64, strict=False)
    elif kind == pl.String:
        numbers = from_text(cells)
    else:
        numbers = cells.cast(pl.Int64, strict=False)
    if numbers.null_count():
        raise Fault(int(numbers.is_null().arg_max() or 0), "time")
    return numbers.to_numpy().astype(np.int64, copy=False)


def from_text(cells: pl.Series) -> pl.Series:
    """Epoch seconds, `2005-09-06`, `2005-09-06 12:00:00`, any ISO form or `06.09.2005`; null
    where it is none of these."""
    import polars as pl

    numbers = cells.cast(pl.Int64, strict=False)
    if numbers.null_count():
        numbers = numbers.fill_null(
            cells.cast(pl.Float64, strict=False).floor().cast(pl.Int64, strict=False)
        )
    if numbers.null_count():
        days = cells.str.to_date("%Y-%m-%d", strict=False)
        numbers = numbers.fill_null(days.cast(pl.Datetime("us")).dt.epoch("s"))
    if numbers.null_count():
        moments = cells.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="us")
        numbers = numbers.fill_null(moments.dt.epoch("s"))
    if numbers.null_count():
        rest = cells.filter(numbers.is_null()).drop_nulls().unique()
        read = {
            text: second for text in rest.to_list() if (second := iso_seconds(text)) is not None
        }
        if read:
            slow = cells.replace_strict(
                list(read), list(read.values()), default=None, return_dtype=pl.Int64
            )
            numbers = numbers.fill_null(slow)
    return numbers


DAY = "%d.%m.%Y"
"""`06.09.2005`: with dots the day comes first everywhere. With slashes nobody knows."""


def dated(text: str) -> datetime:
    """The moment that a text says, by ISO 8601 or as a day with dots."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.strptime(text, DAY).replace(tzinfo=UTC)


def iso_seconds(text: str) -> int | None:
    """Seconds of an ISO 8601 text or a day with dots; a text without a zone is UTC."""
    try:
        moment = dated(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() // 1)
    except (ValueError, OverflowError):
        return None
