"""How widely people differ: chosen among a few candidate priors by the errors they would
make, privately.

Each person predicts each of her ratings from her others under every candidate (a multiplier
for each group of loadings) and reports how much less or more she errs than under the
default, and how many of her errors lie within the default's own 80 % interval. The sum of
these rows, each clipped to `ROW_CLIP` in L2, is one small release: sensitivity `ROW_CLIP`
at unit `user` and twice that at `rating`, where one cell may replace the whole row. A
candidate replaces the default only if its advantage stands out of the noise, so that with
few people or little budget the default stays.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

ROW_CLIP = 0.3
"""Norm of one person's row."""
NOMINAL, REACH = 0.8, 1.2816
"""The share of errors that should lie within so many standard deviations."""
COVER_WEIGHT = 0.3
"""Weight of the last coordinate, a person's share of covered errors less `NOMINAL`."""
COVER_SDS = ((0.7, 0.04), (0.3, 0.12))
"""Prior of the covered share around nominal: how likely, and how far. Most data sets have about
as much chance in a rating as the default says; some have far more or less
(docs/results/bayes.md, Intervals)."""
LEFT_OUT = 16
"""At most this many of a person's ratings are left out in turn."""
LEVEL_STEPS = (0.45, 2.2)
"""Multipliers tried for the personal level: it always stays."""
STEPS = (0.0, 0.5, 2.0)
"""Multipliers tried for every other group: 0 takes it out."""
STANDS_OUT = 2.5
"""In standard deviations of the noise."""
TOO_NOISY = 0.03
"""Standard deviation of an average gain above which no gain is believed: real ones are of
this size at most."""
NOISE_FLOOR = 0.1
"""The least variance of a rating around the personal model: nobody is that predictable."""
COVER_BELOW, COVER_ABOVE = -0.4, 0.19
"""Bounds of how far the covered share is believed to be from nominal."""


@dataclass(frozen=True)
class Choice:
    """How widely people differ, as it was chosen."""

    scales: NDArray[np.float64]
    """Multiplier of each loading."""
    noise: float
    """Variance of a rating around the personal model."""


def candidates(groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Multipliers of the loadings, one row a candidate, the default first; group 0 is the
    personal level."""
    rows = [np.ones(len(groups))]
    for group, step in _trials(groups):
        rows.append(np.where(groups == group, step, 1.0))
    return np.array(rows)


def choose(
    released: NDArray[np.float64],
    sd: float,
    people: float,
    groups: NDArray[np.int64],
    noise: float,
) -> Choice:
    """The choice from the released sum of rows; `noise` is the variance that the default
    assumed."""
    gains, sd = np.asarray(released, dtype=np.float64) / people, sd / people
    scales = np.ones(len(groups))
    best: dict[int, float] = {}
    for (group, step), value in zip(_trials(groups), gains[:-1], strict=True):
        if sd < TOO_NOISY and value < min(
            best.get(group, 0.0), -STANDS_OUT * sd
        ):
            best[group] = float(value)
            scales[groups == group] = step
    off = float(
        np.clip(
            _beyond(float(gains[-1]) / COVER_WEIGHT, sd / COVER_WEIGHT),
            COVER_BELOW,
            COVER_ABOVE,
        )
    )
    found = max(noise * _times(NOMINAL + off), NOISE_FLOOR)
    return Choice(
        scales * np.sqrt(found / noise), found
    )  # the ratio of prior to noise is what was compared


def _beyond(told: float, sd: float) -> float:
    """How far the covered share is from nominal, expected from a noisy report of it."""
    whole = [prior**2 + sd**2 for _, prior in COVER_SDS]
    # Logarithms, as a report may be thousands of standard deviations away.
    weight = np.array(
        [
            np.log(share) - 0.5 * (np.log(each) + told**2 / each)
            for (share, _), each in zip(COVER_SDS, whole, strict=True)
        ]
    )
    weight = np.exp(weight - weight.max())
    kept = [
        prior**2 / each
        for (_, prior), each in zip(COVER_SDS, whole, strict=True)
    ]
    return told * float(weight @ kept / weight.sum())


def _times(covered: float) -> float:
    """How many times too small a variance is whose 80 % intervals cover this share of errors,
    errors being Gaussian."""
    normal = NormalDist()
    wanted = normal.inv_cdf((1 + NOMINAL) / 2)
    return (wanted / normal.inv_cdf((1 + covered) / 2)) ** 2


def _trials(groups: NDArray[np.int64]) -> list[tuple[int, float]]:
    return [
        (int(g), step)
        for g in np.unique(groups)
        for step in (LEVEL_STEPS if g == 0 else STEPS)
    ]
