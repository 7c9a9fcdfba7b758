"""The one reader of small files of ours in JSON or TOML: what it gives has the form that its
reader asked for.

Guarantee: whatever a file holds, `read_json` and `read_toml` give a value of the wanted type or
raise an error of ours that names the file, and the field that is not what it should be. No value
of the file is quoted: some of these files hold keys.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from tacit.errors import TacitError, reason

T = TypeVar("T")


def read_json(path: Path, kind: type[T], error: type[TacitError], remedy: str) -> T:
    """The value of a JSON file, of this type."""
    return _read(path, _json, "JSON", kind, error, remedy)


def read_toml(path: Path, kind: type[T], error: type[TacitError], remedy: str) -> T:
    """The value of a TOML file, of this type."""
    return _read(path, tomllib.loads, "TOML", kind, error, remedy)


def _read(
    path: Path,
    parse: Callable[[str], Any],
    syntax: str,
    kind: type[T],
    error: type[TacitError],
    remedy: str,
) -> T:
    def refuse(why: str) -> NoReturn:
        raise error(f"{path} cannot be read: {why}", remedy=remedy) from None

    try:
        text = path.read_bytes().decode()
    except OSError as fault:
        refuse(reason(fault))
    except UnicodeDecodeError:
        refuse("it is not text in UTF-8")
    try:
        value = parse(text)
    except (ValueError, RecursionError) as fault:
        at = f" ({fault})" if isinstance(fault, tomllib.TOMLDecodeError) else ""
        refuse(f"it is not proper {syntax}{at}")
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as fault:
        first = fault.errors(include_input=False, include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        refuse(f"`{field}`: {first['msg']}" if field else first["msg"])


def _json(text: str) -> Any:
    value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_unique)
    if "\\u" in text:  # an escape may be half of a pair, which is no text
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("a name is repeated")
    return unique
