"""How much a randomized report about random directions says, and which report says most for
its epsilon.

A person's unit vector x has inner products with `pairs` random directions that are about
independent standard normals. The favoured answers are the +-directions of the largest
products, so the answer h expects h = gain x, with

  gain = P t - (1 - P) favoured t / (choices - favoured),   t = mean of the `favoured`
  largest of |N_1| ... |N_pairs|,

as all 2 pairs answers together expect 0. Each coordinate of h has variance about 1, so the
sum over n people, divided by the gain, estimates the sum of their vectors with variance n /
gain^2. One pair and one favoured answer is the sign of one product, a single bit: gain
sqrt(2/pi) tanh(epsilon/2).

Guarantee: public constants only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp

import numpy as np

GRID = 20_000
"""Points of the integration over order statistics."""
WORTH = 0.95
"""A report with fewer bits is preferred if it reaches this share of the best squared gain."""


@dataclass(frozen=True)
class ReportShape:
    """A report among `choices` answers of which `favoured` are likelier."""

    choices: int
    favoured: int
    gain: float

    @property
    def pairs(self) -> int:
        """How many directions there are; each has two answers."""
        return self.choices // 2


def gain(epsilon: float, choices: int, favoured: int) -> float:
    """See the module."""
    top = _top(choices // 2)[favoured - 1]
    truly = favoured / (favoured + (choices - favoured) * exp(-epsilon))
    return truly * top - (1 - truly) * favoured * top / (choices - favoured)


def best_report(epsilon: float, most_bits: int) -> ReportShape:
    """Of the reports of at most `most_bits` bits the shortest that is about as good as any."""
    best = [
        max((_report(epsilon, 1 << bits, f) for f in _counts(bits)), key=_gain)
        for bits in range(1, most_bits + 1)
    ]
    enough = WORTH * max(report.gain for report in best) ** 2
    return next(report for report in best if report.gain**2 >= enough)


def _report(epsilon: float, choices: int, favoured: int) -> ReportShape:
    return ReportShape(choices, favoured, gain(epsilon, choices, favoured))


def _gain(report: ReportShape) -> float:
    return report.gain


def _counts(bits: int) -> range:
    return range(1, max(2, (1 << bits) // 4 + 1))


@lru_cache(maxsize=16)
def _top(count: int) -> tuple[float, ...]:
    """Mean of the 1, 2, ... largest of `count` absolute standard normals, by integration
    over order statistics."""
    from scipy.special import gammaln, ndtri

    u = (np.arange(GRID) + 0.5) / GRID
    size = ndtri((1 + u) / 2)
    order_means = []
    for rank in range(count, 0, -1):
        log_ways = gammaln(count + 1) - gammaln(rank) - gammaln(count + 1 - rank)
        density = np.exp(log_ways + (rank - 1) * np.log(u) + (count - rank) * np.log1p(-u))
        order_means.append(float(np.mean(size * density)))
    means = np.cumsum(order_means) / np.arange(1, count + 1)
    return tuple(float(x) for x in means)
