"""Columns of cells to arrays: ids to dense integers, ratings to numbers, times to seconds.
A cell that cannot be read is a fault, reported by its row so that the reader can name the
line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import LONGEST
from tacit.data.ids import BLANKS, CONTROL, clean, in_order
from tacit.data.ratings import LATEST
from tacit.data.reading.dialect import AROUND, NUMBER

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.uint32]
Number = TypeVar("Number", bound=np.generic)
SHORTEST = "^(?:0|[1-9][0-9]{0,9})$"
"""A whole number in its one shortest form."""
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
        """A Fault at the first cell without an id, or with a control character."""
        import polars as pl

        wrong = cells.is_null()
        if cells.dtype == pl.String and (wrong.any() or not cells.str.contains(SHORTEST).all()):
            wrong |= cells.str.strip_chars(BLANKS) == ""
            held = cells.str.strip_chars(AROUND).str.contains(CONTROL)
            wrong |= held.fill_null(False)
            if role == "item":
                wrong |= (cells.str.len_bytes() > LONGEST).fill_null(False)
        if wrong.any():
            raise Fault(int(wrong.arg_max() or 0), role)

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
        uniques = cells.unique()
        fresh = [self.codes.setdefault(clean(text), len(self.codes)) for text in uniques.to_list()]
        codes = cells.replace_strict(
            uniques, pl.Series(fresh, dtype=pl.UInt32), return_dtype=pl.UInt32
        )
        return codes.to_numpy().astype(np.uint32, copy=False)

    def finish(self) -> tuple[Codes, list[str]]:
        """Dense codes and the ids they stand for, in an order that is a function of the set
        of ids only."""
        every = self.numbers.finish()
        if self.codes is None:
            return dense_numbers(every)
        names, ranks = self.ordered()
        relabel(every, ranks)
        return every, names

    def ordered(self) -> tuple[list[str], Codes]:
        """Where texts were seen: the ids in their order, and the place of each code in it."""
        names = list(self.codes or ())
        order = in_order(names)
        ranks = np.empty(len(names), np.uint32)
        ranks[order] = np.arange(len(names), dtype=np.uint32)
        return [names[k] for k in order], ranks


def plain_numbers(cells: pl.Series) -> Codes | None:
    """The cells as numbers if each is an integer below 2^32 in its shortest form (`7`,
    never `07`, `+7` or `7.0`)."""
    import polars as pl

    if cells.dtype == pl.String:
        if not cells.str.contains(SHORTEST).all():
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
        occurs = present(numbers, top + 1)
        ids = np.flatnonzero(occurs)
        table = np.cumsum(occurs, dtype=np.uint32)
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
    occurs = np.zeros(size, np.bool_)
    for start in range(0, codes.size, PIECE):
        occurs[codes[start : start + PIECE]] = True
    return occurs


class Column(Protocol):
    """Numbers as they come, block by block: in memory, or in a file."""

    size: int

    def add(self, block: NDArray[Any]) -> None:
        """Append a block."""

    def change(self, transform: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        """Put other numbers in the place of those that are there."""

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

    def change(self, transform: Callable[[NDArray[Number]], NDArray[Any]]) -> None:
        """Put other numbers in the place of those that are there."""
        for start in range(0, self.size, PIECE):
            block = self.buffer[start : min(start + PIECE, self.size)]
            block[:] = transform(block)

    def finish(self) -> NDArray[Number]:
        """The whole; nothing may be added after."""
        array, self.buffer = (
            self.buffer,
            np.empty(0, self.buffer.dtype),
        )  # no view: it would keep the memory
        if array.size != self.size:
            array.resize(self.size, refcheck=False)
        return array


def numbers_of(cells: pl.Series, decimal: str = ".") -> NDArray[np.float64]:
    """Numbers; text with the decimal mark that was declared. NaN where there is none."""
    import polars as pl

    if cells.dtype.is_nested():  # a list is no number: as a text that is none
        return np.full(len(cells), np.nan)
    if cells.dtype == pl.String and decimal == ",":
        marked = cells.str.contains(".", literal=True)
        cells = cells.str.replace_all(",", ".", literal=True).set(marked, None)
    numbers = cells.cast(pl.Float64, strict=False)
    if numbers.null_count() and cells.dtype == pl.String:
        numbers = numbers.fill_null(_one_by_one(cells.filter(numbers.is_null()), cells, as_float))
    return numbers.to_numpy().astype(np.float64, copy=False)


def as_float(text: str) -> float | None:
    """A number that polars does not know as one, such as `4.`."""
    return float(text) if NUMBER.fullmatch(text) else None


def _one_by_one(unparsed: pl.Series, cells: pl.Series, parse: Callable[[str], Any]) -> pl.Series:
    """What `parse` makes of each of `unparsed` texts, in the places of `cells`; null elsewhere."""
    import polars as pl

    parsed = {text: parse(text) for text in unparsed.drop_nulls().unique().to_list()}
    parsed = {text: value for text, value in parsed.items() if value is not None}
    kind = pl.Float64 if parse is as_float else pl.Int64
    if not parsed:
        return pl.Series([None] * len(cells), dtype=kind)
    return cells.replace_strict(
        list(parsed), list(parsed.values()), default=None, return_dtype=kind
    )


def seconds(cells: pl.Series, dates: str = "iso") -> NDArray[np.int64]:
    """Seconds since 1970 from numbers, dates or text in the order that was declared."""
    import polars as pl

    kind = cells.dtype
    if kind == pl.Date or isinstance(kind, pl.Datetime):
        numbers = cells.cast(pl.Datetime("us")).dt.epoch("s")
    elif kind.is_float():
        numbers = cells.floor().cast(pl.Int64, strict=False)
    elif kind == pl.String:
        numbers = from_text(cells, dates)
    elif kind.is_integer():
        numbers = cells.cast(pl.Int64, strict=False)
    else:
        raise Fault(0, "time")
    wrong = numbers.is_null() | (numbers > LATEST)
    if wrong.any():
        raise Fault(int(wrong.arg_max() or 0), "time")
    return numbers.to_numpy().astype(np.int64, copy=False)


def from_text(cells: pl.Series, dates: str = "iso") -> pl.Series:
    """Seconds since 1970 of texts, each by itself; null where one is no time. `iso`: seconds,
    or a moment of ISO 8601; else days or months come first."""
    import polars as pl

    if dates != "iso":
        return _moments(_turned(cells, dates))
    numbers = cells.cast(pl.Int64, strict=False)
    if numbers.null_count():
        numbers = numbers.fill_null(
            cells.cast(pl.Float64, strict=False).floor().cast(pl.Int64, strict=False)
        )
    if numbers.null_count():
        numbers = numbers.fill_null(_moments(cells))
    if numbers.null_count():
        numbers = numbers.fill_null(_one_by_one(cells.filter(numbers.is_null()), cells, in_iso))
    return numbers


DAY = r"[1-9]\d{3}-\d\d-\d\d"
CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d"
TURNED = (
    r"^(\d{1,2})[./-](\d{1,2})[./-]([1-9]\d{3})"
    r"(?:[ T]+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?$"
)
"""A date in which the year comes last, with or without a time of the day."""


def _moments(cells: pl.Series) -> pl.Series:
    """Seconds of the two plainest forms of a date; null for any other text. polars reads more
    than these, but not always the same."""
    import polars as pl

    days = cells.set(~cells.str.contains(f"^{DAY}$"), None)
    numbers = days.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")).dt.epoch("s")
    if numbers.null_count():
        clocks = cells.set(~cells.str.contains(f"^{DAY} {CLOCK}$"), None)
        moments = clocks.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="us")
        numbers = numbers.fill_null(moments.dt.epoch("s"))
    return numbers


def _turned(cells: pl.Series, dates: str) -> pl.Series:
    """Dates with the year behind, as `year-month-day hour:minute:second`; null for any other."""
    day, month = (1, 2) if dates == "dmy" else (2, 1)
    parts = [cells.str.extract(TURNED, k) for k in range(1, 7)]
    clock = [part.fill_null("00").str.zfill(2) for part in parts[3:]]
    date = parts[2] + "-" + parts[month - 1].str.zfill(2) + "-" + parts[day - 1].str.zfill(2)
    return date + " " + clock[0] + ":" + clock[1] + ":" + clock[2]


def in_iso(text: str) -> int | None:
    """Seconds of a moment of ISO 8601; a text without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() // 1)
    except (ValueError, OverflowError):
        return None


def iso_seconds(text: str) -> int | None:
    """Seconds of a moment of ISO 8601, or of a day with dots as one person writes it in her
    own file."""
    timestamp = in_iso(text)
    if timestamp is None:
        try:
            timestamp = int(datetime.strptime(text, "%d.%m.%Y").replace(tzinfo=UTC).timestamp())
        except ValueError:
            return None
    return timestamp
