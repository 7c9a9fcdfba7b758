"""The folder of a model: reserved before its fit is paid for, then put there in one step.

Guarantee: while a `Reservation` is held no other process gets one for the same folder, and the
kernel ends it with the process, however that dies. At every moment the folder is the old one or
the new one, whole, where the file system can exchange two names (`renameat2`, Linux). Where it
cannot, a process that is killed between two renames leaves both, whole, under hidden names beside
it (`remains` finds them). What has its place survives a loss of power.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tacit.atomic_write import sync_folder
from tacit.errors import StorageError, is_full, reason
from tacit.notices import warn

Files = Mapping[str, bytes]
"""Of a folder, by name, in the order in which they are written."""

LAST = "model.json"
"""Written last and removed first: a folder that has it is whole."""
LONGEST_NAME = 255
"""Bytes of a file's name on any file system of Linux."""
HERE = -100
"""AT_FDCWD: paths are relative to the working folder."""
EXCHANGE = 2
"""RENAME_EXCHANGE of Linux."""
CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EBADF)
"""What `flock` says where files cannot be locked, as on some file systems of a network."""


class NotDurable(OSError):
    """The folder has its place, but the disk has not confirmed it."""


class Reservation:
    """The right of this process to write one folder. See `reserved`."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def stage(self, files: Files) -> Path:
        """Write the files into a hidden folder beside the target, durably. An error leaves
        nothing there."""
        for leftover in _leftovers(self.target):
            if not (leftover / LAST).is_file():  # a process was killed while it wrote or removed it
                remove(leftover)
        staged = Path(tempfile.mkdtemp(prefix=_hidden(self.target, ".new-"), dir=self._parent))
        try:
            write_files(staged, files)
            staged.chmod(0o755)  # it is to be published
            sync_folder(self._parent)
        except BaseException:
            remove(staged)
            raise
        return staged

    def put(self, staged: Path) -> None:
        """Put a staged folder in the place of the target, in one step. An error leaves the
        staged folder as it is, and the target as it was, unless it is `NotDurable`."""
        old = None
        if not _is_free(self.target):
            old = self._replace(staged)
        else:
            os.rename(staged, self.target)
        try:
            sync_folder(self._parent)
        except OSError as error:  # the old one stays too: after a crash it may be the only one
            raise NotDurable(error.errno, reason(error)) from None
        if old is not None:
            remove(old)

    def _replace(self, staged: Path) -> Path:
        """Exchange both; where the old folder is then."""
        if exchange(staged, self.target):
            return staged
        old = Path(tempfile.mkdtemp(prefix=_hidden(self.target, ".old-"), dir=self._parent))
        old.rmdir()
        os.rename(self.target, old)
        try:
            os.rename(staged, self.target)
        except OSError:
            os.rename(old, self.target)
            raise
        return old

    @property
    def _parent(self) -> Path:
        return self.target.parent


@contextmanager
def reserved(path: str | Path) -> Iterator[Reservation]:
    """Reserve a folder for this process, or refuse if another one has it.

    The lock is a hidden file beside the folder, which the kernel unlocks when its process dies:
    a file that was left over is taken over.
    """
    target = Path(os.path.abspath(path))
    created = _make_parents(target)
    try:
        lock = _lock(target)
        try:
            yield Reservation(target)
        finally:
            if lock is not None:
                with suppress(OSError):  # while it is locked: nobody else's is removed
                    _lock_file(target).unlink()
                os.close(lock)
    finally:
        for folder in created:  # empty if nothing was published
            with suppress(OSError):
                folder.rmdir()


def remains(target: Path) -> list[Path]:
    """Whole models that a killed process left beside the target."""
    return [leftover for leftover in _leftovers(target) if (leftover / LAST).is_file()]


def _leftovers(target: Path) -> list[Path]:
    """What was staged for this target, or moved out of its place."""
    prefixes = (_hidden(target, ".new-"), _hidden(target, ".old-"))
    try:
        neighbours = sorted(Path(os.path.abspath(target)).parent.iterdir())
    except OSError:
        return []
    return [neighbour for neighbour in neighbours if neighbour.name.startswith(prefixes)]


def write_files(folder: Path, files: Files) -> None:
    """Write files into a folder of this process, durably."""
    for name, data in files.items():
        with open(folder / name, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    sync_folder(folder)


def rescue(files: Files, roots: Iterable[Path], prefix: str) -> Path | None:
    """Write files into a new folder of the first of these that takes them."""
    for root in roots:
        folder = None
        try:
            root.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
            write_files(folder, files)
            sync_folder(root)
        except OSError:
            if folder is not None:
                remove(folder)
            continue
        return folder
    return None


def exchange(staged: Path, current: Path) -> bool:
    """Exchange the names of two folders in one step; False where that cannot be done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(staged), os.fsencode(current)
    if rename(HERE, paths[0], HERE, paths[1], ctypes.c_uint(EXCHANGE)) == 0:
        return True
    fault = ctypes.get_errno()
    if fault in CANNOT_EXCHANGE:
        return False
    raise OSError(fault, os.strerror(fault))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the block has ended: what was paid for is written whole."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    waiting = list[bool]()
    before = signal.getsignal(signal.SIGINT)
    if before is None:  # not ours to change
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: waiting.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt


def remove(folder: Path) -> None:
    """Remove a folder, or a link to one, as far as that is possible."""
    with suppress(OSError):
        (folder if folder.is_symlink() else folder / LAST).unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _is_free(target: Path) -> bool:
    """Whether a rename may take the place: nothing is there, or an empty folder."""
    if target.is_symlink() or target.is_file():
        return False
    return not target.exists() or not any(target.iterdir())


def _make_parents(target: Path) -> list[Path]:
    """Make the folders above; which ones, deepest first."""
    missing = []
    folder = target.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(target, error) from None
    return missing


def _lock(target: Path) -> int | None:
    """A descriptor that holds the lock; None where the file system has no locks."""
    path = _lock_file(target)
    while True:
        try:
            lock = _opened(path)
        except OSError as error:
            raise unwritable(target, error) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), os.stat(path)):
                return lock
            os.close(lock)  # its last owner removed it meanwhile
        except FileNotFoundError:
            os.close(lock)
        except OSError as error:
            os.close(lock)
            if error.errno not in NO_LOCKS:
                raise StorageError(
                    f"another process is writing {target}",
                    remedy="wait until it is done, or choose another --out",
                ) from None
            warn(
                f"the file system of {target} has no locks: nothing keeps another process from "
                "writing there too"
            )
            return None


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except PermissionError:  # left over from somebody else
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _lock_file(target: Path) -> Path:
    return target.parent / _hidden(target, ".lock")


def _hidden(target: Path, ending: str) -> str:
    """A name beside the target that a listing does not show."""
    name = f".{Path(os.path.abspath(target)).name}{ending}"
    if len(os.fsencode(name)) > LONGEST_NAME - 16:  # `mkdtemp` adds some letters
        name = f".{hashlib.sha256(name.encode()).hexdigest()[:32]}{ending}"
    return name


def unwritable(target: Path, error: OSError) -> StorageError:
    """The error for a folder that cannot be written."""
    return StorageError(
        f"{target} cannot be written: {reason(error)}",
        remedy="free some space" if is_full(error) else "choose a place that you may write to",
    )
