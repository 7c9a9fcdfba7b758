"""A look at a parquet file before it is read: how many bytes and values its pages declare.

A page of a few bytes may unpack to gigabytes, and a number in a header may ask for as much
memory: polars allocates what it is told. So the footer and the header of every page are read
here first (Thrift's compact form; only integers, lists and structures matter), and a file that
asks for more than a table of its size would is refused.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tacit.data.reading.files import Stream
from tacit.data.reading.guard import most_unpacked, third_party, without_panics
from tacit.errors import DataError

if TYPE_CHECKING:
    import polars as pl

MAGIC = b"PAR1"
VALUES = 1 << 24
"""Values that any file may hold, and so many more for each of its bytes:"""
VALUES_A_BYTE = 16
PAGES = 1 << 17
"""Pages that are looked at."""
DEEPEST = 16
"""Structures within each other in a header."""
GROWING = 7
"""The encoding in which each text may repeat the one before it, without bound."""


class _Broken(Exception):
    """A header that cannot be read."""


def read_parquet(part: Stream) -> pl.DataFrame:
    """The columns of a parquet file."""
    import polars as pl

    with part.open() as stream:
        source: Any = stream
        if isinstance(stream.raw, io.FileIO):
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                look(data, part.label)
        else:
            packed = stream.read()
            look(packed, part.label)
            source = io.BytesIO(packed)
        try:
            with third_party(part.label), without_panics():
                return pl.read_parquet(source)
        except DataError:
            raise broken(part.label) from None


SLICE = 1 << 23
"""Rows that are read at a time where a table is larger than memory."""


def parquet_slices(part: Stream) -> Iterator[pl.DataFrame]:
    """The rows of a parquet file, some at a time; at least one frame."""
    import polars as pl

    with part.open() as stream:
        if not isinstance(stream.raw, io.FileIO):
            yield read_parquet(part)  # compressed once more: there are no slices
            return
        path = part.label  # a plain file is called by its path
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            look(data, part.label)
    offset = 0
    while True:
        try:
            with third_party(part.label), without_panics():
                lazy = pl.scan_parquet(path, glob=False)
                frame = lazy.slice(offset, SLICE).collect()
        except DataError:
            raise broken(part.label) from None
        if offset and not frame.height:
            return
        yield frame
        offset += SLICE
        if frame.height < SLICE:
            return


def broken(label: str) -> DataError:
    """The error for a file that polars cannot read."""
    return DataError("not a whole parquet file", place=label, remedy="write or copy it again")


def look(data: mmap.mmap | bytes, label: str) -> None:
    """Refuse a file whose headers make no sense, or ask for too much."""
    size = len(data)
    try:
        if size < 12 or data[-4:] != MAGIC:
            raise _Broken
        length = int.from_bytes(data[-8:-4], "little")
        footer = _Thrift(data, size - 8 - length, size - 8).struct()
        pages = _Pages(data)
        values = _require_count(footer.get(3))
        for group in _require_list(footer.get(4)):
            for column in _require_list(group.get(1)):
                pages.walk(column.get(3) or {})
    except (_Broken, AttributeError):
        raise broken(label) from None
    if pages.growing:
        raise DataError(
            "its texts are in an encoding that cannot be bounded",
            place=label,
            remedy="write it with plain or dictionary encoding",
        )
    values = max(values, pages.values)
    if pages.unpacked > most_unpacked(size) or values > VALUES + VALUES_A_BYTE * size:
        raise DataError(
            "it unpacks to much more than a table of this size would",
            place=label,
            remedy="write it again without compression, look at it, and name that file",
        )


class _Pages:
    """Adds up what the pages of columns declare."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self.data = data
        self.unpacked = 0
        self.values = 0
        self.pages = 0
        self.growing = False

    def walk(self, column: dict[int, Any]) -> None:
        offset = _require_count(column.get(9))
        if column.get(11):
            offset = min(offset, _require_count(column.get(11)))
        end = offset + _require_count(column.get(7))
        if end > len(self.data):
            raise _Broken
        value_count = 0
        while offset < end:
            self.pages += 1
            if self.pages > PAGES:
                raise _Broken
            header = _Thrift(self.data, offset, end)
            page = header.struct()
            self.unpacked += _require_count(page.get(2))
            data_header = page.get(5) or page.get(8) or page.get(7) or {}
            value_count += _require_count(data_header.get(1))
            encoding = data_header.get(4) if 8 in page else data_header.get(2)
            self.growing |= encoding == GROWING
            offset = header.at + _require_count(page.get(3))
        self.values += max(value_count, _require_count(column.get(5)))


def _require_count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise _Broken
    return value


def _require_list(value: Any) -> list[dict[int, Any]]:
    if not isinstance(value, list):
        raise _Broken
    return value


class _Thrift:
    """Values in Thrift's compact form; bytes are skipped."""

    def __init__(self, data: mmap.mmap | bytes, at: int, end: int) -> None:
        if at < 0:
            raise _Broken
        self.data = data
        self.at = at
        self.end = end

    def byte(self) -> int:
        if self.at >= self.end:
            raise _Broken
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise _Broken

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int = DEEPEST) -> dict[int, Any]:
        """Fields by number."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            fields[number] = self.value(head & 15, depth - 1)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if depth < 0:
            raise _Broken
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 7:
            return self.skip(8)
        if kind == 8:
            return self.skip(self.varint())
        if kind in (9, 10):
            return self.several(depth)
        if kind == 12:
            return self.struct(depth)
        raise _Broken

    def skip(self, count: int) -> None:
        if count > self.end - self.at:
            raise _Broken
        self.at += count

    def several(self, depth: int) -> list[Any]:
        head = self.byte()
        count, kind = head >> 4, head & 15
        if count == 15:
            count = self.varint()
        if count > self.end - self.at:
            raise _Broken
        if kind in (1, 2):  # one byte each
            return [self.byte() == 1 for _ in range(count)]
        return [self.value(kind, depth - 1) for _ in range(count)]
