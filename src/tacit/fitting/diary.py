"""The folder of a calendar on a disk: what is public in it, what stays with its owner, and how
either is written so that a crash leaves the old or the new and nothing between.

    FOLDER/calendar.json      public: what was fixed when the calendar began
    FOLDER/releases/01 ..     published models, one a release
    FOLDER/private/           mode 0700, the owner's alone
        receipt.json          which entry of the book has paid
        01/people.json        keyed list of who was counted in release 1
        01/*.sums.npy         exact sums of that week
        01/*.noisy.npy        what was released of them
        01/state.npz          the public state after it
        01/digests.json       of the arrays, once all are written
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from tacit.atomic_write import open_atomic
from tacit.errors import ModelError, StorageError, TacitError, reason
from tacit.typed_file import read_json

T = TypeVar("T")
CALENDAR = "calendar.json"
RESTORE = "restore the calendar's folder from the latest copy"


class CountedPeople(BaseModel):
    """`people.json`: who is counted in a release, and a digest of their ratings."""

    model_config = ConfigDict(strict=True, extra="forbid")

    names: list[str]
    cells: str


class BegunWeek(BaseModel):
    """`begun.json`: the entry of the book with which a release began."""

    model_config = ConfigDict(strict=True, extra="forbid")

    entry: str


class Diary:
    """Folder of one calendar: published releases, and the owner's private files of each week."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.private = self.folder / "private"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else works on this calendar meanwhile."""
        self._check_place()
        fresh = not self.folder.exists()
        try:
            self.private.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(self.private / "lock", "w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise StorageError(
                        f"another process works on the calendar in {self.folder}",
                        remedy="wait until it is done",
                    ) from None
                yield
        except TacitError:
            if fresh:
                self._leave()
            raise
        except OSError as error:
            raise StorageError(
                f"{self.folder} cannot be written: {reason(error)}",
                remedy="choose another --out, or change its permissions",
            ) from None

    def _leave(self) -> None:
        """Take back the folder of a calendar that was refused before it began."""
        if [path.name for path in self.folder.rglob("*")] == ["private", "lock"]:
            shutil.rmtree(self.folder)

    def _check_place(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise StorageError(f"{self.folder} is a file", remedy="choose another --out")
        inside = {path.name for path in self.folder.iterdir()}
        if inside and not inside & {CALENDAR, "private"}:
            raise StorageError(
                f"{self.folder} is a folder that holds other things", remedy="choose another --out"
            )

    def week(self, number: int) -> Path:
        """Folder of the owner's files of one week."""
        return self.private / f"{number:02d}"

    def release(self, number: int) -> Path:
        """Where the model of one week is published."""
        return self.folder / "releases" / f"{number:02d}"

    def read(self, path: Path, kind: type[T]) -> T | None:
        """A JSON file of this form; None if there is none."""
        if not path.exists():
            return None
        return read_json(path, kind, ModelError, RESTORE)

    def write(self, path: Path, value: Any) -> None:
        """Write JSON whole and durably."""
        text = json.dumps(value, sort_keys=True, indent=1)
        self.put(path, text.encode())

    def put(self, path: Path, data: bytes) -> None:
        """Beside its place, then into it; both survive a loss of power."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open_atomic(path, private=True, durable=True) as file:
            file.write(data)

    def put_array(self, path: Path, array: NDArray[Any]) -> None:
        data = io.BytesIO()
        np.save(data, array, allow_pickle=False)
        self.put(path, data.getvalue())

    def put_arrays(self, path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write arrays by name, as .npz."""
        data = io.BytesIO()
        named: dict[str, Any] = dict(arrays)
        np.savez(data, **named)
        self.put(path, data.getvalue())

    def array(self, path: Path) -> NDArray[np.int64] | None:
        """One array of integers; None if it was not written."""
        if not path.exists():
            return None
        loaded = _loaded(path)
        if not isinstance(loaded, np.ndarray) or loaded.dtype != np.int64:
            raise damaged(path)
        result: NDArray[np.int64] = loaded
        return result

    def arrays(self, path: Path) -> dict[str, NDArray[Any]]:
        """Read the arrays of an .npz by name."""
        archive = _loaded(path)
        if not isinstance(archive, dict):
            raise damaged(path)
        return archive

    def digests(self, number: int) -> dict[str, str]:
        """Of every array that stands in a week's folder."""
        names = sorted(
            path.name for path in self.week(number).iterdir() if path.suffix in (".npy", ".npz")
        )
        return {
            name: hashlib.sha256((self.week(number) / name).read_bytes()).hexdigest()
            for name in names
        }


def _loaded(path: Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """One array, or several by name. What numpy and zip files raise of a damaged file is not
    listed anywhere."""
    try:
        archive = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
        if isinstance(archive, np.ndarray):
            return archive
        return {name: archive[name] for name in archive.files}
    except Exception:  # noqa: BLE001
        raise damaged(path) from None


def damaged(path: Path) -> ModelError:
    """The error for a file that is not what was written."""
    return ModelError(
        f"{path} is damaged: it was cut or changed after it was written", remedy=RESTORE
    )
