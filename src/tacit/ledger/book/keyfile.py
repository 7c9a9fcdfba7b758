"""The key of a book: a file of 32 random bytes, its owner's alone, which appears whole or
not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from tacit.errors import BookError, StorageError


def read_key(path: Path, create: bool = False) -> bytes | None:
    """The key, which is made if it is not there and `create` says so; else None."""
    try:
        if create and not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            publish(path, secrets.token_bytes(32))
        if not path.exists():
            return None
        found = path.read_bytes()
    except OSError as error:
        raise StorageError(
            "the key of the ledger cannot be reached "
            f"({error.strerror or type(error).__name__}); nothing was written",
            place=str(path),
            remedy="choose another folder with --ledger or TACIT_HOME, on a local disk "
            "with free space",
        ) from error
    if len(found) != 32:
        raise BookError(
            "the key of the ledger is damaged",
            place=str(path),
            remedy="restore it from a backup",
        )
    return found


def publish(path: Path, content: bytes) -> None:
    """The whole file under its name, unless somebody was faster. mkstemp gives mode 0600."""
    handle, temporary = tempfile.mkstemp(
        prefix=f".{path.name}.", dir=path.parent
    )
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
