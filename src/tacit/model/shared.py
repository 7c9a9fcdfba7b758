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

from tacit.data.catalogue import LONGEST, MOST_FEATURES, Catalogue, catalogue_facts, catalogue_from
from tacit.data.schema import Schema
from tacit.errors import DataError, ModelError, SettingError, StorageError, reason
from tacit.model.folder import DEEPEST, damaged, is_number, is_text, plain_value, read_folder
from tacit.model.person.base import Unfit, check_needs, personal_class
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
NUMBERS = 1000
"""Most numbers of a model."""
WIDTH = 1e-6
"""Least distance of the ends of a scale."""
MOST_PEOPLE = 1 << 53


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
        """Write the whole folder beside its target and exchange it in one step.

        `reservation`: of the folder, where one is held already. `paid`: for a model that was
        charged for and exists nowhere else; after an error it is kept whole in another folder,
        which the error names."""
        files = self.files(statement)
        try:
            with uninterrupted(), _held(path, reservation) as held:
                check_target(held.target, overwrite=overwrite)
                _publish(held, files)
        except StorageError as error:
            whole_in = error.whole_in if isinstance(error, _Unplaced) else None
            if paid is not None:
                folder = whole_in or rescue(files, paid.refuges, "tacit-model-")
                raise _rescued_error(error, folder, paid.charge) from None
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
        held.put(staged)
    except NotDurable as error:
        raise _Unplaced(
            f"{held.target} was written, but the disk has not confirmed it: {reason(error)}",
            held.target,
        ) from None
    except OSError as error:
        raise _Unplaced(str(unwritable(held.target, error).message), staged) from None


def _rescued_error(error: StorageError, whole_in: Path | None, charge: str) -> StorageError:
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
        elif leftovers := remains(folder):
            remedy = f"a process was killed while it replaced this model: move {leftovers[0]} there"
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


# Validation of a model folder: its parts are well formed and fit each other.
#
# `tacit.model.folder` reads the parts; here they become a schema, a catalogue and arrays, or an
# error. What arrays and numbers a personal model needs is declared beside it (`needs`).


def check_facts(facts: Mapping[str, Any], folder: Path) -> None:
    """The texts, numbers and settings of `model.json`."""
    for name in ("method", "personal", "digest"):
        if not is_text(facts.get(name)):
            raise damaged(folder, f"model.json has no proper {name}")
    numbers, settings = facts.get("numbers"), facts.get("settings")
    if (
        not isinstance(numbers, dict)
        or len(numbers) > NUMBERS
        or not all(is_text(n) and is_number(x) for n, x in numbers.items())
    ):
        raise damaged(folder, "the numbers of model.json are not numbers")
    if not isinstance(settings, dict) or not plain_value(settings, DEEPEST):
        raise damaged(folder, "the settings of model.json are no settings")


def schema_of(content: Any, folder: Path) -> Schema:
    """The schema that `model.json` holds."""
    names = {"low", "high", "users", "max_ratings", "positive", "source"}
    if not isinstance(content, dict) or set(content) != names:
        raise damaged(folder, "model.json has no proper schema")
    fits = (
        is_number(content["low"])
        and is_number(content["high"])
        and content["high"] - content["low"] >= WIDTH
        and (content["positive"] is None or is_number(content["positive"]))
        and is_text(content["source"])
        and all(
            content[name] is None
            or (type(content[name]) is int and 1 <= content[name] <= MOST_PEOPLE)
            for name in ("users", "max_ratings")
        )
    )
    try:
        if fits:
            return Schema(**content)
    except SettingError:
        pass
    raise damaged(folder, "the schema of model.json is out of range")


def catalogue_of(content: Any, folder: Path) -> Catalogue:
    """The catalogue that `items.json` holds."""
    wrong = None
    try:
        wrong = _catalogue_fault(content)
        if wrong is None:
            return catalogue_from(content)
    except DataError as error:
        wrong = error.message
    except (KeyError, TypeError, ValueError, OverflowError):
        wrong = "items.json is no catalogue"
    raise damaged(folder, wrong)


def _catalogue_fault(content: Any) -> str | None:
    """What is wrong with a catalogue, in words."""
    count = len(content["ids"])
    if not _are_texts(content["ids"]) or not count:
        return "the ids of items.json are no list of texts"
    titles, years = content["titles"], content["years"]
    if titles is not None and not (_are_texts(titles) and len(titles) == count):
        return "the titles of items.json do not fit its ids"
    if years is not None and not (_are_integers(years, 1 << 31) and len(years) == count):
        return "the years of items.json do not fit its ids"
    if not _are_texts(content["tags"]) or not _are_texts(content["numbers"]):
        return "the features of items.json have no names"
    features = len(content["tags"]) + len(content["numbers"])
    if count * features > MOST_FEATURES:
        return "items.json has too many features"
    for name in ("tagged", "numeric"):
        rows = content[name]
        if rows is not None and not (
            isinstance(rows, list)
            and len(rows) == count
            and all(isinstance(row, list) for row in rows)
        ):
            return f"the {name} features of items.json do not fit its ids"
    flat = [column for row in content["tagged"] or () for column in row]
    if not _are_integers(flat, len(content["tags"])) or (flat and min(flat) < 0):
        return "items.json tags items with what it does not name"
    width = len(content["numbers"])
    for row in content["numeric"] or ():
        if len(row) != width or not all(x is None or is_number(x) for x in row):
            return "the numeric features of items.json are not numbers"
    return None


def _are_texts(content: Any) -> bool:
    return isinstance(content, list) and all(is_text(x, LONGEST) for x in content)


def _are_integers(content: Any, below: int) -> bool:
    return isinstance(content, list) and all(
        type(x) is int and -below <= x < below for x in content
    )


def check_arrays(
    personal: str,
    arrays: Mapping[str, NDArray[Any]],
    numbers: Mapping[str, float],
    items: int,
    folder: Path,
) -> None:
    """Whether the personal model that is named can use these arrays and numbers."""
    for name, array in arrays.items():
        if not is_text(name):
            raise damaged(folder, "an array has no proper name")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise damaged(folder, f"the array {name} holds numbers that are not finite")
    try:
        check_needs(personal_class(personal), arrays, numbers, items)
    except Unfit as error:
        raise damaged(folder, str(error)) from None
