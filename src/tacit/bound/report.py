"""Bounds of the local model, where neighbours are any two records of one person: she
answers either way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.clip import RowClip
from tacit.units import Unit


@dataclass(frozen=True)
class Replaced(RowClip):
    """A person's whole vector, clipped to a norm of `limit` and noised by her own device.

    Guarantee: two integer vectors of norm at most floor(steps*limit) differ by at most
    twice that, at every unit.
    """

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """Two vectors of full length, at every unit."""
        return super().sensitivity("user").times(2)

    def words(self) -> str:
        return f"{super().words()}, and her own device adds all the noise that covers it"


@dataclass(frozen=True)
class Report:
    """One randomized report: a bit about a number in [-1, 1], or a choice among answers.

    Guarantee: none is needed here. The report's law, not its argument, bounds what it
    reveals (`tacit.noise.device`).
    """

    limit: float = 1.0
    steps: int = 1

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Kept inside [-1, 1]: the law of the report protects it."""
        return np.clip(np.nan_to_num(rows.values), -1, 1).astype(np.int64)

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """1: the device's randomizer carries the whole guarantee, the sum adds nothing to it."""
        return Sensitivity(1.0, 1.0)

    def words(self) -> str:
        return "each device sends one randomized report"
