"""The published model: released arrays and public facts, in files that run no code when
they are read.

A model folder holds `arrays.safetensors`, `items.json`, `statement.json` and `model.json`,
which lists the digests of the others. It carries no path, exact count, date or timing of
private data.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.schema import Schema
from tacit.errors import ModelError, StorageError, reason
from tacit.model.folder import damaged, read_folder
from tacit.model.valid import catalogue_of, check_arrays, check_facts, schema_of
from tacit.publication import (
    LAST,
    Files,
    NotDurable,
    Reservation,
    remains,
    remove,
    rescue,
    reserved,
    uninterrupted,
    unwritable,
)

FORMAT = 1


@dataclass(frozen=True)
class Paid:
    """What a model was charged for, and where it may be written if its own place fails."""

    charge: str
    refuges: tuple[Path, ...]


@dataclass(frozen=True, eq=False)
class Shared:
    """Arrays made from released numbers and public facts only, and the name of the personal
    model that uses them."""

    method: str
    personal: str
    arrays: Mapping[str, NDArray[Any]]
    numbers: Mapping[str, float]
    schema: Schema
    catalogue: Catalogue
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays: what a device downloads beside the list of items."""
        return sum(int(array.nbytes) for array in self.arrays.values())

    @cached_property
    def _items(self) -> bytes:
        """The catalogue in its canonical text: part of the digest, and a file."""
        return _canonical(catalogue_facts(self.catalogue))

    def digest(self) -> str:
        """What the ledger knows this model by: every array, number and item, independent of
        file layout."""
        text = hashlib.sha256(_canonical(self._facts()))
        text.update(self._items)
        for name in sorted(self.arrays):
            array = np.ascontiguousarray(self.arrays[name])
            text.update(f"{name} {array.dtype.str} {array.shape}".encode())
            text.update(array.data)
        return text.hexdigest()

    def _facts(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "personal": self.personal,
            "numbers": dict(self.numbers),
            "settings": dict(self.settings),
            "schema": {
                "low": self.schema.low,
                "high": self.schema.high,
                "users": self.schema.users,
                "max_ratings": self.schema.max_ratings,
                "positive": self.schema.positive,
                "source": self.schema.source,
            },
        }

    def save(
        self,
        path: str | Path,
        statement: str,
        *,
        overwrite: bool = False,
        reservation: Reservation | None = None,
        paid: Paid | None = None,
    ) -> None:
        """Write the whole folder beside its place and exchange it in one step.

        `reservation`: of the folder, where one is held already. `paid`: for a model that was
        charged for and is nowhere else; an error then leaves it whole somewhere, and says
        where.
        """
        files = self.files(statement)
        try:
            with uninterrupted(), _held(path, reservation) as held:
                check_target(held.target, overwrite=overwrite)
                _publish(held, files)
        except StorageError as error:
            whole_in = error.whole_in if isinstance(error, _Unplaced) else None
            if paid is not None:
                folder = whole_in or rescue(files, paid.refuges, "tacit-model-")
                raise _kept(error, folder, paid.charge) from None
            if whole_in is not None and whole_in != Path(os.path.abspath(path)):
                remove(whole_in)
            raise

    def files(self, statement: str) -> dict[str, bytes]:
        """The content of the folder; the file that lists the others is last."""
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        files = {
            "arrays.safetensors": save(arrays),
            "items.json": self._items,
            "statement.json": statement.encode(),
        }
        listed = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        facts = {"tacit_model": FORMAT, **self._facts(), "digest": self.digest(), "files": listed}
        return {**files, LAST: json.dumps(facts, indent=1).encode()}


def single(array: NDArray[Any]) -> NDArray[np.float32]:
    """An array as it is published: in single precision, and finite even where what a paper
    prints has diverged, because a model of other numbers is not read again."""
    with np.errstate(over="ignore"):
        return np.nan_to_num(np.asarray(array, np.float32))


def check_target(target: Path, *, overwrite: bool = False) -> None:
    """Refuse a place that holds something else, before any work is done or budget spent."""
    if target.is_dir() and any(target.iterdir()):
        if not (target / LAST).is_file():
            raise StorageError(
                f"{target} is a folder that holds other things", remedy="choose another --out"
            )
        if not overwrite:
            raise StorageError(
                f"{target} holds a model already", remedy="choose another --out, or add --overwrite"
            )
    elif target.exists() and not target.is_dir():
        raise StorageError(f"{target} is a file", remedy="choose another --out")
    if target.is_dir() and os.path.ismount(target):
        raise StorageError(
            f"{target} is where a file system is mounted, and a model's folder takes the place "
            "of another in one step",
            remedy=f"choose a folder in it: --out {target / 'model'}",
        )
    folder = next(p for p in [target.absolute().parent, *target.absolute().parents] if p.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(
            f"{folder} cannot be written", remedy="choose another --out, or change its permissions"
        )
    try:  # permission bits do not tell all (read-only mounts, quotas)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable(target, error) from None


class RescuedError(StorageError):
    """A model that was paid for has not its place, but is whole in another one."""


class _Unplaced(StorageError):
    """A model that was written whole, but not where it should be, or not for sure."""

    def __init__(self, message: str, whole_in: Path) -> None:
        super().__init__(message, remedy="choose a place that you may write to")
        self.whole_in = whole_in


def _held(path: str | Path, held: Reservation | None) -> AbstractContextManager[Reservation]:
    return reserved(path) if held is None else nullcontext(held)


def _publish(held: Reservation, files: Files) -> None:
    """Stage the files, then put them in their place."""
    try:
        staged = held.stage(files)
    except OSError as error:
        raise unwritable(held.target, error) from None
    try:
        held.place(staged)
    except NotDurable as error:
        raise _Unplaced(
            f"{held.target} was written, but the disk has not confirmed it: {reason(error)}",
            held.target,
        ) from None
    except OSError as error:
        raise _Unplaced(str(unwritable(held.target, error).message), staged) from None


def _kept(error: StorageError, whole_in: Path | None, charge: str) -> StorageError:
    """The error about a model that was paid for: where it is, what stays charged, what to do."""
    if whole_in is None:
        return StorageError(
            f"{error.message}; no other place could be written either, and {charge} stays charged",
            remedy="make room; in Python, call save again before this process ends",
        )
    return RescuedError(
        f"{error.message}; the model is whole in {whole_in}, and {charge} stays charged for it",
        remedy="move that folder to where you want it; another fit would be charged again",
    )


def load_shared(path: str | Path) -> tuple[Shared, str]:
    """The model in a folder and its statement (JSON), with every digest and part checked."""
    folder = Path(path)
    if not (folder / "model.json").exists():
        inside = (folder / "model" / "model.json").exists()
        gone = "" if folder.exists() else ": there is no such folder"
        remedy = "give the folder that `tacit fit --out` wrote"
        if inside:
            remedy = f"the model is in {folder / 'model'}"
        elif left := remains(folder):
            remedy = f"a process was killed while it replaced this model: move {left[0]} there"
        raise ModelError(f"{folder} is not a Tacit model{gone}", remedy=remedy)
    content = read_folder(folder, FORMAT)
    facts = content.facts
    check_facts(facts, folder)
    shared = Shared(
        facts["method"],
        facts["personal"],
        content.arrays,
        facts["numbers"],
        schema_of(facts.get("schema"), folder),
        catalogue_of(content.items, folder),
        facts["settings"],
    )
    check_arrays(shared.personal, shared.arrays, shared.numbers, len(shared.catalogue), folder)
    if shared.digest() != facts["digest"]:
        raise damaged(folder, "model.json was changed after it was written")
    return shared, content.statement


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
