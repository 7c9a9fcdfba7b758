"""What does not fit into memory while a fit runs: a scratch file beside the packed ratings.

It has no name and mode 0600: it is gone when the run ends, whatever ends it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.packed.bare import BareFile
from tacit.errors import StorageError, reason
from tacit.repr import shapes


class Scratch:
    """A file of bytes that several threads write and read at their own places."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self._file = BareFile.scratch(folder)
        except OSError as error:
            raise self._full(error) from None

    __repr__ = shapes

    def _full(self, error: OSError) -> StorageError:
        return StorageError(
            f"what does not fit into memory cannot be written to {self.folder}: {reason(error)}",
            remedy="make room there, or raise --memory",
        )

    def write(self, data: NDArray[Any], offset: int) -> None:
        """Write an array at a byte offset; a full disk becomes an error with a remedy."""
        if not data.size:
            return
        try:
            self._file.write(np.ascontiguousarray(data).data, offset)
        except OSError as error:
            raise self._full(error) from None

    def read(self, out: NDArray[Any], offset: int) -> None:
        """Fill an array from somewhere; what was never written is zeros."""
        if out.size:
            flat = out.data.cast("B")
            bytes_read = self._file.read(flat, offset)
            flat[bytes_read:] = bytes(len(flat) - bytes_read)

    def close(self) -> None:
        """Close the file; it is unnamed, so its space is free again."""
        self._file.close()


class RetainedRows:
    """Personal state on disk: rows of people, read and written like those of an array."""

    def __init__(self, folder: Path, width: int) -> None:
        self._scratch = Scratch(folder)
        self.width = width

    __repr__ = shapes

    def __getitem__(self, people: Any) -> NDArray[np.float64]:
        """Rows of some people: a slice of them, or their places in ascending order."""
        if isinstance(people, slice):
            return self._run(people.start, people.stop)
        if not len(people):
            return np.empty((0, self.width))
        return np.concatenate([self._run(int(run[0]), int(run[-1]) + 1) for run in runs(people)])

    def __setitem__(self, people: Any, rows: NDArray[np.float64]) -> None:
        row = 0
        for run in runs(people):
            part = rows[row : row + len(run)]
            self._scratch.write(part, int(run[0]) * self.width * 8)
            row += len(run)

    def _run(self, first: int, last: int) -> NDArray[np.float64]:
        out = np.empty((last - first, self.width))
        self._scratch.read(out, first * self.width * 8)
        return out


def runs(people: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Ascending places, cut where one is left out."""
    if not len(people):
        return []
    if int(people[-1]) - int(people[0]) + 1 == len(people):
        return [people]
    return np.split(people, np.flatnonzero(np.diff(people) != 1) + 1)
