"""Public state, typed: what was released so far, and what follows from it.

A family of methods has a frozen dataclass of its own below `State`, whose fields are numbers,
arrays and small frozen dataclasses (`GlobalMean`, `Weights`, …). A field that a later round will
fill is declared with `later()` and says so, by name, if it is read too early.

For the wire a state is a flat mapping of arrays: `packed` and `unpacked` turn one into the
other, so that neither a server nor a device knows what a method keeps.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, Self, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure

T = TypeVar("T")
Arrays = Mapping[str, NDArray[Any]]
DERIVED = "derived"
"""Mark of a field that is computed from others: receivers compute it again, and it is neither sent
nor stored."""
GROWS = "grows"
"""Mark of an array to which each round appends a row: whoever has the earlier rows need not
be sent them again."""
FREE = "free"
"""Mark of an array with the axis whose length follows from what was released: columns of factors,
of which all arrays of a state have as many (`field(metadata={"free": 1})`)."""


class NotYet:
    """Stands in a field that no round has filled so far."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and inspecting ask for these and must be told no
            raise AttributeError(name)
        raise Failure(f"a round read {name!r} of a number that is not released yet")

    def __repr__(self) -> str:
        return "NOT_YET"

    def __reduce__(self) -> str:
        """The one and only, on whatever machine a state is sent to: rounds ask for it by
        `is`."""
        return "NOT_YET"


NOT_YET: Any = NotYet()
"""The default of a field that a later round fills."""


def later(*, derived: bool = False, grows: bool = False) -> Any:
    """A field that a later round fills. `derived`, `grows`: see `DERIVED`, `GROWS`."""
    return field(default=NOT_YET, metadata={DERIVED: derived, GROWS: grows})


def is_filled(value: T) -> TypeGuard[T]:
    return not isinstance(value, NotYet)


@dataclass(frozen=True)
class State:
    """What is public before the first round: the number of people, as far as it is known."""

    people: float = 1.0

    def after(self, **changes: Any) -> Self:
        """The next state, of fields whose names are computed; `dataclasses.replace` does it
        for names that stand in the code, and checks their types."""
        return replace(self, **changes)

    def packed(self) -> dict[str, NDArray[Any]]:
        """The fields that are filled, as arrays by dotted name; without what is `derived`."""
        return dict(_flat(self, ""))

    @classmethod
    def growing(cls) -> frozenset[str]:
        """Names of the arrays that grow by a row in every round."""
        return frozenset(member.name for member in fields(cls) if member.metadata.get(GROWS))

    @classmethod
    def free_axes(cls) -> dict[str, int]:
        """By dotted name, the axis whose length is not known before the releases."""
        return dict(_free(cls, ""))

    @classmethod
    def unpacked(cls, arrays: Arrays) -> Self:
        """The state that was packed. A name that this class does not know is refused."""
        built, used = _built(cls, arrays, "")
        if unknown := set(arrays) - used:
            raise Failure(f"a state has no field {min(unknown)!r}")
        state: Self = built
        return state


def _flat(value: Any, prefix: str) -> typing.Iterator[tuple[str, NDArray[Any]]]:
    for member in fields(value):
        content = getattr(value, member.name)
        if content is None or isinstance(content, NotYet):
            continue
        if member.metadata.get(DERIVED):
            continue
        name = f"{prefix}{member.name}"
        if is_dataclass(content):
            yield from _flat(content, f"{name}.")
        else:
            yield name, np.asarray(content)


def _free(cls: type, prefix: str) -> typing.Iterator[tuple[str, int]]:
    for member in fields(cls):
        kind = _kinds(cls)[member.name]
        name = f"{prefix}{member.name}"
        if is_dataclass(kind):
            yield from _free(typing.cast("type", kind), f"{name}.")
        elif FREE in member.metadata:
            yield name, member.metadata[FREE]


def _built(cls: type, arrays: Arrays, prefix: str) -> tuple[Any, set[str]]:
    arguments: dict[str, Any] = {}
    used: set[str] = set()
    for name, kind in _kinds(cls).items():
        path = f"{prefix}{name}"
        if is_dataclass(kind):
            if any(key.startswith(f"{path}.") for key in arrays):
                arguments[name], inner = _built(typing.cast("type", kind), arrays, f"{path}.")
                used |= inner
        elif path in arrays:
            value = arrays[path]
            arguments[name] = kind(value.item()) if kind in (float, int, bool) else value
            used.add(path)
    return cls(**arguments), used


@cache
def _kinds(cls: type) -> dict[str, Any]:
    """The type of each field, without its `None`."""
    hints = typing.get_type_hints(cls)
    kinds = {}
    for member in fields(cls):
        kind = hints[member.name]
        if isinstance(kind, types.UnionType):
            kind = next(part for part in typing.get_args(kind) if part is not type(None))
        kinds[member.name] = kind
    return kinds
