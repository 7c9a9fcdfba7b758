"""Neighbourhoods in two stages: what all items share first, then ridge weights over my
ratings of an item's neighbours.

First the personal Gaussian model over level, popularity, agreement and public features,
from all of my ratings. What it leaves of them is carried over to an item by Bell & Koren's
weights. The covariances come from a published factor (`FactorNeighbours`) or, for small
devices, from
each item's few strongest neighbours (`KeptNeighbours`). There a covariance that was not
published counts as none, so a system may fail to be one of covariances: then only the
closer half of the neighbours is used, or a quarter, and so on. Both stages are linear in my
ratings, so each one's share of a prediction is exact. One's own side needs numpy only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.hidden import shapes
from tacit.model.person import gaussian
from tacit.model.person.base import Cells, Floats, Own, Reason, people_of
from tacit.model.person.gaussian_personal import GaussianPersonal
from tacit.model.person.needs import MOST_NEIGHBOURS, Needed, Number, check_lists

STEADY = 0.1
"""That of `tacit.model.person.kernels`."""


class StageWeights(NamedTuple):
    """The second stage for one item."""

    used: NDArray[np.int64]
    """Own ratings, by their place."""
    values: Floats
    """The weight of each."""
    explained: float
    """How much of the item's variance they explain."""

    def __repr__(self) -> str:
        return shapes(self)


class Staged(GaussianPersonal):
    """The arrays of `GaussianPersonal`, `variance` being all that the shared loadings leave
    of an item. The number `neighbours` says how many own ratings a prediction uses.
    """

    numbers_needed: ClassVar[Mapping[str, Number]] = {
        **GaussianPersonal.numbers_needed,
        "neighbours": Number(1, MOST_NEIGHBOURS),
    }

    @abstractmethod
    def _prepare(self, own: Own) -> Any:
        """What `_weights` needs of a person, for all items."""

    @abstractmethod
    def _weights(self, item: int, prepared: Any) -> StageWeights:
        """The second stage for one item."""

    @abstractmethod
    def _added(self, cells: Cells, rest: Floats) -> Floats:
        """What the second stage adds to every asked cell; `rest` is what the first leaves
        of the ratings."""

    def predict(self, own: Own) -> tuple[Floats, Floats]:
        """The Gaussian model, and the neighbours' weights on what it leaves."""
        mean, sd = gaussian.predict(self.model, gaussian.fold_in(self.model, own.items, own.values))
        rest, variance = own.values - mean[own.items], sd**2
        prepared = self._prepare(own)
        for item in range(len(mean) if len(own.items) else 0):
            weights = self._weights(item, prepared)
            mean[item] += weights.values @ rest[weights.used]
            variance[item] -= weights.explained
        return mean, np.sqrt(np.maximum(variance, self.model.noise))

    def explain(self, own: Own, item: int) -> Reason:
        """With neighbour weights w the prediction is x'z + w'(d - Xz) = (x - X'w)'z + w'd,
        z linear in d."""
        model, weight = self.model, np.zeros(len(own.items))
        if len(own.items):
            found = self._weights(item, self._prepare(own))
            weight[found.used] = found.values
        turned = model.loadings[item] - weight @ model.loadings[own.items]
        posterior = gaussian.fold_in(model, own.items, own.values)
        pull = (
            model.loadings[own.items] @ (posterior.covariance @ turned) * model.precision[own.items]
        )
        return Reason(
            float(model.baseline[item]), (own.values - model.baseline[own.items]) * (pull + weight)
        )

    def predict_cells(self, cells: Cells) -> Floats:
        """As `predict`, compiled."""
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
        """As `predict`, one row a person."""
        return np.stack([self.predict(own)[0] for own in people_of(ptr, item, value)])


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
    def _doubt(self) -> Floats:
        """Variance of a rating beyond the factor."""
        left = self.model.variance - (self._factor**2).sum(axis=1)
        return np.asarray(self.model.noise + np.maximum(left, 0.0))

    def _prepare(self, own: Own) -> tuple[Floats, Floats]:
        return self._factor[own.items], self._doubt[own.items]

    def _weights(self, item: int, prepared: tuple[Floats, Floats]) -> StageWeights:
        rows, doubt = prepared
        covariance = rows @ self._factor[item]
        order = np.argsort(-np.abs(covariance) / np.sqrt(doubt), kind="stable")
        used = order[: int(self.numbers["neighbours"])].astype(np.int64)
        near, right = rows[used], covariance[used]
        weights = np.asarray(
            np.linalg.solve(near @ near.T + np.diag(doubt[used]), right), np.float64
        )
        return StageWeights(used, weights, float(weights @ right))

    def _added(self, cells: Cells, rest: Floats) -> Floats:
        from tacit.kernels.neighbours import predict_neighbours

        out = np.zeros(len(cells.ask_item))
        if self._factor.shape[1]:
            predict_neighbours(
                cells.ptr,
                cells.item,
                rest,
                cells.ask_ptr,
                cells.ask_item,
                self._factor,
                self._doubt,
                int(self.numbers["neighbours"]),
                np.zeros((0, 0), np.float32),
                out,
            )
        return out

    def similar(self, item: int) -> Floats:
        """Cosine of what items share beyond the personal level."""
        rows = np.column_stack([self.model.loadings[:, 1:], self._factor])
        length = np.sqrt((rows**2).sum(axis=1))
        closeness: Floats = rows @ rows[item] / np.maximum(length * length[item], 1e-12)
        return closeness


class KeptNeighbours(Staged):
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
        """Neighbours are items."""
        check_lists(arrays["start"], arrays["neighbour"], items)

    def _near(self, item: int) -> tuple[NDArray[np.int64], Floats]:
        start = self.arrays["start"]
        cells = slice(int(start[item]), int(start[item + 1]))
        near, value = (self.arrays["neighbour"][cells], self.arrays["similarity"][cells])
        return near.astype(np.int64), value.astype(np.float64)

    def _prepare(self, own: Own) -> tuple[NDArray[np.int64], Floats]:
        """Where each item stands among the own ones (-1: nowhere), and the covariances of these."""
        place = np.full(len(self.model.baseline), -1, np.int64)
        place[own.items] = np.arange(len(own.items))
        system = np.zeros((len(own.items), len(own.items)))
        for row, item in enumerate(own.items.tolist()):
            near, value = self._near(item)
            known = place[near] >= 0
            system[row, place[near][known]] = value[known]
        system = np.where(system != 0, system, system.T)
        system[np.diag_indices(len(own.items))] = self.model.noise + self.model.variance[own.items]
        return place, system

    def _weights(self, item: int, prepared: tuple[NDArray[np.int64], Floats]) -> StageWeights:
        place, system = prepared
        near, value = self._near(item)
        known = place[near] >= 0
        used = place[near][known][: int(self.numbers["neighbours"])]
        right = value[known][: len(used)]
        while len(used):
            part = system[np.ix_(used, used)]
            try:
                left = np.diag(np.linalg.cholesky(part)) ** 2
                steady = bool((left >= STEADY * np.diag(part)).all())
            except np.linalg.LinAlgError:
                steady = False
            if steady:
                break
            used, right = used[: len(used) // 2], right[: len(used) // 2]
        weights = np.asarray(np.linalg.solve(system[np.ix_(used, used)], right), np.float64)
        return StageWeights(used, weights, float(weights @ right))

    def _added(self, cells: Cells, rest: Floats) -> Floats:
        from tacit.model.person.kernels import predict_kept

        out = np.empty(len(cells.ask_item))
        predict_kept(
            cells.ptr,
            cells.item,
            rest,
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
