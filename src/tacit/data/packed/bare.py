"""Open files by their number alone: several threads read and write at their own places, and
the file is closed with what holds it."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

from tacit.repr import shapes

MOST = 1 << 30
"""Bytes that the system moves at once."""


class BareFile:
    """A file that is read and written by place."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._close = weakref.finalize(self, os.close, number)

    __repr__ = shapes

    @classmethod
    def reading(cls, path: Path) -> BareFile:
        """An existing file."""
        return cls(os.open(path, os.O_RDONLY))

    @classmethod
    def scratch(cls, folder: Path) -> BareFile:
        """A new file without a name, mode 0600: gone when it is closed, whatever closes it."""
        with tempfile.TemporaryFile(dir=folder) as file:
            return cls(os.dup(file.fileno()))

    def size(self) -> int:
        """In bytes."""
        return os.fstat(self.number).st_size

    def write(self, data: Any, offset: int) -> None:
        """Put the bytes of an array somewhere."""
        remaining = memoryview(data).cast("B")
        while remaining:
            bytes_written = os.pwrite(self.number, remaining[:MOST], offset)
            remaining = remaining[bytes_written:]
            offset += bytes_written

    def read(self, out: Any, offset: int) -> int:
        """Fill an array from somewhere; how many bytes were there."""
        remaining = memoryview(out).cast("B")
        total = len(remaining)
        while remaining:
            count = os.preadv(self.number, [remaining[:MOST]], offset)
            if not count:
                break
            remaining = remaining[count:]
            offset += count
        return total - len(remaining)

    def close(self) -> None:
        """Let it go."""
        self._close()
