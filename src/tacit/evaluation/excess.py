"""What noise in the sums over items costs, in closed form, from public shape alone.

An item with n ratings is known up to a variance of s^2/n without noise, and of s^2/n + b/n^2
with it: b is the variance of the noise in a sum over one item, in ratings. What is drawn with a
variance of a is then off by a v / (a + v), the best that any shrinkage does. Ratings fall on
items as popularity has it, so the excess error is the mean over items, weighed by popularity,
of the difference. The same holds for each taste, but people's own tastes are known only as far
as their ratings tell of them.

How loud the noise is depends on the plan of a method (how it shares the budget, how it clips):
one constant for effects and one for tastes are fitted to runs (`benchmarks/forecast_fit.py`), and
a third for how much of the tastes its twin finds; everything else is the nature of films
(`tacit.evaluation.invent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.invent import Nature, popularity

Matrix = NDArray[np.float64]

SLICES = 200
"""Of the items by popularity, that are looked at as one each."""
NATURE = Nature()
RESIDUAL = NATURE.noise**2 + 0.13
"""What is left of a rating beside all that is known, with what whole steps and ends of the
scale add."""
ERROR = 0.9
"""The error of a fit without noise on a scale of width 4, about."""


@dataclass(frozen=True)
class Loud:
    """How loud noise is, as logs to base 10 of times that of a plan with one round and no
    clipping."""

    effects: float
    tastes: float | None = None
    """None: no tastes are learned."""
    strength: float = 0.0
    """Of tastes that the twin finds, as a log to base 10 of times those of films."""


def excess(unit: str, people: float, items: int, per_user: float, mu: float, loud: Loud) -> float:
    """RMSE above the twin's on a scale of width 4. `mu` is the budget in the currency that
    adds, `per_user` the ratings of a person."""
    chance, share = slices(items)
    rated = people * per_user * chance
    unit_ratings = per_user if unit == "user" else 1.0
    noise = unit_ratings / (mu * rated) ** 2
    plain = RESIDUAL / rated
    added = _added_variance(NATURE.effect**2, plain, 10**loud.effects * noise)
    if loud.tastes is not None:
        strength, known_share = _tastes(per_user, 10**loud.strength)
        added += known_share @ _added_variance(
            strength[:, None],
            plain / known_share[:, None],
            10**loud.tastes * noise / known_share[:, None],
        )
    return sqrt(ERROR**2 + float(share @ added)) - ERROR


def _added_variance(prior_variance: Matrix | float, plain: Matrix, noise: Matrix) -> Matrix:
    """What noise adds to the variance of what is known of each item."""
    noisy = plain + noise
    return np.asarray(
        prior_variance * noisy / (prior_variance + noisy)
        - prior_variance * plain / (prior_variance + plain)
    )


def _tastes(per_user: float, times: float) -> tuple[Matrix, Matrix]:
    """The variance of each taste, and which share of it a person's ratings tell."""
    strength: Matrix = NATURE.decay ** np.arange(NATURE.tastes, dtype=np.float64)
    strength *= times * NATURE.taste**2 / strength.sum()
    evidence = per_user * strength
    return strength, evidence / (evidence + RESIDUAL)


@cache
def slices(items: int) -> tuple[Matrix, Matrix]:
    """The chance of one item of each slice, and of all its items together."""
    chance = popularity(items, NATURE)
    parts = np.array_split(chance, min(SLICES, items))
    mean = np.array([part.mean() for part in parts])
    return mean, np.array([part.sum() for part in parts])
