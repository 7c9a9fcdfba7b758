"""A person's level and number of ratings, in three numbers of which one cell moves only so much."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.clip import STEPS, check_grid, one_number
from tacit.units import Unit


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
