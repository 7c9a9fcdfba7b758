"""Plain data as YAML: mappings, lists and scalars, every text quoted as JSON quotes it, which
YAML reads the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tacit.redaction import acts, json_text


def to_yaml(value: Mapping[str, Any]) -> str:
    """A document of nested mappings and lists."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Mapping[str, Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for name, entry in value.items():
        if isinstance(entry, Mapping) and entry:
            yield f"{pad}{name}:"
            yield from _lines(entry, depth + 1)
        elif isinstance(entry, Mapping):
            yield f"{pad}{name}: {{}}"
        elif isinstance(entry, list | tuple):
            yield f"{pad}{name}:" if entry else f"{pad}{name}: []"
            for item in entry:
                yield f"{pad}  - {_scalar(item)}"
        elif isinstance(entry, str) and "\n" in entry and _plain(entry):
            yield f"{pad}{name}: |-"
            for line in entry.split("\n"):
                yield f"{pad}  {line}"
        else:
            yield f"{pad}{name}: {_scalar(entry)}"


def _plain(text: str) -> bool:
    """Whether a block of lines may stand as it is."""
    lines = text.split("\n")
    return all(line == line.strip() and line for line in lines) and not any(
        acts(c) for line in lines for c in line
    )


def _scalar(value: object) -> str:
    if isinstance(value, float):
        # A mantissa with a point: YAML 1.1 reads 1e-06 as a text.
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")
    return json_text(value) if isinstance(value, str) else json.dumps(value)
