"""The models that are served: packed once, swapped whole when their folder changes.

A request sees one table of answers from its beginning to its end. A model that cannot be read
leaves the one before it in its place. Addresses that hold a digest outlive a change for a while, so
that a page which has just read the list still finds what the list named.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import SettingError, TacitError
from tacit.ledger.statement.statement import Statement
from tacit.model.model import Model
from tacit.model.shared import load_shared
from tacit.serving.compact import Precision, pack
from tacit.serving.http.answer import Asset, Variants
from tacit.serving.statements import JSON, statement_assets

KEPT = 600.0
"""Seconds that the digest's address of a replaced model goes on answering."""
STYLE = "plain.css"
PROMISED = {"certified", "epsilon", "delta", "unit", "calibration", "engine", "reason", "software"}
PACKED = "application/vnd.tacit.model"
Table = Mapping[str, Asset | Variants]
Stamp = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Served:
    """One model and its answers, by address below `models/NAME/`."""

    name: str
    model: Model
    stored: str
    """The statement, byte for byte."""
    answers: Table
    lasting: Table
    """Those under a digest."""
    facts: Mapping[str, Any]
    folder: Path | None = None
    """Where it was read; an audit may lie beside it."""


@dataclass
class Source:
    """Where a model comes from, and how its file looked when it was read."""

    name: str
    folder: Path
    stamp: Stamp | None = None


@dataclass(eq=False)
class Shelf:
    """See the module. `table` is replaced, never changed."""

    sources: Sequence[Source]
    fixed: Table
    """What does not come from a model: the page, the style sheet."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the list of models says beside the models."""
    precision: Precision = "auto"
    models: Mapping[str, Served] = field(default_factory=dict)
    table: Table = field(default_factory=dict)
    reloads: int = 0
    failures: int = 0
    _old: dict[str, tuple[float, Asset | Variants]] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    """A signal and the watch may come at the same time."""

    def load(self) -> None:
        """All models, at the start: one that cannot be read is an error."""
        self._publish({source.name: self._read(source) for source in self.sources})

    def refresh(self, *, force: bool = False) -> list[str]:
        """Read what changed and say what happened. Never raises for a model: the old one stays."""
        with self._turn:
            return self._refresh(force)

    def _refresh(self, force: bool) -> list[str]:
        messages = list[str]()
        models = dict(self.models)
        for source in self.sources:
            if not force and _stamp(source.folder) in (source.stamp, None):
                continue
            try:
                models[source.name] = self._read(source)
                messages.append(f"{source.name}: read")
            except TacitError as error:
                self.failures += 1
                source.stamp = _stamp(source.folder)  # not again before it changes again
                messages.append(f"{source.name}: kept as it was; {error.message}")
        if any(models[name] is not self.models[name] for name in models):
            self.reloads += 1
            self._publish(models)
        return messages

    @property
    def default(self) -> str:
        """The model that is meant where none is named."""
        return self.sources[0].name

    def _read(self, source: Source) -> Served:
        stamp = _stamp(source.folder)
        served = serve_model(source.name, source.folder, self.precision)
        source.stamp = stamp
        return served

    def _publish(self, models: Mapping[str, Served]) -> None:
        now = time.monotonic()
        self._old = {path: entry for path, entry in self._old.items() if entry[0] > now}
        for name, served in self.models.items():
            if models.get(name) is not served:
                permanent = {
                    f"/models/{name}/{path}": asset for path, asset in served.lasting.items()
                }
                self._old |= {path: (now + KEPT, asset) for path, asset in permanent.items()}
        table: dict[str, Asset | Variants] = {path: asset for path, (_, asset) in self._old.items()}
        for name, served in models.items():
            statements = _statements(name, served.stored, f"../../{STYLE}")
            assets = {**served.answers, **served.lasting, **statements}
            table |= {f"/models/{name}/{path}": asset for path, asset in assets.items()}
        default_model = models[self.default]
        statements = _statements(default_model.name, default_model.stored, STYLE)
        table |= {
            f"/{path}": asset for path, asset in {**default_model.answers, **statements}.items()
        }
        listed = {
            "default": self.default,
            **self.about,
            "models": [served.facts for served in models.values()],
        }
        table["/models"] = Asset("models", JSON, json.dumps(listed).encode())
        self.models, self.table = models, {**table, **self.fixed}


def serve_model(name: str, folder: Path, precision: Precision = "auto") -> Served:
    """Read, pack and compress one model."""
    shared, stored = load_shared(folder)
    packed = pack(shared, name, precision)
    model = Asset("model", PACKED, packed.data)
    catalogue = Asset("catalogue", JSON, _catalogue(shared.catalogue, shared.digest()))
    promise = Statement.from_json(stored)
    paths = {asset: f"{asset.label}/{asset.digest}" for asset in (model, catalogue)}
    base = f"models/{name}/"
    facts = {
        "name": name,
        "base": base,
        "method": shared.method,
        "kind": shared.personal,
        "digest": shared.digest(),
        "items": len(shared.catalogue),
        "scale": {"low": shared.schema.low, "high": shared.schema.high},
        "positive": shared.schema.positive is not None,
        "model": base + paths[model],
        "catalogue": base + paths[catalogue],
        "bytes": {coding: len(form.body) for coding, form in model.forms.items()},
        "error": dict(packed.error),
        "promise": promise.model_dump(mode="json", include=PROMISED),
    }
    answers: dict[str, Asset | Variants] = {"model": model, "catalogue": catalogue}
    permanent = {path: asset.forever() for asset, path in paths.items()}
    loaded = Model(shared, stored)
    return Served(name, loaded, stored, answers, permanent, facts, folder)


def _statements(name: str, stored: str, style: str) -> Table:
    assets = statement_assets(name, stored, style)
    return {f"statement{suffix}": asset for suffix, asset in assets.items()}


def _catalogue(catalogue: Catalogue, digest: str) -> bytes:
    facts = catalogue_facts(catalogue)
    fields = {name: facts[name] for name in ("ids", "titles", "years", "tags", "tagged")}
    text = json.dumps({"digest": digest, **fields}, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def _stamp(folder: Path) -> Stamp | None:
    try:
        status = (folder / "model.json").stat()
    except OSError:  # just being replaced
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def name_sources(folders: Sequence[Path]) -> list[Source]:
    """Each by the name of its folder, as far as an address can hold it."""
    sources = list[Source]()
    for folder in folders:
        bare = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip(".-") or "model"
        used = {source.name for source in sources}
        name = next(
            candidate
            for candidate in (bare, *(f"{bare}-{k}" for k in range(2, 1000)))
            if candidate not in used
        )
        sources.append(Source(name, folder))
    if not sources:
        raise SettingError("there is no model to serve", remedy="name a folder, or give --demo")
    return sources
