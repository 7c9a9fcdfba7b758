"""Audits of the models that are served: what `tacit audit --out MODEL/audit.json` left beside each.

It is another program's file, so nothing is believed of its form but what is checked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from tacit.serving.shelf import Served

FILE = "audit.json"
MOST = 5_000_000
"""Bytes of such a file that are read."""
NUMBERS = ("claimed", "proven", "measured", "delta")
WORDS = ("method", "unit", "calibration", "attack", "verdict", "note")
MOST_LETTERS = 300
MOST_ROWS = 500


def read_audits(served: Iterable[Served]) -> list[dict[str, Any]]:
    """The best attack on each claim, model by model; nothing where there was no audit."""
    return [
        {"model": model.name, **row}
        for model in served
        if model.folder is not None
        for row in _rows(model.folder / FILE)
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        if not path.is_file() or path.stat().st_size > MOST:
            return []
        facts = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return [_unreadable()]
    listed = None
    if isinstance(facts, Mapping):
        listed = facts.get("best") or facts.get("findings")
    if not isinstance(listed, list):
        return [_unreadable()]
    return [_row(entry) for entry in listed[:MOST_ROWS] if isinstance(entry, dict)]


def _row(facts: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: str(facts.get(name) or "")[:MOST_LETTERS] for name in WORDS}
    return texts | {name: _number(facts.get(name)) for name in NUMBERS}


def _number(value: Any) -> float | None:
    """None for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None


def _unreadable() -> dict[str, Any]:
    return _row({"verdict": "the file cannot be read"})
