"""The first numbers released about people: how they rate on the whole, and how many ratings
a person typically has.

Every release is shrunk toward a public guess by its known noise, so that with few people or
little budget the guess answers: mid-scale, with a variance that says so, and about thirty
ratings a person.

Contribution of a person with ratings r_1..r_c on the inner scale [-2, 2]:

  unit `user`    (.9 mean(r)/2, .43 (min(log2 c, 12) - 6)/6)        L2 norm <= sqrt(.81 + .1849) < 1
  unit `rating`  (sum(r)/(c+5), c/(c+5), log2(1+c)/6)               one cell moves it by <= 1/sqrt 6

Second line: adding a rating to c others moves the three by at most (4c+10)/((c+5)(c+6)),
5/((c+5)(c+6)) and log2((c+2)/(c+1))/6. The first is 1/3 at c = 0 and c = 1 and falls after,
the others fall from 1/6 at c = 0, so the sum of squares is largest at c = 0: 1/9 + 1/36 +
1/36 = 1/6.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MEAN_WEIGHT = 0.9
"""Of a person's mean in her row at the unit `user`; with the next, a row of norm below 1."""
COUNT_WEIGHT = 0.43
"""Of how many ratings she has."""
LOG_COUNT_MIDDLE = 6.0
"""Half of the largest log2 of a count that is told apart, 12."""
OWN_SHRINKAGE = 5.0
"""Pseudo-ratings at 0 in a person's own shrunk mean."""
RATING_SENSITIVITY = 6.0**-0.5
"""Of the three sums of unit `rating`: proven above."""

GLOBAL_MEAN_SD = 0.6
"""Public guess of how far the level lies from mid-scale, on the inner scale."""
LOG_COUNT, LOG_COUNT_SD = 5.0, 1.5
"""Public guess of the log2 of a typical person's ratings, and its spread."""


@dataclass(frozen=True)
class GlobalMean:
    """How people rate on the whole, and how much."""

    mean: float
    """Where ratings lie on the whole, on the inner scale; the released g."""
    variance: float
    """What the noise leaves unknown of it."""
    count: float
    """Ratings of a typical person (geometric mean), between 2 and 1,000."""


def shrink(noisy: float, sd: float, centre: float, spread: float) -> tuple[float, float]:
    """Posterior mean and variance of a number that is N(centre, spread^2) and was released
    with noise N(0, sd^2)."""
    gain = spread**2 / (spread**2 + sd**2)
    return centre + gain * (noisy - centre), spread**2 * (1.0 - gain)


def mean_of_users(released: NDArray[np.float64], sd: float, people: float) -> GlobalMean:
    """From the two sums of unit `user`, released with noise of standard deviation `sd` each."""
    mean, variance = shrink(
        2.0 / MEAN_WEIGHT * float(released[0]) / people,
        2.0 / MEAN_WEIGHT * sd / people,
        0.0,
        GLOBAL_MEAN_SD,
    )
    step = LOG_COUNT_MIDDLE / COUNT_WEIGHT / people
    return GlobalMean(
        mean, variance, _count(LOG_COUNT_MIDDLE + step * float(released[1]), step * sd)
    )


def mean_of_ratings(released: NDArray[np.float64], sd: float, people: float) -> GlobalMean:
    """Global mean from the three sums of unit `rating`: a ratio of sums, so it needs no number of
    people."""
    lowest = people / (1.0 + OWN_SHRINKAGE)  # a person with one rating adds 1/6 to the second sum
    total = float(np.clip(released[1], lowest, max(people, lowest)))
    mean, variance = shrink(
        float(released[0]) / total, sd * np.hypot(1.0, GLOBAL_MEAN_SD) / total, 0.0, GLOBAL_MEAN_SD
    )
    return GlobalMean(mean, variance, _count(6.0 * float(released[2]) / people, 6.0 * sd / people))


def _count(noisy: float, sd: float) -> float:
    return float(
        np.clip(2.0 ** min(shrink(noisy, sd, LOG_COUNT, LOG_COUNT_SD)[0], 20.0), 2.0, 1000.0)
    )
