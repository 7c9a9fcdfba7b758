"""How widely tastes of several groups vary, all told together from noisy gains.

Groups of loadings overlap: where one is narrowed, another makes up for part of it. So what one
group gains alone says of each that it may go. What a typical person's ratings show of all
loadings tells how much each prior gains if tastes of each group vary so many times as much as
the default says. That is linear in these numbers, so their posterior mean follows, with a prior
at the default: most sets are near it, some are far away.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]

AS_IS = -1
"""Group of loadings that stay as they are."""
KEPT = 0.5
"""What is left of gains by clipping, and where people rate unlike the typical one. This and the
next three were chosen on 100 fits of shops, films and parts of MovieLens (splits 100 to 107:
docs/results/bayes.md)."""
USER_FACTOR_SDS = ((0.7, 0.3), (0.3, 1.5))
"""Prior of the variance of tastes around what the default says, as a share of it: how likely,
and how far."""
GLOBAL_MEAN_SD = 0.6
"""The same for people's own levels."""
UNLIKE = 0.001
"""Standard deviation of a gain from what is expected of it."""

MOST = 1e3
"""No average gain is larger, so that squares stay finite."""


def widths(
    gains: Floats,
    sd: float,
    trials: Floats,
    groups: Groups,
    information: Floats,
    rating_variance: float,
) -> dict[int, float]:
    """Variance of each group of factors, relative to the default.

    `gains` are noisy averages, one for each row of `trials` (multipliers of the item factors);
    `information` is what a typical person's ratings determine of all factors, in units of their
    prior, and `rating_variance` the variance of one of her ratings over their number."""
    names = np.unique(groups[groups >= 0])
    expected_gains = expected(trials, groups, information)
    scale = KEPT * rating_variance / np.hypot(sd, UNLIKE)
    rows = scale * expected_gains[:, 1:]
    observed = np.clip(gains, -MOST, MOST) / np.hypot(sd, UNLIKE)
    right = observed - scale * expected_gains.sum(axis=1)
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return dict.fromkeys(names.tolist(), 1.0)
    costs, means = [], []
    for likely, spread in USER_FACTOR_SDS:
        prior = np.where(names == 0, GLOBAL_MEAN_SD, spread)
        cost, mean = _posterior(rows, right, prior)
        costs.append(cost - 2 * np.log(likely))
        means.append(mean)
    weight = np.exp(-0.5 * (np.array(costs) - min(costs)))
    multipliers = weight @ np.array(means) / weight.sum()
    return dict(zip(names.tolist(), multipliers.tolist(), strict=True))


def expected(trials: Floats, groups: Groups, information: Floats) -> Floats:
    """Expected gain of each trial: a column of what is there whatever tastes are, and one for
    each group, to be taken as often as its tastes vary.

    With loadings scaled by S and information G, ratings tell H G z and chance of a taste z, H
    = S (I + S G S)^-1 S. So errors are in proportion to tr G (I - H G) W (I - H G)' + tr G H
    G H, W being the variance of tastes.
    """
    names = np.unique(groups[groups >= 0])
    identity = np.eye(len(groups))

    def errors(scales: Floats) -> Floats:
        inner = identity + scales[:, None] * information * scales
        resolved = scales[:, None] * np.linalg.solve(inner, scales[:, None] * information)
        missed = identity - resolved
        by_column = np.einsum("ij,ij->j", missed, information @ missed)
        ungrouped = (resolved * resolved.T).sum() + by_column[groups < 0].sum()
        return np.array([ungrouped, *(by_column[groups == name].sum() for name in names)])

    default = errors(np.ones(len(groups)))
    return np.array([errors(row) - default for row in trials])


def _posterior(rows: Floats, right: Floats, prior: Floats) -> tuple[float, Floats]:
    """Of numbers around 1 that are not negative, given `rows` times what they are beyond 1 with
    noise of 1: minus twice the log of how likely that was, and their means."""
    scaled = rows * prior
    lower = np.linalg.cholesky(np.eye(len(prior)) + scaled.T @ scaled)
    white = np.linalg.solve(lower, scaled.T @ right)
    cost = 2 * float(np.log(np.diag(lower)).sum()) - float(white @ white)
    mean = 1.0 + prior * np.linalg.solve(lower.T, white)
    inverse = np.linalg.solve(lower, np.diag(prior))
    return cost, _positive(mean, np.sqrt((inverse**2).sum(axis=0)))


def _positive(mean: Floats, sd: Floats) -> Floats:
    """The means of normal numbers that are known not to be negative."""
    away = mean / sd
    hazard = np.exp(-0.5 * away**2 - log_ndtr(away)) / np.sqrt(2 * np.pi)
    result: Floats = np.maximum(mean + sd * hazard, 0.0)
    return result
