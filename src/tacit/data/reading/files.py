"""Bytes in: plain files, gzip, zip, tar and folders, all as named streams. Nothing is ever
unpacked to disk."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

import numpy as np

from tacit.errors import DataError

CHUNK = 1 << 23
"""Bytes of text parsed at a time: enough for two threads, and small enough that memory is
reused, not mapped anew."""

BROKEN = (
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    tarfile.TarError,
)


@dataclass(frozen=True)
class Part:
    """One stream: `label` is how errors name it, `path` its path inside a folder or
    archive, in lower case."""

    label: str
    path: str
    opener: Callable[[], IO[bytes]]

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.rsplit("/", 1)[-1]

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes, gunzipped where needed; faults of the file or archive become a DataError."""
        with guarded(self.label), self.opener() as raw:
            if peek(raw, 2) == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield cast("IO[bytes]", unzipped)
            else:
                yield raw

    def head(self, size: int = 1 << 16) -> bytes:
        """The first bytes, for telling layouts apart."""
        with self.open() as stream:
            return stream.read(size)


def peek(stream: IO[bytes], size: int) -> bytes:
    """The next bytes, not consumed. Archives hand out seekable members; plain files are."""
    start = stream.tell()
    data = stream.read(size)
    stream.seek(start)
    return data


@contextmanager
def guarded(label: str) -> Iterator[None]:
    """Faults of the file system or of compression, told as DataErrors that name the file."""
    try:
        yield
    except DataError:
        raise
    except BROKEN:
        raise DataError(
            "the compressed file is damaged or cut short",
            place=label,
            remedy="copy or download it again",
        ) from None
    except FileNotFoundError:
        raise DataError(
            "no such file or folder", place=label, remedy="check the path"
        ) from None
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise DataError(
            f"cannot be read: {reason}",
            place=label,
            remedy="check the path and its permissions",
        ) from None


@dataclass(frozen=True)
class Bundle:
    """What a path holds: one file, or the files of a folder or archive."""

    label: str
    parts: Callable[[], Iterator[Part]]
    """A fresh pass. A part of a tar must be read before the next one is asked for."""
    single: bool
    folder: bool = False


def bundle(source: str | Path | Sequence[str | Path]) -> Bundle:
    """A path (file, folder, zip, tar) or several paths as a bundle of streams."""
    if not isinstance(source, str | Path):
        several = [one_file(Path(each)) for each in source]
        if not several:
            raise DataError(
                "no file was given", remedy="give at least one path"
            )
        return Bundle(
            several[0].label, lambda: iter(several), len(several) == 1
        )
    path = Path(source).expanduser()
    label = str(source)
    with guarded(label):
        if path.is_dir():
            return Bundle(label, lambda: folder_parts(path), False, folder=True)
        if label == "-" or path.is_fifo() or path.is_char_device():
            raise DataError(
                "a pipe cannot be read here",
                place=label,
                remedy="save the data to a file and name that file",
            )
        with path.open("rb") as raw:
            magic = raw.read(512)
    if magic[:4] == b"PK\x03\x04":
        return zip_bundle(path)
    if magic[257:262] == b"ustar" or (
        magic[:2] == b"\x1f\x8b" and gunzipped_tar(path)
    ):
        return Bundle(label, lambda: tar_parts(path), False)
    return Bundle(label, lambda: iter([one_file(path)]), True)


def one_file(path: Path) -> Part:
    """A single file as a part."""
    return Part(
        str(path),
        str(path.absolute()).lower().replace("\\", "/"),
        lambda: path.open("rb"),
    )


def folder_parts(path: Path) -> Iterator[Part]:
    """Files of the folder and of the folders in it, in the order of their names."""
    for folder in [
        path,
        *sorted(child for child in path.iterdir() if child.is_dir()),
    ]:
        inside = str(folder.absolute()).lower().replace("\\", "/")
        with os.scandir(folder) as entries:
            names = sorted(
                (entry.name, entry.path) for entry in entries if entry.is_file()
            )
        for name, full in names:
            yield Part(full, f"{inside}/{name.lower()}", partial(_open, full))


def _open(path: str) -> IO[bytes]:
    return open(path, "rb")


def zip_bundle(path: Path) -> Bundle:
    """The files of a zip archive."""
    with guarded(str(path)), zipfile.ZipFile(path) as archive:
        names = [
            info.filename for info in archive.infolist() if not info.is_dir()
        ]
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if "xl/workbook.xml" in names:
        raise spreadsheet(str(path))
    if not names:
        raise DataError("the zip file holds no file", place=str(path))

    def member(name: str) -> Part:
        return Part(
            f"{path}: {name}",
            f"{path}/{name}".lower(),
            lambda: zipfile.ZipFile(path).open(name),
        )

    return Bundle(
        str(path), lambda: (member(name) for name in names), len(names) == 1
    )


def gunzipped_tar(path: Path) -> bool:
    """Whether what was gunzipped is a tar archive."""
    try:
        with gzip.open(path) as stream:
            return stream.read(512)[257:262] == b"ustar"
    except (*BROKEN, OSError):
        return False  # reading it as text will tell what is wrong


def tar_parts(path: Path) -> Iterator[Part]:
    """The files of a tar archive, one after another."""
    with guarded(str(path)), path.open("rb") as raw:
        yield from _members(raw, str(path))


def _members(raw: IO[bytes], label: str) -> Iterator[Part]:
    """One forward pass; the tar inside the Netflix download is walked in place."""
    with tarfile.open(fileobj=raw, mode="r|*") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            if member.name.endswith(".tar"):
                yield from _members(content, f"{label}: {member.name}")
            else:
                yield Part(
                    f"{label}: {member.name}",
                    f"{label}/{member.name}".lower(),
                    Held(content),
                )


class Held:
    """A member of a tar: read once, while the pass stands at it, and then kept."""

    def __init__(self, content: IO[bytes]) -> None:
        self.content = content
        self.data: bytes | None = None

    def __call__(self) -> IO[bytes]:
        if self.data is None:
            self.data = self.content.read()
        return io.BytesIO(self.data)


def spreadsheet(label: str) -> DataError:
    """The error for a spreadsheet, which holds formulas and several tables."""
    return DataError(
        "this is a spreadsheet, not text",
        place=label,
        remedy="save it as csv and read that",
    )


def text_chunks(
    stream: IO[bytes], label: str, size: int = CHUNK
) -> Iterator[bytes]:
    """Blocks of whole lines, each ending in a line end; a quoted line end does not count
    where that can be seen."""
    lines = 0
    compressed = not isinstance(
        stream, io.BufferedReader
    )  # else it cannot break
    while True:
        try:
            block = stream.read(size)
            if not block:
                return
            if len(block) == size:
                block += rest_of_record(stream, block)
        except BROKEN:
            message, remedy = (
                "the compressed file is damaged or cut short",
                "copy or download it again",
            )
            raise DataError(
                message, place=f"{label}, after line {lines}", remedy=remedy
            ) from None
        if not block.endswith((b"\n", b"\r")):
            block += b"\n"
        yield block
        lines += count_lines(block) if compressed else 0


def rest_of_record(stream: IO[bytes], block: bytes) -> bytes:
    """Up to the next line end, or to the one that closes an open quote: judged by the
    parity of the quotes."""
    rest = stream.readline()
    odd = b'"' in block and (block.count(b'"') + rest.count(b'"')) % 2 == 1
    tries = [rest]
    while odd and len(tries) < 1000:
        line = stream.readline()
        if not line:
            break
        tries.append(line)
        odd ^= line.count(b'"') % 2 == 1
    return b"".join(tries)


def count_lines(data: bytes) -> int:
    """Line ends: `\\n`, or `\\r` where no `\\n` follows."""
    count = int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))
    if b"\r" in data:
        count += data.count(b"\r") - data.count(b"\r\n")
    return count
