"""The space of tastes: which directions a typical person's ratings show, how tastes vary,
how items answer to them.

A person's taste z ~ N(0, I) enters through the items' loadings: a rating is baseline_i +
x_i'z + noise. *Axes* are the directions of z that a typical person's ratings determine
best. Two kinds of release improve the loadings:

- *moments*: the sum over people of E[tt' | ratings] - I for t = axes'z. On average it is R
  (T - I) R, with T the true
  covariance of tastes and R the reliability of each axis; so T is known, and X T^1/2 are
  better loadings.
- *sweeps*: sums of left-out errors times tastes, W_i R (change of x_i along the axes) +
  noise. Each axis is an empirical-Bayes problem of its own, whose spread of changes
  maximises its posterior and may be nothing at all.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.weights import Weights

Floats = NDArray[np.float64]

UNSEEN = 0.15
"""Axes less reliable than this are left as they are."""
LEAST, MOST = 0.05, 5.0
"""Bounds of the eigenvalues of T."""
SPREADS = np.geomspace(1e-5, 0.1, 15)
"""Variances of the change of a loading that are tried, beside none."""
SPREAD, SPREAD_SD = 0.004, 1.5
"""Prior median of that variance and standard deviation of its logarithm."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions of taste, best determined first; columns of zeros where loadings have
    fewer columns than asked for."""

    vectors: Floats = field(metadata={"free": 0})
    reliability: Floats
    """Share of each axis' variance that a typical person's ratings show; 1 for columns of zeros."""


def typical_axes(
    loadings: Floats, precision: Floats, weight: Floats, count: float, kept: int
) -> Axes:
    """From what `count` ratings, spread over items like `weight`, would tell: eigenvectors
    of X'PX."""
    width = loadings.shape[1]
    chance = weight / max(float(weight.sum()), 1e-300)
    values, vectors = np.linalg.eigh(
        count * (loadings.T * (chance * precision)) @ loadings
    )
    best = np.argsort(-values, kind="stable")[:kept]
    out, reliability = np.zeros((width, kept)), np.ones(kept)
    out[:, : len(best)] = vectors[:, best]
    reliability[: len(best)] = np.maximum(values[best], 1e-6) / (
        1 + np.maximum(values[best], 1e-6)
    )
    return Axes(out, reliability)


def retaste(
    loadings: Floats, axes: Axes, packed: Floats, sd: float, people: float
) -> Floats:
    """X T^1/2, T from the released sum of packed moments (off-diagonal entries times sqrt
    2) with noise of `sd`.

    The spectrum is first cleaned of the noise (edge of the semicircle), so that noise alone
    leaves T = I.
    """
    width = len(axes.reliability)
    rows, columns = np.triu_indices(width)
    seen = (axes.reliability > UNSEEN) & (np.abs(axes.vectors).sum(axis=0) > 0)
    moment = np.zeros((width, width))
    moment[rows, columns] = (
        packed / people / np.where(rows == columns, 1.0, np.sqrt(2.0))
    )
    moment = (moment + np.triu(moment, 1).T)[np.ix_(seen, seen)]
    if not seen.any():
        return loadings
    values, vectors = np.linalg.eigh(moment)
    edge = 2 * sd / np.sqrt(2.0) / people * np.sqrt(len(values))
    cleaned = np.sign(values) * np.sqrt(np.maximum(values**2 - edge**2, 0.0))
    reliability = axes.reliability[seen]
    change = (
        (vectors * cleaned) @ vectors.T / (reliability[:, None] * reliability)
    )
    values, vectors = np.linalg.eigh(np.eye(len(values)) + change)
    root = (vectors * np.sqrt(np.clip(values, LEAST, MOST))) @ vectors.T
    seen_axes = axes.vectors[:, seen]
    result: Floats = (
        loadings
        + (loadings @ seen_axes) @ (root - np.eye(len(root))) @ seen_axes.T
    )
    return result


@dataclass(frozen=True, eq=False)
class TasteEvidence:
    """Released sweeps on a common footing, items x axes: `total` = W_i change + N(0,
    1/precision)."""

    total: Floats
    precision: Floats

    @staticmethod
    def none(items: int, axes: int) -> TasteEvidence:
        """Before any sweep."""
        return TasteEvidence(np.zeros((items, axes)), np.zeros((items, axes)))

    def add(
        self,
        released: Floats,
        sd: float,
        scale: Floats,
        weights: Weights,
        change: Floats,
    ) -> TasteEvidence:
        """With a further release of scale W_i (true change - `change`) + N(0, sd^2)."""
        precision = (scale / sd) ** 2
        both = self.precision + precision
        total = released / scale + weights.mean[:, None] * change
        return TasteEvidence(
            (self.precision * self.total + precision * total) / both, both
        )


def taste_changes(
    evidence: TasteEvidence, weights: Weights, sampling: Floats
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
