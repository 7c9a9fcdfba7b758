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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import inverse, product, spread
from tacit.model.person.base import (
    LEAST_NOISE,
    Cells,
    Floats,
    Needed,
    Number,
    Own,
    PersonalModel,
    Reason,
    Unfit,
)
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
DAY = 0.03
"""Variance of a day's shift, on the inner scale: flat from .02 to .05 on ML-1M and ML-100K
(splits not reported)."""
SECONDS = 86_400
"""Seconds of a day."""
Times = NDArray[np.int64]
OTHERS = 0.6
"""Share of an item's own effect that the order of a list leaves out. With all of it in, the
same few best items are on top of every list. Both constants were chosen on splits of ML-1M and
ML-100K that are not reported: docs/results/bayes.md."""
KNOWN = 0.12
"""What one unit of the log of popularity adds, on the inner scale. Where noise has drowned
popularity its released estimates are near each other, and add little."""


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
    """`predict_cells` with a user bias for each day; times in seconds since 1970."""
    from tacit.kernels.days import predict_days

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


# A personal day effect: ratings that a person gave on one day share a shift, a mood or a
# session, of their own.
#
# Where a person's ratings have times and the time of asking is known, the residual of the
# personal Gaussian model is e = shift of the day + rest, shift ~ N(0, `DAY`) and independent
# from day to day. So a session's common shift is not mistaken for taste, and a question on a
# day with ratings knows that day's shift. Without times nothing changes.
#
# Guarantee: a person's times are used on that person's side only. No round reads them, and
# nothing of this is released.


def day_of(times: Times) -> Times:
    """Days since 1970, in UTC."""
    return np.asarray(times, np.int64) // SECONDS


def daily(model: GaussianModel) -> GaussianModel:
    """The same model with the day's shift taken out of its noise: the two together were
    calibrated as one."""
    return replace(model, noise=max(model.noise - DAY, 0.5 * model.noise))


class OnDay(NamedTuple):
    """What the day of a question changes."""

    rows: Floats
    """Rows of the items asked about, less what the day's own ratings share."""
    weights: Floats
    """Of each own rating in the day's shift."""
    unsure: float
    """Variance of what is unknown of that shift."""

    def __repr__(self) -> str:
        return shapes(self)


@dataclass(frozen=True, eq=False)
class Daily:
    """One person's posterior, asked on one day. `model` is that of `daily`."""

    model: GaussianModel
    items: NDArray[np.integer]
    rest: Floats
    """Own ratings less the baseline."""
    days: Times
    asked: int
    """The day of the question."""

    __repr__ = shapes

    def _shared(self) -> tuple[Floats, Floats]:
        """For each cell, the shrinkage of its day c = DAY/(1 + DAY P), and c times the day's sum of
        precision x item factors."""
        precision = self.model.precision[self.items]
        days, day_index = np.unique(self.days, return_inverse=True)
        pull: Floats = np.asarray(
            DAY / (1 + DAY * np.bincount(day_index, precision, len(days))), np.float64
        )
        shared = np.zeros((len(days), self.model.loadings.shape[1]))
        np.add.at(shared, day_index, precision[:, None] * self.model.loadings[self.items])
        return pull[day_index], (pull[:, None] * shared)[day_index]

    def posterior(self) -> Posterior:
        """Posterior of the user factors, with each day's shift integrated out."""
        rows = self.model.loadings[self.items]
        precision = self.model.precision[self.items]
        _, shared = self._shared()
        weighted = (rows - shared) * precision[:, None]
        prior = np.diag(self.model.added(len(self.items)))
        covariance = inverse(prior + product(rows.T, weighted))
        pulled = product(self.rest, weighted)
        misfit = product(precision, self.rest**2) - self._shifted()
        hints = self.model.implicit_of(self.items)
        if hints is not None:
            hint = hints.sum(axis=0)
            pulled += hint
            misfit += product(hint, hint)
        mean = product(covariance, pulled)
        misfit -= product(pulled, mean)
        scale = own_scale(float(misfit), len(self.items))
        return Posterior(mean, covariance, scale)

    def _shifted(self) -> float:
        """What each day's own shift explains of the ratings: c t^2, t the day's sum of
        precision x rating."""
        precision = self.model.precision[self.items]
        days, day_index = np.unique(self.days, return_inverse=True)
        day_precision = np.bincount(day_index, precision, len(days))
        total = np.bincount(day_index, precision * self.rest, len(days))
        return float(product(DAY / (1 + DAY * day_precision), total**2))

    def _on_query_day(self, rows: Floats) -> OnDay:
        """The day of the question, for the rows of the items asked about."""
        today = self.days == self.asked
        if not today.any():
            return OnDay(rows, np.zeros(len(self.items)), DAY)
        pull, shared = self._shared()
        cell = int(np.flatnonzero(today)[0])
        weights = np.where(today, pull[cell] * self.model.precision[self.items], 0.0)
        return OnDay(rows - shared[cell], weights, float(pull[cell]))

    def predict(self) -> tuple[Floats, Floats]:
        """As the function `predict`, for all items."""
        posterior = self.posterior()
        on_day = self._on_query_day(self.model.loadings)
        rows = on_day.rows
        shift = float(product(on_day.weights, self.rest))
        mean = self.model.baseline + product(rows, posterior.mean) + shift
        unknown = spread(rows, posterior.covariance)
        around = posterior.scale * (self.model.noise + self.model.variance)
        variance = unknown + on_day.unsure + around
        return mean, np.sqrt(variance)

    def influence(self, target: int) -> Floats:
        """How far each own rating, and that it was given, moves the prediction of `target`; the sum
        is the whole move."""
        on_day = self._on_query_day(self.model.loadings[target : target + 1])
        _, shared = self._shared()
        rows = self.model.loadings[self.items] - shared
        weighted = rows * self.model.precision[self.items][:, None]
        turned = product(self.posterior().covariance, on_day.rows[0])
        influences = (product(weighted, turned) + on_day.weights) * self.rest
        hints = self.model.implicit_of(self.items)
        return np.asarray(influences if hints is None else influences + product(hints, turned))


# The personal Gaussian model over shared arrays: `baseline`, `variance`, `loadings` (item
# factors), and the number `noise`; `per_rating` where the error of the item factors is known,
# `implied` and `usual` where implicit feedback was learned.


class GaussianPersonal(PersonalModel):
    """One small ridge solve a person."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        "baseline": Needed(("items",)),
        "variance": Needed(("items",), low=0.0),
        "loadings": Needed(("items", "width")),
        "weight": Needed(("items",), optional=True),
        "kept": Needed(("kept", "known"), optional=True),
        "per_rating": Needed(("width",), low=0.0, optional=True),
        "implied": Needed(("width", "width"), optional=True),
        "usual": Needed(("width",), optional=True),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {"noise": Number(low=LEAST_NOISE)}

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """Raise if only one of `implied` and `usual` is there: implicit feedback is measured
        against what is usual."""
        super().check_arrays(arrays, numbers, items)
        if ("implied" in arrays) != ("usual" in arrays):
            raise Unfit("one of the arrays implied and usual is missing")

    @cached_property
    def model(self) -> GaussianModel:
        """The shared arrays, in the precision in which a person computes."""
        return GaussianModel(
            np.ascontiguousarray(self.arrays["baseline"], np.float64),
            np.ascontiguousarray(self.arrays["variance"], np.float64),
            np.ascontiguousarray(self.arrays["loadings"], np.float64),
            self.numbers["noise"],
            self._per_rating(),
            self._implied(),
        )

    def _per_rating(self) -> Floats | None:
        if "per_rating" not in self.arrays:
            return None
        return np.ascontiguousarray(self.arrays["per_rating"], np.float64)

    def _implied(self) -> Floats | None:
        """(item factors - usual) x implied, a row for each item: an item that was added later gets
        its row from its item factors."""
        if type(self) is not GaussianPersonal or "implied" not in self.arrays:
            return None
        deviations = np.asarray(self.arrays["loadings"], np.float64)
        deviations = deviations - np.asarray(self.arrays["usual"], np.float64)
        hints = product(deviations, self.arrays["implied"])
        return np.ascontiguousarray(hints)

    def _daily(self, user_ratings: Own) -> Daily | None:
        """The model with day effects, where times are known; subclasses that add neighbours go
        without."""
        if (
            user_ratings.times is None
            or user_ratings.asked is None
            or not len(user_ratings.items)
            or type(self) is not GaussianPersonal
        ):
            return None
        residuals = user_ratings.values - self.model.baseline[user_ratings.items]
        return Daily(
            daily(self.model),
            user_ratings.items,
            residuals,
            day_of(user_ratings.times),
            user_ratings.asked // SECONDS,
        )

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation, with the day effect where times are known."""
        by_day = self._daily(user_ratings)
        if by_day is not None:
            return by_day.predict()
        return predict(self.model, fold_in(self.model, user_ratings.items, user_ratings.values))

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """How far each own rating, and that it was given, moves the mean."""
        by_day = self._daily(user_ratings)
        if by_day is not None:
            influences = by_day.influence(item)
        else:
            influences = influence(self.model, user_ratings.items, user_ratings.values, item)
        return Reason(float(self.model.baseline[item]), influences)

    def lean(self) -> Floats | None:
        """Less of what everybody thinks, more of what many know.
        Models that add neighbours to this one, or have no
        popularity, go by the expected rating."""
        return self._lean

    @cached_property
    def _lean(self) -> Floats | None:
        if type(self) is not GaussianPersonal or "weight" not in self.arrays:
            return None
        return list_order_offset(self.model.baseline, self.arrays["weight"])

    def similar(self, item: int) -> Floats:
        """Cosine of the item factors without the user bias, which all items share."""
        rows = self.model.loadings[:, 1:]
        length = np.sqrt((rows**2).sum(axis=1))
        closeness: Floats = product(rows, rows[item]) / np.maximum(length * length[item], 1e-12)
        return closeness

    def predict_cells(self, cells: Cells) -> Floats:
        return self._answers(cells)[0]

    def predict_cells_error(self, cells: Cells) -> tuple[Floats, Floats | None]:
        """As `predict`, compiled; models that add neighbours to this one answer for
        themselves."""
        if type(self) is not GaussianPersonal:
            return super().predict_cells_error(cells)
        return self._answers(cells)

    def _answers(self, cells: Cells) -> tuple[Floats, Floats]:
        if cells.time is not None and cells.ask_time is not None:
            return predict_cells_by_day(
                self.model,
                cells.ptr,
                cells.item,
                cells.value,
                cells.time,
                cells.ask_ptr,
                cells.ask_item,
                cells.ask_time,
            )
        return predict_cells(
            self.model, cells.ptr, cells.item, cells.value, cells.ask_ptr, cells.ask_item
        )

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `scores` without times, one row a person."""
        from tacit.kernels.personal import posterior_means

        model = self.model
        means = np.empty((len(ptr) - 1, model.loadings.shape[1]))
        residual = value - model.baseline[item]
        posterior_means(
            ptr,
            item,
            residual,
            model.loadings,
            model.precision,
            model.per_rating_array,
            model.hints,
            IMPLICIT_MORE,
            means,
        )
        scores: Floats = means @ model.loadings.T
        lean = self.lean()
        # In place: rows are long.
        scores += model.baseline if lean is None else model.baseline + lean
        return scores

    def vectors(self) -> Mapping[str, NDArray[Any]]:
        """Without what is kept for a later `--start`: it serves no other system."""
        return {name: array for name, array in self.arrays.items() if name != "kept"}


# The default order of a list: not the highest expected rating alone.
#
# By expected rating everybody's list begins with the same few items that all people like, and
# many of them are items that hardly anybody looks for. So the order takes off a part of each
# item's effect, which leaves more of this person's own taste, and adds what many know.
# Expected ratings and their errors stay what they are.
def list_order_offset(baseline: Floats, weight: NDArray[Any]) -> Floats:
    """What the order of a list adds to the expected rating of each item, from released
    numbers."""
    familiarity = np.log1p(np.maximum(np.asarray(weight, np.float64), 0.0))
    return np.asarray(KNOWN * familiarity - OTHERS * baseline)
