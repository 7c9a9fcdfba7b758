"""Rows that are too many for memory: columns in scratch files, sorted by person in buckets.

1. Blocks are appended to one scratch file for each column as they come.
2. When all ids are known, rows go into buckets, each of some people one after the other and
   of about so many rows as may be sorted at once.
3. Each bucket is sorted, its repeats are merged, and it is written to the pack.

Scratch files have no name and mode 0600: whatever ends the process, they are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from tacit.data.packed.bare import BareFile
from tacit.data.packed.store import refused
from tacit.data.reading.cells import Codes, Number

PIECE = 1 << 22
"""Rows that are handled at a time."""


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

    def each(self) -> Iterator[tuple[int, int, NDArray[Any]]]:
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
