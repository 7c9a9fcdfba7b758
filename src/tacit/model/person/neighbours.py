"""The personal model of learned neighbourhoods: my other ratings, weighted by how alike
their items are.

First the personal Gaussian model (`tacit.model.person.gaussian`): my level, and my taste
for what is public about the items. What it leaves of my ratings, e_j, is carried over to an
item i by sum_j s_ij e_j / max(sum_j |s_ij|, floor) over my own items j. Both are linear in
my ratings, so each one's share of a prediction is exact. One's own side needs numpy only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product
from tacit.model.person import gaussian
from tacit.model.person.base import (
    LEAST_NOISE,
    Cells,
    Floats,
    Needed,
    Number,
    Own,
    Reason,
    check_lists,
    people_of,
)
from tacit.model.person.gaussian import GaussianPersonal


class Neighbourhood(GaussianPersonal):
    """A Gaussian model, corrected by the residuals of neighbouring items.

    The arrays of `GaussianPersonal`, and the neighbours of item i with their similarities in
    `neighbour` and `similarity` from `start[i]` to `start[i + 1]`; `doubt` is the mean variance of
    an item's similarities. Numbers `floor`, `noise` (variance of a rating around the Gaussian
    model) and `around` (residual variance after neighbours)."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        **GaussianPersonal.arrays_needed,
        "start": Needed(("ends",), whole=True),
        "neighbour": Needed(("pairs",), whole=True),
        "similarity": Needed(("pairs",)),
        "doubt": Needed(("items",), low=0.0),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {
        **GaussianPersonal.numbers_needed,
        "floor": Number(low=LEAST_NOISE),
        "around": Number(low=0.0),
    }

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """Raise if a neighbour id is not a row of the catalogue."""
        check_lists(arrays["start"], arrays["neighbour"], items)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        start = self.arrays["start"]
        return np.repeat(np.arange(len(start) - 1), np.diff(start))

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """The Gaussian model's prediction plus the weighted residuals of rated neighbours."""
        posterior = gaussian.fold_in(self.model, user_ratings.items, user_ratings.values)
        # `around` was measured for everybody.
        mean, sd = gaussian.predict(self.model, replace(posterior, scale=1.0))
        items = len(mean)
        residuals = np.zeros(items)
        residuals[user_ratings.items] = user_ratings.values - mean[user_ratings.items]
        rated = np.zeros(items, np.bool_)
        rated[user_ratings.items] = True
        neighbour = self.arrays["neighbour"]
        rated_cells = np.flatnonzero(rated[neighbour])
        rows = self._rows[rated_cells]
        weight = self.arrays["similarity"][rated_cells]
        values = residuals[neighbour[rated_cells]]
        divisor = np.maximum(np.bincount(rows, np.abs(weight), items), self.numbers["floor"])
        # What is unknown of the similarities matters as far as my ratings of the neighbours
        # leave something over.
        unsure = self.arrays["doubt"] * np.bincount(rows, values**2, items) / divisor**2
        posterior_variance = np.maximum(sd**2 - self.numbers["noise"], 0.0)
        variance = posterior_variance + self.numbers["around"] + unsure
        expected = mean + np.bincount(rows, weight * values, items) / divisor
        return expected, np.sqrt(variance)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """With neighbour weights w the prediction is x'z + w'(d - Xz) = (x - X'w)'z + w'd,
        z linear in d."""
        model, items = self.model, user_ratings.items
        weight = self.similar(item)[items] * (items != item)
        weight = weight / max(float(np.abs(weight).sum()), self.numbers["floor"])
        posterior = gaussian.fold_in(model, items, user_ratings.values)
        turned = model.loadings[item] - product(weight, model.loadings[items])
        residuals = user_ratings.values - model.baseline[items]
        along = product(posterior.covariance, turned)
        pull = product(model.loadings[items], along) * model.precision[items]
        return Reason(float(model.baseline[item]), residuals * (pull + weight))

    def similar(self, item: int) -> Floats:
        """The published similarities; 0 for all others."""
        start = self.arrays["start"]
        cells = slice(int(start[item]), int(start[item + 1]))
        out = np.zeros(len(self.arrays["baseline"]))
        out[self.arrays["neighbour"][cells]] = self.arrays["similarity"][cells]
        return out

    def predict_cells(self, cells: Cells) -> Floats:
        from tacit.kernels.neighbours import predict_cells

        fitted, _ = gaussian.predict_cells(
            self.model, cells.ptr, cells.item, cells.value, cells.ptr, cells.item
        )
        out = np.empty(len(cells.ask_item))
        predict_cells(
            cells.ptr,
            cells.item,
            cells.value - fitted,
            cells.ask_ptr,
            cells.ask_item,
            self.arrays["start"],
            self.arrays["neighbour"],
            np.asarray(self.arrays["similarity"], np.float64),
            self.numbers["floor"],
            out,
        )
        return out + super().predict_cells(cells)

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, a row for each person."""
        return np.stack(
            [self.predict(user_ratings)[0] for user_ratings in people_of(ptr, item, value)]
        )


def compress(index: NDArray[Any], value: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The arrays `start`, `neighbour` and `similarity` from padded rows (-1 = none)."""
    used = index >= 0
    return {
        "start": np.concatenate([[0], np.cumsum(used.sum(axis=1))]).astype(np.int64),
        "neighbour": index[used].astype(np.int32),
        "similarity": value[used].astype(np.float32),
    }
