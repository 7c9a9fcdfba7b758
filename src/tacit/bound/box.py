"""Numbers of a person that are never negative: a box of them, and a short list of items.

That they are never negative is what these bounds live on: two contributions of one person are
then no further apart than a square root of 2 times the longer one, and in a box no further
than from nothing. So one of her ratings may change everything that she adds, as it does where
her own ratings make her predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.clip import STEPS, check_grid, meet
from tacit.errors import Failure
from tacit.units import Unit


@dataclass(frozen=True)
class Box:
    """A line of numbers a person, each from 0 to its own top, added to row 0.

    Guarantee: an absent person adds nothing, and every present one a point of the integer box
    of sides t_j = floor(steps*top_j). Between neighbours at *any* unit one person's point, or
    nothing, takes the place of another, however it came about: coordinate j moves by at most
    t_j, so L1 is at most the sum of the t_j, L2 the root of the sum of their squares. Attained
    by the far corner against nobody.

    | number | becomes |
    |---|---|
    | below 0, NaN | 0 |
    | above its top, infinite | its side |
    | between | rounded down |
    """

    tops: tuple[float, ...]
    steps: int = STEPS

    def __post_init__(self) -> None:
        for top in self.tops:
            check_grid(top * sqrt(len(self.tops)), self.steps)

    @property
    def limit(self) -> float:
        """Largest number that one person adds to any coordinate."""
        return max(self.tops)

    @property
    def _sides(self) -> NDArray[np.int64]:
        return np.array([floor(self.steps * top) for top in self.tops])

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Clip each number by itself and round down."""
        if rows.values.shape[1] != len(self.tops):
            raise Failure(f"a person has {len(self.tops)} numbers in this bound")
        if np.asarray(rows.index).any():
            raise Failure("this bound covers one row of numbers")
        if len(rows.ptr) > 1 and int(np.diff(rows.ptr).max()) > 1:
            raise Failure("a person has one line of numbers in this bound")
        # Clipped before it leaves floats, so that nothing is too large for an integer.
        scaled = np.nan_to_num(rows.values * self.steps, nan=0.0)
        return np.floor(np.clip(scaled, 0.0, self._sides)).astype(np.int64)

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """The diagonal of the box, whatever changes."""
        sides = self._sides
        return Sensitivity(float(sides.sum()), sqrt(float((sides * sides).sum())), 1)

    def words(self) -> str:
        tops = " and ".join(f"{top:g}" for top in self.tops)
        return f"each person adds {len(self.tops)} numbers, from 0 to {tops}"


@dataclass(frozen=True)
class ListedItems:
    """At most `most` items of a person, each counted once.

    Guarantee: a person adds a vector of zeros and at most `most` entries of `steps`. One more
    or less moves the sum by at most most*steps in L1 and sqrt(most)*steps in L2. Where her
    list is replaced by another one, x and y have no negative entry, so |x - y|^2 = |x|^2 +
    |y|^2 - 2xy <= 2 most steps^2: sqrt(2 most)*steps in L2 and twice as much in L1, attained
    by two lists without a common item.

    | line of a person | becomes |
    |---|---|
    | beyond the first `most` | nothing |
    | a second one for the same row | refused: the code, not the data, is wrong |
    """

    most: int
    steps: int = STEPS
    limit: float = 1.0

    def __post_init__(self) -> None:
        check_grid(sqrt(2 * self.most), self.steps)

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """A whole count for each line, but for those beyond the list."""
        if rows.values.shape[1] != 1:
            raise Failure("a list has one number for each item")
        if meet(rows):
            raise Failure("a list names an item twice")
        rank = np.arange(len(rows.values)) - np.repeat(rows.ptr[:-1], np.diff(rows.ptr))
        return np.where(rank < self.most, self.steps, 0).reshape(-1, 1)

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One list, or two that change places."""
        lists = 1 if unit == "user" else 2
        lines = lists * self.most
        return Sensitivity(float(lines * self.steps), sqrt(lines) * self.steps, lines)

    def words(self) -> str:
        return f"each person's list counts once for each of at most {self.most} items"
