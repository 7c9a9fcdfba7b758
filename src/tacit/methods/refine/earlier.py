"""An earlier release on the footing of a new one: old sums, level and loadings as a prior
for a further fit.

Old sums obey S_i = V_i (b_i - t_i) + noise, with V_i the weight of item i among the people
of then and t_i what was subtracted. Among the people of now the weight is W_i, about r_i
V_i; so r_i S_i is one more release about W_i and b_i, whose noise is known. What is
assumed, always on the careful side:

- *noise* of the two releases is independent: it is drawn afresh for each;
- *sampling* (finitely many people) is taken to be shared, as if the same people had been
  asked twice. That is right for a refresh with the same people; with new people more is
  known than is claimed. Where fewer people stood behind one of the two sums, the difference
  counts as noise of that one;
- *drift*: an effect has moved by `DRIFT` in variance, a log weight by `SHIFT`, the level by
  `GLOBAL_MEAN_DRIFT`.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.global_mean import GLOBAL_MEAN_SD, GlobalMean
from tacit.methods.refine.item_bias import Evidence
from tacit.methods.refine.weights import Weights

Floats = NDArray[np.float64]

DRIFT, GLOBAL_MEAN_DRIFT = 0.001, 0.0005
"""Variance by which an effect, and the level, have moved since then."""
SHIFT, STILL = 0.05, 0.001
"""Log variance by which an item's weight moves, as far as its sums are concerned; and while
nothing speaks against its having stayed where it was. A wide prior of weights would let
noise in the sums choose among them."""
TYPICAL = 0.03
"""Of (b_i - t_i)^2: most of an effect was subtracted before the last sums."""
POINTS = np.linspace(-5.0, 5.0, 101)
"""Standard scores of a log weight that are tried."""
TINY = 1e-6
"""Stands for no noise at all, where a formula divides by it."""
NOTHING = 1e-12
"""Precision of what was never asked."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """What an earlier fit released, over the rows of the new catalogue; `known` is False
    for items that it had not."""

    known: NDArray[np.bool_]
    total: Floats
    precision: Floats
    taken: Floats
    cross: Floats
    apart: Floats
    weight: Floats
    weight_square: Floats
    weight_log: Floats
    level: float
    level_variance: float
    sampling: Floats
    """Variance of a sum from people's own noise, for a weight of 1."""

    def _popularity_growth(self, weights: Weights) -> float:
        """How much more all items weigh now."""
        old_total = float(self.weight[self.known].sum())
        return float(weights.mean[self.known].sum()) / old_total if old_total > 0 else 1.0

    def better_weights(self, current: Weights, noisy: Floats, sd: float) -> Weights:
        """Popularity of now: that of the earlier fit (log-normal, grown with the people, and
        drifted) is the prior of `noisy`.

        `current` is estimated from `noisy` alone: for the growth, for items that were not known,
        and for items whose release lies beyond all that was expected."""
        old_weight = np.maximum(self.weight, 1e-9)
        wide = np.log(np.maximum(self.weight_square / old_weight**2, 1.0)) + STILL
        centre = np.log(self._popularity_growth(current) * old_weight) - (wide - STILL) / 2
        log = centre[:, None] + np.sqrt(wide)[:, None] * POINTS
        chance = -0.5 * POINTS**2 - 0.5 * ((noisy[:, None] - np.exp(log)) / max(sd, TINY)) ** 2
        best = chance.argmax(axis=1)
        usable = self.known & (best > 0) & (best < len(POINTS) - 1)
        chance = np.exp(chance - chance.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)

        def better(alone: Floats, possible: Floats) -> Floats:
            return np.where(usable, (chance * possible).sum(axis=1), alone)

        mean = better(current.mean, np.exp(log))
        square = better(current.square, np.exp(2 * log))
        logs = better(current.log, log)
        middle = float(mean @ logs / mean.sum())
        log_spread = float(np.sqrt(mean @ (logs - middle) ** 2 / mean.sum()))
        return Weights(mean, square, logs, max(log_spread, current.log_spread))

    def evidence(self, weights: Weights, level: float, sampling: float) -> tuple[Evidence, Floats]:
        """The old sums as if released about the people of now, whose sums vary by
        `sampling` x weight; and how much of that the sums of then have too, which is less
        where more people stood behind them."""
        old_weight = np.maximum(self.weight, 1e-9)
        growth = self._popularity_growth(weights)
        unsure = np.maximum(self.weight_square / old_weight**2 - 1.0, 0.0)
        belief = SHIFT / (SHIFT + unsure)  # how far a change of one item's weight is believed
        ratio = growth * np.exp(
            belief * np.clip(np.log(weights.mean / (growth * old_weight)), -7.0, 7.0)
        )
        sums = ratio * (self.total - self.weight * self.taken)
        subtracted = self.taken + self.level - level  # effects are deviations from the level
        plain = weights.mean / old_weight
        noise = np.maximum(ratio, plain) ** 2 / np.maximum(self.precision, NOTHING)
        noise += np.maximum(plain * self.sampling - sampling, 0.0) * weights.mean
        # What sums typically are, not these: noise that grew with them would pass for
        # effects of nothing at all.
        noise += weights.mean**2 * (DRIFT + SHIFT * (1.0 - belief) * TYPICAL)
        evidence = Evidence(
            np.where(self.known, sums + weights.mean * subtracted, 0.0),
            np.where(self.known, 1.0 / noise, NOTHING),
            np.where(self.known, subtracted, 0.0),
            np.where(self.known, self.cross / ratio, 0.0),
            np.where(self.known, self.apart / ratio**2, 0.0),
        )
        return evidence, np.where(self.known, np.minimum(plain * self.sampling, sampling), sampling)

    def better_global_mean(self, current: GlobalMean) -> GlobalMean:
        """The global mean of now, with the earlier one as its prior instead of mid-scale."""
        variance = max(current.variance, NOTHING)
        fresh = max(
            1.0 / variance - GLOBAL_MEAN_SD**-2, NOTHING
        )  # undo the shrinkage toward mid-scale
        mean = current.mean / variance / fresh
        old_precision = 1.0 / (self.level_variance + GLOBAL_MEAN_DRIFT)
        precision = fresh + old_precision
        return GlobalMean(
            (fresh * mean + old_precision * self.level) / precision, 1.0 / precision, current.count
        )


def fewer_columns(item_factors: Floats, weight: Floats, limit: int) -> tuple[Floats, Floats]:
    """The first column, and the `limit` strongest directions of the others; and by item the
    variance of what is dropped.

    User factors are N(0, I), so any rotation of the columns is the same model: refreshes may go on
    for ever."""
    user_factors = item_factors[:, 1:]
    if user_factors.shape[1] <= limit:
        return item_factors, np.zeros(len(item_factors))
    _, vectors = np.linalg.eigh((user_factors.T * weight) @ user_factors)
    turned = user_factors @ vectors[:, ::-1]
    reduced = np.ascontiguousarray(np.concatenate([item_factors[:, :1], turned[:, :limit]], axis=1))
    return reduced, (turned[:, limit:] ** 2).sum(axis=1)
