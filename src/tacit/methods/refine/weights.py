"""Non-negative weights behind known Gaussian noise: non-parametric empirical Bayes on a
logarithmic grid.

Item weights span several powers of ten, most of them below the noise. The prior is a free
distribution on a log grid, found by EM from the released numbers themselves, so nothing has
to be assumed about how popularity falls off.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GRID = 64
"""Points of the logarithmic grid."""
SWEEPS = 60
"""Turns of EM for the prior."""
SAMPLE = 4096
"""The prior is learned from at most this many items, evenly spaced in rank: more would not
change it."""
FLOOR = 1e-3
"""Share of the prior kept uniform, so that no weight is ever impossible."""

FEATURE_SWEEPS = 40
"""Turns of EM where features move the prior."""
FEATURE_RIDGE = 20.0
"""Items' worth of doubt about each coefficient of a feature."""
STANDS_OUT = 0.3
"""An effect of this size, on the inner scale, is worth telling from noise."""
EMPHASIS = -0.4
"""Power of an item's weight in the effort that it gets: a little less than the best, -1/2."""
LEAST_SPREAD, FARTHEST = 0.3, 4.0
"""Popularity: the least spread that log weights are divided by, and its bounds."""


@dataclass(frozen=True)
class Weights:
    """What the noise leaves to know about each weight."""

    mean: NDArray[np.float64]
    square: NDArray[np.float64]
    """Posterior mean of the squared weight."""
    log: NDArray[np.float64]
    """Posterior mean of the log weight."""
    log_spread: float
    """Standard deviation of the log weight over ratings (items counted by weight) under the
    prior: the posterior means, which noise pulls together, would say too little."""

    @property
    def popularity(self) -> NDArray[np.float64]:
        """Standardised log weight, 0 at the typical rating; near 0 for every item when the
        noise hides all of them."""
        return self.standard(self.log)

    def standard(self, log: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log weights on the scale of `popularity`."""
        centre = float(self.mean @ self.log / self.mean.sum())
        return np.clip((log - centre) / max(self.log_spread, LEAST_SPREAD), -FARTHEST, FARTHEST)


def denoise_weights(
    noisy: NDArray[np.float64],
    sd: float,
    *,
    low: float,
    high: float,
    mean: float,
    doubt: float = 0.5,
    features: NDArray[np.float64] | None = None,
) -> Weights:
    """The posterior of weights in [low, high] from `noisy` = weight + N(0, sd^2).

    `low` is about the smallest weight worth telling from none, `high` the largest possible
    one, `mean` the mean weight of an item as known from elsewhere, give or take a factor of
    exp(`doubt`): without it, the maximum of thousands of noisy zeros would pass for a
    popular item. Public `features` (items x columns, centred) move the prior of each item.
    """
    high = max(high, 2.0 * low)
    grid = np.geomspace(low, high, GRID)
    sd = max(sd, 1e-9 * high)
    prior_precision = 1.0 / (doubt * mean) ** 2
    data_precision = len(noisy) / sd**2
    level = (
        (prior_precision * mean + data_precision * float(np.mean(noisy)))
        / (prior_precision + data_precision)
        if len(noisy)
        else mean
    )
    prior = _learn_prior(noisy, sd, grid, float(np.clip(level, 1.01 * low, 0.99 * high)))
    if features is not None and features.shape[1] and len(noisy):
        posterior = _featured(_likelihood(noisy, sd, grid), np.log(grid), prior, features)
    else:
        posterior = _posterior(noisy, sd, grid, prior)
    log_grid = np.log(grid)
    by_weight = prior * grid / (prior @ grid)
    centre = float(by_weight @ log_grid)
    spread = float(np.sqrt(by_weight @ (log_grid - centre) ** 2))
    return Weights(posterior @ grid, posterior @ grid**2, posterior @ log_grid, spread)


@dataclass(frozen=True)
class Lean:
    """How far effort moves from crowded to rare items."""

    stands_out: float = STANDS_OUT
    """The size of what is looked for, worth telling from noise."""
    power: float = EMPHASIS
    """Of an item's weight."""


RARE = Lean(1.0, -0.5)
"""Further than is best for all ratings together, where sums are so good that crowded items are
known: set on ML-1M at epsilon 5 (splits 101 to 103), by errors on fifths of the items."""


def emphasis(
    weights: Weights, sd: float, low: float, lean: Lean | None = None
) -> tuple[NDArray[np.float64], float]:
    """Public multipliers o_i <= 1 of people's residuals that move effort from crowded to
    rare items, and a row clip.

    With o_i ~ W_i^-1/2 the noise would be spread best if every item stood out of it; items
    that drown (W_i below `sd`/.3, where an effect of .3 equals the noise; `sd` is that of a
    release with clip 1) are not worth more effort, so the power stops there and is a little
    less. The clip is the norm of a typical weighted row of unit residuals.
    """
    lean = lean or Lean()
    bottom = max(sd / lean.stands_out, low)
    multiplier = (np.maximum(weights.mean, bottom) / bottom) ** lean.power
    clip = np.sqrt(weights.mean @ multiplier**2 / weights.mean.sum())
    return multiplier, float(clip)


def _learn_prior(
    noisy: NDArray[np.float64], sd: float, grid: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """EM over the distributions on the grid whose mean is `level`."""
    values = np.sort(noisy)
    if len(values) > SAMPLE:
        values = values[np.linspace(0, len(values) - 1, SAMPLE).round().astype(np.int64)]
    likelihood = _likelihood(values, sd, grid)
    prior = _tilt(np.full(GRID, 1.0 / GRID), grid, level)
    for _ in range(SWEEPS if len(values) else 0):
        evidence = likelihood @ prior
        prior = prior * (likelihood.T @ (1.0 / evidence)) / len(values)
        prior = _tilt((1.0 - FLOOR) * prior / prior.sum() + FLOOR / GRID, grid, level)
    return prior


def _featured(
    likelihood: NDArray[np.float64],
    log_grid: NDArray[np.float64],
    prior: NDArray[np.float64],
    features: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The posterior where log weight = features x coefficients + a rest with a free
    distribution: EM over both.

    A ridge keeps the coefficients small, so features that say nothing about popularity
    change nothing.
    """
    step, size = log_grid[1] - log_grid[0], len(log_grid)
    system = features.T @ features + FEATURE_RIDGE * np.eye(features.shape[1])
    shift, residual_prior = np.zeros(len(likelihood)), prior
    for _ in range(FEATURE_SWEEPS):
        grid_position = (log_grid - shift[:, None] - log_grid[0]) / step
        below = np.floor(grid_position)
        part = grid_position - below
        padded = np.concatenate(
            [[residual_prior[0] / 2], residual_prior, [residual_prior[-1] / 2]]
        )  # beyond the grid the rest fades out
        at = np.clip(below.astype(np.int64) + 1, 0, size)
        shifted = padded[at] * (1 - part) + padded[at + 1] * part
        posterior = likelihood * shifted
        posterior /= posterior.sum(axis=1, keepdims=True)
        expected = posterior @ log_grid
        shift = np.clip(
            features @ np.linalg.solve(system, features.T @ (expected - expected.mean())), -3.0, 3.0
        )
        shift -= shift.mean()
        nearest = np.clip(
            np.rint((log_grid - shift[:, None] - log_grid[0]) / step).astype(np.int64), 0, size - 1
        )
        counts = np.bincount(nearest.ravel(), posterior.ravel(), minlength=size)
        residual_prior = (1 - 10 * FLOOR) * counts / counts.sum() + 10 * FLOOR / size
    result: NDArray[np.float64] = posterior
    return result


def _tilt(
    prior: NDArray[np.float64], grid: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """The nearest distribution (in relative entropy) with mean `level`: prior x exp(-rate x
    weight), by bisection."""
    scaled = grid / level
    low, high = -500.0 / scaled[-1], 500.0
    log_prior = np.log(prior)
    for _ in range(40):
        rate = (low + high) / 2.0
        exponent = log_prior - rate * scaled
        tilted = np.exp(exponent - exponent.max())
        tilted /= tilted.sum()
        low, high = (rate, high) if tilted @ scaled > 1.0 else (low, rate)
    result: NDArray[np.float64] = np.maximum(tilted, 1e-300)
    return result


def _likelihood(
    noisy: NDArray[np.float64], sd: float, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Relative to the best grid point of each row; widened to the grid's own resolution, so
    no row is all zero."""
    spacing = grid * (grid[1] / grid[0] - 1.0) / 2.0
    width = np.sqrt(sd**2 + spacing**2)
    exponent = -0.5 * ((noisy[:, None] - grid) / width) ** 2 - np.log(width)
    exponent -= exponent.max(axis=1, keepdims=True)
    result: NDArray[np.float64] = np.exp(exponent)
    return result


def _posterior(
    noisy: NDArray[np.float64], sd: float, grid: NDArray[np.float64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    joint = _likelihood(noisy, sd, grid) * prior
    result: NDArray[np.float64] = joint / joint.sum(axis=1, keepdims=True)
    return result
