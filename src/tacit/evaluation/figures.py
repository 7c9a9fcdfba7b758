"""From noisy sums to figures with intervals: RMSE, recall, coverage. Post-processing, free.

An interval says where the figure would lie, for these very people and ratings, had there been
no noise; it holds in at least 90 of 100 releases (docs/proofs/release.md, 4). It says nothing
about other people, nor about what clipping left out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf, log, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.summed import COUNTED, FigureSums, MeasuredSettings
from tacit.rounds.state import is_filled

LEVEL = 0.9
"""How often an interval holds, at least."""
SPIKE = {"gaussian": 2.0, "laplace": 5.0}
"""Variance of the square of a draw, in units of its own variance squared."""
Law = Literal["gaussian", "laplace"]


@dataclass(frozen=True)
class Figure:
    """One number with its interval; no number where noise leaves none."""

    name: str
    value: float | None
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class PartNoise:
    """The noise of one part: its law and standard deviation."""

    law: Law
    sd: float

    def reach(self, outside: float) -> float:
        """How far a draw stays, both ways, but for a chance of `outside`."""
        if self.law == "gaussian":
            return self.sd * NormalDist().inv_cdf(1 - outside / 2)
        return self.sd / sqrt(2) * log(1 / outside)


@dataclass(frozen=True)
class Ratio:
    """A noisy sum over a noisy count, both with the same noise. The count was summed as
    `side` times what it is."""

    top: float
    bottom: float
    spread: PartNoise
    side: float = 1.0
    outside: float = 1 - LEVEL

    @property
    def value(self) -> float | None:
        """None where the bottom is not clearly above 0."""
        if self.bottom <= self.spread.reach(self.outside):
            return None
        return max(0.0, self.side * self.top / self.bottom)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the ratio would lie without noise."""
        low, high = self._as_summed()
        return self.side * low, self.side * high

    def _as_summed(self) -> tuple[float, float]:
        """All t for which top - t bottom is no further from 0 than noise takes it.

        Gaussian noise: its law is known for every t, so the chance is exact (Fieller).
        Laplace noise: each of the two is given half of the chance to be outside.
        """
        if self.spread.law == "gaussian":
            return self._fieller(self.spread.reach(self.outside))
        reach = self.spread.reach(self.outside / 2)
        low, high = max(0.0, self.top - reach), max(0.0, self.top + reach)
        largest = self.bottom + reach
        smallest = self.bottom - reach
        return (low / largest if largest > 0 else 0.0, high / smallest if smallest > 0 else inf)

    def _fieller(self, reach: float) -> tuple[float, float]:
        """(top - t bottom)^2 <= far^2 (1 + t^2)."""
        a = self.bottom**2 - reach**2
        b = self.top * self.bottom
        c = self.top**2 - reach**2
        if a <= 0 or self.bottom <= 0:
            return 0.0, inf
        root = sqrt(max(0.0, b * b - a * c))
        return max(0.0, (b - root) / a), max(0.0, (b + root) / a)


def figures(
    sums: FigureSums, settings: MeasuredSettings, law: Law, width: float
) -> tuple[Figure, ...]:
    """All that was asked for. `width`: rating points to a point of the inner scale."""
    collected: list[Figure] = []
    if is_filled(sums.errors):
        collected.append(_rmse(sums, settings, law, width))
    if is_filled(sums.hits):
        collected.append(_recall(sums, settings, law))
    if is_filled(sums.lists):
        collected += _coverage(sums, settings, law)
    return tuple(collected)


def _ratio(sums: FigureSums, part: str, law: Law) -> Ratio:
    count, summed = getattr(sums, part)[0].tolist()
    side = COUNTED[part][0]
    return Ratio(summed, count, PartNoise(law, sums.noise[part]), side)


def _rmse(sums: FigureSums, settings: MeasuredSettings, law: Law, width: float) -> Figure:
    ratio = _ratio(sums, "errors", law)
    scale = sqrt(settings.worst) * width
    low, high = ratio.interval
    largest_error = 4.0 * width
    value = ratio.value
    return Figure(
        "rmse",
        None if value is None else min(largest_error, scale * sqrt(value)),
        min(largest_error, scale * sqrt(low)),
        min(largest_error, scale * sqrt(high)) if high < inf else largest_error,
        f"root mean squared error over at most {settings.most} ratings of a person that the "
        "fit did not see; a person's mean squared error counts up to "
        f"{settings.worst * width * width:.4g}",
    )


def _recall(sums: FigureSums, settings: MeasuredSettings, law: Law) -> Figure:
    ratio = _ratio(sums, "hits", law)
    low, high = ratio.interval
    value = ratio.value
    return Figure(
        f"recall@{settings.places}",
        None if value is None else min(1.0, value),
        min(1.0, low),
        min(1.0, high),
        f"the share of what a person liked, unseen by the fit, that her list of "
        f"{settings.places} has, as a mean over people who liked any of it",
    )


def _coverage(sums: FigureSums, settings: MeasuredSettings, law: Law) -> tuple[Figure, Figure]:
    """The effective share of the catalogue, and what is surely listed."""
    counts: NDArray[np.float64] = sums.lists[:, 0]
    spread = PartNoise(law, sums.noise["lists"])
    low, value, high = _effective(counts, spread, settings.places)
    items = len(counts)
    reach = spread.reach(2 * (1 - LEVEL) / items)
    surely = float((counts > reach).sum()) / items
    return (
        Figure(
            f"coverage@{settings.places}",
            value,
            low,
            high,
            "the effective share of the catalogue in all lists together: so many items, shown "
            "equally often, would be as varied (inverse Simpson index)",
        ),
        Figure(
            f"listed@{settings.places}",
            None,
            surely,
            1.0,
            "at least this share of the catalogue is in somebody's list",
        ),
    )


def _effective(
    counts: NDArray[np.float64], spread: PartNoise, length: int
) -> tuple[float, float | None, float]:
    """(sum of counts)^2 / sum of squares, as a share of all items. The noise of a sum of many
    is Gaussian enough; each of the two sums is given half of the chance to be outside."""
    items = len(counts)
    least_share = min(length, items) / items
    z = NormalDist().inv_cdf(1 - (1 - LEVEL) / 4)
    total = float(counts.sum())
    squares = float(np.square(counts).sum()) - items * spread.sd**2
    total_far = z * spread.sd * sqrt(items)
    sd = spread.sd * sqrt(items * SPIKE[spread.law] * spread.sd**2 + 4 * max(squares, 0.0))
    # How uncertain squares are grows with what they may be: once more from their upper end.
    above = squares + z * sd
    sd = spread.sd * sqrt(items * SPIKE[spread.law] * spread.sd**2 + 4 * max(above, 0.0))
    above, below = squares + z * sd, squares - z * sd
    fewest = max(0.0, total - total_far)
    low = fewest**2 / above / items if above > 0 else least_share
    high = (total + total_far) ** 2 / below / items if below > 0 else 1.0
    value = None
    if below > 0 and fewest > 0:
        value = min(1.0, max(least_share, total**2 / squares / items))
    return min(1.0, max(least_share, low)), value, min(1.0, max(least_share, high))


def figure_records(figures: tuple[Figure, ...]) -> list[dict[str, Any]]:
    """For JSON."""
    return [asdict(figure) for figure in figures]
