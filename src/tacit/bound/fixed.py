"""Fixed point without a promise: numbers on the integer grid as a paper prints them. Serves
`paper` and `none` only."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.errors import SettingError
from tacit.units import Unit

MOST_STEPS = 2.0**57
"""Of one number: 64 of them can be added."""


@dataclass(frozen=True)
class FixedPoint:
    """Every number rounded toward zero on a grid, and kept inside +-limit so that sums can
    be encoded.

    Guarantee: none. The sensitivity is infinite at every unit, so no certified event can be
    made from it.
    """

    limit: float
    steps: int

    def __post_init__(self) -> None:
        # No sensitivity is checked in squares here, so sums alone must stay inside 64 bits.
        if not (0 < self.limit * self.steps < MOST_STEPS) or self.steps < 1:
            raise SettingError(
                f"a limit of {self.limit:g} on a grid of {self.steps} steps per unit is out "
                "of range"
            )

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Round each number toward zero by itself."""

        from tacit.kernels.rows import grid_cells

        out = np.empty(rows.values.shape, np.int64)
        grid_cells(rows.values, self.limit, self.steps, out)
        return out

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """Infinite at every unit: this bound makes no promise."""
        return Sensitivity(inf, inf)

    def words(self) -> str:
        return "each number is put on a grid as it is; nothing bounds a person"
