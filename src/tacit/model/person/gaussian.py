"""The personal model: what a person thinks of each item, from the public model and that
person's own ratings alone.

A rating is r_ui = baseline_i + x_i'z_u + e, with user factors z_u ~ N(0, I), item factors x_i and e
~ N(0, noise + variance_i), where variance_i is the posterior variance of the item bias. Given the
person's ratings z_u is Gaussian, by one small ridge solve. Where the error of the item factors is
known, each rating also adds that much to the precision (`per_rating`): many ratings of uncertain
items never make a factor certain. Where implicit feedback was learned, the prior mean of z_u is a
mean over her items (`implied`) instead of 0. The residuals of her ratings estimate her noise, which
widens or narrows her intervals and moves nothing else. Only numpy is needed, so a person's device
can do it.

Guarantee: the model holds released and public numbers only; a person's ratings go into that
person's posterior and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import inverse, product, spread
from tacit.repr import shapes

NOISE = 0.75
"""Default variance of a rating around the personal model, on the inner scale of width 4."""
TYPICAL = 20.0
"""Ratings that everybody's noise counts for when a person's noise is estimated: some rate with more
chance than others. Chosen on splits that are not reported: docs/results/bayes.md."""
UNSURE = 1.3
"""What is added to a person's misfit because her own noise is not known exactly: with as many
degrees of freedom as `TYPICAL` and her ratings, Student's 80 % interval is wider than the
normal one by a share of (z^2 + 1)/4 over their number, z = 1.28; squared, 1.3 over it."""
IMPLICIT_MORE = 20.0
"""Ratings at which what a choice of items implies is believed half: few items say little."""


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """Public numbers of every item; see the module's docstring."""

    baseline: NDArray[np.float64]
    variance: NDArray[np.float64]
    loadings: NDArray[np.float64]
    """x_i, scaled so that the prior of z_u is N(0, I)."""
    noise: float = NOISE
    per_rating: NDArray[np.float64] | None = None
    """Precision that each rating adds to each column of z_u without moving it: the variance of a
    typical item's factors over `noise`. None adds none."""
    implied: NDArray[np.float64] | None = None
    """Items x columns: what having rated an item adds to the prior mean of z_u, times the number
    of her ratings and `IMPLICIT_MORE`. `per_rating` pulls to 0 all the same. None adds none."""

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """Of a rating around the personal model, by item."""
        return 1.0 / (self.noise + self.variance)

    def added(self, ratings: int) -> NDArray[np.float64]:
        """Prior precision of each column of z_u for a person with this number of ratings."""
        prior = np.ones(self.loadings.shape[1])
        if self.per_rating is None:
            return prior
        return np.asarray(prior + ratings * self.per_rating, np.float64)

    def implicit_of(self, items: NDArray[np.integer]) -> NDArray[np.float64] | None:
        """What having rated each of these items adds to the prior mean of z_u, a row each."""
        if self.implied is None:
            return None
        return np.asarray(self.implied[items] / (len(items) + IMPLICIT_MORE))

    @property
    def per_rating_array(self) -> NDArray[np.float64]:
        """`per_rating`, or zeros where there is none: kernels take arrays only."""
        if self.per_rating is None:
            return np.zeros(self.loadings.shape[1])
        return self.per_rating

    @property
    def hints(self) -> NDArray[np.float64]:
        """`implied`, or no columns where there is none: kernels take arrays only."""
        if self.implied is None:
            return np.zeros((len(self.loadings), 0))
        return self.implied


@dataclass(frozen=True, eq=False)
class Posterior:
    """A person's z_u: personal, never part of a shared model."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    scale: float = 1.0
    """How many times everybody's variance this person's ratings have around the model."""

    __repr__ = shapes


def own_scale(misfit: float, ratings: int) -> float:
    """A person's own variance around the model in units of everybody's, shrunk to 1, and
    somewhat wider for not being known exactly.

    `misfit` is y'V^-1 y, y her ratings less what the model expects of them before it knows
    them and V their covariance: as large as the number of her ratings, if she is like everybody.
    """
    return 1.0 + (misfit + UNSURE - ratings) / (TYPICAL + ratings)


def fold_in(
    model: GaussianModel, items: NDArray[np.integer], ratings: NDArray[np.floating]
) -> Posterior:
    """The posterior of a person with these ratings (inner scale); with none, the prior."""
    rows = model.loadings[items]
    weighted = rows * model.precision[items][:, None]
    prior = np.diag(model.added(len(items)))
    covariance = inverse(prior + product(rows.T, weighted))
    residual = ratings - model.baseline[items]
    pulled = product(residual, weighted)
    misfit = product(model.precision[items], residual**2)
    hints = model.implicit_of(items)
    if hints is not None:
        # Ratings are as far from the model as they are from what the choice implies.
        hint = hints.sum(axis=0)
        pulled += hint
        misfit += product(hint, hint)
    mean = product(covariance, pulled)
    misfit -= product(pulled, mean)
    return Posterior(mean, covariance, own_scale(float(misfit), len(items)))


def predict(
    model: GaussianModel, posterior: Posterior, items: NDArray[np.integer] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected rating of each item, and the standard deviation of the rating around it (not
    of its mean)."""
    selected = slice(None) if items is None else items
    rows = model.loadings[selected]
    mean = model.baseline[selected] + product(rows, posterior.mean)
    around = posterior.scale * (model.noise + model.variance[selected])
    return mean, np.sqrt(spread(rows, posterior.covariance) + around)


def influence(
    model: GaussianModel, items: NDArray[np.integer], ratings: NDArray[np.floating], target: int
) -> NDArray[np.float64]:
    """How far each own rating, and that it was given, moves the prediction of `target` from its
    baseline; the sum is the whole move."""
    posterior = fold_in(model, items, ratings)
    turned = product(posterior.covariance, model.loadings[target])
    pull = product(model.loadings[items], turned) * model.precision[items]
    result: NDArray[np.float64] = pull * (ratings - model.baseline[items])
    hints = model.implicit_of(items)
    return result if hints is None else result + product(hints, turned)


def predict_cells(
    model: GaussianModel,
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: NDArray[np.floating],
    query_ptr: NDArray[np.int64],
    query_item: NDArray[np.uint32],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`fold_in` and `predict` for all people at once: ratings and queries in compressed
    rows, one row a person."""
    from tacit.kernels.personal import predict_block  # compiled on first use

    mean, variance = np.empty(len(query_item)), np.empty(len(query_item))
    residual = value - model.baseline[item]
    predict_block(
        ptr,
        item,
        residual,
        model.loadings,
        model.precision,
        model.per_rating_array,
        model.hints,
        IMPLICIT_MORE,
        query_ptr,
        query_item,
        TYPICAL,
        UNSURE,
        0,
        len(ptr) - 1,
        mean,
        variance,
    )
    return model.baseline[query_item] + mean, np.sqrt(variance)


def predict_cells_by_day(
    model: GaussianModel,
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: NDArray[np.floating],
    time: NDArray[np.int64],
    query_ptr: NDArray[np.int64],
    query_item: NDArray[np.uint32],
    query_time: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`predict_cells` with a user bias for each day (`tacit.model.person.days`); times in seconds
    since 1970."""
    from tacit.kernels.days import predict_days
    from tacit.model.person.days import DAY, daily, day_of

    model = daily(model)
    mean, variance = np.empty(len(query_item)), np.empty(len(query_item))
    predict_days(
        ptr,
        item,
        value - model.baseline[item],
        day_of(time),
        model.loadings,
        model.precision,
        model.per_rating_array,
        model.hints,
        IMPLICIT_MORE,
        DAY,
        TYPICAL,
        UNSURE,
        query_ptr,
        query_item,
        day_of(query_time),
        mean,
        variance,
    )
    return model.baseline[query_item] + mean, np.sqrt(variance)
