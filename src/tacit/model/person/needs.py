"""What a personal model needs of the arrays and numbers that it is given.

Each personal model declares its arrays (`arrays_needed`) and numbers (`numbers_needed`), and
checks what no shape can say (`check_arrays`): so a folder made by a stranger is refused before
it is computed with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.model.person.base import PersonalModel

LARGEST = 3.5e38
"""Single precision holds no more."""
LIMITS = {"width": (1, 2048), "rank": (0, 2048), "rows": (1, 4096)}
"""Sizes in which systems are solved, from and to: columns of a personal model, factors beyond
it, rows of a projection. No method makes half of that; all other sizes are free."""
LEAST_NOISE = 1e-12
"""Of what is divided by."""
MOST_NEIGHBOURS = 5000
"""Own ratings that one prediction may use: a system of that size is solved."""


class Unfit(Exception):
    """Arrays or numbers that a personal model cannot use, in words."""


@dataclass(frozen=True)
class Needed:
    """An array: its sizes by name (`items` is the number of items, `ends` one more; equal
    names are equal sizes), its kind and its bounds."""

    shape: tuple[str, ...]
    whole: bool = False
    """Whether it holds integers."""
    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False


@dataclass(frozen=True)
class Number:
    """Bounds of a number that a personal model reads from a file."""

    low: float = -LARGEST
    high: float = LARGEST
    optional: bool = False


def check_needs(
    model: type[PersonalModel],
    arrays: Mapping[str, NDArray[Any]],
    numbers: Mapping[str, float],
    items: int,
) -> None:
    """Refuse arrays or numbers that are missing or unlike what the model declares."""
    sizes = {"items": items, "ends": items + 1}
    for name, need in model.arrays_needed.items():
        if name in arrays:
            _check_array(name, arrays[name], need, sizes)
        elif not need.optional:
            raise Unfit(f"the array {name} is missing")
    for name, bounds in model.numbers_needed.items():
        if name not in numbers:
            if bounds.optional:
                continue
            raise Unfit(f"the number {name} is missing")
        if not bounds.low <= numbers[name] <= bounds.high:
            raise Unfit(f"the number {name} is out of range")
    model.check_arrays(arrays, numbers, items)


def _check_array(name: str, array: NDArray[Any], need: Needed, sizes: dict[str, int]) -> None:
    if array.ndim != len(need.shape):
        raise Unfit(f"the array {name} has {array.ndim} dimensions")
    for size, size_name in zip(array.shape, need.shape, strict=True):
        if sizes.setdefault(size_name, size) != size:
            raise Unfit(f"the array {name} does not fit the others")
        minimum, maximum = LIMITS.get(size_name, (0, size))
        if not minimum <= size <= maximum:
            raise Unfit(f"the array {name} is too wide or too narrow")
    if array.dtype.kind not in ("iu" if need.whole else "f"):
        raise Unfit(f"the array {name} is of another type")
    if not array.size:
        return
    if not (need.low <= float(array.min()) <= float(array.max()) <= need.high):
        raise Unfit(f"the array {name} is out of range")


def check_lists(start: NDArray[Any], index: NDArray[Any], among: int) -> None:
    """Rows of a compressed list: ends that ascend over all of it, and indices of items."""
    ends = start.astype(np.int64)  # differences of unsigned numbers wrap around
    if ends[0] != 0 or ends[-1] != len(index) or (np.diff(ends) < 0).any():
        raise Unfit("the array start does not divide the array neighbour")
    if len(index) and not (index.min() >= 0 and index.max() < among):
        raise Unfit("the array neighbour names items that there are not")
