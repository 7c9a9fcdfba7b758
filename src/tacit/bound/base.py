"""What one person may add. A bound turns float rows into integer rows and knows how far one
unit can move the sum."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.repr import shapes
from tacit.units import Unit


@dataclass(frozen=True)
class Rows:
    """What the people of a block contribute: cells `ptr[p]:ptr[p+1]` are person p's, each
    for row `index`."""

    ptr: NDArray[np.int64]
    index: NDArray[np.uint32] | NDArray[np.int64]
    values: NDArray[np.float64]
    """One line a cell, one column a number."""

    __repr__ = shapes

    @staticmethod
    def one_each(values: NDArray[np.float64]) -> Rows:
        """A dense contribution: one line of numbers a person, all added to row 0."""
        lines = values.reshape(len(values), -1)
        return Rows(
            np.arange(len(lines) + 1, dtype=np.int64), np.zeros(len(lines), np.uint32), lines
        )


@dataclass(frozen=True)
class Sensitivity:
    """How far the integer sum can move between neighbours, in steps. Infinite where there
    is no bound."""

    l1: float
    l2: float
    rows: float = inf
    """How many rows of the array can move at all."""

    def times(self, factor: float) -> Sensitivity:
        """So many of these moves at once."""
        return Sensitivity(self.l1 * factor, self.l2 * factor, self.rows)

    def by_rows(self, size: int) -> float:
        """The sum over the rows of an array of `size` of how far each can move in L2: what
        noise drawn row by row must cover. By Cauchy's inequality at most sqrt(rows) l2; and
        a row's L2 norm is at most its L1 norm."""
        return min(self.l1, self.l2 * sqrt(min(self.rows, size)))


class Bound(Protocol):
    """A transformation to integers with a proven sensitivity."""

    @property
    def steps(self) -> int:
        """Grid steps per unit: numbers are rounded to multiples of 1/steps, so sums are exact
        integers."""

    @property
    def limit(self) -> float:
        """The per-person or per-cell limit, for the statement."""

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """The integer rows. Depends on each person's own row alone."""

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """The claim that the tests hunt for a neighbour against. `limited` is the cap on
        ratings per person, if any: it makes one cell added a swap (a new rating can evict
        another)."""

    def words(self) -> str:
        """For the statement: `each person's numbers are scaled to an L2 norm of at most 1`."""


@runtime_checkable
class AddingBound(Bound, Protocol):
    """A bound that can sum its integer rows as it makes them, so that they are never written."""

    def add(self, rows: Rows, out: NDArray[np.int64]) -> None:
        """Add the rows of `apply` to the lines of `out` that they are for."""


@runtime_checkable
class GramBound(Bound, Protocol):
    """A bound of item-item sums: integer rows whose products are summed."""

    @property
    def diagonal(self) -> bool:
        """Whether the products of a row with itself are released too."""

    def weights(self, rows: Rows, q: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """What each person's products are multiplied by, in 2^-30; None where they are
        summed as they are."""


# What every bound takes for granted about a contribution, checked before it is bounded.


def check_rows(rows: Rows, *, name: str, people: int, size: int) -> None:
    """Refuse a contribution whose lines are not shared out among exactly `people` people,
    or that misses its array.

    Guarantee: bounds clip person by person, so a method that lists one person as several
    would be charged for one of them only; and a line that belongs to nobody would never be
    clipped. The test depends on the method, not the data.
    """
    ptr, lines = rows.ptr, len(rows.values)
    if (
        len(ptr) != people + 1
        or ptr[0] != 0
        or ptr[-1] != lines
        or (people > 1 and (np.diff(ptr) < 0).any())
    ):
        raise Failure(f"a contribution to {name} is not listed person by person")
    if len(rows.index) != lines:
        raise Failure(f"a contribution to {name} has {len(rows.index)} places for {lines} lines")
    if lines and not 0 <= int(rows.index.min()) <= int(rows.index.max()) < size:
        raise Failure(f"a contribution to {name} points outside its array")


def bounded(
    bound: Bound, rows: Rows, *, name: str, people: int, size: int, width: int
) -> NDArray[np.int64]:
    """The integer rows of a contribution that was checked, before and after its bound."""
    check_rows(rows, name=name, people=people, size=size)
    integers = bound.apply(rows)
    _check_width(integers, rows, name, width)
    return integers


def add_bounded(
    bound: Bound, rows: Rows, out: NDArray[np.int64], *, name: str, people: int
) -> None:
    """Add the integer rows of a contribution that was checked to the array that it is for."""
    size, width = out.shape
    if isinstance(bound, AddingBound):
        check_rows(rows, name=name, people=people, size=size)
        _check_width(rows.values, rows, name, width)
        bound.add(rows, out)
    else:
        from tacit.kernels.rows import add_rows

        whole = bounded(bound, rows, name=name, people=people, size=size, width=width)
        add_rows(rows.index, whole, out)


def _check_width(lines: NDArray[Any], rows: Rows, name: str, width: int) -> None:
    if lines.shape != (len(rows.index), width):
        raise Failure(f"a contribution to {name} has not {width} columns")
