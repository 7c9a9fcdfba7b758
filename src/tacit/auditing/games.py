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
    sign, threshold = _choose_threshold(first[: half[0]], second[: half[1]], delta, mistake)
    remaining = sign * first[half[0] :], sign * second[half[1] :]
    hits = int((remaining[0] >= threshold).sum())
    false = int((remaining[1] >= threshold).sum())
    proven = _proven((hits, len(remaining[0])), (false, len(remaining[1])), delta, mistake)
    return Won(max(proven, 0.0), threshold, hits, false, len(remaining[0]))


def most_epsilon(runs: int, mistake: float) -> float:
    """What a game of so many runs on each side can prove at best."""
    tested_runs = runs - runs // 2
    return _proven((tested_runs, tested_runs), (0, tested_runs), 0.0, mistake)


def laplace_ratio(outputs: Floats, first: Floats, second: Floats, scale: float) -> Floats:
    """log of the densities' ratio, for each row of `outputs`."""
    far = np.abs(outputs - second).sum(axis=1)
    near = np.abs(outputs - first).sum(axis=1)
    return np.asarray((far - near) / scale, np.float64)


def gaussian_ratio(outputs: Floats, first: Floats, second: Floats, sigma: float) -> Floats:
    """The same of Gaussian noise."""
    far = ((outputs - second) ** 2).sum(axis=1)
    near = ((outputs - first) ** 2).sum(axis=1)
    return np.asarray((far - near) / (2 * sigma**2), np.float64)


def _choose_threshold(
    first: Floats, second: Floats, delta: float, mistake: float
) -> tuple[int, float]:
    """The half line that would prove most on these runs."""
    best, best_line = -inf, (1, 0.0)
    for sign in (1, -1):
        candidates = np.unique(np.concatenate([sign * first, sign * second]))
        step = max(1, len(candidates) // THRESHOLDS)
        for threshold in candidates[::step].tolist():
            hits = int((sign * first >= threshold).sum())
            false = int((sign * second >= threshold).sum())
            proven = _proven((hits, len(first)), (false, len(second)), delta, mistake)
            if proven > best:
                best, best_line = proven, (sign, threshold)
    return best_line


def _proven(hits: tuple[int, int], false: tuple[int, int], delta: float, mistake: float) -> float:
    # Each side of an interval is at half of what is asked for.
    low = interval(*hits, mistake)[0]
    high = interval(*false, mistake)[1]
    if low <= delta or high <= 0:
        return -inf
    return log((low - delta) / high)
