"""Item effects behind known Gaussian noise: an empirical-Bayes regression that noise cannot
drive away.

Released sums obey S_i = W_i b_i + noise. The effects are b_i ~ N(a + s(p_i) + f_i'q, t_i^2):
an intercept, a slope on the standardised popularity p_i that may end among rare items, public
features f_i, and the rest, t_i^2 = t^2 exp(-h p_i), as rare items may differ more. All of these
have proper priors. Where the noise says nothing, the priors answer: effects near 0 and a
variance near t^2, whatever the noise. How it is fitted: `tacit.methods.refine.regression`.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.public_prior import UNLIKE, Known
from tacit.methods.refine.regression import Columns, Regression
from tacit.methods.refine.weights import Weights


@dataclass(frozen=True)
class ItemBiasEstimate:
    """Effect of each item, with what is left unknown."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    intercept: float
    slope: float
    coefficients: NDArray[np.float64]
    between: float
    """t^2."""
    gain: NDArray[np.float64]
    """Change of the effect for a unit of its sum: how far one rating pulls its own item's effect.
    """


@dataclass(frozen=True)
class Evidence:
    """Released sums on a common footing: `total`_i = W_i b_i + N(0, 1/precision_i)."""

    total: NDArray[np.float64]
    precision: NDArray[np.float64]
    taken: NDArray[np.float64]
    """Effects that people had already subtracted, precision-weighted over the releases:
    W_i's doubt enters there."""
    cross: NDArray[np.float64] | None = None
    """Over the releases, how the released sums move with the effects subtracted (a weighted
    sum of products)."""
    apart: NDArray[np.float64] | None = None
    """How far apart the subtracted effects lie (a weighted sum of squares): the further,
    the more W_i is known."""

    @staticmethod
    def none(items: int) -> Evidence:
        """Before any release."""
        return Evidence(*(np.zeros(items) for _ in range(5)))

    def filled(self) -> Evidence:
        """With zeros where nothing is known, so that it has all of its arrays."""
        nothing = np.zeros(len(self.total))
        products = (nothing if x is None else x for x in self._apart)
        return Evidence(self.total, self.precision, self.taken, *products)

    @property
    def _apart(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        return self.cross, self.apart

    def add(
        self,
        released: NDArray[np.float64],
        sd: NDArray[np.float64] | float,
        scale: NDArray[np.float64] | float,
        weights: Weights,
        item_biases: NDArray[np.float64],
    ) -> Evidence:
        """With a further release: scale_i W_i (b_i - effects_i) + N(0, sd^2), of residuals
        from `item_biases`."""
        total = released / scale + weights.mean * item_biases
        precision = np.broadcast_to((np.asarray(scale) / sd) ** 2, total.shape)
        combined = self.precision + precision
        change = item_biases - self.taken
        between = self.precision * precision / combined * change
        sum_change = (total - weights.mean * item_biases) - (self.total - weights.mean * self.taken)
        return Evidence(
            (self.precision * self.total + precision * total) / combined,
            combined,
            (self.precision * self.taken + precision * item_biases) / combined,
            (0.0 if self.cross is None else self.cross) + between * sum_change,
            (0.0 if self.apart is None else self.apart) + between * change,
        )


def estimate_item_biases(
    evidence: Evidence,
    weights: Weights,
    features: NDArray[np.float64] | None = None,
    *,
    sampling: NDArray[np.float64] | float,
    level_variance: float = 0.0,
    known: Known | None = None,
) -> ItemBiasEstimate:
    """Fit the regression. `sampling` x W_i is the variance of the sums from people's own
    noise (public rule); `level_variance` is the doubt about the level that the effects
    deviate from. `known` is what public people say: one more column, with a coefficient of its
    own, and less variance around it where more of them rated an item.
    """
    columns = Columns.of(weights, features, level_variance, known)
    sums = evidence.filled()
    fit = Regression(sums, sampling, columns, weights)
    fits = [fit]
    if known is not None:
        fits = [replace(fit, shape=known.between(unlike)) for unlike in UNLIKE]
    scales = [candidate.search() for candidate in fits]
    best = min(range(len(fits)), key=lambda index: scales[index].value)
    solved = fits[best].solve(scales[best])
    return ItemBiasEstimate(
        mean=solved.mean,
        variance=solved.variance,
        intercept=float(solved.fitted[0]),
        slope=float(solved.fitted[1]),
        coefficients=solved.fitted[columns.plain :],
        between=solved.between,
        gain=solved.gain,
    )
