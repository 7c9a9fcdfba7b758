"""A personal day effect: ratings that a person gave on one day share a shift, a mood or a
session, of their own.

Where a person's ratings have times and the time of asking is known, the residual of the
personal Gaussian model is e = shift of the day + rest, shift ~ N(0, `DAY`) and independent
from day to day. So a session's common shift is not mistaken for taste, and a question on a
day with ratings knows that day's shift. Without times nothing changes.

Guarantee: a person's times are used on that person's side only. No round reads them, and
nothing of this is released.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import inverse, product, spread
from tacit.model.person.gaussian import GaussianModel, Posterior, own_scale
from tacit.repr import shapes

DAY = 0.03
"""Variance of a day's shift, on the inner scale: flat from .02 to .05 on ML-1M and ML-100K
(splits not reported)."""
SECONDS = 86_400
"""Seconds of a day."""

Floats = NDArray[np.float64]
Times = NDArray[np.int64]


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
        """As `tacit.model.person.gaussian.predict`, for all items."""
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
