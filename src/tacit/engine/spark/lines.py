"""On executors: lines of text become rows of cells, by the rules of one machine.

Guarantee: a row is a function of its line and of the header (`tacit.data.reading.dialect`). A
line that equals the header line is a header again: each file of a folder begins with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tacit.data.reading.columns import Roles
from tacit.data.reading.delimited import BlockReader
from tacit.data.reading.dialect import Dialect
from tacit.engine.spark.code import FAULT
from tacit.errors import DataError
from tacit.repr import shapes

UNREAD, NO_TEXT = -9, -10
"""Marks of `tacit.engine.spark.code` for a line that cannot be read."""
COLUMNS = {"user": "user", "item": "item", "rating": "value", "time": "time"}


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
