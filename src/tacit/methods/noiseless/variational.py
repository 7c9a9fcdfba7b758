"""The personal Gaussian model fitted to all ratings at once, by variational Bayes.

A rating is r_ui = mean + v_i'(1, z_u) + e, with z_u ~ N(0, I) and e ~ N(0, noise). The
effect and the loadings of an item, v_i, are normal around a regression on its popularity and
its public features. People's z and items' v are kept with their covariances, and each side
is solved with both moments of the other: so an item with few raters, or a direction of taste
that is not there, shrinks by itself, and nothing needs a ridge that somebody chose. Noise,
spread and regression are those that are most probable given the rest.

After every pass the space of tastes is turned so that people's tastes have covariance I and
what items have beyond their regression is uncorrelated: the same model, which then moves
far faster (parameter expansion; Ilin and Raiko 2010).

NOT PRIVATE: no number of it is bounded or noised.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WIDTH = 30
"""Columns of taste, the level among them. Those that are not there shrink to nothing: 20
and 40 differ by less than .001 on ML-100K and ML-1M. This and all below were chosen on
splits that are not reported."""
PASSES = 20
"""Over all ratings; on ML-1M the error is flat from 12 on."""
NOISE, LEAST_NOISE = 0.75, 0.01
"""Of a rating: to begin with, and at least (all ratings may be equal)."""
GLOBAL_MEAN_SD = 0.4
"""Of people's own levels, to begin with: the first column of every item."""
START_SD = 0.1
"""Of the other loadings, to begin with."""
ITEM_BIAS_SPREAD, ITEM_FACTOR_SPREAD = 0.2, 0.02
"""Variance of effects and of loadings around their regression, to begin with."""
FREE = 8
"""Columns at least that begin at random, where the others begin with given tastes. With no
such start tastes for features are not found where ratings are few (a fifth of ML-100K with
genres: .9615, and .9448 with it)."""
UNSURE = 0.01
"""Variance of everything about an item, to begin with."""
SHRINK = 5.0
"""Fictitious ratings in the effects to begin with."""
FLAT = np.array([0.01, 1.0])
"""Ridge of the regression: of its constant and of popularity."""
FEATURE_RIDGE = 1.0
"""The same of a public feature, over columns of unit variance."""
CAUTION = 1.5
"""What is unknown of loadings counts so many times in a fold-in: each side takes the other
for surer than it is. Flat from 1 to 2."""
CHUNKS = 4
"""People are summed in so many parts, one after the other or in threads: results do not
depend on how many threads there are."""
RIDGE = 30.0
"""Of y: people's tastes vary by 1, and what is implicit of them by about 1/`RIDGE`."""
STEPS = 5
"""Of conjugate gradients in every pass; they go on from where the last ones stopped."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Items and scale of the model, for `tacit.model.person.gaussian`."""

    baseline: Floats
    variance: Floats
    """Unknown of an item: of its effect, and of its loadings for a typical taste."""
    loadings: Floats
    per_rating: Floats
    """Unknown of the loadings of a typical rating, over the noise, by column."""
    noise: float


@dataclass(eq=False)
class Items:
    """What is believed of the items; changed in place, pass by pass."""

    mean: Floats
    """Items x (1 + width)."""
    covariance: Floats
    design: Floats
    slopes: Floats
    """Of the regression on the design, columns x (1 + width)."""
    spread: Floats
    """Variance around it, by column."""

    def rotate(self, matrix: Floats) -> None:
        """Tastes x instead of `matrix` x: loadings are multiplied from the right."""
        transform = np.eye(1 + len(matrix))
        transform[1:, 1:] = matrix
        self.mean = self.mean @ transform
        self.covariance = transform.T @ self.covariance @ transform
        self.slopes = self.slopes @ transform

    def take_up(self, common: Floats) -> None:
        """Tastes are `common` less: what they all have of it becomes part of the effects."""
        transform = np.eye(1 + len(common))
        transform[1:, 0] = common
        self.mean = self.mean @ transform
        self.covariance = transform.T @ self.covariance @ transform
        self.slopes = self.slopes @ transform

    def regress(self) -> Floats:
        """The regression of now; returned is the covariance of what it leaves."""
        design = self.design
        ridge = np.full(design.shape[1], FEATURE_RIDGE)
        ridge[: len(FLAT)] = FLAT
        gram = design.T @ design + np.diag(ridge)
        self.slopes = np.asarray(np.linalg.solve(gram, design.T @ self.mean), np.float64)
        residuals = self.mean - design @ self.slopes
        scatter: Floats = residuals.T @ residuals + self.covariance.sum(axis=0)
        return scatter / len(design)


def fit_gaussian(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    items: int,
    features: Floats | None,
    *,
    width: int = WIDTH,
    seed: int = 0,
    threads: int = 1,
    passes: int = PASSES,
    earlier: Fitted | None = None,
) -> Fitted:
    """From ratings of one row a person (inner scale) and the items' public features. `earlier`
    is a fit of effects and given tastes (`tacit.methods.noiseless.twin`) to go on from."""
    level = mean_of(value)
    residuals = np.ascontiguousarray(value - level, np.float64)
    count = np.bincount(item, minlength=items).astype(np.float64)
    start = random_start(items, width, seed)
    noise = NOISE
    if earlier is None:
        posterior = start_posterior(item, residuals, count, features, start)
    else:
        noise = earlier.noise
        posterior = start_posterior(item, residuals, count, features, fill_columns(earlier, start))
        posterior.mean[:, 0] = earlier.baseline - level
        posterior.regress()
    if len(residuals):
        people = People(ptr, item, residuals, threads)
        for _ in range(passes):
            noise = _pass(posterior, people, noise)
    posterior.rotate(level_first(posterior, count))
    return finished(posterior, count, level, noise)


def mean_of(value: Floats) -> float:
    """Of all ratings; 0 where there is none."""
    return float(value.mean()) if len(value) else 0.0


def random_start(items: int, width: int, seed: int) -> Floats:
    """A level that all items share, and small random loadings."""
    start = np.full((items, width), GLOBAL_MEAN_SD)
    rng = np.random.default_rng(seed)
    start[:, 1:] = START_SD * rng.standard_normal((items, width - 1))
    return start


def fill_columns(earlier: Fitted, start: Floats) -> Floats:
    """The strongest of the given tastes, and random ones: as many columns as `start`."""
    axes, sizes, _ = np.linalg.svd(earlier.loadings, full_matrices=False)
    retained = min(len(sizes), max(start.shape[1] - FREE, 1))
    return np.column_stack([(axes * sizes)[:, :retained], start[:, retained:]])


def finished(posterior: Items, count: Floats, level: float, noise: float) -> Fitted:
    """What is published of the items."""
    unknown = np.einsum("ijj->ij", posterior.covariance)
    return Fitted(
        level + posterior.mean[:, 0],
        unknown.sum(axis=1),
        np.ascontiguousarray(posterior.mean[:, 1:]),
        CAUTION * typical_posterior_variance(posterior, count).diagonal() / noise,
        noise,
    )


def typical_posterior_variance(posterior: Items, count: Floats) -> Floats:
    """Unknown of the loadings of the item of a typical rating."""
    covariance = posterior.covariance[:, 1:, 1:]
    total: Floats = np.einsum("i,ijk->jk", count, covariance)
    return total / max(float(count.sum()), 1.0)


def level_first(posterior: Items, count: Floats) -> Floats:
    """The turn after which column 0 is what all items share, a person's own level, and what
    is unknown of the others is uncorrelated."""
    width = posterior.mean.shape[1] - 1
    shared = posterior.mean[:, 1:].T @ count
    basis = np.linalg.qr(np.column_stack([shared, np.eye(width)[:, 1:]]))[0]
    basis[:, 0] *= np.sign(basis[:, 0] @ shared) or 1.0
    remaining = basis[:, 1:]
    _, vectors = np.linalg.eigh(
        remaining.T @ typical_posterior_variance(posterior, count) @ remaining
    )
    return np.column_stack([basis[:, :1], remaining @ vectors])


@dataclass(frozen=True, eq=False)
class Reports:
    """What everybody's t = (1, taste) says."""

    grams: Floats
    """E[tt'], summed by item."""
    rights: Floats
    """Rating x E[t], summed by item."""
    moment: Floats
    """The mean over people of E[dd'], d the taste less what was expected of it."""
    square: float
    """The sum of all squared ratings."""
    tastes: Floats
    """Everybody's expected taste."""

    def error(self, posterior: Items) -> float:
        """Expected squared error of all ratings, if the items are as `posterior`."""
        outer = posterior.mean[:, :, None] * posterior.mean[:, None, :]
        fitted = float(np.sum(self.grams * (outer + posterior.covariance)))
        return self.square - 2 * float(np.sum(posterior.mean * self.rights)) + fitted


@dataclass(frozen=True, eq=False)
class People:
    """All ratings, less the mean of all, by person."""

    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
    value: Floats
    threads: int

    @property
    def rater_count(self) -> int:
        """How many have rated anything."""
        return max(int((np.diff(self.ptr) > 0).sum()), 1)

    def report(self, posterior: Items, noise: float, prior_mean: Floats | None = None) -> Reports:
        """Everybody's taste from the items, and what it says about them; `prior_mean` is what
        is expected of each taste before any rating, nothing unless given."""
        from tacit.kernels.variational import pass_people

        items, wide = posterior.mean.shape
        people = len(self.ptr) - 1
        upper = np.triu_indices(wide)
        outer = posterior.mean[:, :, None] * posterior.mean[:, None, :]
        second = (posterior.covariance + outer)[:, *upper]
        second = np.ascontiguousarray(second)
        user_factors = np.zeros((people, wide - 1))
        expected = np.zeros_like(user_factors) if prior_mean is None else prior_mean
        edges = np.linspace(0, people, CHUNKS + 1).astype(np.int64)

        def part(chunk: int) -> tuple[Floats, Floats, Floats]:
            grams = np.zeros((items, len(upper[0])))
            rights = np.zeros((items, wide))
            moment = np.zeros((wide - 1, wide - 1))
            pass_people(
                self.ptr,
                self.item,
                self.value,
                posterior.mean,
                second,
                1 / noise,
                edges[chunk],
                edges[chunk + 1],
                expected,
                user_factors,
                grams,
                rights,
                moment,
            )
            return grams, rights, moment

        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(pool.map(part, range(CHUNKS)))
        packed, rights, moment = (sum(chunks) for chunks in zip(*parts, strict=True))
        unpacked = np.zeros((items, wide, wide))
        unpacked[:, *upper] = packed
        unpacked[:, upper[1], upper[0]] = packed
        moment = (moment + np.triu(moment, 1).T) / self.rater_count
        square = float(self.value @ self.value)
        return Reports(unpacked, rights, moment, square, user_factors)


def start_posterior(
    item: NDArray[np.uint32],
    residuals: Floats,
    count: Floats,
    features: Floats | None,
    item_factors: Floats,
) -> Items:
    """Effects by shrunk means, and these loadings; column 0 is everybody's level."""
    items, width = item_factors.shape
    popularity = np.log(count + 1)
    popularity = popularity - popularity.mean()
    popularity /= max(float(popularity.std()), 1e-12)
    columns = [np.ones(items), popularity]
    design = np.column_stack(columns if features is None else [*columns, features])
    item_biases = np.bincount(item, residuals, items) / (count + SHRINK)
    slopes = np.zeros((design.shape[1], 1 + width))
    slopes[0, 1] = GLOBAL_MEAN_SD
    spread = np.full(1 + width, ITEM_FACTOR_SPREAD)
    spread[0] = ITEM_BIAS_SPREAD
    covariance = np.tile(UNSURE * np.eye(1 + width), (items, 1, 1))
    mean = np.column_stack([item_biases, item_factors])
    return Items(mean, covariance, design, slopes, spread)


def _pass(posterior: Items, people: People, noise: float) -> float:
    """People, then items, then spread and regression; returned is the noise."""
    reports = people.report(posterior, noise)
    noise = learn_items(posterior, reports, noise, len(people.value))
    common = reports.tastes.sum(axis=0) / people.rater_count
    posterior.take_up(common)
    settle(posterior, reports.moment - np.outer(common, common))
    return noise


def learn_items(posterior: Items, reports: Reports, noise: float, count: int) -> float:
    """All items, from what `count` ratings tell of them; returned is the noise."""
    prior = posterior.design @ posterior.slopes
    system = reports.grams / noise + np.diag(1 / posterior.spread)
    posterior.covariance = np.asarray(np.linalg.inv(system), np.float64)
    residuals = reports.rights - np.einsum("ijk,ik->ij", reports.grams, prior)
    posterior.mean = prior + np.einsum("ijk,ik->ij", posterior.covariance, residuals / noise)
    return max(reports.error(posterior) / count, LEAST_NOISE)


def settle(posterior: Items, moment: Floats) -> Floats:
    """Tastes of covariance I, items uncorrelated beyond their regression; returned is the
    matrix by which loadings were multiplied."""
    values, vectors = np.linalg.eigh(moment)
    stretch = (vectors * np.sqrt(values)) @ vectors.T
    posterior.rotate(stretch)
    residual_covariance = posterior.regress()
    _, vectors = np.linalg.eigh(residual_covariance[1:, 1:])
    vectors = vectors[:, ::-1]
    posterior.rotate(vectors)
    posterior.spread = np.concatenate(
        [
            residual_covariance[:1, 0],
            np.sum(vectors * (residual_covariance[1:, 1:] @ vectors), axis=0),
        ]
    )
    return np.asarray(stretch @ vectors, np.float64)


# What having rated says of a person, whatever her ratings are, beside the personal Gaussian
# model: SVD++ by variational Bayes.
#
# The taste of a person is N(A_u y, I) before any rating. A_u is a row of public shape: with
# `learned` implicit factors 1/sqrt n for each of the n items that she rated, with a `scalar`
# lift the number sqrt n/(n + shrink). After every pass y is a ridge regression of everybody's
# expected taste on A.
#
# NOT PRIVATE: no number of it is bounded or noised.


def fit_implicit(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    items: int,
    features: Floats | None,
    implicit: Any,
    *,
    width: int,
    seed: int = 0,
    threads: int = 1,
    passes: int = PASSES,
) -> tuple[Fitted, Floats]:
    """The model and y, one row for each column of the sparse matrix `implicit` (A)."""
    level = mean_of(value)
    residuals = np.ascontiguousarray(value - level, np.float64)
    count = np.bincount(item, minlength=items).astype(np.float64)
    posterior = start_posterior(item, residuals, count, features, random_start(items, width, seed))
    noise = NOISE
    implicit_factors = np.zeros((implicit.shape[1], width))
    if len(residuals):
        people = People(ptr, item, residuals, threads)
        for _ in range(passes):
            reports = people.report(posterior, noise, np.asarray(implicit @ implicit_factors))
            noise = learn_items(posterior, reports, noise, len(residuals))
            implicit_factors = _regressed(implicit, reports.tastes, implicit_factors)
            turned = settle(posterior, reports.moment)
            implicit_factors = np.linalg.solve(turned, implicit_factors.T).T
    turned = level_first(posterior, count)
    posterior.rotate(turned)
    return finished(posterior, count, level, noise), implicit_factors @ turned


def _regressed(implicit: Any, user_factors: Floats, implicit_factors: Floats) -> Floats:
    """A few steps towards the ridge regression of tastes on what is implicit."""
    implicit_factors = implicit_factors.copy()
    residual = implicit.T @ (user_factors - implicit @ implicit_factors) - RIDGE * implicit_factors
    direction = residual.copy()
    size = np.sum(residual**2, axis=0)
    for _ in range(STEPS):
        bent = implicit.T @ (implicit @ direction) + RIDGE * direction
        step = size / np.maximum(np.sum(direction * bent, axis=0), 1e-30)
        implicit_factors += step * direction
        residual -= step * bent
        next_size = np.sum(residual**2, axis=0)
        direction = residual + direction * (next_size / np.maximum(size, 1e-30))
        size = next_size
    return implicit_factors
