"""Bytes in: plain files, gzip, zip, tar and folders, all as named streams. Nothing is ever
unpacked to disk."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

import numpy as np

from tacit.data.reading.guard import (
    BROKEN,
    CountedStream,
    Damaged,
    guarded,
    not_a_file,
    open_regular,
    unpacked,
    unpacking,
)
from tacit.errors import DataError

CHUNK = 1 << 23
"""Bytes of text parsed at a time: enough for two threads, and small enough that memory is
reused, not mapped anew."""

LONGEST_LINE = 1 << 24
"""Bytes of one line."""
LINE_END = re.compile(rb"\r\n|\r|\n")
DEEPEST = 2
"""Archives within each other: the Netflix download is a tar in a tar."""


@dataclass(frozen=True)
class Stream:
    """One stream: `label` is how errors name it, `path` its path inside a folder or
    archive, in lower case."""

    label: str
    path: str
    opener: Callable[[], IO[bytes]]
    packed: int = 0
    """Bytes on the disk of the archive that it comes from; 0 for a plain file."""

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.rsplit("/", 1)[-1]

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """The bytes, gunzipped where needed; faults of the file or archive become a DataError."""
        with guarded(self.label):
            with unpacking(self.label):
                raw = self.opener()
            with raw:
                stream = self._plain(raw)
                if stream.peek(2)[:2] == b"\x1f\x8b":
                    unzipped = cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
                    size = self.packed or _size(raw)
                    with unpacked(unzipped, self.label, size) as inner:
                        yield inner
                else:
                    yield stream

    def _plain(self, raw: IO[bytes]) -> io.BufferedReader:
        if isinstance(raw, io.BufferedReader):
            return raw
        return unpacked(raw, self.label, self.packed)

    def head(self, size: int = 1 << 16) -> bytes:
        """The first bytes, for telling layouts apart."""
        with self.open() as stream:
            return stream.read(size)

    def read_all(self, limit: int, kind: str) -> bytes:
        """All bytes of a file that is small enough to be read at once."""
        with self.open() as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise DataError(
                f"this is too large for {kind}: more than {limit >> 20:,} megabytes",
                place=self.label,
                remedy="check that it is the right file, or split it",
            )
        return data


def _size(raw: IO[bytes]) -> int:
    return os.fstat(raw.fileno()).st_size


@dataclass(frozen=True)
class Bundle:
    """What a path holds: one file, or the files of a folder or archive."""

    label: str
    parts: Callable[[], Iterator[Stream]]
    """A fresh pass. A part of a tar must be read before the next one is asked for."""
    single: bool
    folder: bool = False


def bundle(source: str | Path | Sequence[str | Path]) -> Bundle:
    """A path (file, folder, zip, tar) or several paths as a bundle of streams."""
    if not isinstance(source, str | Path):
        several = [one_file(Path(file)) for file in source]
        if not several:
            raise DataError("no file was given", remedy="give at least one path")
        return Bundle(several[0].label, lambda: iter(several), len(several) == 1)
    path = Path(source).expanduser()
    label = str(source)
    with guarded(label):
        if path.is_dir():
            return Bundle(label, lambda: folder_parts(path), False, folder=True)
        if label == "-":
            raise not_a_file(label, stat.S_IFIFO)
        with open_regular(path) as raw:
            magic = raw.read(512)
    if magic[:4] == b"PK\x03\x04":
        return zip_bundle(path)
    if magic[257:262] == b"ustar" or (magic[:2] == b"\x1f\x8b" and gunzipped_tar(path)):
        return Bundle(label, lambda: tar_parts(path), False)
    return Bundle(label, lambda: iter([one_file(path)]), True)


def one_file(path: Path) -> Stream:
    """A single file as a part."""
    return Stream(
        str(path), str(path.absolute()).lower().replace("\\", "/"), partial(open_regular, path)
    )


def folder_parts(path: Path) -> Iterator[Stream]:
    """Files of the folder and of the folders in it, in the order of their names."""
    for folder in [path, *sorted(child for child in path.iterdir() if child.is_dir())]:
        inside = str(folder.absolute()).lower().replace("\\", "/")
        with os.scandir(folder) as entries:
            names = sorted((entry.name, entry.path) for entry in entries if entry.is_file())
        for name, full in names:
            lowercase_path = f"{inside}/{name.lower()}"
            yield Stream(full, lowercase_path, partial(open_regular, full))


def zip_bundle(path: Path) -> Bundle:
    """The files of a zip archive."""
    label = str(path)
    with (
        guarded(label),
        unpacking(label),
        open_regular(path) as raw,
        zipfile.ZipFile(raw) as archive,
    ):
        size = _size(raw)
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if "xl/workbook.xml" in names:
        raise spreadsheet(str(path))
    if not names:
        raise DataError("the zip file holds no file", place=str(path))

    def member(name: str) -> Stream:
        return Stream(
            f"{path}: {name}",
            f"{path}/{name}".lower(),
            lambda: zipfile.ZipFile(path).open(name),
            size,
        )

    return Bundle(str(path), lambda: (member(name) for name in names), len(names) == 1)


def gunzipped_tar(path: Path) -> bool:
    """Whether what was gunzipped is a tar archive."""
    try:
        with open_regular(path) as raw, gzip.GzipFile(fileobj=raw) as stream:
            return stream.read(512)[257:262] == b"ustar"
    except (*BROKEN, OSError):
        return False  # reading it as text will tell what is wrong


def tar_parts(path: Path) -> Iterator[Stream]:
    """The files of a tar archive, one after another."""
    label = str(path)
    with guarded(label), unpacking(label), one_file(path).open() as stream:
        with open_regular(path) as raw:
            size = _size(raw)
        yield from _members(stream, label, size, DEEPEST)


def _members(raw: IO[bytes], label: str, size: int, deep: int) -> Iterator[Stream]:
    """One forward pass; the tar inside the Netflix download is walked in place."""
    with tarfile.open(fileobj=raw, mode="r|") as archive:
        for member in archive:
            content = None
            if member.isreg() and not member.issparse():
                content = archive.extractfile(member)
            if content is None:
                continue
            inner = f"{label}: {member.name}"
            if member.name.endswith(".tar") and deep > 1:
                yield from _members(content, inner, size, deep - 1)
            else:
                lowercase_path = f"{label}/{member.name}".lower()
                yield Stream(inner, lowercase_path, HeldMember(content, inner), size)


class HeldMember:
    """A member of a tar: read once, while the pass stands at it, and then kept."""

    def __init__(self, content: IO[bytes], label: str) -> None:
        self.content = content
        self.label = label
        self.data: bytes | None = None

    def __call__(self) -> IO[bytes]:
        if self.data is None:
            with unpacking(self.label):
                self.data = self.content.read()
        return io.BytesIO(self.data)


def spreadsheet(label: str) -> DataError:
    """The error for a spreadsheet, which holds formulas and several tables."""
    return DataError(
        "this is a spreadsheet, not text", place=label, remedy="save it as csv and read that"
    )


def text_chunks(stream: io.BufferedReader, label: str, size: int = CHUNK) -> Iterator[bytes]:
    """Blocks of whole lines, each ending in a line end."""
    lines = 0
    compressed = isinstance(stream.raw, CountedStream)  # else it cannot break
    while True:
        try:
            block = stream.read(size)
            if not block:
                return
            if len(block) == size:
                block += rest_of_line(stream, label)
        except Damaged as error:
            raise Damaged(
                error.message, place=f"{label}, after line {lines}", remedy=error.remedy
            ) from None
        if not block.endswith((b"\n", b"\r")):
            block += b"\n"
        yield block
        lines += count_lines(block) if compressed else 0


def rest_of_line(stream: io.BufferedReader, label: str) -> bytes:
    """Up to the next line end of any kind, and with it."""
    parts: list[bytes] = []
    size = 0
    end = None
    while end is None and (ahead := stream.peek()):
        end = LINE_END.search(ahead)
        parts.append(stream.read(len(ahead) if end is None else end.end()))
        size += len(parts[-1])
        if size >= LONGEST_LINE:
            raise DataError(
                f"a line is longer than {LONGEST_LINE >> 20} megabytes",
                place=label,
                remedy="check that it is a table of lines",
            )
    if parts and parts[-1].endswith(b"\r") and stream.peek()[:1] == b"\n":
        parts.append(stream.read(1))
    return b"".join(parts)


def count_lines(data: bytes) -> int:
    """Line ends: `\\n`, or `\\r` where no `\\n` follows."""
    count = int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))
    if b"\r" in data:
        count += data.count(b"\r") - data.count(b"\r\n")
    return count
