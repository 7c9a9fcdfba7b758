"""Neighbourhoods in two stages: what all items share first, then ridge weights over my
ratings of an item's neighbours.

First the personal Gaussian model over user bias, popularity, popularity slope and public features,
from all of my ratings. Its residuals are carried over to an item by Bell & Koren's weights. The
covariances come from a published factor (`FactorNeighbours`) or, for small devices, from each
item's few strongest neighbours (`StoredNeighbours`). There a covariance that was not published
counts as none, so a system may fail to be one of covariances: then only the closer half of the
neighbours is used, or a quarter, and so on. Both stages are linear in my ratings, so each one's
share of a prediction is exact. The person's side needs numpy only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product, solve, steady_solve
from tacit.model.person import gaussian
from tacit.model.person.base import (
    MOST_NEIGHBOURS,
    Cells,
    Floats,
    Needed,
    Number,
    Own,
    Reason,
    Rows,
    check_lists,
    people_of,
)
from tacit.model.person.gaussian import GaussianPersonal
from tacit.repr import shapes

STEADY = 0.1
"""That of `tacit.kernels.ridge_weights`."""
TOGETHER = 256
"""Items whose small systems are solved side by side."""


class StageWeights(NamedTuple):
    """The second stage for a few items, a row each."""

    used: NDArray[np.int64]
    """Own ratings, by their place."""
    values: Floats
    """The weight of each."""
    explained: Floats
    """How much of each item's variance they explain."""

    def __repr__(self) -> str:
        return shapes(self)


class Staged(GaussianPersonal):
    """A Gaussian model, then neighbours on its residuals.

    The arrays of `GaussianPersonal`; `variance` is what the shared item factors leave unexplained
    of an item. The number `neighbours` is how many own ratings a prediction uses."""

    numbers_needed: ClassVar[Mapping[str, Number]] = {
        **GaussianPersonal.numbers_needed,
        "neighbours": Number(1, MOST_NEIGHBOURS),
    }

    @abstractmethod
    def _prepare(self, user_ratings: Own) -> Any:
        """What `_weights` needs of a person, for all items."""

    @abstractmethod
    def _weights(self, items: Rows, prepared: Any) -> StageWeights:
        """Weights of the second stage between these items."""

    @abstractmethod
    def _added(self, cells: Cells, residuals: Floats) -> Floats:
        """What the second stage adds to every asked cell; `residuals` is what the first leaves
        of the ratings."""

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """The Gaussian model, and the neighbours' weights on what it leaves."""
        mean, sd = gaussian.predict(
            self.model, gaussian.fold_in(self.model, user_ratings.items, user_ratings.values)
        )
        residuals, variance = user_ratings.values - mean[user_ratings.items], sd**2
        prepared = self._prepare(user_ratings)
        for first in range(0, len(mean) if len(user_ratings.items) else 0, TOGETHER):
            items = np.arange(first, min(first + TOGETHER, len(mean)))
            weights = self._weights(items, prepared)
            mean[items] += (weights.values * residuals[weights.used]).sum(axis=1)
            variance[items] -= weights.explained
        return mean, np.sqrt(np.maximum(variance, self.model.noise))

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """With neighbour weights w the prediction is x'z + w'(d - Xz) = (x - X'w)'z + w'd,
        z linear in d."""
        model, weight = self.model, np.zeros(len(user_ratings.items))
        if len(user_ratings.items):
            neighbour_weights = self._weights(np.array([item]), self._prepare(user_ratings))
            weight[neighbour_weights.used[0]] = neighbour_weights.values[0]
        turned = model.loadings[item] - product(weight, model.loadings[user_ratings.items])
        posterior = gaussian.fold_in(model, user_ratings.items, user_ratings.values)
        along = product(posterior.covariance, turned)
        pull = (
            product(model.loadings[user_ratings.items], along) * model.precision[user_ratings.items]
        )
        return Reason(
            float(model.baseline[item]),
            (user_ratings.values - model.baseline[user_ratings.items]) * (pull + weight),
        )

    def predict_cells(self, cells: Cells) -> Floats:
        fitted, _ = gaussian.predict_cells(
            self.model, cells.ptr, cells.item, cells.value, cells.ptr, cells.item
        )
        mean, _ = gaussian.predict_cells(
            self.model, cells.ptr, cells.item, cells.value, cells.ask_ptr, cells.ask_item
        )
        return np.asarray(mean + self._added(cells, cells.value - fitted))

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, a row for each person."""
        return np.stack(
            [self.predict(user_ratings)[0] for user_ratings in people_of(ptr, item, value)]
        )


class FactorNeighbours(Staged):
    """`factor`: the covariance of two items beyond what all share is the product of their rows."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        **GaussianPersonal.arrays_needed,
        "factor": Needed(("items", "rank")),
    }

    @cached_property
    def _factor(self) -> Floats:
        return np.ascontiguousarray(self.arrays["factor"], np.float64)

    @cached_property
    def _posterior_variance(self) -> Floats:
        """Variance of a rating beyond the factor."""
        residual_variance = self.model.variance - (self._factor**2).sum(axis=1)
        return np.asarray(self.model.noise + np.maximum(residual_variance, 0.0))

    def _prepare(self, user_ratings: Own) -> tuple[Floats, Floats, Floats]:
        """Own rows of the factor, their products, and the variance beside them."""
        rows, posterior_variance = (
            self._factor[user_ratings.items],
            self._posterior_variance[user_ratings.items],
        )
        return rows, product(rows, rows.T) + np.diag(posterior_variance), posterior_variance

    def _weights(self, items: Rows, prepared: tuple[Floats, Floats, Floats]) -> StageWeights:
        rows, system, posterior_variance = prepared
        covariance = product(self._factor[items], rows.T)
        order = np.argsort(-np.abs(covariance) / np.sqrt(posterior_variance), axis=1, kind="stable")
        used = order[:, : int(self.numbers["neighbours"])].astype(np.int64)
        right = np.take_along_axis(covariance, used, axis=1)
        weights = solve(system[used[:, :, None], used[:, None]], right)
        return StageWeights(used, weights, (weights * right).sum(axis=1))

    def _added(self, cells: Cells, residuals: Floats) -> Floats:
        from tacit.kernels.neighbours import predict_neighbours

        out = np.zeros(len(cells.ask_item))
        if self._factor.shape[1]:
            predict_neighbours(
                cells.ptr,
                cells.item,
                residuals,
                cells.ask_ptr,
                cells.ask_item,
                self._factor,
                self._posterior_variance,
                int(self.numbers["neighbours"]),
                np.zeros((0, 0), np.float32),
                out,
            )
        return out

    def similar(self, item: int) -> Floats:
        """Cosine of item factors without the user bias."""
        rows = np.column_stack([self.model.loadings[:, 1:], self._factor])
        length = np.sqrt((rows**2).sum(axis=1))
        return np.asarray(product(rows, rows[item]) / np.maximum(length * length[item], 1e-12))


class StoredNeighbours(Staged):
    """The neighbours of item i, strongest first, with their covariances in `neighbour` and
    `similarity` from `start[i]` to `start[i + 1]`.
    """

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        **GaussianPersonal.arrays_needed,
        "start": Needed(("ends",), whole=True),
        "neighbour": Needed(("pairs",), whole=True),
        "similarity": Needed(("pairs",)),
    }

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """Raise if a neighbour id is not a row of the catalogue."""
        check_lists(arrays["start"], arrays["neighbour"], items)

    def _near(self, item: int) -> tuple[NDArray[np.int64], Floats]:
        start = self.arrays["start"]
        cells = slice(int(start[item]), int(start[item + 1]))
        near, value = (self.arrays["neighbour"][cells], self.arrays["similarity"][cells])
        return near.astype(np.int64), value.astype(np.float64)

    def _prepare(self, user_ratings: Own) -> tuple[NDArray[np.int64], Floats]:
        """Where each item stands among the own ones (-1: nowhere), and the covariances of these."""
        positions = np.full(len(self.model.baseline), -1, np.int64)
        positions[user_ratings.items] = np.arange(len(user_ratings.items))
        system = np.zeros((len(user_ratings.items), len(user_ratings.items)))
        for row, item in enumerate(user_ratings.items.tolist()):
            near, value = self._near(item)
            is_rated = positions[near] >= 0
            system[row, positions[near][is_rated]] = value[is_rated]
        system = np.where(system != 0, system, system.T)
        system[np.diag_indices(len(user_ratings.items))] = (
            self.model.noise + self.model.variance[user_ratings.items]
        )
        return positions, system

    def _weights(self, items: Rows, prepared: tuple[NDArray[np.int64], Floats]) -> StageWeights:
        positions, system = prepared
        neighbour_limit = int(self.numbers["neighbours"])
        chosen = [self._rated(item, positions, neighbour_limit) for item in items.tolist()]
        count = np.array([len(used) for used, _ in chosen])
        shape = (len(items), int(count.max(initial=0)))
        used, right = np.zeros(shape, np.int64), np.zeros(shape)
        for row, (near, value) in enumerate(chosen):
            used[row, : len(near)], right[row, : len(near)] = near, value
        weights = steady_solve(system[used[:, :, None], used[:, None]], right, count, STEADY)
        return StageWeights(used, weights, (weights * right).sum(axis=1))

    def _rated(
        self, item: int, rating_index: NDArray[np.int64], neighbour_limit: int
    ) -> tuple[NDArray[np.int64], Floats]:
        """The own ratings of an item's closest neighbours, by their place, and the covariances."""
        near, value = self._near(item)
        is_rated = rating_index[near] >= 0
        return rating_index[near][is_rated][:neighbour_limit], value[is_rated][:neighbour_limit]

    def _added(self, cells: Cells, residuals: Floats) -> Floats:
        from tacit.kernels.ridge_weights import predict_kept

        out = np.empty(len(cells.ask_item))
        predict_kept(
            cells.ptr,
            cells.item,
            residuals,
            cells.ask_ptr,
            cells.ask_item,
            self.arrays["start"],
            self.arrays["neighbour"],
            np.asarray(self.arrays["similarity"], np.float64),
            self.model.noise + self.model.variance,
            int(self.numbers["neighbours"]),
            out,
        )
        return out

    def similar(self, item: int) -> Floats:
        """Correlation with the published neighbours; 0 for all others."""
        near, value = self._near(item)
        out = np.zeros(len(self.model.baseline))
        out[near] = value / np.sqrt(self.model.variance[near] * self.model.variance[item] + 1e-12)
        return out
