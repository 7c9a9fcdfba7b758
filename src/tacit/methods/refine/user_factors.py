"""The space of tastes: which directions a typical person's ratings show, how tastes vary,
how items answer to them.

A person's taste z ~ N(0, I) enters through the items' loadings: a rating is baseline_i +
x_i'z + noise. *Axes* are the directions of z that a typical person's ratings determine
best. Two kinds of release improve the loadings: *moments*, which tell how tastes vary
(`tacit.methods.refine.variety`), and *sweeps*, sums of left-out errors times tastes, W_i R
(change of x_i along the axes) + noise. In a sweep each axis is an empirical-Bayes problem of
its own, whose spread of changes maximises its posterior and may be nothing at all.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.weights import Weights

Floats = NDArray[np.float64]
SPREADS = np.geomspace(1e-5, 0.1, 15)
"""Variances of the change of a loading that are tried, beside none."""
SPREAD, SPREAD_SD = 0.004, 1.5
"""Prior median of that variance and standard deviation of its logarithm."""
CURVED = 2.0
"""Size of the kernel. Chosen on ML-1M (split 102): 1 and 2 are alike, 4 loses half."""
AXES = 12
"""Products are taken of so many leading directions of the loadings: with all of them no gain."""
KEPT = 24
"""Columns of the result at most: 16 give nine tenths of the gain, 40 a tenth more."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions of user factors, best determined first; columns of zeros where there are fewer
    than requested."""

    vectors: Floats = field(metadata={"free": 0})
    reliability: Floats
    """Share of each axis' variance that a typical person's ratings show; 1 for columns of zeros."""


def typical_axes(
    item_factors: Floats, precision: Floats, weight: Floats, count: float, rank: int
) -> Axes:
    """Axes that `count` ratings, spread over items like `weight`, would determine best:
    eigenvectors of X'PX."""
    width = item_factors.shape[1]
    chance = weight / max(float(weight.sum()), 1e-300)
    values, vectors = np.linalg.eigh(count * (item_factors.T * (chance * precision)) @ item_factors)
    best = np.argsort(-values, kind="stable")[:rank]
    out, reliability = np.zeros((width, rank)), np.ones(rank)
    out[:, : len(best)] = vectors[:, best]
    reliability[: len(best)] = np.maximum(values[best], 1e-6) / (1 + np.maximum(values[best], 1e-6))
    return Axes(out, reliability)


def carried(axes: Axes, rank: int, carriers: int, threshold: float) -> Axes:
    """The `rank` best of these axes; but in the last `carriers` columns, where more axes than that
    are more reliable than `threshold`, the least reliable of those.

    A sweep gives axes that hold little another meaning, which is how it finds a factor that no
    column had: with the best axes alone it only refines what is known."""
    present = np.abs(axes.vectors).sum(axis=0) > 0
    reliable = int(((axes.reliability > threshold) & present).sum())
    order = np.arange(rank)
    if reliable > rank:
        order[rank - carriers :] = np.arange(reliable - carriers, reliable)
    vectors = np.ascontiguousarray(axes.vectors[:, order])
    return Axes(vectors, axes.reliability[order])


@dataclass(frozen=True, eq=False)
class UserFactorEvidence:
    """Released sweeps on a common footing, items x axes: `total` = W_i change + N(0,
    1/precision)."""

    total: Floats
    precision: Floats

    @staticmethod
    def none(items: int, axes: int) -> UserFactorEvidence:
        """Zeros, before any sweep."""
        return UserFactorEvidence(np.zeros((items, axes)), np.zeros((items, axes)))

    def add(
        self, released: Floats, sd: float, scale: Floats, weights: Weights, change: Floats
    ) -> UserFactorEvidence:
        """With a further release of scale W_i (true change - `change`) + N(0, sd^2)."""
        precision = (scale / sd) ** 2
        combined = self.precision + precision
        total = released / scale + weights.mean[:, None] * change
        return UserFactorEvidence(
            (self.precision * self.total + precision * total) / combined, combined
        )


def user_factor_changes(
    evidence: UserFactorEvidence, weights: Weights, sampling: Floats
) -> tuple[Floats, Floats]:
    """Posterior mean of the changes (items x axes) and, summed over axes, what is left
    unknown of them.

    `sampling` x W_i is the variance of a total from people's own noise, one number an axis.
    """
    mean = np.zeros_like(evidence.total)
    unknown = np.zeros(len(mean))
    for axis in range(mean.shape[1]):
        total = evidence.total[:, axis]
        noise = 1 / evidence.precision[:, axis] + sampling[axis] * weights.mean
        spread = _spread(total, noise, weights.square)
        if spread > 0:
            gain = weights.mean * spread / (weights.square * spread + noise)
            mean[:, axis] = gain * total
            unknown += spread * (1 - gain * weights.mean)
    return mean, unknown


def _spread(total: Floats, noise: Floats, square: Floats) -> float:
    """The most probable variance of the changes; 0 where none explains the totals better."""
    best = (float(np.sum(np.log(noise) + total**2 / noise)), 0.0)
    for spread in SPREADS:
        variance = square * spread + noise
        cost = (
            float(np.sum(np.log(variance) + total**2 / variance))
            + (np.log(spread / SPREAD) / SPREAD_SD) ** 2
        )
        if cost < best[0]:
            best = (cost, float(spread))
    return best[1]


# Curves: tastes for products of what is known of items.
#
# A person may like old comedies but not old dramas, or films that are both famous and well
# liked. The prior for such tastes is a quadratic kernel over the known loadings x, CURVED
# (x_i'x_j)^2, less what is linear in them. Its columns are products of pairs; the leading
# directions of these, weighted as items are rated, stand for all.
#
# Guarantee: every function of this module reads released numbers and public constants only;
# it is post-processing.


def feature_interactions(item_factors: Floats, weight: Floats) -> Floats:
    """Item factors (items x at most `KEPT`) for products of the given ones; `weight` is the
    popularity of each item."""
    share = weight / max(float(weight.sum()), 1e-300)
    axes = _leading(item_factors - share @ item_factors, share, AXES)
    first, second = np.triu_indices(axes.shape[1])
    size = np.sqrt(CURVED * np.where(first == second, 1.0, 2.0))
    products = axes[:, first] * axes[:, second] * size
    products -= share @ products
    root = np.sqrt(share)[:, None]
    linear = np.linalg.lstsq(axes * root, products * root, rcond=1e-8)[0]
    return _leading(products - axes @ linear, share, KEPT)


def _leading(columns: Floats, share: Floats, rank: int) -> Floats:
    """Turned so that the first column varies most; so many columns at most."""
    if not columns.shape[1]:
        return columns
    vectors = np.linalg.eigh((columns.T * share) @ columns)[1]
    result: Floats = columns @ vectors[:, ::-1][:, :rank]
    return result
