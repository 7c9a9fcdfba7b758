"""The published model: released arrays and public facts, in files that run no code when
they are read.

A model folder holds `arrays.safetensors`, `items.json`, `statement.json` and `model.json`,
which lists the digests of the others. It carries no path, exact count, date or timing of
private data.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.schema import Schema
from tacit.errors import ModelError, StorageError
from tacit.model.folder import damaged, read_folder
from tacit.model.valid import catalogue_of, check_arrays, check_facts, schema_of

FORMAT = 1


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

    def save(self, path: str | Path, statement: str, *, overwrite: bool = False) -> None:
        """Write the whole folder beside its place and move it there, so that it appears
        whole or not at all."""
        from safetensors.numpy import save

        target = Path(path)
        check_target(target, overwrite=overwrite)
        files = {
            "arrays.safetensors": save(
                {k: np.ascontiguousarray(v) for k, v in self.arrays.items()}
            ),
            "items.json": self._items,
            "statement.json": statement.encode(),
        }
        listed = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        files["model.json"] = json.dumps(
            {"tacit_model": FORMAT, **self._facts(), "digest": self.digest(), "files": listed},
            indent=1,
        ).encode()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        except OSError as error:
            raise _unwritable(target, error) from None
        try:
            for name, data in files.items():
                with open(staging / name, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            staging.chmod(0o755)
            if target.exists():
                old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
                os.replace(target, old / "model")
                os.replace(staging, target)
                shutil.rmtree(old, ignore_errors=True)
            else:
                os.replace(staging, target)
        except OSError as error:
            raise _unwritable(target, error) from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def single(array: NDArray[Any]) -> NDArray[np.float32]:
    """An array as it is published: in single precision, and finite even where what a paper
    prints has diverged, because a model of other numbers is not read again."""
    with np.errstate(over="ignore"):
        return np.nan_to_num(np.asarray(array, np.float32))


def check_target(target: Path, *, overwrite: bool = False) -> None:
    """Refuse a place that holds something else, before any work is done or budget spent."""
    if target.is_dir() and any(target.iterdir()):
        if not (target / "model.json").is_file():
            raise StorageError(
                f"{target} is a folder that holds other things", remedy="choose another --out"
            )
        if not overwrite:
            raise StorageError(
                f"{target} holds a model already", remedy="choose another --out, or add --overwrite"
            )
    elif target.exists() and not target.is_dir():
        raise StorageError(f"{target} is a file", remedy="choose another --out")
    folder = next(p for p in [target.absolute().parent, *target.absolute().parents] if p.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(
            f"{folder} cannot be written", remedy="choose another --out, or change its permissions"
        )
    try:  # permission bits do not tell all (read-only mounts, quotas)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(target, error) from None


def load_shared(path: str | Path) -> tuple[Shared, str]:
    """The model in a folder and its statement (JSON), with every digest and part checked."""
    folder = Path(path)
    if not (folder / "model.json").exists():
        inside = (folder / "model" / "model.json").exists()
        gone = "" if folder.exists() else ": there is no such folder"
        raise ModelError(
            f"{folder} is not a Tacit model{gone}",
            remedy=f"the model is in {folder / 'model'}"
            if inside
            else "give the folder that `tacit fit --out` wrote",
        )
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


def _unwritable(target: Path, error: OSError) -> StorageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "free some space" if full else "choose a place that you may write to"
    return StorageError(
        f"{target} cannot be written: {error.strerror}; nothing was left behind", remedy=remedy
    )


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
