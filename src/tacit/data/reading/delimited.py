"""Rows of text with a delimiter: polars for most files, a byte parser over two threads for
large plain ones."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.reading.cells import Fault
from tacit.data.reading.columns import Roles
from tacit.data.reading.dialect import (
    BLANKS,
    QUOTES,
    UNIT,
    Dialect,
    check_text,
    plain_ends,
    records,
)
from tacit.data.reading.faults import cell_fault
from tacit.data.reading.files import Stream, count_lines, text_chunks
from tacit.data.reading.table import Table
from tacit.errors import DataError, place

if TYPE_CHECKING:
    import polars as pl

PATIENCE = 3
"""Blocks after the first that polars has read before the byte parser would have loaded."""


def read_delimited(part: Stream, dialect: Dialect, roles: Roles, skip: int, table: Table) -> None:
    """All rows of one file after its first `skip` lines (the header) into the table."""
    reader = _Reader(part.label, dialect, roles, table)
    with part.open() as stream:
        line = 1 + skip
        for data, parsed in _blocks(stream, part.label, skip, dialect, roles):
            if parsed is not None and reader.add_parsed(parsed, line):
                line += parsed[0].size
            else:
                reader.add(data, line)
                line += count_lines(data)


def _blocks(
    stream: IO[bytes], label: str, skip: int, dialect: Dialect, roles: Roles
) -> Iterator[tuple[bytes, Any]]:
    """Blocks of lines, each with what the byte parser made of it (None: nothing)."""
    chunks = text_chunks(stream, label)
    first = next(chunks, b"")
    yield drop_lines(first.removeprefix(b"\xef\xbb\xbf"), skip), None
    plain = dialect.delimiter not in (BLANKS, QUOTES)
    for data in chunks if not plain else islice(chunks, PATIENCE):
        yield data, None
    waiting: deque[tuple[bytes, Future[Any]]] = deque()
    with ThreadPoolExecutor(2) as pool:
        for data in chunks:
            waiting.append((data, pool.submit(_parse, data, dialect, roles)))
            if len(waiting) > 3:
                ready, future = waiting.popleft()
                yield ready, future.result()
        while waiting:
            ready, future = waiting.popleft()
            yield ready, future.result()


def _parse(data: bytes, dialect: Dialect, roles: Roles) -> Any:
    from tacit.data.reading.kernels import rows  # compiled on first use

    kinds = np.zeros(dialect.width, np.int8)
    for kind, role in enumerate(("user", "item", "rating", "time"), start=1):
        if role in roles.used():
            kinds[roles.used()[role]] = kind
    return rows(data, dialect.delimiter, kinds)


def drop_lines(data: bytes, count: int) -> bytes:
    """Without its first lines, whatever ends them."""
    for _ in range(count):
        found = re.search(rb"\r\n|\r|\n", data)
        data = data[found.end() :] if found else b""
    return data


class _Reader:
    def __init__(self, label: str, dialect: Dialect, roles: Roles, table: Table) -> None:
        self.label = label
        self.dialect = dialect
        self.roles = roles
        self.table = table

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
            lines = self.lines(text, line, rows, len(columns["user"]))
        try:
            self.table.add(
                columns["user"], columns["item"], columns.get("rating"), columns.get("time"), lines
            )
        except Fault as fault:
            row = fault.row if rows is None else int(rows[fault.row])
            raise self.explain(text, line, row, fault.role) from None

    def readable(self, data: bytes, line: int) -> bytes:
        """UTF-8 with plain line ends and a delimiter of one byte."""
        if self.dialect.encoding != "utf-8":
            data = data.decode(self.dialect.encoding).encode()
        else:
            check_text(data, self.label, line)
        data = plain_ends(data)
        if self.dialect.delimiter == BLANKS:
            data = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", data)
            return re.sub(rb"[ \t]+", UNIT.encode(), data)
        if self.dialect.delimiter == QUOTES:
            data = re.sub(rb'(?m)^"|"$', b"", data)
        if len(self.dialect.delimiter) > 1:
            return data.replace(self.dialect.delimiter.encode(), UNIT.encode())
        return data

    def columns(self, data: bytes, line: int) -> dict[str, pl.Series]:
        import polars as pl

        used = self.roles.used()
        names = [f"column_{k + 1}" for k in range(self.dialect.width)]
        mark = self.dialect.delimiter if self.dialect.quoted else UNIT
        try:
            frame = pl.read_csv(
                io.BytesIO(data),
                has_header=False,
                schema=dict.fromkeys(names, pl.String),
                columns=[names[k] for k in sorted(used.values())],
                separator=mark,
                quote_char='"' if self.dialect.quoted else None,
            )
            cells = {role: frame.get_column(names[k]) for role, k in used.items()}
        except pl.exceptions.PolarsError:
            cells = self.slow_columns(data, line)
        if b" " in data or b"\t" in data:
            cells = {role: column.str.strip_chars() for role, column in cells.items()}
        return cells

    def slow_columns(self, data: bytes, line: int) -> dict[str, pl.Series]:
        """The same, row by row: for rows of too many fields, and for stray quotes, which
        Python's csv forgives."""
        import polars as pl

        found: dict[str, list[str | None]] = {role: [] for role in self.roles.used()}
        for number, fields in self.records(data, line):
            if any(fields[self.dialect.width :]):
                raise DataError(
                    f"too many fields: {len(fields)} instead of {self.dialect.width}",
                    place=place(self.label, number),
                    remedy=self._fewer(),
                )
            for role, position in self.roles.used().items():
                found[role].append(fields[position] if position < len(fields) else None)
        return {role: pl.Series(role, cells, pl.String) for role, cells in found.items()}

    def _fewer(self) -> str:
        """What to do about a row of too many fields."""
        mark = self.dialect.delimiter
        told = f"put quotes around fields that hold the delimiter ({mark})"
        return f"{told}; write decimals with a point" if mark == "," else told

    def records(self, data: bytes, line: int) -> Iterator[tuple[int, list[str]]]:
        """Rows by Python's csv. A field of more than 128 KB is beyond it: most often a
        quote that is never closed."""
        plain = Dialect(UNIT, self.dialect.width) if not self.dialect.quoted else self.dialect
        number = line
        try:
            for number, fields in records(data.decode(), plain, line):
                yield number, fields
        except csv.Error:
            message, remedy = (
                "a field in or after this line is too long",
                "close its quotes, or leave that column out",
            )
            raise DataError(message, place=place(self.label, number), remedy=remedy) from None

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
        blank = {
            row
            for row, (_, fields) in enumerate(self.records(data, line))
            if len(fields) < 2 and not any(fields)
        }
        for row in np.flatnonzero(empty):
            if int(row) not in blank:
                raise self.explain(data, line, int(row), "user")
        return np.flatnonzero(~empty)

    def lines(
        self, data: bytes, line: int, rows: NDArray[np.int64] | None, count: int
    ) -> NDArray[np.int64]:
        """The line of each of `count` rows, or of these rows."""
        numbers = np.array([number for number, _ in self.records(data, line)], np.int64)
        if rows is not None:
            return numbers[rows]
        return numbers[:count]  # a last line end is followed by no row

    def explain(self, data: bytes, line: int, row: int, role: str) -> DataError:
        """The error for the cell of `role` in the row of that number, read again the slow way."""
        number, fields = next(
            (found for k, found in enumerate(self.records(data, line)) if k == row),
            (line + row, []),
        )
        return cell_fault(
            self.label, number, fields, self.roles, role, self.dialect.width, self.table.schema
        )
