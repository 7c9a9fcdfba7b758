"""McSherry & Mironov's predictions as printed: a person's level is taken off first, and what
it leaves of her ratings speaks for an item by ridge weights.

The level is her average with `level_prior` fictitious ratings at `level_mean` (section 4.3).
The covariances of items come from `loadings` (their products: the compact download) or, where
nothing was cleaned, from `covariance` itself. With `neighbours` above 0 the weights are those
of Bell & Koren over so many own ratings of largest `similarity`, the released weights of pairs;
with 0 all own ratings count, which is the ridge solve of the SVD. `clamp` above 0 clamps what
neighbours see, as it was clamped when covariances were measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import inverse, product, solve, spread
from tacit.model.person.base import (
    LEAST_NOISE,
    MOST_NEIGHBOURS,
    Cells,
    Floats,
    Needed,
    Number,
    Own,
    PersonalModel,
    Reason,
    Rows,
    Unfit,
)
from tacit.repr import shapes

TOGETHER = 512
"""Items whose small systems are solved side by side."""


class Centred(NamedTuple):
    """A person's shrunk bias, and her ratings less the baseline and this bias."""

    level: float
    rest: Floats

    def __repr__(self) -> str:
        return shapes(self)


class CentredNeighbours(PersonalModel):
    """User bias first, then ridge weights on the residuals."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        "baseline": Needed(("items",)),
        "loadings": Needed(("items", "width"), optional=True),
        "covariance": Needed(("items", "items"), optional=True),
        "similarity": Needed(("items", "items"), optional=True),
        "weight": Needed(("items",), optional=True),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {
        "level_prior": Number(low=0.0),
        "level_mean": Number(),
        "clamp": Number(low=0.0),
        "ridge": Number(low=LEAST_NOISE),
        "neighbours": Number(0, MOST_NEIGHBOURS),
    }

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """Covariances in one of two ways; for neighbours, what chooses them."""
        super().check_arrays(arrays, numbers, items)
        if ("loadings" in arrays) == ("covariance" in arrays):
            raise Unfit("there must be loadings or a covariance, and not both")
        if numbers["neighbours"] >= 1 and "similarity" not in arrays:
            raise Unfit("the array similarity is missing")

    @cached_property
    def _baseline(self) -> Floats:
        return np.ascontiguousarray(self.arrays["baseline"], np.float64)

    @cached_property
    def _item_factors(self) -> Floats | None:
        if "loadings" not in self.arrays:
            return None
        return np.ascontiguousarray(self.arrays["loadings"], np.float64)

    @cached_property
    def _covariance(self) -> Floats | None:
        if "covariance" not in self.arrays:
            return None
        return np.ascontiguousarray(self.arrays["covariance"], np.float64)

    @property
    def _neighbour_limit(self) -> int:
        return int(self.numbers["neighbours"])

    def _between(self, rows: NDArray[np.int64]) -> Floats:
        """Covariances of these items with every item: one row each."""
        if self._covariance is not None:
            return np.asarray(self._covariance[rows])
        assert self._item_factors is not None
        return product(self._item_factors[rows], self._item_factors.T)

    @cached_property
    def _user_variance(self) -> Floats:
        if self._covariance is not None:
            return np.asarray(np.diag(self._covariance))
        assert self._item_factors is not None
        return np.asarray((self._item_factors**2).sum(axis=1))

    def centred(self, user_ratings: Own) -> Centred:
        """User bias and residuals of one person (section 4.3 of the paper)."""
        residuals = user_ratings.values - self._baseline[user_ratings.items]
        prior = self.numbers["level_prior"]
        count = max(len(residuals) + prior, LEAST_NOISE)
        level = (residuals.sum() + prior * self.numbers["level_mean"]) / count
        centred = residuals - level
        if self.numbers["clamp"] > 0:
            centred = np.clip(centred, -self.numbers["clamp"], self.numbers["clamp"])
        return Centred(float(level), np.asarray(centred))

    def _every(self, user_ratings: Own) -> bool:
        """Whether all own ratings speak for every item."""
        return not self._neighbour_limit or len(user_ratings.items) <= self._neighbour_limit

    def _strongest_neighbours(self, user_ratings: Own, query_items: Rows) -> Rows:
        """The own ratings that speak for each item that is asked about, by their place."""
        if self._every(user_ratings):
            return np.tile(np.arange(len(user_ratings.items)), (len(query_items), 1))
        closeness = self.arrays["similarity"][np.ix_(query_items, user_ratings.items)]
        order = np.argsort(-closeness, axis=1, kind="stable")
        return order[:, : self._neighbour_limit].astype(np.int64)

    def _weights(self, between: Floats, user_ratings: Own, used: Rows, targets: Rows) -> Floats:
        """(C + ridge)^-1 c over the used ratings, a row an item asked about."""
        system, target_rows = (
            between[used[:, :, None], user_ratings.items[used][:, None]],
            np.arange(used.shape[1]),
        )
        system[:, target_rows, target_rows] += self.numbers["ridge"]
        return solve(system, between[used, targets[:, None]])

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """One solve for all items where all own ratings count, else one an item."""
        level, residuals = self.centred(user_ratings)
        mean = self._baseline + level
        remaining_variance = np.array(self._user_variance)
        item_factors = self._item_factors
        if not len(residuals):
            pass
        elif not self._every(user_ratings):
            between = self._between(user_ratings.items)
            for first in range(0, len(mean), TOGETHER):
                query_items = np.arange(first, min(first + TOGETHER, len(mean)))
                used = self._strongest_neighbours(user_ratings, query_items)
                weights = self._weights(between, user_ratings, used, query_items)
                mean[query_items] += (weights * residuals[used]).sum(axis=1)
                remaining_variance[query_items] -= (
                    weights * between[used, query_items[:, None]]
                ).sum(axis=1)
        elif item_factors is not None and item_factors.shape[1] < len(residuals):
            added, remaining_variance = self._of_factor(item_factors, user_ratings.items, residuals)
            mean = mean + added
        else:
            between = self._between(user_ratings.items)
            system = between[:, user_ratings.items] + self.numbers["ridge"] * np.eye(len(residuals))
            weights = solve(system, between)
            mean = mean + product(residuals, weights)
            remaining_variance -= (weights * between).sum(axis=0)
        posterior_variance = np.maximum(remaining_variance, 0.0) + self.numbers["ridge"]
        return mean, np.sqrt(posterior_variance)

    def _of_factor(
        self, item_factors: Floats, items: Rows, residuals: Floats
    ) -> tuple[Floats, Floats]:
        """What the rest of all own ratings adds to every item, and what it leaves unknown: the
        same ridge solve, in the few dimensions of the factor."""
        rows, ridge = item_factors[items], self.numbers["ridge"]
        covariance = inverse(np.eye(rows.shape[1]) + product(rows.T, rows) / ridge)
        vector = product(covariance, product(residuals, rows) / ridge)
        return product(item_factors, vector), spread(item_factors, covariance)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """Points of each rating for an item, through the user bias and through its ridge weight;
        the prior of the bias counts as everybody's."""
        residuals = self.centred(user_ratings).rest
        out = np.zeros(len(user_ratings.items))
        count = max(len(residuals) + self.numbers["level_prior"], LEAST_NOISE)
        prior = self.numbers["level_prior"] * self.numbers["level_mean"] / count
        if len(user_ratings.items):
            query_items = np.array([item])
            used = self._strongest_neighbours(user_ratings, query_items)
            weights = self._weights(
                self._between(user_ratings.items), user_ratings, used, query_items
            )
            out += (user_ratings.values - self._baseline[user_ratings.items]) / count
            out[used[0]] += weights[0] * residuals[used[0]]
        return Reason(float(self._baseline[item] + prior), out)

    def similar(self, item: int) -> Floats:
        """Correlation of residuals."""
        across = self._between(np.array([item]))[0]
        size = np.sqrt(np.maximum(self._user_variance, 0.0))
        return np.asarray(across / np.maximum(size * size[item], 1e-12))

    def predict_cells(self, cells: Cells) -> Floats:
        from tacit.kernels.centred import level_rest, predict_matrix

        residuals = np.empty(len(cells.value))
        level = np.empty(len(cells.ptr) - 1)
        level_rest(
            cells.ptr,
            cells.value - self._baseline[cells.item],
            self.numbers["level_prior"],
            self.numbers["level_mean"],
            self.numbers["clamp"],
            level,
            residuals,
        )
        user_biases = np.repeat(level, np.diff(cells.ask_ptr))
        mean = self._baseline[cells.ask_item] + user_biases
        if self._item_factors is not None and not self._neighbour_limit:
            return np.asarray(mean + self._by_factor(cells, residuals))
        if self._covariance is None:
            assert self._item_factors is not None
            matrix = self._item_factors @ self._item_factors.T
        else:
            matrix = self._covariance
        added = np.empty(len(mean))
        similarity = self.arrays.get("similarity", np.zeros((0, 0)))
        predict_matrix(
            cells.ptr,
            cells.item,
            residuals,
            cells.ask_ptr,
            cells.ask_item,
            matrix,
            self.numbers["ridge"],
            self._neighbour_limit,
            np.ascontiguousarray(similarity, np.float64),
            added,
        )
        return np.asarray(mean + added)

    def _by_factor(self, cells: Cells, residuals: Floats) -> Floats:
        """The ridge solve in the few dimensions of the factor."""
        from tacit.model.person.gaussian import GaussianModel, predict_cells

        assert self._item_factors is not None
        nothing = np.zeros(len(self._baseline))
        model = GaussianModel(nothing, nothing, self._item_factors, self.numbers["ridge"])
        added, _ = predict_cells(
            model, cells.ptr, cells.item, residuals, cells.ask_ptr, cells.ask_item
        )
        return added
