"""When a figure has changed beyond noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

LEAST = 0.05
"""A smaller change is none, however quiet the machine."""
RULE = (
    "A figure has changed if the ratio of its medians (new to old) is farther from 1 than 5 % and "
    "than the noise: the larger of both checkouts' half ranges over all runs, as a share of the "
    "median."
)


@dataclass(frozen=True)
class Change:
    """One figure of one shape in both checkouts."""

    old: float
    new: float
    noise: float

    @staticmethod
    def of(old: Sequence[float], new: Sequence[float]) -> Change:
        """From all runs of each."""
        return Change(median(old), median(new), max(_noise(old), _noise(new)))

    @property
    def ratio(self) -> float:
        """New to old."""
        return self.new / self.old

    @property
    def verdict(self) -> str:
        """`more`, `less` or nothing: symmetric, so that no order of checkouts is favoured."""
        beyond = 1 + max(LEAST, self.noise)
        if self.ratio > beyond:
            return "more"
        return "less" if self.ratio < 1 / beyond else ""


def _noise(runs: Sequence[float]) -> float:
    return (max(runs) - min(runs)) / 2 / median(runs)
