"""Small tables (a catalogue, one person's ratings) as columns of text with the line of each row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.data.reading.columns import plain
from tacit.data.reading.dialect import (
    USUAL,
    Dialect,
    Misquoted,
    decode,
    delimiter_of,
    fields_of,
    is_blank,
    is_number,
    misquoted,
    records,
    sniff,
)
from tacit.data.reading.files import Stream, spreadsheet
from tacit.data.reading.frames import to_polars
from tacit.data.reading.parquet import read_parquet
from tacit.errors import DataError, format_location
from tacit.repr import shapes

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Size:
    """How large a small table may be."""

    what: str
    """Of what, in words."""
    most: int
    """Bytes."""

    @property
    def cells(self) -> int:
        """A cell of two letters needs thirty times its room in memory, a line as much as
        three of them."""
        return self.most // 9


CATALOGUE = Size("a catalogue", 1 << 26)
"""A million items, more or less."""
LINE = 3
"""Cells that a line counts for."""
SNIFFED = 1 << 20
"""Letters that the dialect is told by."""
OWN = Size("one person's own file", 1 << 23)


@dataclass(frozen=True)
class SmallTable:
    """A small table: its name, its header and its rows."""

    label: str
    header: list[str] | None
    rows: list[tuple[int, list[str]]]
    """Line (or row of a frame) and cells; an absent cell is empty text."""
    unit: str = "line"

    __repr__ = shapes

    def locate(self, line: int, column: str | int | None = None) -> str:
        """The place of a cell, for an error."""
        if self.unit == "line":
            return format_location(self.label, line, column)
        return f"{self.label}, {self.unit} {line}" + (
            f", column {column}" if column is not None else ""
        )

    @property
    def width(self) -> int:
        """The number of columns."""
        return (
            len(self.header)
            if self.header is not None
            else max(len(cells) for _, cells in self.rows)
        )


def sheet_of(source: object) -> SmallTable:
    """A data frame as a sheet; lists of tags are joined by bars."""
    return _from_frame(to_polars(source), "the data frame", CATALOGUE)


def _from_frame(frame: pl.DataFrame, label: str, size: Size) -> SmallTable:
    frame = _select_readable(frame)
    cells = frame.height * (frame.width + LINE - 1)
    if cells > size.cells or _letters(frame) > size.most:
        raise DataError(
            f"this is too large for {size.what}",
            place=label,
            remedy="leave out columns that are not needed",
        )
    columns = [[_text(value) for value in frame.to_series(k).to_list()] for k in range(frame.width)]
    rows = [(line, list(cells)) for line, cells in enumerate(zip(*columns, strict=True), start=1)]
    if not rows:
        raise DataError(
            "there is no row in it", place=label, remedy="give at least one row of data"
        )
    return SmallTable(label, list(frame.columns), rows, "row")


def _select_readable(frame: pl.DataFrame) -> pl.DataFrame:
    """The columns that say something in words or numbers, or in lists of them."""
    import polars as pl

    def simple(kind: pl.DataType) -> bool:
        return not kind.is_nested() and kind not in (pl.Object, pl.Binary)

    def listed(kind: pl.DataType) -> bool:
        return isinstance(kind, pl.List) and simple(kind.inner)  # type: ignore[arg-type]

    kinds = frame.schema.items()
    return frame.select([name for name, kind in kinds if simple(kind) or listed(kind)])


def _letters(frame: pl.DataFrame) -> int:
    """Bytes of all texts, before they are made: one may stand for a million rows."""
    import polars as pl

    total = 0
    for column in frame.get_columns():
        if isinstance(column.dtype, pl.List):
            column = column.explode()
            total += 8 * len(column)
        if column.dtype == pl.String:
            total += int(column.str.len_bytes().sum() or 0)
    return total


def _text(value: object) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, list):
        return "|".join(map(str, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def read_sheet(
    part: Stream,
    dialect: Dialect | None = None,
    encoding: str | None = None,
    size: Size = CATALOGUE,
    *,
    by_line: bool = False,
) -> SmallTable:
    """A text or parquet file as a sheet. `encoding` None: UTF-8, or an error that names the
    line. `by_line`: a row is one line, and the first line shows the delimiter: for what is not
    public."""
    data = part.read_all(size.most, size.what)
    if data[:4] == b"\xd0\xcf\x11\xe0":
        raise spreadsheet(part.label)
    if data[:4] == b"PAR1":
        return _from_frame(read_parquet(part), part.label, size)
    text = decode(data, part.label, encoding or "utf-8")
    text_dialect = dialect or (by_first_line(text) if by_line else sniff(text[:SNIFFED]))
    if text_dialect is None:
        raise DataError(
            "the file is empty",
            place=part.label,
            remedy="give a file with at least one row of data",
        )
    count = text.count(text_dialect.delimiter) + LINE * text.count("\n")
    if count > size.cells:
        raise DataError(
            f"this is too large for {size.what}: it has more than {size.cells:,} cells",
            place=part.label,
            remedy="leave out columns that are not needed",
        )
    rows = []
    try:
        every = (
            line_by_line(text, text_dialect, part.label) if by_line else records(text, text_dialect)
        )
        for line, fields in every:
            if any(fields):
                rows.append((line, fields))
    except csv.Error:
        location = format_location(part.label, rows[-1][0] + 1 if rows else 1)
        raise DataError(
            "a row cannot be split into fields", place=location, remedy="check its quotes"
        ) from None
    if not rows:
        raise DataError(
            "the file is empty",
            place=part.label,
            remedy="give a file with at least one row of data",
        )
    return SmallTable(part.label, None, rows)


def by_first_line(text: str) -> Dialect | None:
    """The dialect of a table whose rows are nobody else's business."""
    first_line = next((line for line in text.split("\n") if not is_blank(line)), None)
    if first_line is None:
        return None
    marked = any(mark in first_line for mark in USUAL)
    mark = delimiter_of(first_line) if marked else ","
    return Dialect(mark, len(first_line.split(mark)))


def line_by_line(text: str, dialect: Dialect, label: str) -> Iterator[tuple[int, list[str]]]:
    """Each line's number and fields."""
    for line, line_text in enumerate(text.split("\n"), start=1):
        try:
            yield line, [] if is_blank(line_text) else fields_of(line_text, dialect.delimiter)
        except Misquoted as error:
            raise misquoted(label, line, error) from None


def with_header(sheet: SmallTable, known_names: set[str]) -> SmallTable:
    """The first row taken as the header if it has a known name and no number. For catalogues
    and one person's own file; ratings of many people declare their header."""
    first_cells = sheet.rows[0][1]
    named = any(plain(cell) in known_names for cell in first_cells) and not any(
        map(is_number, first_cells)
    )
    if sheet.header is not None or not named:
        return sheet
    if len(sheet.rows) == 1:
        raise DataError(
            "the file has a header and no row of data",
            place=sheet.label,
            remedy="give at least one row of data",
        )
    return SmallTable(sheet.label, sheet.rows[0][1], sheet.rows[1:])


def text_of(part: Stream) -> str:
    """The first text of a file, for telling layouts apart."""
    return part.head(4096).removeprefix(b"\xef\xbb\xbf").decode("latin-1")


def encoding_of(part: Stream) -> str:
    """UTF-8 if it is; else Latin-1, in which the older data sets are written."""
    data = part.read_all(CATALOGUE.most, CATALOGUE.what)
    try:
        data.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def is_path(source: object) -> bool:
    """Whether a source names a file."""
    return isinstance(source, str | Path)
