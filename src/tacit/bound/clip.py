"""Bounds by clipping: a whole person's norm, one cell alone, a count of people."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.errors import Failure, SettingError
from tacit.units import Unit

STEPS = 2**20
"""Default steps per unit: rounding toward zero stays far below any noise, and sums stay far
inside int64."""


def check_grid(limit: float, steps: int) -> None:
    """Squares of a clipped row must stay far inside int64, or the check in integers would
    itself wrap."""
    if not (0 < limit * steps < 2**30) or steps < 1:
        raise SettingError(
            f"a limit of {limit:g} on a grid of {steps} steps per unit is out of range"
        )


def one_number(rows: Rows, row: int | None = None) -> None:
    """Refuse what a bound on single numbers does not cover: several columns, or cells
    outside the one row `row`."""
    if rows.values.shape[1] != 1:
        raise Failure(
            "this bound covers one number a cell, and the contribution has several columns"
        )
    if row is not None and (np.asarray(rows.index) != row).any():
        raise Failure(
            "this bound covers one row of numbers, and the contribution has cells "
            f"outside row {row}"
        )


def meet(rows: Rows) -> bool:
    """Whether two lines of one person fall on one row of the array."""
    index = np.asarray(rows.index, np.int64)
    rising = np.diff(index) > 0
    firsts = rows.ptr[(rows.ptr > 0) & (rows.ptr < len(index))]
    rising[firsts - 1] = True  # from one person to the next
    if rising.all():  # items ascend in each row: the usual case
        return False
    person = np.repeat(np.arange(len(rows.ptr) - 1), np.diff(rows.ptr))
    return len(np.unique(np.stack([person, index]), axis=1).T) < len(index)


@dataclass(frozen=True)
class RowClip:
    """A person's whole contribution, over all cells, scaled to an L1 or L2 norm of at most `limit`.

    Guarantee: one person added or removed moves the integer sum by at most
    floor(steps*limit) in the clipped norm (rounding toward zero never raises a norm; the
    integers are checked). A person *replaced* (which covers one of her cells or values
    changing in any way) moves it by twice that.

    | row | becomes |
    |---|---|
    | empty, all zero | zero |
    | norm at most limit | itself, rounded toward zero |
    | holds NaN or infinity | zero |
    """

    limit: float
    norm: Literal["l1", "l2"] = "l2"
    steps: int = STEPS

    def __post_init__(self) -> None:
        check_grid(self.limit, self.steps)

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Scale each person's rows together, round toward zero, check in integers."""

        from tacit.kernels.rows import grid_absolute, grid_squared

        out = np.empty(rows.values.shape, np.int64)
        grid = grid_squared if self.norm == "l2" else grid_absolute
        grid(
            rows.ptr,
            # One order of cells in memory, so one loop is compiled.
            np.ascontiguousarray(rows.values),
            self.limit,
            self.steps,
            out,
        )
        return out

    def add(self, rows: Rows, out: NDArray[np.int64]) -> None:
        """The same integers, added to `out` in one pass: a row may have a thousand numbers."""

        from tacit.kernels.rows import add_rows, add_squared

        if self.norm == "l2":
            values = np.ascontiguousarray(rows.values)
            add_squared(rows.ptr, rows.index, values, self.limit, self.steps, out)
        else:
            add_rows(rows.index, self.apply(rows), out)

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One whole row; two of them where a person is replaced."""
        if self.norm == "l2":
            single = Sensitivity(inf, sqrt(floor((self.steps * self.limit) ** 2)))
        else:
            single = Sensitivity(floor(self.steps * self.limit), floor(self.steps * self.limit))
        return single if unit == "user" else single.times(2)

    def words(self) -> str:
        return (
            f"each person's numbers are scaled together to an {self.norm.upper()} norm "
            f"of at most {self.limit:g}"
        )


@dataclass(frozen=True)
class CellClip:
    """Numbers that each depend on one (person, item) cell alone, clipped to +-limit; one
    number a cell.

    Guarantee: one cell added or removed moves one number of the sum by at most
    floor(steps*limit); a changed value moves it by twice that. With at most k ratings kept
    a person, an added cell may evict another: two cells move. A whole person moves at most
    k cells, and without such a cap there is no bound. Where several cells of a person meet
    in one row (`apart` false), their moves add up, and L2 is no less than L1.
    """

    limit: float
    steps: int = STEPS
    apart: bool = True
    """The cells of one person fall on different rows, such as those of their items; checked."""

    def __post_init__(self) -> None:
        check_grid(self.limit, self.steps)

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Clip each cell by itself and round toward zero."""

        from tacit.kernels.rows import grid_cells

        one_number(rows)
        if self.apart and meet(rows):
            raise Failure(
                "several cells of a person meet in one row: this bound would be too small"
            )
        out = np.empty(rows.values.shape, np.int64)
        grid_cells(rows.values, self.limit, self.steps, out)
        return out

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One cell, two that change places, or all that a person may have."""
        top = floor(self.steps * self.limit)
        if unit == "value":
            return Sensitivity(2 * top, 2 * top, 1)
        if unit == "user" and not limited:
            return Sensitivity(inf, inf)
        cells = (limited or 0) if unit == "user" else 2 if limited else 1
        return Sensitivity(top * cells, top * (sqrt(cells) if self.apart else cells), cells)

    def words(self) -> str:
        return f"each cell's number is clipped to ±{self.limit:g}"


@dataclass(frozen=True)
class PersonCount:
    """One for each person with ratings. A person, or her only cell, moves the sum by 1; a
    changed value by nothing.

    With a cap on ratings per person the count of people does not change: a swap moves it by
    nothing.
    """

    limit: float = 1.0
    steps: int = STEPS

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """One whole unit for each person, whatever she sent."""
        one_number(rows)
        if len(rows.values) and int(np.diff(rows.ptr).max()) > 1:
            raise Failure("a person would be counted more than once")
        return np.full(rows.values.shape, self.steps, np.int64)

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One person moves the count by 1."""
        return Sensitivity(float(self.steps), float(self.steps))

    def words(self) -> str:
        return "each person counts as one"
