"""What a caller in Python may have given by mistake: arguments of another kind than was asked
for, refused with their name and what to give instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tacit.errors import SettingError

NOTHING: Mapping[str, object] = MappingProxyType({})


def number(name: str, value: object, remedy: str = "give a number") -> float:
    """A number, which a truth value is not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _other(name, value, "a number", remedy)
    return float(value)


def count(name: str, value: object, *, least: int = 1) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _other(name, value, "a whole number", f"give {least} or more")
    if int(value) < least:
        raise SettingError(
            f"{name} is {int(value)}; it must be at least {least}",
            remedy=f"give {least} or more",
        )
    return int(value)


def text(name: str, value: object, remedy: str = "give a text") -> str:
    """A text."""
    if not isinstance(value, str):
        raise _other(name, value, "a text", remedy)
    return value


def model(given: Any) -> Any:
    """A model, or that of a fitted estimator."""
    found = getattr(given, "fitted", given)
    if not hasattr(found, "shared") or not hasattr(found, "statement"):
        raise SettingError(
            f"this is a {type(given).__name__} and not a model",
            remedy="give a fitted estimator, or tacit.load(path)",
        )
    return found


def path(name: str, value: object) -> Path:
    """A place in the file system."""
    if not isinstance(value, str | Path):
        raise _other(name, value, "a path", "give the name of a file or folder")
    return Path(value)


def numbers(
    values: Mapping[str, object], remedy: str = "give {name} as one number"
) -> None:
    """Several numbers by name; None where none was given."""
    for name, value in values.items():
        if value is not None:
            number(name, value, remedy.format(name=name))


def kinds(
    *,
    texts: Mapping[str, object] = NOTHING,
    whole: Mapping[str, object] = NOTHING,
    paths: Mapping[str, object] = NOTHING,
    real: Mapping[str, object] = NOTHING,
) -> None:
    """Several arguments by name, each of its kind; all but texts may be None."""
    for name, value in texts.items():
        text(name, value)
    for name, value in whole.items():
        if value is not None:
            count(name, value, least=-(2**31))
    for name, value in paths.items():
        if value is not None:
            path(name, value)
    numbers(real)


def names(name: str, value: object) -> list[str]:
    """Several texts. One text alone is refused: its letters are not meant."""
    remedy = f'give a list, such as {name}=["Alien", "Heat"]'
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _other(name, value, "a list of items", remedy)
    return [text(f"each of {name}", each, remedy) for each in value]


def _other(name: str, value: Any, wanted: str, remedy: str) -> SettingError:
    return SettingError(
        f"{name} is of type {type(value).__name__}, not {wanted}", remedy=remedy
    )
