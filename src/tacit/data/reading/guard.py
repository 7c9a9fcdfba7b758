"""The one place where what other people's readers throw becomes an error of ours.

zip, gzip, tar, polars and the rest meet files that were damaged, or made to hurt. Each raises
its own kinds, polars even a panic of Rust that no `except Exception` sees. And each unpacks
whatever a few bytes ask for, so what comes out of an archive is counted.

Guarantee: a stream of `unpacked` gives at most `most_unpacked` bytes; whatever happens inside of
`third_party` ends in its result or in a DataError that names the file and quotes no cell.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import struct
import sys
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tacit.errors import DataError, TacitError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BROKEN = (
    EOFError,
    LookupError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What readers of archives raise on damaged ones, and on those with a password."""
AT_MOST = 30
"""Times that a file may grow when it is unpacked: tables of ratings grow 3 to 20 times, a bomb
a thousand times. Ratings need twice the room of their text in memory."""
AT_LEAST = 1 << 26
"""Bytes that any file may unpack to."""
PANIC = "PanicException"
"""Of polars: a BaseException that it does not export."""


class Damaged(DataError):
    """A compressed file that is damaged, or asks for too much."""


def most_unpacked(packed: int) -> int:
    """Bytes that may come out of a file of this size."""
    return max(AT_LEAST, AT_MOST * packed)


def open_regular(path: str | Path) -> IO[bytes]:
    """A file of bytes; a pipe, a socket or a device is refused, not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
    for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY"):
        flags |= getattr(os, flag, 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError:  # a null character
        raise FileNotFoundError from None
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise not_a_file(str(path), mode)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def not_a_file(label: str, mode: int) -> DataError:
    """The error for what can be opened and is no file."""
    kind = "a device"
    if stat.S_ISFIFO(mode):
        kind = "a pipe"
    elif stat.S_ISDIR(mode):
        kind = "a folder"
    return DataError(
        f"{kind} cannot be read here",
        place=label,
        remedy="save the data to a file and name that file",
    )


@contextmanager
def guarded(label: str) -> Iterator[None]:
    """Faults of the file system, told as DataErrors that name the file."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("no such file or folder", place=label, remedy="check the path") from None
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise DataError(
            f"cannot be read: {reason}", place=label, remedy="check the path and its permissions"
        ) from None


@contextmanager
def unpacking(label: str) -> Iterator[None]:
    """Faults of an archive or of a compressed file."""
    try:
        yield
    except TacitError:
        raise
    except BROKEN as error:
        if "password" in str(error) or "encrypted" in str(error):
            raise Damaged(
                "it is locked with a password", place=label, remedy="unpack it and name the file"
            ) from None
        raise Damaged(
            "the compressed file is damaged or cut short",
            place=label,
            remedy="copy or download it again",
        ) from None


class CountedStream(io.RawIOBase):
    """What comes out of a compressed stream, counted."""

    def __init__(self, stream: IO[bytes], label: str, limit: int) -> None:
        self.stream = stream
        self.label = label
        self.left = limit

    def readable(self) -> bool:
        """It is read and never written."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Some bytes more; an error where there are more than may be."""
        view = memoryview(buffer).cast("B")
        with unpacking(self.label):
            data = self.stream.read(len(view))
        self.left -= len(data)
        if self.left < 0:
            raise Damaged(
                "it unpacks to much more than a table of this size would",
                place=self.label,
                remedy="unpack it yourself, look at it, and name the file",
            )
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """The stream below goes with it."""
        if not self.closed:
            self.stream.close()
        super().close()


def unpacked(stream: IO[bytes], label: str, packed: int) -> io.BufferedReader:
    """A stream of what comes out of a file that has `packed` bytes."""
    limit = most_unpacked(packed)
    return io.BufferedReader(CountedStream(stream, label, limit), 1 << 16)


@contextmanager
def third_party(label: str) -> Iterator[None]:
    """Around a whole reading: what polars raises, its panics among them. A small text is read
    without polars, which takes longer to load than the rest."""
    try:
        yield
    except RecursionError:
        raise unreadable(label) from None
    except BaseException as error:
        if type(error).__name__ == PANIC or _is_polars(error):
            raise unreadable(label) from None
        raise


def _is_polars(error: BaseException) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(error, polars.exceptions.PolarsError)


def unreadable(label: str) -> DataError:
    """The error for a table that no reader can make sense of."""
    return DataError("it cannot be read as a table", place=label, remedy="write or copy it again")


@contextmanager
def without_panics() -> Iterator[None]:
    """Rust writes a panic to the terminal before anybody can catch it. Where this program has
    one thread, so that nobody else has something to say, that is held back."""
    if threading.active_count() > 1:
        yield
        return
    try:
        saved_stderr = os.dup(2)
    except OSError:  # there is no terminal
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved_stderr, 2)
        os.close(saved_stderr)
        os.close(nowhere)
