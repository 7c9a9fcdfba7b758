"""Item loadings from a noisy weighted covariance whose diagonal was never released.

The released entry of items i and j is close to a_i a_j q_i'q_j: `weight` a says how much of
the co-rating an item takes part in (known from released counts), q are the loadings looked
for. Its error is the release's noise, the same for all pairs, plus the scatter of finitely
many people, which grows with a_i a_j. So a row of the matrix is one small Bayesian
regression of an item on the loadings of all others: little-rated items shrink to nothing by
themselves, and so does a factor that is not there. The start is the cleaned spectrum of the
leading block.

All of it is post-processing of released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.spectrum import shrink_spectrum

Array = NDArray[Any]
BUSIER = 1.5
"""How many more ratings the raters of a pair have than the average person."""
UNEVEN = 1.35
"""E[c^2] of people's activity c over E[c]^2, after weighting."""
WHOLE_PERSON = 1.15
"""The same where a whole person's row was weighted by its length."""
TOGETHER_POWER = 0.9
"""Co-rating grows like counts to this power. These four set one overall scale, on which
predictions hardly depend: a factor of 2 costs less than .001 on ML-1M."""
LEAST_BLOCK = 50
"""Items of the leading block at least."""
Floats = NDArray[np.float64]
KEPT = 1.0
"""What the released covariance holds of that of ratings: centring and clipping leave about
.7, and a little shrinkage makes up for loadings that follow the noise of finitely many
people (flat from .9 to 1.4 on ML-1M)."""
WEAK = 0.05
"""Directions whose own size is below this share of the noise edge are left as they are."""
MOST = 6.0
"""Bound of the eigenvalues of T."""
RANK = 60
"""New loadings are looked for in so many columns at most."""
TOGETHER, MOST_TOGETHER = 2.0, 3.0
"""How many times the scatter of an entry counts, as entries of a row share people: it matters
where noise is low. The larger of the two where a matrix has at least a row for two people and
those of many ratings weigh more, whose own rows look like common tastes
(docs/results/bayes.md)."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Noise and scale of a covariance, as released counts predict them."""

    weight: Array
    """a: the expected co-rating weight of items i and j is a_i a_j."""
    sampling: float
    """Variance of an entry through finitely many people, per unit of a_i a_j."""


@dataclass(frozen=True, eq=False)
class SpectralFactors:
    """Posterior of the item factors: `mean` (items x rank) and `spread`, the summed variance of
    each row."""

    mean: Array
    spread: Array
    sampling: float

    @property
    def rank(self) -> int:
        """Number of factors that stand out of the noise."""
        return int(self.mean.shape[1])


def profile(
    counts: Array,
    people: float,
    unit: Literal["user", "rating", "value"],
    *,
    variance: float,
    offset: float,
    cap: float = 50.0,
) -> Profile:
    """The weights a_i by rule, from released counts and the declared number of people.

    `counts` are numbers of ratings (units rating, value) or sums of 1/sqrt(max(ratings,
    cap)) (unit user), cleaned and positive; `variance` that of one entry of a person's row;
    `offset` the constant in her weight.
    """
    counts = np.maximum(counts, 1e-6)
    mean = float(counts.sum()) / max(people, 1.0)
    if unit == "user":
        contribution = (
            WHOLE_PERSON * mean * mean if mean * mean > cap else float(np.sqrt(cap)) * mean
        )
        pair = 1.0 / (BUSIER * variance * contribution + offset)
    else:
        contribution = mean
        pair = 1.0 / float(np.sqrt(BUSIER * variance * contribution + offset))
    shape = counts**TOGETHER_POWER
    total = people * UNEVEN * contribution * contribution * pair
    return Profile(shape * (np.sqrt(total) / shape.sum()), variance * variance * pair)


def leading_block(weight: Array, noise_sd: float, sampling: float) -> NDArray[np.int64]:
    """Items among which a common factor stands out most from the noise: twice the argmax of
    signal over sqrt(size)."""
    signal = weight**2 / np.sqrt(noise_sd**2 + sampling * weight**2 + 1e-30)
    order = np.argsort(-signal, kind="stable")
    best = int(np.argmax(np.cumsum(signal[order]) / np.sqrt(np.arange(1, len(order) + 1)))) + 1
    return np.sort(order[: max(2 * best, LEAST_BLOCK)])


def start_item_factors(
    matrix: Array, noise_sd: float, profile: Profile, rank_max: int
) -> tuple[Array, NDArray[np.int64]]:
    """Item factors of the leading block from its cleaned spectrum; all other rows are zero."""
    block = leading_block(profile.weight, noise_sd, profile.sampling)
    weight = profile.weight[block]
    # Both kinds of error brought to at most one: sd^2 + s a_i a_j <= sqrt((sd^2 + s
    # a_i^2)(sd^2 + s a_j^2)).
    white = (noise_sd**2 + profile.sampling * weight**2 + 1e-30) ** -0.25
    scaled = matrix[np.ix_(block, block)] * white[:, None] * white
    spectrum = shrink_spectrum(scaled.astype(matrix.dtype), 1.0, rank_max)
    item_factors = np.zeros((len(matrix), spectrum.rank), matrix.dtype)
    item_factors[block] = spectrum.loadings / (white * weight)[:, None]
    return item_factors, block


def fit_item_factors(
    matrix: Array,
    noise_sd: float,
    profile: Profile,
    *,
    rank_max: int = 60,
    rounds: int = 6,
    blocks: int = 4,
    together: float = 1.0,
) -> SpectralFactors:
    """Posterior item factors, by rounds of row regressions over interleaved blocks of items.

    Each factor's prior variance, and the sampling variance, are re-estimated after each round
    (empirical Bayes). The entries of a row err `together`, through the same people, where a
    regression takes their errors as independent: so the sampling variance counts this many
    times."""
    item_factors, block = start_item_factors(matrix, noise_sd, profile, rank_max)
    size, rank = item_factors.shape
    if rank == 0:
        return SpectralFactors(item_factors, np.zeros(size, matrix.dtype), profile.sampling)
    weight, scatter = (profile.weight.astype(matrix.dtype), together * profile.sampling)
    state = _State(matrix, float(noise_sd) ** 2, weight, item_factors, scatter)
    state.refresh(block)
    remaining = np.setdiff1d(np.arange(size), block)
    if len(remaining):
        state.regress(remaining, block)
    everyone = np.arange(size)
    for _ in range(rounds):
        excess = scale = 0.0
        for offset in range(blocks):
            rows = everyone[offset::blocks]
            added, per = state.regress(rows, everyone)
            excess, scale = excess + added, scale + per
        state.refresh(everyone)
        state.sampling = together * max(excess / scale, 0.0) if scale > 0 else state.sampling
    return SpectralFactors(state.loadings, state.spread(), state.sampling / together)


class _State:
    """The running posterior: means, covariances (packed lower triangles), prior variances,
    sampling variance."""

    def __init__(
        self, matrix: Array, noise: float, weight: Array, item_factors: Array, sampling: float
    ) -> None:
        self.matrix = matrix
        self.noise = noise
        self.weight = weight
        self.loadings = item_factors
        self.sampling = sampling
        rank = item_factors.shape[1]
        self.low = np.tril_indices(rank)
        self.packed = np.zeros((len(matrix), len(self.low[0])), matrix.dtype)
        self.on_diagonal = np.flatnonzero(self.low[0] == self.low[1])
        self.prior = np.ones(rank, matrix.dtype)

    def refresh(self, rows: NDArray[np.int64]) -> None:
        """Prior variance of each factor: the mean square of the item factors, as far as they are
        known."""
        second = (self.loadings[rows] ** 2).mean(0) + self.packed[
            np.ix_(rows, self.on_diagonal)
        ].mean(0)
        self.prior = np.maximum(second, 1e-6)

    def spread(self) -> Array:
        return np.asarray(self.packed[:, self.on_diagonal].sum(1))

    def regress(self, rows: NDArray[np.int64], on: NDArray[np.int64]) -> tuple[float, float]:
        """Posterior of `rows` given the items `on`; returns the excess of squared residuals
        and what it scales with."""
        all_items = len(on) == len(self.matrix)
        entries = self.matrix[rows] if all_items else self.matrix[np.ix_(rows, on)]
        item_loadings, spread = (
            (self.loadings, self.packed) if all_items else (self.loadings[on], self.packed[on])
        )
        pair = self.weight[rows][:, None] * self.weight[on]
        inverse = 1.0 / (self.noise + self.sampling * pair + 1e-30)
        position = np.searchsorted(on, rows)
        position[position == len(on)] = 0
        self_entries = on[position] == rows
        inverse[np.flatnonzero(self_entries), position[self_entries]] = (
            0.0  # the diagonal was never released
        )
        gain = pair * inverse
        precision = (gain * pair) @ (
            item_loadings[:, self.low[0]] * item_loadings[:, self.low[1]] + spread
        )
        full = np.empty(
            (len(rows), item_loadings.shape[1], item_loadings.shape[1]), self.matrix.dtype
        )
        full[:, self.low[0], self.low[1]] = precision
        full[:, self.low[1], self.low[0]] = precision
        full += np.diag(1.0 / self.prior)
        covariance = np.linalg.inv(full)
        mean = np.einsum("ikl,il->ik", covariance, (entries * gain) @ item_loadings)
        self.loadings[rows], self.packed[rows] = (mean, covariance[:, self.low[0], self.low[1]])
        residual = entries - pair * (mean @ item_loadings.T)
        trust = gain * inverse
        return (
            float(np.vdot(trust, residual * residual - self.noise)),
            float(np.vdot(trust, pair)),
        )


# Loadings from a released covariance of items: first how tastes for known loadings vary,
# then tastes not known before.
#
# The released entry of items i and j is about a_i a_j x_i'T x_j, a as
# above. T - I is looked for in the few dimensions of the
# known loadings, where noise is small, and new loadings in what those leave over. Both are
# cleaned by the edge of the noise: noise alone leaves T = I and finds nothing new.
#
# Guarantee: every function of this module reads released numbers and public constants only;
# it is post-processing.


@dataclass(frozen=True, eq=False)
class CovarianceFactors:
    """`turn`: known item factors times this have the released covariance; `fresh`: new item factors
    of the rows."""

    turn: Floats
    fresh: Floats
    unknown: Floats
    """Summed variance of what is unknown of each row of `fresh`."""
    typical: float
    """Prior variance of all fresh loadings of an item that is no row of the matrix."""


def covariance_factors(
    matrix: NDArray[np.float32],
    sd: float,
    profile: Profile,
    item_factors: Floats,
    together: float = TOGETHER,
) -> CovarianceFactors:
    """From the released covariance (noise `sd`, diagonal never released) of the items with
    these `item_factors`; `together` as `shared_scatter` has it."""
    rotation = _rotation(matrix, sd, profile, item_factors)
    scaled = item_factors @ rotation * (profile.weight * np.sqrt(KEPT))[:, None]
    residuals = matrix - (scaled @ scaled.T).astype(np.float32)
    np.fill_diagonal(residuals, 0.0)
    fit = fit_item_factors(residuals, sd, profile, rank_max=RANK, together=together)
    fresh = fit.mean.astype(np.float64) / np.sqrt(KEPT)
    unknown = fit.spread.astype(np.float64) / KEPT
    typical = float((fresh**2).sum(axis=1).mean() + unknown.mean()) if fit.rank else 0.0
    return CovarianceFactors(rotation, fresh, unknown, typical)


def shared_scatter(rows: int, people: float) -> float:
    """How many times scatter counts at the unit `rating`."""
    crowded = min(2 * rows / max(people, 1.0), 1.0)
    return TOGETHER + (MOST_TOGETHER - TOGETHER) * crowded


def _rotation(
    matrix: NDArray[np.float32], sd: float, profile: Profile, item_factors: Floats
) -> Floats:
    """T^1/2, by the projection of the whitened matrix on the whitened item factors."""
    width = item_factors.shape[1]
    white = (sd**2 + profile.sampling * profile.weight**2 + 1e-30) ** -0.25
    rows = item_factors * (profile.weight * white * np.sqrt(KEPT))[:, None]
    parts = np.linalg.svd(rows, full_matrices=False)
    size = parts.S
    clear = size**2 > WEAK * 2 * np.sqrt(width)
    if not clear.any():
        return np.eye(width)
    basis = parts.U[:, clear]
    size = size[clear]
    right_vectors = parts.Vh[clear]
    whitened = basis * white[:, None]
    # The diagonal was never released: it is taken to be what the loadings say, and so drops
    # out of the difference.
    diagonal = (rows**2).sum(axis=1)
    difference = whitened.T @ (matrix @ whitened) + (basis.T * diagonal) @ basis - np.diag(size**2)
    values, vectors = np.linalg.eigh((difference + difference.T) / 2)
    edge = 2 * np.sqrt(len(size))
    cleaned = np.sign(values) * np.sqrt(np.maximum(values**2 - edge**2, 0.0))
    change = (vectors * cleaned) @ vectors.T / (size[:, None] * size)
    values, vectors = np.linalg.eigh(np.eye(width) + right_vectors.T @ change @ right_vectors)
    result: Floats = (vectors * np.sqrt(np.clip(values, 0.0, MOST))) @ vectors.T
    return result
