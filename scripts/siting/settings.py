"""The settings of a method: name, default, what they may be, and the docstring below each."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin


@dataclass(frozen=True)
class Setting:
    """One line of the table."""

    name: str
    default: str
    kind: str
    told: str


def settings(owner: Any) -> list[Setting]:
    """All fields of a pydantic model, those of its bases first."""
    told: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        if base.__module__.startswith("tacit."):
            told |= docstrings(base)
    return [
        Setting(
            name,
            "by rule" if field.default is None else f"`{field.default}`",
            _kind(field.annotation),
            told.get(name, ""),
        )
        for name, field in owner.model_fields.items()
    ]


def docstrings(owner: type) -> dict[str, str]:
    """The string that stands below each field of a class."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    body = tree.body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for one, after in zip(body.body, body.body[1:], strict=False):
        if not isinstance(one, ast.AnnAssign):
            continue
        text = getattr(getattr(after, "value", None), "value", None)
        if isinstance(after, ast.Expr) and isinstance(text, str):
            found[getattr(one.target, "id", "")] = " ".join(text.split())
    return found


def _kind(kind: Any) -> str:
    """A type in words."""
    if get_origin(kind) in (Union, types.UnionType):
        parts = [each for each in get_args(kind) if each is not type(None)]
        return " or ".join(_kind(each) for each in parts)
    if get_origin(kind) is Literal:
        return ", ".join(f"`{each}`" for each in get_args(kind))
    if get_origin(kind) is tuple:
        return f"{len(get_args(kind))} numbers"
    names = {bool: "yes or no", int: "a whole number", float: "a number"}
    return names.get(kind, getattr(kind, "__name__", str(kind)))
