"""The packed file: one record a rating, people one after the other.

    magic | records | ratings of each person | people's ids | item ids | header | its end

A record is an item's row (2 bytes, or 4 beyond 65,536 items), a value (1 byte that points into
a table of at most 256 values, or a float) and, where there are times, seconds. The header is
JSON and says what is where; it comes last, so a file is written in one pass. It is made without
a name (or under a name that is removed), readable by its owner alone, and gets its own name when
it is whole: whatever ends the writing, there is no half of one.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.data.packed.bare import BareFile
from tacit.data.packed.names import Names, Numbers, Texts
from tacit.errors import DataError, StorageError, reason
from tacit.repr import shapes

MAGIC = b"TACITPK1"
END = 8 + 4 + len(MAGIC)
"""Bytes of the end: length and checksum of the header, and the magic again."""
NARROW_ITEMS = 1 << 16
MOST_VALUES = 256
MOST_HEADER = 1 << 24
OWNER_ONLY = 0o600
UNNAMED = getattr(os, "O_TMPFILE", None)
"""Asks for a file without a name; not all systems have them."""
FAR = (1 << 32) - 1
"""Seconds that 4 bytes hold, counted from the first."""


class RecordShape(NamedTuple):
    """How the records of a file are written."""

    items: int
    values: tuple[float, ...] | None
    """The table of values; None where records hold them as floats."""
    times: tuple[int, int] | None
    """First and last second; None without times."""

    @property
    def wide(self) -> bool:
        """Whether times need 8 bytes."""
        return self.times is not None and self.times[1] - self.times[0] > FAR

    @property
    def record(self) -> np.dtype[Any]:
        """One rating."""
        fields = [("item", "<u2" if self.items <= NARROW_ITEMS else "<u4")]
        fields.append(("value", "<f4" if self.values is None else "u1"))
        if self.times is not None:
            fields.append(("time", "<i8" if self.wide else "<u4"))
        return np.dtype(fields)


class Numbered(NamedTuple):
    """Ratings as arrays, one entry a cell."""

    item: NDArray[np.uint32]
    value: NDArray[np.float32]
    time: NDArray[np.int64] | None

    def __repr__(self) -> str:
        return shapes(self)


def encoded(shape: RecordShape, cells: Numbered) -> NDArray[Any]:
    """Cells as records."""
    records = np.empty(len(cells.item), shape.record)
    records["item"] = cells.item
    if shape.values is None:
        records["value"] = cells.value
    else:
        table = np.array(shape.values, np.float32)
        records["value"] = np.searchsorted(table, cells.value)
    if shape.times is not None:
        assert cells.time is not None
        records["time"] = cells.time - (0 if shape.wide else shape.times[0])
    return records


class PackWriter:
    """Writes one file; whole when `finish` returns, and gone when it does not."""

    def __init__(self, target: Path, shape: RecordShape) -> None:
        self.target = target
        self.shape = shape
        self.staging: Path | None = None
        self.counts: list[NDArray[np.uint32]] = []
        self.cells = 0
        with refused(target):
            self.file = BareFile(self._open())
        self.end = 0
        try:
            with refused(target):
                self._write(MAGIC)
        except BaseException:
            self.close()
            raise

    def _open(self) -> int:
        """A file without a name where the system has such, else one that is removed."""
        folder = self.target.parent
        if UNNAMED is not None:
            with suppress(OSError):
                return os.open(folder, UNNAMED | os.O_RDWR, OWNER_ONLY)
        self.staging = folder / f".{self.target.name}.{os.getpid()}.part"
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
        return os.open(self.staging, flags, OWNER_ONLY)

    def _write(self, data: Any) -> None:
        view = memoryview(data)
        if view.nbytes:
            self.file.write(view.cast("B"), self.end)
            self.end += view.nbytes

    def add(self, counts: NDArray[np.integer[Any]], cells: Numbered) -> None:
        """Some people, in their order: ratings of each, and their cells."""
        with refused(self.target):
            self._write(encoded(self.shape, cells).view(np.uint8))
        self.counts.append(counts.astype(np.uint32))
        self.cells += len(cells.item)

    def finish(self, users: Sequence[str], items: Sequence[str], facts: Mapping[str, Any]) -> None:
        """The rest of the file, and its name."""
        people: Names = users if isinstance(users, Names) else Texts.of(users)
        counts = np.concatenate([np.zeros(0, np.uint32), *self.counts])
        parts = {
            "counts": counts.astype("<u4").tobytes(),
            "users": people.stored(),
            "items": Texts.of(items).stored(),
        }
        header = {
            "version": 1,
            "people": len(counts),
            "cells": self.cells,
            "shape": self.shape._asdict(),
            "ids": people.kind,
            "bytes": {name: len(data) for name, data in parts.items()},
            "checks": {name: zlib.crc32(data) for name, data in parts.items()},
            "facts": dict(facts),
        }
        header_bytes = json.dumps(header).encode()
        with refused(self.target):
            for data in parts.values():
                self._write(data)
            end = len(header_bytes).to_bytes(8, "little")
            check = zlib.crc32(header_bytes).to_bytes(4, "little")
            self._write(header_bytes + end + check + MAGIC)
            os.fsync(self.file.number)
            self._name()
        self.close()

    def _name(self) -> None:
        """The file gets its name, in the place of another where there is one."""
        if self.staging is None:
            named = self.target.with_name(f".{self.target.name}.{os.getpid()}.part")
            named.unlink(missing_ok=True)
            source = f"/proc/self/fd/{self.file.number}"
            folder_fd = os.open(self.target.parent, os.O_RDONLY)
            try:
                # Given a folder, Python asks linkat, which follows to the file.
                os.link(source, named, src_dir_fd=folder_fd, follow_symlinks=True)
            finally:
                os.close(folder_fd)
            self.staging = named
        os.replace(self.staging, self.target)
        self.staging = None

    def close(self) -> None:
        """Let go of what was written, unless it is whole."""
        self.file.close()
        if self.staging is not None:
            self.staging.unlink(missing_ok=True)

    def __enter__(self) -> PackWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class refused:  # noqa: N801
    """A disk that is full or a folder that cannot be written, in words."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError):
            raise StorageError(
                f"{self.target} cannot be written: {reason(error)}",
                remedy="choose another --out, or make room; nothing was left behind",
            ) from None


def is_pack(path: Path) -> bool:
    """Whether a file says that it is one of these."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class PackFile:
    """A packed file that is open. Blocks are read where they lie; nothing is kept."""

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self.path = path
        self.file = BareFile.reading(path)
        self.header = self._header()
        shape = self.header["shape"]
        values = shape["values"]
        times = shape["times"]
        self.shape = RecordShape(
            int(shape["items"]),
            None if values is None else tuple(map(float, values)),
            None if times is None else (int(times[0]), int(times[1])),
        )
        self.record = self.shape.record
        self.cells = int(self.header["cells"])
        self.people = int(self.header["people"])
        self._check()

    def damaged(self) -> DataError:
        """The error for a file that is not as it was written."""
        return DataError(
            "this is not a whole packed file",
            place=self.label,
            remedy="copy it again, or pack the ratings again",
        )

    def _header(self) -> dict[str, Any]:
        size = self.file.size()
        end = self._at(max(size - END, 0), END)
        length = int.from_bytes(end[:8], "little")
        if end[12:] != MAGIC or length > min(size - END, MOST_HEADER):
            raise self.damaged()
        header_bytes = self._at(size - END - length, length)
        if zlib.crc32(header_bytes) != int.from_bytes(end[8:12], "little"):
            raise self.damaged()
        self._end = size - END - length
        try:
            header: dict[str, Any] = json.loads(header_bytes)
        except ValueError:
            raise self.damaged() from None
        if header.get("version") != 1:
            raise DataError(
                "this packed file is of another version",
                place=self.label,
                remedy="pack the ratings again",
            )
        return header

    def _check(self) -> None:
        """That everything is where the header says."""
        sizes = self.header["bytes"]
        start = len(MAGIC) + self.cells * self.record.itemsize
        self._starts: dict[str, int] = {}
        for name in ("counts", "users", "items"):
            self._starts[name] = start
            start += int(sizes[name])
        values = self.shape.values
        if start != self._end or min(sizes.values()) < 0:
            raise self.damaged()
        if values is not None and not 0 < len(values) <= MOST_VALUES:
            raise self.damaged()
        self._table = None if values is None else np.array(values, np.float32)

    def part(self, name: str) -> bytes:
        """One of the arrays behind the records."""
        data = self._at(self._starts[name], int(self.header["bytes"][name]))
        if zlib.crc32(data) != self.header["checks"][name]:
            raise self.damaged()
        return bytes(data)

    def records(self, first: int, last: int) -> NDArray[Any]:
        """The records of cells `first` to `last`."""
        size = self.record.itemsize
        data = self._at(len(MAGIC) + first * size, (last - first) * size)
        return np.frombuffer(data, self.record)

    def item(self, records: NDArray[Any]) -> NDArray[np.uint32]:
        """Rows of items, each one that there is."""
        rows: NDArray[np.uint32] = records["item"].astype(np.uint32)
        if len(rows) and int(rows.max()) >= self.shape.items:
            raise self.damaged()
        return rows

    def value(self, records: NDArray[Any]) -> NDArray[np.float32]:
        """Ratings on the scale."""
        if self._table is None:
            return np.ascontiguousarray(records["value"], np.float32)
        codes = np.ascontiguousarray(records["value"])
        if len(codes) and int(codes.max()) >= len(self._table):
            raise self.damaged()
        values: NDArray[np.float32] = self._table[codes]
        return values

    def time(self, records: NDArray[Any]) -> NDArray[np.int64]:
        """Seconds since 1970."""
        assert self.shape.times is not None
        seconds: NDArray[np.int64] = records["time"].astype(np.int64)
        return seconds if self.shape.wide else seconds + self.shape.times[0]

    def _at(self, offset: int, size: int) -> bytearray:
        """Bytes of the file; several threads may ask at once."""
        data = bytearray(size)
        if self.file.read(data, offset) != size:
            raise self.damaged()
        return data


def numbers_or_texts(names: Sequence[str]) -> Names:
    """Ids as they take the least room."""
    if isinstance(names, Names):
        return names
    short = all(len(name) < 10 and name.isascii() and name.isdigit() for name in names)
    if short:
        numbers = np.array([int(name) for name in names], np.uint32)
        if all(str(k) == n for k, n in zip(numbers.tolist(), names, strict=True)):
            return Numbers(numbers)
    return Texts.of(names)
