"""Bounds that involve a person's own mean, in integers from the first step, so that one
cell moves it only so far."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.clip import STEPS, check_grid, one_number
from tacit.errors import SettingError
from tacit.units import Unit


def mean_shift(
    cells: NDArray[np.float64], top: int, shrink: int, unit: Unit, limited: int | None = None
) -> NDArray[np.float64]:
    """How far, in steps, trunc(sum v / (c + shrink)) with |v| <= top moves when one cell is
    added to c others (`rating`), or one of c + 1 cells changes its value (`value`), or gives
    way to another (`rating` with a cap: a swap). A swap moves it at least as far as an
    addition to as many others. Truncation adds at most one step to the real shift.
    """
    if unit == "value" or limited:
        shift = 2 * top / (cells + 1 + shrink)
    else:  # |v0 - sum/(c+b)| / (c+1+b)
        shift = top * (1 + cells / (cells + shrink)) / (cells + 1 + shrink)
    return np.floor(shift) + 1


@dataclass(frozen=True)
class CentredCells:
    """Cells clipped to +-clip, less their person's own shrunk mean, clipped to +-limit; all
    in integers.

    v = trunc(s clip(x)), mean = trunc(sum v / (c + shrink)), y = clamp(v - mean, +-floor(s limit)).

    Guarantee (unit `rating`): let V = floor(s clip), Y = floor(s limit) and c the person's
    cells before one is added. The real mean moves by |v0 - sum/(c+b)|/(c+1+b) <= V (1 +
    c/(c+b))/(c+1+b), b = shrink; truncation adds at most one step; clamping is 1-Lipschitz.
    So each of the c old cells moves by at most d_c = min(floor(that) + 1, 2Y), the new one by
    Y, and L2^2 <= max_c Y^2 + c d_c^2, L1 <= max_c Y + c d_c, over c < catalogue. (`value`:
    one cell moves by 2Y, the others by the mean's 2V/(c+1+b), plus one step.) `user` has no
    bound here.

    With a cap of k ratings a new cell may take another one's place: one row loses at most
    Y, another gains at most Y, and the c others keep their number, so their sum moves by at
    most 2V and they by e_c = min(floor(2V/(c+1+b)) + 1, 2Y). So L2^2 <= max_c 2Y^2 + c e_c^2
    and L1 <= max_c 2Y + c e_c over c < min(k, catalogue). The largest over c, and not c = k - 1
    alone: a contribution may leave cells out by a public rule, and e_c is larger for fewer.
    This covers an addition below the cap too: d_c <= e_c (docs/proofs/bounds.md, 4).
    """

    catalogue: int
    """Number of public items: no person has more cells."""
    clip: float = 2.0
    shrink: int = 5
    limit: float = 2.0
    steps: int = STEPS

    def __post_init__(self) -> None:
        check_grid(max(self.limit, self.clip), self.steps)
        if self.shrink < 1 or self.catalogue < 1:
            raise SettingError("shrink and catalogue must be at least 1")

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Clip, subtract each person's own mean, clamp: all in integers."""

        from tacit.kernels.rows import centre_cells, grid_cells

        one_number(rows)
        out = np.empty(rows.values.shape, np.int64)
        grid_cells(rows.values, self.clip, self.steps, out)
        centre_cells(rows.ptr, out, self.shrink, floor(self.steps * self.limit))
        return out

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """The worst over how many other cells the person may have."""
        if unit == "user":
            return Sensitivity(inf, inf)
        v, y = floor(self.steps * self.clip), floor(self.steps * self.limit)
        other_cells = min(self.catalogue, limited or self.catalogue)
        cells = np.arange(other_cells, dtype=np.float64)
        shift = mean_shift(cells, v, self.shrink, unit, limited)
        other_move = np.minimum(shift, 2 * y)
        # One cell appears, or changes from end to end; in a swap two rows move.
        cell_move, rows = (2.0 * y, 1) if unit == "value" else (float(y), 1)
        if limited and unit == "rating":
            rows = 2
        return Sensitivity(
            float((rows * cell_move + cells * other_move).max()),
            float(np.sqrt((rows * cell_move**2 + cells * other_move**2).max())),
        )

    def words(self) -> str:
        return (
            f"each cell is clipped to ±{self.clip:g}, less its person's mean shrunk by "
            f"{self.shrink} fictitious "
            f"ratings, clipped to ±{self.limit:g}"
        )


@dataclass(frozen=True)
class OwnMeans:
    """The sum over people of each one's shrunk mean trunc(sum v / (c + shrink)), v = trunc(s
    clip(x, +-clip)).

    Guarantee: a whole person moves the sum by at most floor(s clip); one cell, or one value, by at
    most `mean_shift` (for clip 2 and shrink 5 that is a third, at one or two cells); a swap under a
    cap, by 2V/(1+b), at one cell. The rows come in as one number a cell, all pointing to row 0;
    each person's mean stands in her first cell."""

    clip: float = 2.0
    shrink: int = 5
    steps: int = STEPS

    def __post_init__(self) -> None:
        check_grid(self.clip, self.steps)
        if self.shrink < 1:
            raise SettingError("shrink must be at least 1")

    @property
    def limit(self) -> float:
        """Largest absolute value of one person's mean."""
        return self.clip

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Each person's mean in her first cell, nothing in the others."""

        from tacit.kernels.rows import grid_cells, mean_cells

        one_number(rows, row=0)
        out = np.empty(rows.values.shape, np.int64)
        grid_cells(rows.values, self.clip, self.steps, out)
        mean_cells(rows.ptr, out, self.shrink)
        return out

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """Largest change of the sum, in grid steps; one number, so L1 and L2 are equal."""
        top = floor(self.steps * self.clip)
        if unit == "user":
            return Sensitivity(top, top)
        # The shift falls beyond c = 2.
        cells = np.arange(1e5)
        shift = mean_shift(cells, top, self.shrink, unit, limited).max()
        worst = float(min(shift, 2 * top))
        return Sensitivity(worst, worst)

    def words(self) -> str:
        return (
            f"each person's mean of ratings clipped to ±{self.clip:g}, shrunk by "
            f"{self.shrink} fictitious ratings, "
            "counts once"
        )


# A person's level and number of ratings, in three numbers of which one cell moves only so much.


@dataclass(frozen=True)
class LevelCells:
    """(sum r/(c+5), c/(c+5), log2(1+c)/6) for a person with ratings r_1..r_c clipped to
    +-2; rows point to row 0.

    Guarantee (`rating`): a rating added to c others moves the three by at most
    (4c+10)/((c+5)(c+6)), 5/((c+5)(c+6)) and log2((c+2)/(c+1))/6. The first is 1/3 at c = 0
    and c = 1 and falls after; the others fall from 1/6 at c = 0. So the move is at most
    (1/3, 1/6, 1/6): L1 2/3, L2 1/sqrt 6, and rounding toward zero adds at most a step to
    each. With a cap on ratings a swap moves the first number alone, by at most 4/6.
    (`value`: the same, 4/6.)
    """

    steps: int = STEPS
    limit: float = 2.0

    def __post_init__(self) -> None:
        check_grid(2.0, self.steps)

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Each person's three numbers in her first cell."""

        from tacit.kernels.rows import level_cells

        one_number(rows, row=0)
        out = np.zeros((len(rows.values), 3), np.int64)
        level_cells(rows.ptr, rows.values, self.steps, out)
        return out

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One cell added, changed or swapped for another."""
        if unit == "user":
            return Sensitivity(inf, inf)
        if unit == "value" or limited:
            largest_move = floor(self.steps * 4 / 6) + 1
            # Below the cap a cell is simply added.
            added = self._added() if unit == "rating" else Sensitivity(0, 0)
            return Sensitivity(max(largest_move, added.l1), max(largest_move, added.l2))
        return self._added()

    def _added(self) -> Sensitivity:
        return Sensitivity(self.steps * 2 / 3 + 3, self.steps * 6**-0.5 + 3**0.5)

    def words(self) -> str:
        return (
            "each person's shrunk mean, and two bounded functions of the number of "
            "ratings, count once"
        )
