"""Item biases behind known Gaussian noise: an empirical-Bayes regression that noise cannot
drive away.

Released sums obey S_i = W_i b_i + noise. The biases are b_i ~ N(a + s(p_i) + f_i'q, t_i^2):
an intercept, a slope on the standardised popularity p_i that may end among rare items, public
features f_i, and the rest, t_i^2 = t^2 exp(-h p_i), as rare items may differ more. All of these
have proper priors. Where the noise says nothing, the priors answer: biases near 0 and a
variance near t^2, whatever the noise.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.public_prior import SLOPE_SD as PUBLIC_SD
from tacit.methods.refine.public_prior import UNLIKE, Known
from tacit.methods.refine.weights import Weights

Floats = NDArray[np.float64]
INTERCEPT_SD = 0.05
"""Beside the doubt about the released level itself: effects are deviations from it."""
SLOPE_SD = 0.1
"""Prior of the slopes on popularity: popular items are a little better liked."""
KNEE = -1.0
"""Popularity below which the slope is one of its own: among rare items effects no longer fall
with popularity on ML-1M and ML-100K."""
EXPLAINED = 0.05
"""Prior variance that all features together explain, shared by their columns however many
there are."""
EXPLAINED_GRID = np.array([2.0, 1.0, 0.5, 0.25, 0.125, 0.0625])
"""Multiples of it that the evidence may choose, with a log-normal prior of median 1/4 and
the spread of t^2."""
BETWEEN = 0.1
"""Prior median of t^2, the variance of effects between items of like features; healthy data
have .03 to .3."""
BETWEEN_SPREAD = 1.0
"""Standard deviation of log t^2: two of them are a factor of 7.4 either way."""
BETWEEN_GRID = np.geomspace(0.003, 1.0, 13)
"""Values of t^2 that are tried."""
FINE_GRID = np.geomspace(0.6, 1.0 / 0.6, 7)
"""Multiples of the best of them that are tried after."""
FALL, FALL_SD = 0.25, 0.5
"""Prior of h: t^2 falls with popularity as exp(-h p)."""
FALL_GRID = np.linspace(0.0, 1.0, 6)
"""Values of h that are tried."""
FALL_FROM, FALL_TO = -1.3, 2.0
"""Beyond these popularities t^2 is what it is there."""
TURNS = 3
"""Turns of t^2, h and coefficients, each given the others."""
SAMPLE = 4096
"""t^2 and h are learned from at most this many items, evenly spaced in weight: more would not
change them."""
POINTS = np.linspace(-2.6, 2.6, 11)
"""Standard scores at which an uncertain weight is tried."""


@dataclass(frozen=True)
class ItemBiasEstimate:
    """Bias of each item, and its posterior variance."""

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
        """Zeros, before any release."""
        return Evidence(*(np.zeros(items) for _ in range(5)))

    def filled(self) -> Evidence:
        """With zeros where nothing is known, so that it has all of its arrays."""
        nothing = np.zeros(len(self.total))
        products = (nothing if x is None else x for x in self._separate_terms)
        return Evidence(self.total, self.precision, self.taken, *products)

    @property
    def _separate_terms(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
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
    public_prior: Known | None = None,
) -> ItemBiasEstimate:
    """Fit the regression. `sampling` x W_i is the variance of the sums from people's own
    noise (public rule); `level_variance` is the doubt about the level that the effects
    deviate from. `public_prior` is what public people say: one more column, with a coefficient of
    its own, and less variance around it where more of them rated an item.
    """
    columns = Columns.of(weights, features, level_variance, public_prior)
    sums = evidence.filled()
    fit = Regression(sums, sampling, columns, weights)
    fits = [fit]
    if public_prior is not None:
        fits = [replace(fit, shape=public_prior.between(unlike)) for unlike in UNLIKE]
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


# Regression of item biases behind noise, where the items' popularity is noisy too.
#
# A weight is known up to a distribution, so released sums are a *mixture*: for each item over a
# few possible weights. First, t^2 and the scale of the features' coefficients by a normal
# likelihood, which is quick; then t^2, how it falls with popularity, and all coefficients by the
# likelihood of the mixture. The normal one alone takes the sums of uncertain items for smaller
# effects than they are: on ML-1M at epsilon 1 it finds half of t^2.
#
# Guarantee: every function of this module reads released numbers and public constants only;
# it is post-processing.


@dataclass(frozen=True, eq=False)
class Columns:
    """Regressors of item biases (items x columns), and the prior variance of each coefficient."""

    matrix: Floats
    spread: Floats
    plain: int
    """Columns whose coefficients have a prior of their own; the rest are features."""

    @staticmethod
    def of(
        weights: Weights, features: Floats | None, level_variance: float, public_prior: Known | None
    ) -> Columns:
        """A one, popularity above the knee and below it, what public people say, features."""
        columns = [np.ones(len(weights.mean)), *kneed(weights.popularity)]
        variances = [INTERCEPT_SD**2 + level_variance, SLOPE_SD**2, SLOPE_SD**2]
        if public_prior is not None:
            columns.append(public_prior.effect)
            variances.append(PUBLIC_SD**2)
        plain = len(variances)
        matrix = np.column_stack(columns if features is None else [*columns, features])
        feature_variance = float(matrix[:, plain:].var(axis=0).sum())
        shared = EXPLAINED / max(feature_variance, 1e-12)
        spread = np.array(variances + [shared] * (matrix.shape[1] - plain))
        return Columns(matrix, spread, plain)

    @property
    def scales(self) -> Floats:
        """Multiples of the prior variance of features that are tried."""
        featured = self.matrix.shape[1] > self.plain
        return EXPLAINED_GRID if featured else np.array([0.25])

    def penalty(self, scale: float) -> Floats:
        """Prior precision of each coefficient."""
        spread = self.spread.copy()
        spread[self.plain :] *= scale
        return np.asarray(1.0 / spread)


def kneed(popularity: Floats) -> tuple[Floats, Floats]:
    """Popularity above the knee, and below it."""
    return np.maximum(popularity, KNEE), np.minimum(popularity - KNEE, 0.0)


class LikelyScales(NamedTuple):
    """The most probable t^2 and scale of coefficients, and -2 log of their posterior."""

    value: float
    between: float
    scale: float


class SolvedItemBiases(NamedTuple):
    """Item biases with their posterior variances, and the parameters they were solved under."""

    mean: Floats
    variance: Floats
    gain: Floats
    fitted: Floats
    between: float


class _System(NamedTuple):
    """The normal equations of the regression at one t^2."""

    variance: Floats
    gram: Floats
    right: Floats


class _Numbers(NamedTuple):
    """Parameters of the mixture that EM updates."""

    between: float
    fall: float
    fitted: Floats


@dataclass(frozen=True, eq=False)
class _Possible:
    """Sums of some items at each weight that is possible for them, items x points."""

    weight: Floats
    noise: Floats
    total: Floats
    """What the sums would come to if the weights were these."""
    log_chance: Floats
    """Of each weight, as far as the sums themselves do not say it."""
    popularity: Floats
    shape: Floats
    above: Floats
    """Popularity above the knee, less that of the weight's mean; and below it."""
    below: Floats

    def take(self, rows: NDArray[np.int64]) -> _Possible:
        fields = {name: value[rows] for name, value in vars(self).items()}
        return _Possible(**fields)

    def prior(self, expected: Floats, fitted: Floats) -> Floats:
        """Expected item bias at each possible weight: an item that turns out more popular is also
        better liked."""
        shift = fitted[1] * self.above + fitted[2] * self.below
        return np.asarray(expected[:, None] + shift)

    def between(self, numbers: _Numbers) -> Floats:
        """t^2 of each item, at each weight."""
        clipped = np.clip(self.popularity, FALL_FROM, FALL_TO)
        between_variance = numbers.between * self.shape * np.exp(-numbers.fall * clipped)
        return np.asarray(between_variance)


@dataclass(frozen=True, eq=False)
class Regression:
    """One fit of the mixture (see the comment above)."""

    evidence: Evidence
    sampling: Floats | float
    columns: Columns
    weights: Weights
    shape: Floats | float = 1.0
    """Of t^2, by item: less where public people say more."""

    @cached_property
    def _noise(self) -> Floats:
        """Variance of the sums' noise, the uncertainty of popularity included."""
        weights = self.weights
        posterior_variance = np.maximum(weights.square - weights.mean**2, 0.0)
        result: Floats = (
            1.0 / self.evidence.precision
            + self.sampling * weights.mean
            + posterior_variance * self.evidence.taken**2
        )
        return result

    def _system(self, between: float) -> _System:
        design = self.columns.matrix
        mean = self.weights.mean
        clipped = np.clip(self.weights.popularity, FALL_FROM, FALL_TO)
        between_variance = between * self.shape * np.exp(-FALL * clipped)
        variance = self.weights.square * between_variance + self._noise
        weighted = design * (mean**2 / variance)[:, None]
        return _System(
            variance, design.T @ weighted, design.T @ (mean * self.evidence.total / variance)
        )

    def search(self) -> LikelyScales:
        """The most probable t^2 and coefficient scale by the normal likelihood: -2 log
        posterior, the coefficients integrated out."""
        best = LikelyScales(np.inf, BETWEEN, 1.0)
        total = self.evidence.total
        for between in BETWEEN_GRID:
            equations = self._system(between)
            start = float(np.sum(np.log(equations.variance) + total**2 / equations.variance))
            start += _surprise(between)
            for scale in self.columns.scales:
                penalty = self.columns.penalty(scale)
                system = equations.gram + np.diag(penalty)
                value = start + np.linalg.slogdet(system)[1] - np.sum(np.log(penalty))
                value -= equations.right @ np.linalg.solve(system, equations.right)
                value += (np.log(4.0 * scale) / BETWEEN_SPREAD) ** 2
                if value < best.value:
                    best = LikelyScales(float(value), float(between), float(scale))
        return best

    def solve(self, scales: LikelyScales) -> SolvedItemBiases:
        """Item biases under the mixture."""
        penalty = np.diag(self.columns.penalty(scales.scale))
        system = self._system(scales.between)
        solved = np.linalg.solve(system.gram + penalty, system.right)
        fitted = np.asarray(solved, np.float64)
        possible = self._possible()
        sample = self._sample_items()
        sampled = possible.take(sample)
        numbers = _Numbers(scales.between, FALL, fitted)
        for sweep in range(TURNS):
            expected = self.columns.matrix @ numbers.fitted
            grid = scales.between * FINE_GRID if sweep else BETWEEN_GRID
            numbers = _likeliest(sampled, expected[sample], numbers, grid)
            scales = scales._replace(between=numbers.between)
            fitted, covariance = self._coefficients(possible, numbers, penalty)
            numbers = numbers._replace(fitted=fitted)
        return self._effects(possible, numbers, covariance)

    def _coefficients(
        self, possible: _Possible, numbers: _Numbers, penalty: Floats
    ) -> tuple[Floats, Floats]:
        """One step of EM, each possible weight counting by its probability; coefficients and their
        covariance."""
        design = self.columns.matrix
        expected = design @ numbers.fitted
        chance, variance = _chances(possible, expected, numbers)
        trust = chance * possible.weight / variance
        shift = possible.prior(np.zeros(len(design)), numbers.fitted)
        residuals = possible.total - possible.weight * shift
        right = design.T @ (trust * residuals).sum(axis=1)
        information = (trust * possible.weight).sum(axis=1)
        covariance = np.linalg.inv(design.T @ (design * information[:, None]) + penalty)
        return covariance @ right, covariance

    def _effects(
        self, possible: _Possible, numbers: _Numbers, covariance: Floats
    ) -> SolvedItemBiases:
        design = self.columns.matrix
        expected = design @ numbers.fitted
        chance, variance = _chances(possible, expected, numbers)
        between_variance = possible.between(numbers)
        weight = possible.weight
        gain = weight * between_variance / variance
        prior = possible.prior(expected, numbers.fitted)
        mean = prior + gain * (possible.total - weight * prior)
        shrinkage = 1.0 - gain * weight
        middle = (chance * mean).sum(axis=1)
        around = between_variance * shrinkage + (mean - middle[:, None]) ** 2
        posterior_variance = np.einsum("ij,ij->i", design @ covariance, design)
        return SolvedItemBiases(
            middle,
            (chance * around).sum(axis=1)
            + (chance * shrinkage).sum(axis=1) ** 2 * posterior_variance,
            (chance * gain).sum(axis=1),
            numbers.fitted,
            numbers.between,
        )

    def _sample_items(self) -> NDArray[np.int64]:
        """The items that t^2 and h are learned from."""
        items = len(self.weights.mean)
        if items <= SAMPLE:
            return np.arange(items)
        order = np.argsort(self.weights.mean, kind="stable")
        positions = np.linspace(0, items - 1, SAMPLE).round().astype(np.int64)
        return np.asarray(order[positions], np.int64)

    def _possible(self) -> _Possible:
        """A few possible weights of each item, and what the sums are under each.

        Before the sums a weight is log-normal; sums that fall as effects are subtracted say
        more of it, and so does their size.
        """
        weights, evidence = self.weights, self.evidence
        mean = weights.mean[:, None]
        wide = np.log(
            np.maximum(weights.square / np.maximum(weights.mean**2, 1e-300), 1.0 + 1e-12)
        )[:, None]
        weight = mean * np.exp(np.sqrt(wide) * POINTS - wide / 2.0)
        popularity = weights.standard(np.log(np.maximum(weight, 1e-300)))
        at_mean = kneed(weights.popularity)
        above, below = kneed(popularity)
        assert evidence.cross is not None
        assert evidence.apart is not None
        log_chance = -0.5 * POINTS**2 - (
            weight * evidence.cross[:, None] + 0.5 * weight**2 * evidence.apart[:, None]
        )
        return _Possible(
            weight=weight,
            noise=1.0 / evidence.precision[:, None] + np.asarray(self.sampling)[..., None] * weight,
            total=evidence.total[:, None] + (weight - mean) * evidence.taken[:, None],
            log_chance=log_chance,
            popularity=popularity,
            shape=np.broadcast_to(self.shape, len(weight))[:, None],
            above=above - at_mean[0][:, None],
            below=below - at_mean[1][:, None],
        )


def _surprise(between: float) -> float:
    """-2 log of the prior of t^2."""
    return float((np.log(between / BETWEEN) / BETWEEN_SPREAD) ** 2)


def _chances(possible: _Possible, expected: Floats, numbers: _Numbers) -> tuple[Floats, Floats]:
    """Of each weight, the sums known; and the variance of the sums at each."""
    prior = possible.prior(expected, numbers.fitted)
    residuals = possible.total - possible.weight * prior
    variance = possible.weight**2 * possible.between(numbers) + possible.noise
    logs = possible.log_chance - 0.5 * (np.log(variance) + residuals**2 / variance)
    chance = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True), variance


def _likeliest(possible: _Possible, expected: Floats, numbers: _Numbers, grid: Floats) -> _Numbers:
    """The most probable t^2, and then h, given the coefficients."""
    prior = possible.prior(expected, numbers.fitted)
    residuals = possible.total - possible.weight * prior
    # A line for each point: few points of many items are added up quickly that way.
    square, noise, chance = (
        np.ascontiguousarray(array.T)
        for array in (residuals**2, possible.noise, possible.log_chance)
    )

    def unit_variance(fall: float) -> Floats:
        unit = possible.between(numbers._replace(between=1.0, fall=fall))
        return np.ascontiguousarray((possible.weight**2 * unit).T)

    def cost(tried: _Numbers, unit_variance: Floats) -> float:
        variance = tried.between * unit_variance + noise
        logs = chance - 0.5 * (np.log(variance) + square / variance)
        largest = logs.max(axis=0)
        log_sums = np.log(np.exp(logs - largest).sum(axis=0)) + largest
        fall = (tried.fall - FALL) / FALL_SD
        return _surprise(tried.between) + fall**2 - 2.0 * float(log_sums.sum())

    same = unit_variance(numbers.fall)
    tried = [numbers._replace(between=float(array)) for array in grid]
    best = min(tried, key=lambda array: cost(array, same))
    falls = [best._replace(fall=float(h)) for h in FALL_GRID]
    return min(falls, key=lambda array: cost(array, unit_variance(array.fall)))
