"""Item effects behind known Gaussian noise: an empirical-Bayes regression that noise cannot
drive away.

Released sums obey S_i = W_i b_i + noise. The effects are b_i ~ N(a + s p_i + f_i'q, t^2):
an intercept, a slope on the standardised popularity p_i, public features f_i, and the rest.
Intercept, slope and coefficients have proper normal priors, t^2 a log-normal one; t^2 and
the scale of the coefficients maximise their posterior given the released numbers. Where the
noise says nothing, the priors answer: effects near 0 and a variance near t^2, whatever the
noise.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.known import SLOPE_SD as PUBLIC_SD
from tacit.methods.refine.known import UNLIKE, Known
from tacit.methods.refine.weights import Weights

INTERCEPT_SD = 0.05
"""Beside the doubt about the released level itself: effects are deviations from it."""
SLOPE_SD = 0.1
"""Prior of the slope on popularity: popular items are a little better liked."""
EXPLAINED = 0.05
"""Prior variance that all features together explain, shared by their columns however many
there are."""
EXPLAINED_GRID = np.array([2.0, 1.0, 0.5, 0.25, 0.125, 0.0625])
"""Multiples of it that the evidence may choose, with a log-normal prior of median 1/4 and
the spread of t^2."""
BETWEEN = 0.08
"""Prior median of t^2, the variance of effects between items of like features; healthy data
have .03 to .15."""
BETWEEN_SPREAD = 1.0
"""Standard deviation of log t^2: two of them are a factor of 7.4 either way."""
BETWEEN_GRID = np.geomspace(0.003, 1.0, 13)
"""Values of t^2 that are tried."""
POINTS = np.linspace(-2.6, 2.6, 11)
"""Standard scores at which an uncertain weight is tried."""


@dataclass(frozen=True)
class ItemEffects:
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
        rest = (nothing if x is None else x for x in self._apart)
        return Evidence(self.total, self.precision, self.taken, *rest)

    @property
    def _apart(
        self,
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        return self.cross, self.apart

    def add(
        self,
        released: NDArray[np.float64],
        sd: NDArray[np.float64] | float,
        scale: NDArray[np.float64] | float,
        weights: Weights,
        effects: NDArray[np.float64],
    ) -> Evidence:
        """With a further release: scale_i W_i (b_i - effects_i) + N(0, sd^2), of residuals
        from `effects`."""
        total = released / scale + weights.mean * effects
        precision = np.broadcast_to((np.asarray(scale) / sd) ** 2, total.shape)
        both = self.precision + precision
        change = effects - self.taken
        between = self.precision * precision / both * change
        moved = (total - weights.mean * effects) - (
            self.total - weights.mean * self.taken
        )
        return Evidence(
            (self.precision * self.total + precision * total) / both,
            both,
            (self.precision * self.taken + precision * effects) / both,
            (0.0 if self.cross is None else self.cross) + between * moved,
            (0.0 if self.apart is None else self.apart) + between * change,
        )


def item_effects(
    evidence: Evidence,
    weights: Weights,
    features: NDArray[np.float64] | None = None,
    *,
    sampling: NDArray[np.float64] | float,
    level_variance: float = 0.0,
    known: Known | None = None,
) -> ItemEffects:
    """Fit the regression. `sampling` x W_i is the variance of the sums from people's own
    noise (public rule); `level_variance` is the doubt about the level that the effects
    deviate from. `known` is what public people say: one more column, with a coefficient of its
    own, and less variance around it where more of them rated an item.
    """
    items = len(evidence.total)
    columns = [np.ones(items), weights.popularity]
    own = [INTERCEPT_SD**2 + level_variance, SLOPE_SD**2]
    if known is not None:
        columns.append(known.effect)
        own.append(PUBLIC_SD**2)
    design = np.column_stack(
        columns if features is None else [*columns, features]
    )
    plain = len(own)
    extra = design.shape[1] - plain
    shared = EXPLAINED / max(float(design[:, plain:].var(axis=0).sum()), 1e-12)
    spread = np.array(own + [shared] * extra)
    doubt = (
        np.maximum(weights.square - weights.mean**2, 0.0) * evidence.taken**2
    )
    noise = 1.0 / evidence.precision + sampling * weights.mean + doubt
    fit = _Regression(evidence, sampling, design, weights, noise, spread, plain)
    scales = EXPLAINED_GRID if extra else np.array([0.25])
    if known is not None:
        fits = [replace(fit, shape=known.between(unlike)) for unlike in UNLIKE]
        fit = min(fits, key=lambda each: each.search(scales).value)
    found = fit.search(scales)
    return fit.solve(found.between, found.scale)


class _System(NamedTuple):
    """The normal equations of the regression at one t^2."""

    variance: NDArray[np.float64]
    gram: NDArray[np.float64]
    right: NDArray[np.float64]


class _Found(NamedTuple):
    """The most probable t^2 and scale of coefficients, and -2 log of their posterior."""

    value: float
    between: float
    scale: float


class _Possible(NamedTuple):
    """What an item may be, items x points."""

    chance: NDArray[np.float64]
    weight: NDArray[np.float64]
    noise: NDArray[np.float64]
    """Of its sums."""
    prior: NDArray[np.float64]
    """Its expected effect before the sums."""


@dataclass(frozen=True)
class _Regression:
    evidence: Evidence
    sampling: NDArray[np.float64] | float
    design: NDArray[np.float64]
    weights: Weights
    noise: NDArray[np.float64]
    spread: NDArray[np.float64]
    plain: int = 2
    """Columns whose coefficients have a prior of their own; the rest are features."""
    shape: NDArray[np.float64] | float = 1.0
    """Of t^2, by item: less where public people say more."""

    @property
    def total(self) -> NDArray[np.float64]:
        return self.evidence.total

    def _system(self, between: float) -> _System:
        variance = self.weights.square * (between * self.shape) + self.noise
        weighted = self.design * (self.weights.mean**2 / variance)[:, None]
        return _System(
            variance,
            self.design.T @ weighted,
            self.design.T @ (self.weights.mean * self.total / variance),
        )

    def _penalty(self, scale: float) -> NDArray[np.float64]:
        spread = self.spread.copy()
        spread[self.plain :] *= scale
        return 1.0 / spread

    def search(self, scales: NDArray[np.float64]) -> _Found:
        """The most probable t^2 and coefficient scale: -2 log posterior, the coefficients
        integrated out."""
        best = _Found(np.inf, BETWEEN, 1.0)
        for between in BETWEEN_GRID:
            found = self._system(between)
            start = float(
                np.sum(np.log(found.variance) + self.total**2 / found.variance)
            )
            start += float((np.log(between / BETWEEN) / BETWEEN_SPREAD) ** 2)
            for scale in scales:
                penalty = self._penalty(scale)
                system = found.gram + np.diag(penalty)
                value = (
                    start
                    + np.linalg.slogdet(system)[1]
                    - np.sum(np.log(penalty))
                )
                value -= found.right @ np.linalg.solve(system, found.right)
                value += (np.log(4.0 * scale) / BETWEEN_SPREAD) ** 2
                if value < best.value:
                    best = _Found(float(value), float(between), float(scale))
        return best

    def solve(self, between: float, scale: float) -> ItemEffects:
        system = self._system(between)
        covariance = np.linalg.inv(system.gram + np.diag(self._penalty(scale)))
        fitted = covariance @ system.right
        expected = self.design @ fitted
        doubt = np.einsum("ij,ij->i", self.design @ covariance, self.design)
        possible = self._weights(between, expected, float(fitted[1]))
        chance = possible.chance
        weight = possible.weight
        apart = self._apart(between)
        gain = weight * apart / (weight**2 * apart + possible.noise)
        rest = self._total(weight) - weight * possible.prior
        mean = possible.prior + gain * rest
        kept = 1.0 - gain * weight
        middle = (chance * mean).sum(axis=1)
        spread = (chance * (apart * kept + (mean - middle[:, None]) ** 2)).sum(
            axis=1
        )
        return ItemEffects(
            mean=middle,
            variance=spread + (chance * kept).sum(axis=1) ** 2 * doubt,
            intercept=float(fitted[0]),
            slope=float(fitted[1]),
            coefficients=fitted[2:],
            between=between,
            gain=(chance * gain).sum(axis=1),
        )

    def _apart(self, between: float) -> NDArray[np.float64] | float:
        """t^2 by item, beside points."""
        if isinstance(self.shape, float):
            return between
        result: NDArray[np.float64] = between * self.shape[:, None]
        return result

    def _total(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the sums would come to if the weights were these: people subtracted `taken`
        of each."""
        total: NDArray[np.float64] = (
            self.total - self.weights.mean * self.evidence.taken
        )[:, None] + (weight * self.evidence.taken[:, None])
        return total

    def _weights(
        self, between: float, expected: NDArray[np.float64], slope: float
    ) -> _Possible:
        """Chances of a few possible weights of each item, those weights, the noise of the
        sums and the effect to expect under each: an item that turns out more popular is
        also better liked.

        Before the sums a weight is log-normal; sums that fall as effects are subtracted, or
        are large, say more of it.
        """
        wide = np.log(
            np.maximum(
                self.weights.square / np.maximum(self.weights.mean**2, 1e-300),
                1.0 + 1e-12,
            )
        )[:, None]
        weight = self.weights.mean[:, None] * np.exp(
            np.sqrt(wide) * POINTS - wide / 2.0
        )
        noise = (
            1.0 / self.evidence.precision[:, None]
            + np.asarray(self.sampling)[..., None] * weight
        )
        variance = weight**2 * self._apart(between) + noise
        log_chance = -0.5 * (POINTS**2 + np.log(variance))
        prior = expected[:, None] + slope * (
            self.weights.standard(np.log(np.maximum(weight, 1e-300)))
            - self.weights.popularity[:, None]
        )
        log_chance = (
            log_chance
            - 0.5 * (self._total(weight) - weight * prior) ** 2 / variance
        )
        if self.evidence.cross is not None and self.evidence.apart is not None:
            log_chance -= (
                weight * self.evidence.cross[:, None]
                + 0.5 * weight**2 * self.evidence.apart[:, None]
            )
        chance = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
        chance = chance / chance.sum(axis=1, keepdims=True)
        return _Possible(chance, weight, noise, prior)
