"""Files that are written whole or not at all: beside their place, then renamed into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tacit.errors import StorageError, is_full, reason

OWNER_ONLY = 0o600
ANYBODY = 0o666
"""What is left of it is the user's own mask."""


@contextmanager
def open_atomic(
    path: str | Path,
    *,
    private: bool = False,
    durable: bool = False,
    remedy: str | None = "choose another file, or make room",
) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when the block ends well.

    `private`: only its owner may read it. `durable`: file and name survive a loss of power.
    `remedy`: for all faults but a full disk.
    """
    target = Path(path)
    staged = target.with_name(f".{target.name}.{os.getpid()}.part")
    mode = OWNER_ONLY if private else ANYBODY
    try:
        opened = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(opened, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(staged, target)
        if durable:
            sync_folder(target.parent)
    except OSError as fault:
        raise StorageError(
            f"{path} cannot be written: {reason(fault)}",
            remedy="free some space" if is_full(fault) else remedy,
        ) from None
    finally:
        with suppress(OSError):  # moved, or a folder on the way is a file
            staged.unlink()


def sync_folder(folder: Path) -> None:
    """Make a rename in this folder durable: a file alone can be on disk without its name."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
