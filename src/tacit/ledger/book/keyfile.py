"""The key of a book: a file of 32 random bytes, its owner's alone, which appears whole or
not at all. After the first entry that it sealed one more byte says so, so that a book whose
entries are all gone is told from one that has none yet."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from tacit.errors import BookError, StorageError

SIZE = 32
"""Bytes of a key."""
USED = b"\n"
"""Behind a key that has sealed an entry which is on the disk."""


def read_key(path: Path, create: bool = False) -> bytes | None:
    """The ledger's key; made if it is missing and `create` is set, else None."""
    try:
        if create and not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            publish(path, secrets.token_bytes(SIZE))
        if not path.exists():
            return None
        content = path.read_bytes()
    except OSError as error:
        raise StorageError(
            "the key of the ledger cannot be reached "
            f"({error.strerror or type(error).__name__}); nothing was written",
            place=str(path),
            remedy="choose another folder with --ledger or TACIT_HOME, on a local disk "
            "with free space",
        ) from error
    if len(content) != SIZE and content[SIZE:] != USED:
        raise BookError(
            "the key of the ledger is damaged", place=str(path), remedy="restore it from a backup"
        )
    return content[:SIZE]


def was_used(path: Path) -> bool:
    """Whether the key remembers that it has sealed an entry."""
    with suppress(OSError):
        return path.read_bytes()[SIZE:] == USED
    return False


def remember_use(path: Path) -> None:
    """Mark in the key's own file that a sealed entry is on the disk, so that a ledger that was
    deleted is noticed.

    The file may lie elsewhere (a link) and be readable by others. Two processes write the same byte
    at the same offset. Where the file cannot be written the ledger works as before, without the
    mark."""
    with suppress(OSError):
        if path.stat().st_size != SIZE:
            return
        with path.open("r+b") as file:
            file.seek(SIZE)
            file.write(USED)
            file.flush()
            os.fsync(file.fileno())


def publish(path: Path, content: bytes) -> None:
    """The whole file under its name, unless somebody was faster. mkstemp gives mode 0600."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
