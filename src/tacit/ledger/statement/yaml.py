"""Plain data as YAML: mappings, lists and scalars, every text quoted as JSON quotes it, which
YAML reads the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tacit.shown import acts, json_text


def to_yaml(value: Mapping[str, Any]) -> str:
    """A document of nested mappings and lists."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Mapping[str, Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for name, each in value.items():
        if isinstance(each, Mapping) and each:
            yield f"{pad}{name}:"
            yield from _lines(each, depth + 1)
        elif isinstance(each, Mapping):
            yield f"{pad}{name}: {{}}"
        elif isinstance(each, list | tuple):
            yield f"{pad}{name}:" if each else f"{pad}{name}: []"
            for item in each:
                yield f"{pad}  - {_scalar(item)}"
        elif isinstance(each, str) and "\n" in each and _plain(each):
            yield f"{pad}{name}: |-"
            for line in each.split("\n"):
                yield f"{pad}  {line}"
        else:
            yield f"{pad}{name}: {_scalar(each)}"


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
