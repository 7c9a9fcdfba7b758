"""Rows of text with a delimiter: polars for most files, a byte parser over two threads for
large plain ones.

Guarantee: a row is a line, and a block of lines is read as each of its lines is read alone
(`tacit.data.reading.dialect.fields_of`). polars reads quotation marks across line ends, so a
block goes there only where every line closes its own.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedReader
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.reading.cells import Fault
from tacit.data.reading.columns import Roles
from tacit.data.reading.dialect import (
    AROUND,
    BLANKS,
    MARK,
    QUOTES,
    UNIT,
    Dialect,
    Misquoted,
    check_text,
    fields_of,
    misquoted,
    plain_ends,
)
from tacit.data.reading.faults import cell_fault
from tacit.data.reading.files import LINE_END, Stream, count_lines, text_chunks
from tacit.data.reading.table import Table
from tacit.errors import DataError, format_location

if TYPE_CHECKING:
    import polars as pl

PATIENCE = 3
"""Blocks after the first that polars has read before the byte parser would have loaded."""
NEWLINE, QUOTE = 10, 34
BEGINS = re.compile(rb"(?m)^" + MARK.encode() + rb"(?=[ \t]*[^ \t\n])")
"""A mark of byte order that begins a line which holds more."""


def read_delimited(part: Stream, dialect: Dialect, roles: Roles, skip: int, table: Table) -> None:
    """All rows of one file after its first `skip` lines (the header) into the table."""
    reader = _Reader(part.label, dialect, roles, table)
    with part.open() as stream:
        line = 1 + skip
        for data, parsed in _blocks(stream, part.label, skip, reader):
            if parsed is not None and reader.add_parsed(parsed, line):
                line += parsed[0].size
            else:
                reader.add(data, line)
                line += count_lines(data)


def _blocks(
    stream: BufferedReader, label: str, skip: int, reader: _Reader
) -> Iterator[tuple[bytes, Any]]:
    """Blocks of lines, each with what the byte parser made of it (None: nothing)."""
    chunks = text_chunks(stream, label)
    first_chunk = next(chunks, b"")
    if reader.dialect.encoding == "utf-8":
        first_chunk = first_chunk.removeprefix(b"\xef\xbb\xbf")
    yield drop_lines(first_chunk, skip), None
    for data in islice(chunks, PATIENCE) if reader.is_plain() else chunks:
        yield data, None
    waiting: deque[tuple[bytes, Future[Any]]] = deque()
    with ThreadPoolExecutor(2) as pool:
        for data in chunks:
            waiting.append((data, pool.submit(_parse, data, reader.dialect, reader.roles)))
            if len(waiting) > 3:
                ready, future = waiting.popleft()
                yield ready, future.result()
        while waiting:
            ready, future = waiting.popleft()
            yield ready, future.result()


def _parse(data: bytes, dialect: Dialect, roles: Roles) -> Any:
    from tacit.kernels.parse import rows  # compiled on first use

    if not data.isascii() or (len(dialect.delimiter) > 1 and UNIT.encode() in data):
        return None  # the other way checks the encoding, and refuses the character
    kinds = np.zeros(dialect.width, np.int8)
    for kind, role in enumerate(("user", "item", "rating", "time"), start=1):
        if role in roles.used():
            kinds[roles.used()[role]] = kind
    return rows(data, dialect.delimiter, kinds)


def drop_lines(data: bytes, count: int) -> bytes:
    """Without its first lines, whatever ends them."""
    for _ in range(count):
        line_end = LINE_END.search(data)
        data = data[line_end.end() :] if line_end else b""
    return data


def closed(data: bytes, mark: str) -> bool:
    """Whether every quoted field begins and ends at a delimiter or a line end, in one line."""
    view = np.frombuffer(data, np.uint8)
    quotes = view == QUOTE
    ends = view == NEWLINE
    inside = (np.cumsum(quotes, dtype=np.uint8) & 1).view(np.bool_)  # a mark that opens is inside
    if inside[-1] or (inside & ends).any():
        return False
    ordinary = ~(quotes | ends | (view == ord(mark)))
    opens, closes = quotes & inside, quotes & ~inside
    return not ((opens[1:] & ordinary[:-1]).any() or (closes[:-1] & ordinary[1:]).any())


class BlockReader:
    """Blocks of lines to columns of cells."""

    def __init__(self, label: str, dialect: Dialect, roles: Roles) -> None:
        self.label = label
        self.dialect = dialect
        self.roles = roles

    @property
    def mark(self) -> str:
        """What divides fields in a readable block."""
        return self.dialect.delimiter if self.dialect.quoted else UNIT

    def readable(self, data: bytes, line: int) -> bytes:
        """UTF-8 with plain line ends, a delimiter of one byte, and quotes that are closed."""
        check_text(data, self.label, line, self.dialect.encoding)
        if self.dialect.encoding != "utf-8":
            data = data.decode(self.dialect.encoding).encode()
        data = plain_ends(data)
        if MARK.encode() in data:  # polars drops it where a block begins, and nowhere else
            data = BEGINS.sub(b"", data)
        if self.dialect.quoted:
            if b'"' in data and not closed(data, self.mark):
                return self.closing(data, line)
            return data
        if UNIT.encode() in data:
            lines_before = data[: data.index(UNIT.encode())].count(b"\n")
            raise DataError(
                "a control character",
                place=format_location(self.label, line + lines_before),
                remedy="correct or remove the line",
            )
        if self.dialect.delimiter == BLANKS:
            data = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", data)
            return re.sub(rb"[ \t]+", UNIT.encode(), data)
        if self.dialect.delimiter == QUOTES:
            data = re.sub(rb'(?m)^"|"$', b"", data)
        return data.replace(self.dialect.delimiter.encode(), UNIT.encode())

    def closing(self, data: bytes, line: int) -> bytes:
        """The same rows, with every mark inside of a field doubled in a closed pair; refused
        where a line ends inside of its quotes."""
        lines = data.split(b"\n")
        for number, row in enumerate(lines):
            if b'"' in row:
                buffer = io.StringIO()
                fields = self.fields(row.decode(), line + number)
                csv.writer(buffer, delimiter=self.mark, lineterminator="").writerow(fields)
                lines[number] = buffer.getvalue().encode()
        return b"\n".join(lines)

    def fields(self, text: str, line: int) -> list[str]:
        """The fields of a readable line."""
        try:
            return fields_of(text, self.mark)
        except Misquoted as error:
            raise misquoted(self.label, line, error) from None

    def columns(self, data: bytes, line: int) -> dict[str, pl.Series]:
        import polars as pl

        used = self.roles.used()
        names = [f"column_{k + 1}" for k in range(self.dialect.width)]
        try:
            frame = pl.read_csv(
                io.BytesIO(data),
                has_header=False,
                schema=dict.fromkeys(names, pl.String),
                separator=self.mark,  # all columns: of some it would pass over what is too much
                quote_char='"' if self.dialect.quoted and b'"' in data else None,
            )
            cells = {role: frame.get_column(names[k]) for role, k in used.items()}
        except pl.exceptions.PolarsError:
            cells = self.slow_columns(data, line)
        if b" " in data or b"\t" in data:
            cells = {role: column.str.strip_chars(AROUND) for role, column in cells.items()}
        return cells

    def slow_columns(self, data: bytes, line: int) -> dict[str, pl.Series]:
        """The same, line by line, where some line has too many fields."""
        import polars as pl

        columns: dict[str, list[str | None]] = {role: [] for role in self.roles.used()}
        for number, text in enumerate(rows_of(data), start=line):
            fields = self.fields(text, number)
            if any(fields[self.dialect.width :]):
                raise DataError(
                    f"too many fields: {len(fields)} instead of {self.dialect.width}",
                    place=format_location(self.label, number),
                    remedy=self._fewer(),
                )
            for role, position in self.roles.used().items():
                columns[role].append(fields[position] if position < len(fields) else None)
        return {role: pl.Series(role, cells, pl.String) for role, cells in columns.items()}

    def _fewer(self) -> str:
        """What to do about a row of too many fields."""
        mark = self.dialect.delimiter
        remedy = f"put quotes around fields that hold the delimiter ({mark})"
        return f"{remedy}; write decimals with a point" if mark == "," else remedy


class _Reader(BlockReader):
    """Blocks of lines to rows of a table."""

    def __init__(self, label: str, dialect: Dialect, roles: Roles, table: Table) -> None:
        super().__init__(label, dialect, roles)
        self.table = table

    def is_plain(self) -> bool:
        """Whether the byte parser reads what is declared here."""
        table, mark = self.table, self.dialect.delimiter
        if table.decimal != "." or (table.dates != "iso" and self.roles.time is not None):
            return False
        return mark not in (BLANKS, QUOTES)

    def add_parsed(self, parsed: Any, line: int) -> bool:
        rows = len(parsed[0])
        lines = np.arange(line, line + rows) if self.table.keep_lines else None
        try:
            self.table.add_numbers(parsed[0], parsed[1], parsed[2], parsed[3], lines)
        except Fault:
            return False  # the slow path names the line
        return True

    def add(self, data: bytes, line: int) -> None:
        """A block through polars; a bad row is looked up again to name its line."""
        readable = self.readable(data, line)
        text = readable.lstrip(b"\n")  # polars stumbles over blank lines at the start
        line += len(readable) - len(text)
        if not text.strip():
            return
        columns = self.columns(text, line)
        rows = self.filled(columns, text, line)
        if rows is not None:
            columns = {role: cells.gather(rows) for role, cells in columns.items()}
        lines = None
        if self.table.keep_lines:
            lines = line + (np.arange(len(columns["user"])) if rows is None else rows)
        try:
            self.table.add(
                columns["user"], columns["item"], columns.get("rating"), columns.get("time"), lines
            )
        except Fault as fault:
            row = fault.row if rows is None else int(rows[fault.row])
            raise self.explain(text, line, row, fault.role) from None

    def filled(
        self, columns: dict[str, pl.Series], data: bytes, line: int
    ) -> NDArray[np.int64] | None:
        """The rows that are not blank lines; None for all of them."""
        import polars as pl

        empty = np.ones(len(columns["user"]), np.bool_)
        for cells in columns.values():
            if not cells.null_count() and not (cells == "").any():
                return None
            empty &= cells.is_null().to_numpy() | cells.eq_missing(pl.Series([""])).to_numpy()
        if not empty.any():
            return None
        texts = data.split(b"\n")
        for row in np.flatnonzero(empty):
            if texts[int(row)].strip(AROUND.encode()):
                raise self.explain(data, line, int(row), "user")
        return np.flatnonzero(~empty)

    def explain(self, data: bytes, line: int, row: int, role: str) -> DataError:
        """The error for the cell of `role` in the row of that number, read again the slow way."""
        fields = self.fields(rows_of(data)[row], line + row)
        table = self.table
        return cell_fault(
            self.label,
            line + row,
            fields,
            self.roles,
            role,
            self.dialect.width,
            table,
        )


def rows_of(data: bytes) -> list[str]:
    """The lines of a readable block; behind its last line end is none."""
    return data.decode().removesuffix("\n").split("\n")
