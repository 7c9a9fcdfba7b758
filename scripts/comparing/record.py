"""What is kept of a cell: digests of its arrays, the promise, and what a person is told.

What two runs of one version cannot share is blanked: hashes of entries, dates, the version.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from comparing.version import tacit

Record = dict[str, Any]

HEX = re.compile(r"\b[0-9a-f]{16,}\b")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
SOFTWARE = re.compile(r"Made with tacit \S+")
BLANK = "…"
PRIVATE_TO_A_RUN = frozenset(
    {"book_head", "hash", "head", "previous", "software", "time", "version", "files"}
)
HEAD = 3
"""Predictions that are kept as they are, beside the digest of all."""


def of_model(model: Any, folder: Path, own: Mapping[str, float], asked: str) -> Record:
    """Everything that may be compared about a fitted model, which is saved and read back for it."""
    model.save(folder / "model")
    facts = json.loads((folder / "model" / "model.json").read_bytes())
    saved = load((folder / "model" / "arrays.safetensors").read_bytes())
    again = tacit.load(folder / "model")
    return {
        "digest": model.shared.digest(),
        "loaded": again.shared.digest() == model.shared.digest(),
        "files": sorted(path.name for path in (folder / "model").iterdir()),
        "arrays": {name: of_array(saved[name]) for name in sorted(saved)},
        "facts": blanked(facts),
        "items": of_bytes((folder / "model" / "items.json").read_bytes()),
        "use": of_use(again, own, asked),
        **of_promise(model.statement),
    }


def of_promise(statement: Any) -> Record:
    """The promise: its events, its other fields and its words."""
    fields = statement.model_dump(mode="json")
    events = fields.pop("events")
    return {
        "events": blanked(events),
        "statement": blanked(fields),
        "words": in_words(str(statement)),
    }


def of_use(model: Any, own: Mapping[str, float], asked: str) -> Record:
    """What one person is told: lists, predictions, reasons and what is alike."""
    return {
        "recommend": answer(lambda: model.recommend(own, 4)),
        "explore": answer(lambda: model.recommend(own, 2, by="explore")),
        "predict": _short(answer(lambda: model.predict(own))),
        "nobody": _short(answer(lambda: model.predict({}))),
        "explain": answer(lambda: model.explain(own, asked)),
        "similar": answer(lambda: model.similar(asked, 4)),
    }


def answer(ask: Any) -> Any:
    """What a call gives as plain values, or how it was refused."""
    try:
        return plain(ask())
    except tacit.TacitError as error:
        return refusal(error)


def refusal(error: Exception) -> Record:
    """The class and the words of an error."""
    return {"refused": type(error).__name__, "words": in_words(str(error))}


def of_array(array: Any) -> list[Any]:
    """Type, shape and digest of an array."""
    found = np.ascontiguousarray(array)
    if found.dtype == object:
        return ["object", list(found.shape), of_bytes(json.dumps(found.tolist()).encode())]
    return [found.dtype.str, list(found.shape), of_bytes(found.tobytes())]


def of_bytes(data: bytes) -> str:
    """A digest, short: two cells are told apart by it, nobody is kept out."""
    return hashlib.sha256(data).hexdigest()[:24]


def plain(value: Any) -> Any:
    """Dataclasses, tuples and numpy's numbers as what JSON can hold, with every digit."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        kind = type(value).__name__
        return {"kind": kind, **{each.name: plain(getattr(value, each.name)) for each in fields}}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def blanked(value: Any) -> Any:
    """The same without what is private to a run."""
    if isinstance(value, Mapping):
        kept = {
            key: BLANK if key in PRIVATE_TO_A_RUN else blanked(each) for key, each in value.items()
        }
        return dict(sorted(kept.items()))
    if isinstance(value, list | tuple):
        return [blanked(each) for each in value]
    return in_words(value) if isinstance(value, str) else value


def in_words(text: str) -> str:
    """Text without digests, dates and the version."""
    return SOFTWARE.sub(f"Made with tacit {BLANK}", DATE.sub(BLANK, HEX.sub(BLANK, text)))


def _short(found: Any) -> Any:
    if not isinstance(found, list):
        return found
    return {"all": of_bytes(json.dumps(found).encode()), "count": len(found), "head": found[:HEAD]}
