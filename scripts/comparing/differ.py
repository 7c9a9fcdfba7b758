"""What is different between two records of one cell, in a few words each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TOLD = 60
"""Characters of a value that are shown."""


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """One line for each thing that differs; none if nothing does."""
    for outcome in ("refused", "crashed"):
        if (outcome in old) != (outcome in new):
            return [f"was {_outcome(old)}, is {_outcome(new)}"]
    told = list(_arrays(old.get("arrays"), new.get("arrays")))
    for key in sorted((old.keys() | new.keys()) - {"arrays"}):
        told += _values(key, old.get(key), new.get(key))
    return told


def _outcome(record: Mapping[str, Any]) -> str:
    for outcome in ("refused", "crashed"):
        if outcome in record:
            return f"{outcome} ({record[outcome]}: {_short(record['words'])})"
    return "fitted"


def _arrays(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[str]:
    """Arrays by name: gone, new, of another type or shape, or with other values."""
    before, after = old or {}, new or {}
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield f"array {name}: gone"
        elif name not in before:
            yield f"array {name}: new"
        elif before[name][:2] != after[name][:2]:
            was, now = (f"{kind} {tuple(shape)}" for kind, shape, _ in (before[name], after[name]))
            yield f"array {name}: {was} is now {now}"
        elif before[name] != after[name]:
            yield f"array {name}: other values"


def _values(where: str, old: Any, new: Any) -> Iterator[str]:
    """Leaves that differ, with their place."""
    if _same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _values(f"{where}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _values(f"{where}[{at}]", before, after)
    else:
        yield f"{where}: {_pair(old, new)}"


def _same(old: Any, new: Any) -> bool:
    """Equal in type and to the last digit; two that are no number are the same."""
    if isinstance(old, float) and isinstance(new, float):
        return old.hex() == new.hex()
    if isinstance(old, dict | list):
        return False  # look inside
    return type(old) is type(new) and bool(old == new)


def _pair(old: Any, new: Any) -> str:
    """Both values; of long texts the first lines that differ."""
    if isinstance(old, str) and isinstance(new, str):
        for before, after in zip(old.splitlines(), new.splitlines(), strict=False):
            if before != after:
                return f"{_short(before)} -> {_short(after)}"
    return f"{_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= TOLD else f"{text[: TOLD - 1]}…"
