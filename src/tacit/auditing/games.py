"""Distinguishing games: a mechanism is run many times on each of two neighbours, and somebody
guesses which it was.

Where the law of the noise is known the guess goes by the exact likelihood ratio. The threshold
is chosen on one half of the runs, and what it proves is read off the other half.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.guesses import interval

Floats = NDArray[np.float64]
THRESHOLDS = 200
"""That are tried on the first half."""


@dataclass(frozen=True)
class Won:
    """What a game proves."""

    epsilon: float
    """At the delta asked for, that the mechanism surely costs."""
    threshold: float
    hits: int
    """Runs on the first neighbour beyond the threshold, of `runs`."""
    false: int
    """The same on the second neighbour."""
    runs: int


def play(first: Floats, second: Floats, *, delta: float, mistake: float) -> Won:
    """What statistics of runs on either neighbour prove.

    For any event, P[first] <= e^epsilon P[second] + delta. So with a lower limit p of the
    one chance and an upper limit q of the other, each at `mistake`/2, epsilon is at least
    log((p - delta)/q) but for a chance of `mistake`. Events are half lines, either way, as
    the runs of the first half suggest.
    """
    half = len(first) // 2, len(second) // 2
    sign, threshold = _chosen(first[: half[0]], second[: half[1]], delta, mistake)
    rest = sign * first[half[0] :], sign * second[half[1] :]
    hits = int((rest[0] >= threshold).sum())
    false = int((rest[1] >= threshold).sum())
    proven = _proven((hits, len(rest[0])), (false, len(rest[1])), delta, mistake)
    return Won(max(proven, 0.0), threshold, hits, false, len(rest[0]))


def most_epsilon(runs: int, mistake: float) -> float:
    """What a game of so many runs on each side can prove at best."""
    whole = runs - runs // 2
    return _proven((whole, whole), (0, whole), 0.0, mistake)


def laplace_ratio(seen: Floats, first: Floats, second: Floats, scale: float) -> Floats:
    """log of the densities' ratio, for each row of `seen`."""
    far = np.abs(seen - second).sum(axis=1)
    near = np.abs(seen - first).sum(axis=1)
    return np.asarray((far - near) / scale, np.float64)


def gaussian_ratio(seen: Floats, first: Floats, second: Floats, sigma: float) -> Floats:
    """The same of Gaussian noise."""
    far = ((seen - second) ** 2).sum(axis=1)
    near = ((seen - first) ** 2).sum(axis=1)
    return np.asarray((far - near) / (2 * sigma**2), np.float64)


def _chosen(first: Floats, second: Floats, delta: float, mistake: float) -> tuple[int, float]:
    """The half line that would prove most on these runs."""
    best, chosen = -inf, (1, 0.0)
    for sign in (1, -1):
        both = np.unique(np.concatenate([sign * first, sign * second]))
        step = max(1, len(both) // THRESHOLDS)
        for threshold in both[::step].tolist():
            hits = int((sign * first >= threshold).sum())
            false = int((sign * second >= threshold).sum())
            proven = _proven((hits, len(first)), (false, len(second)), delta, mistake)
            if proven > best:
                best, chosen = proven, (sign, threshold)
    return chosen


def _proven(hits: tuple[int, int], false: tuple[int, int], delta: float, mistake: float) -> float:
    # Each side of an interval is at half of what is asked for.
    low = interval(*hits, mistake)[0]
    high = interval(*false, mistake)[1]
    if low <= delta or high <= 0:
        return -inf
    return log((low - delta) / high)
