"""How widely people differ: chosen among a few candidate priors by the errors they would
make, privately.

Each person predicts each of her ratings from her others under every candidate (a multiplier
for each group of loadings) and reports how much less or more she errs than under the
default, and how many of her errors lie within the default's own 80 % interval. The sum of
these rows, each clipped to `ROW_CLIP` in L2, is one small release: sensitivity `ROW_CLIP`
at unit `user` and twice that at `rating`, where one cell may replace the whole row. Another
personal level replaces the default only if its advantage stands out of the noise. For every
other group the candidates are three points of a curve, from which follows how widely tastes
vary, with a prior at the default: so with few people or little budget the default stays. Where
several groups are to be told apart from little, it follows from all gains together
(see below).

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

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
"""In standard deviations of the noise: another personal level."""
CLIPPED, CLIPPED_SD = 0.3, 0.6
"""What clipping leaves of gains, and its spread as a share of itself. This and the next two
were chosen on 64 fits of other shapes than MovieLens' (splits 100: docs/results/bayes.md)."""
WIDER_SD = 0.7
"""Prior spread of the variance of tastes around what the default says, as a share of it."""
UNLIKE = 0.0005
"""Standard deviation of a gain from the curve that is fitted."""
LEAST_KEPT = 0.1
"""Of what clipping leaves, in units of `CLIPPED`: less is not believed."""
TOO_NOISY = 0.03
"""Standard deviation of an average gain above which no gain is believed: real ones are of
this size at most."""
NOISE_FLOOR = 0.1
"""The least variance of a rating around the personal model: nobody is that predictable."""
COVER_BELOW, COVER_ABOVE = -0.4, 0.19
"""Bounds of how far the covered share is believed to be from nominal."""
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
WIDTHS_UNLIKE = 0.001
"""Standard deviation of a gain from what is expected of it."""
MOST = 1e3
"""No average gain is larger, so that squares stay finite."""


@dataclass(frozen=True)
class Revealed:
    """How precisely a typical person's ratings determine each group of factors, under the
    default."""

    tastes: Mapping[int, Floats]
    """By group: information over that of the prior, along each axis of it."""
    each: float
    """Variance of one of her ratings around the model, over their number."""
    widest: float = STEPS[-1]
    """The largest multiplier of a group."""
    information: Floats | None = None
    """About all loadings, in units of their prior: where groups are told together."""


@dataclass(frozen=True)
class Choice:
    """How widely people differ, as it was chosen."""

    scales: NDArray[np.float64]
    """Multiplier of each loading."""
    noise: float
    """Variance of a rating around the personal model."""


def candidates(groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Multipliers of the item factors, a row for each candidate, the default first; group 0 is the
    user bias, and columns of negative groups are not scaled."""
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
    evidence: Revealed,
) -> Choice:
    """The choice from the released sum of rows; `noise` is the variance that the default
    assumed."""
    gains, sd = np.asarray(released, dtype=np.float64) / people, sd / people
    scales = np.ones(len(groups))
    gains_by_group: dict[int, list[float]] = {}
    for (group, _), value in zip(_trials(groups), gains[:-1], strict=True):
        gains_by_group.setdefault(group, []).append(float(value))
    wide = _together(gains[:-1], sd, groups, evidence)
    for group, values in gains_by_group.items() if sd < TOO_NOISY else ():
        if group == 0:
            estimate = _stands_out(values, sd)
        elif wide:
            estimate = wide[group]
        else:
            estimate = _width(values, sd, evidence.tastes[group], evidence.each)
        scales[groups == group] = min(estimate, evidence.widest) if group else estimate
    off = float(
        np.clip(
            _beyond(float(gains[-1]) / COVER_WEIGHT, sd / COVER_WEIGHT), COVER_BELOW, COVER_ABOVE
        )
    )
    estimate = max(noise * _times(NOMINAL + off), NOISE_FLOOR)
    return Choice(
        scales * np.sqrt(estimate / noise), estimate
    )  # the ratio of prior to noise is what was compared


def _together(
    gains: Floats, sd: float, groups: NDArray[np.int64], evidence: Revealed
) -> dict[int, float]:
    """Multipliers of all groups at once, where they are asked for."""
    if evidence.information is None:
        return {}
    trials = candidates(groups)[1:]
    variances = widths(gains, sd, trials, groups, evidence.information, evidence.each)
    return {group: sqrt(width) for group, width in variances.items()}


def _stands_out(gains: list[float], sd: float) -> float:
    """The step of the user bias with the best gain, if that is beyond the noise."""
    best = int(np.argmin(gains))
    return LEVEL_STEPS[best] if gains[best] < -STANDS_OUT * sd else 1.0


def _width(gains: list[float], sd: float, information: Floats, rating_variance: float) -> float:
    """The multiplier of fewest errors, from noisy gains at `STEPS`.

    Where ratings tell l of a taste, the multiplier s lets k = s^2 l/(1 + s^2 l) of it be
    believed. If tastes vary w times as much as the default says, errors are in proportion to
    sum of w l (1 - k)^2 + k^2, least at s^2 = w. So the three gains are linear in two unknown
    numbers, what clipping leaves and that times w - 1; both have normal priors.
    """

    def errors(scale: float) -> Floats:
        believed = scale**2 * information / (1.0 + scale**2 * information)
        missed = float((information * (1.0 - believed) ** 2).sum())
        return np.array([missed + float((believed**2).sum()), missed])

    columns = np.array([errors(step) - errors(1.0) for step in STEPS])
    columns *= CLIPPED * rating_variance
    # As rows of one system, each in its own standard deviations: whatever was released, and
    # however large, it has an answer.
    trust = 1.0 / sqrt(sd**2 + UNLIKE**2)
    prior = 1.0 / np.array([CLIPPED_SD, WIDER_SD])
    rows = np.vstack([trust * columns, np.diag(prior)])
    right = np.concatenate([trust * np.array(gains), prior * [1.0, 0.0]])
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return 1.0
    retained, excess = np.linalg.lstsq(rows, right, rcond=None)[0]
    wider = 1.0 + excess / max(float(retained), LEAST_KEPT)
    return float(np.sqrt(np.clip(wider, 0.0, STEPS[-1] ** 2)))


def _beyond(reported: float, sd: float) -> float:
    """How far the covered share is from nominal, expected from a noisy report of it."""
    variances = [prior**2 + sd**2 for _, prior in COVER_SDS]
    # Logarithms, as a report may be thousands of standard deviations away.
    weight = np.array(
        [
            np.log(share) - 0.5 * (np.log(variance) + reported**2 / variance)
            for (share, _), variance in zip(COVER_SDS, variances, strict=True)
        ]
    )
    weight = np.exp(weight - weight.max())
    shrinkages = [
        prior**2 / variance for (_, prior), variance in zip(COVER_SDS, variances, strict=True)
    ]
    return reported * float(weight @ shrinkages / weight.sum())


def _times(covered: float) -> float:
    """How many times too small a variance is whose 80 % intervals cover this share of errors,
    errors being Gaussian."""
    normal = NormalDist()
    nominal = normal.inv_cdf((1 + NOMINAL) / 2)
    return (nominal / normal.inv_cdf((1 + covered) / 2)) ** 2


def _trials(groups: NDArray[np.int64]) -> list[tuple[int, float]]:
    return [
        (int(g), step)
        for g in np.unique(groups[groups >= 0])
        for step in (LEVEL_STEPS if g == 0 else STEPS)
    ]


# How widely tastes of several groups vary, all told together from noisy gains.
#
# Groups of loadings overlap: where one is narrowed, another makes up for part of it. So what one
# group gains alone says of each that it may go. What a typical person's ratings show of all
# loadings tells how much each prior gains if tastes of each group vary so many times as much as
# the default says. That is linear in these numbers, so their posterior mean follows, with a prior
# at the default: most sets are near it, some are far away.
#
# Guarantee: every function of this module reads released numbers and public constants only;
# it is post-processing.


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
    scale = KEPT * rating_variance / np.hypot(sd, WIDTHS_UNLIKE)
    rows = scale * expected_gains[:, 1:]
    observed = np.clip(gains, -MOST, MOST) / np.hypot(sd, WIDTHS_UNLIKE)
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
