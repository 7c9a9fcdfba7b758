"""Cells that each add a short vector, a public coefficient times their own rating: for the
unit `value`."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.clip import STEPS, check_grid
from tacit.units import Unit


def ridge_gain(ridge: NDArray[np.float64], norm: float = 1.0) -> NDArray[np.float64]:
    """The most that |(X'X + ridge I)^-1 x| can be for a row x of X with |x| <= norm:
    min(norm/ridge, 1/(2 sqrt ridge)).

    The first because the inverse is at most 1/ridge. The second because x = X'e for a unit
    vector e, and the singular values of (X'X + ridge I)^-1 X' are s/(s^2 + ridge), s those
    of X: at most 1/(2 sqrt ridge), at s^2 = ridge.
    """
    safe = np.maximum(ridge, 1e-12)
    return np.minimum(norm / safe, 0.5 / np.sqrt(safe))


@dataclass(frozen=True)
class CellVectors:
    """Each cell's vector by itself scaled to an L2 norm of at most `limit`; it enters one
    row of the sum.

    Guarantee (unit `value`): the row and the coefficient of a cell are public (who rated
    what, and what was released before), and each cell depends on its own rating alone. So a
    changed value replaces one integer vector of norm at most floor(steps*limit) by another
    in one row: that row moves by at most twice that, and no other row moves. The norm is
    checked in integers after rounding toward zero. `rating` and `user` have no bound here:
    coefficients and left-hand sides would move as well.
    """

    limit: float
    steps: int = STEPS

    def __post_init__(self) -> None:
        check_grid(self.limit, self.steps)

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Scale each cell by itself and round toward zero."""

        from tacit.kernels.rows import grid_squared

        out = np.empty(rows.values.shape, np.int64)
        starts = np.arange(len(rows.values) + 1, dtype=np.int64)
        grid_squared(starts, rows.values, self.limit, self.steps, out)
        return out

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One vector replaced by another in one row."""
        if unit != "value":
            return Sensitivity(inf, inf)
        return Sensitivity(inf, 2 * sqrt(floor((self.steps * self.limit) ** 2)), rows=1)

    def words(self) -> str:
        return (
            f"each rating's vector is scaled to an L2 norm of at most {self.limit:g} "
            "and enters one row"
        )
