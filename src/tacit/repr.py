"""How things that hold private cells are shown: by their shapes, never by an id or a value.

A `repr` is printed by notebooks, debuggers, logs and failing tests, far from where anybody
thinks of private data. A class that holds cells says `__repr__ = shapes` in its body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np


def shapes(self: Any) -> str:
    """`Ratings(users: 30, item: (240,) uint32, …)`: names, sizes and types, and no more."""
    fields = (f"{name}: {_shape(value)}" for name, value in _fields(self))
    return f"{type(self).__name__}({', '.join(fields)})"


def _fields(value: Any) -> list[tuple[str, Any]]:
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is None:
        names = getattr(type(value), "_fields", None)
    if names is None:
        names = [name for name in vars(value) if not name.startswith("_")]
    return [(name, getattr(value, name, None)) for name in names]


def _shape(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.dtype}"
    if isinstance(value, Mapping):
        return f"{len(value)} by name"
    if isinstance(value, str | bytes):
        return type(value).__name__
    if isinstance(value, Sized):
        return str(len(value))
    return type(value).__name__
