"""How widely people differ: chosen among a few candidate priors by the errors they would make, privately.

Each person predicts each of her ratings from her others under every candidate (a multiplier for each group of
loadings) and reports how much less or more she errs than under the default, and how much more than the default itself
expects. The sum of these rows, each clipped to `ROW_CLIP` in L2, is one small release: sensitivity `ROW_CLIP` at unit
`user` and twice that at `rating`, where one cell may replace the whole row. A candidate replaces the default only if
its advantage stands out of the noise, so that with few people or little budget the default stays.

Guarantee: every function of this module reads released numbers and public constants only; it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROW_CLIP = 0.3
SPREAD_WEIGHT = 0.1
"""Weight of the last coordinate, own squared error minus its expectation, itself clipped to +- `SPREAD_LIMIT`."""
SPREAD_LIMIT = 1.5
LEFT_OUT = 16
"""At most this many of a person's ratings are left out in turn."""
LEVEL_STEPS = (0.45, 2.2)
"""Multipliers tried for the personal level: it always stays."""
STEPS = (0.0, 0.5, 2.0)
"""Multipliers tried for every other group: 0 takes it out."""
STANDS_OUT = 2.5
"""In standard deviations of the noise."""
TOO_NOISY = 0.03
"""Standard deviation of an average gain above which no gain is believed: real ones are of this size at most."""
NOISE_SD = 0.2
"""Prior spread of the noise variance around its default."""
NOISE_FLOOR = 0.1


@dataclass(frozen=True)
class Choice:
    scales: NDArray[np.float64]
    """Multiplier of each loading."""
    noise: float
    """Variance of a rating around the personal model."""


def candidates(groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Multipliers of the loadings, one row a candidate, the default first; group 0 is the personal level."""
    rows = [np.ones(len(groups))]
    for group, step in _trials(groups):
        rows.append(np.where(groups == group, step, 1.0))
    return np.array(rows)


def choose(released: NDArray[np.float64], sd: float, people: float, groups: NDArray[np.int64], noise: float) -> Choice:
    """The choice from the released sum of rows; `noise` is the variance that the default assumed."""
    gains, sd = np.asarray(released, dtype=np.float64) / people, sd / people
    scales = np.ones(len(groups))
    best: dict[int, float] = {}
    for (group, step), value in zip(_trials(groups), gains[:-1], strict=True):
        if sd < TOO_NOISY and value < min(best.get(group, 0.0), -STANDS_OUT * sd):
            best[group] = float(value)
            scales[groups == group] = step
    kept = NOISE_SD**2 / (NOISE_SD**2 + (sd / SPREAD_WEIGHT) ** 2)
    found = max(noise + kept * float(gains[-1]) / SPREAD_WEIGHT, NOISE_FLOOR)
    return Choice(scales * np.sqrt(found / noise), found)  # the ratio of prior to noise is what was compared


def _trials(groups: NDArray[np.int64]) -> list[tuple[int, float]]:
    return [(int(g), step) for g in np.unique(groups) for step in (LEVEL_STEPS if g == 0 else STEPS)]
