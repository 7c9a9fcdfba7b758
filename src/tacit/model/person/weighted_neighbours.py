"""McSherry & Mironov's neighbourhoods as printed: ridge weights over the own items of
largest co-rating weight.

The arrays of the personal Gaussian model, whose loadings give covariances, and
`similarity`, the released weights of pairs; the number `neighbours` says how many own
ratings a prediction uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.hidden import shapes
from tacit.model.person.base import Cells, Floats, Own, Reason
from tacit.model.person.gaussian_personal import GaussianPersonal
from tacit.model.person.needs import MOST_NEIGHBOURS, Needed, Number


class ChosenWeights(NamedTuple):
    """What the own ratings say of one item."""

    chosen: NDArray[np.int64]
    """Own ratings, by their place."""
    values: Floats
    """The weight of each."""
    left: float
    """What is left of the item's own variance."""

    def __repr__(self) -> str:
        return shapes(self)


class WeightedNeighbours(GaussianPersonal):
    """Bell & Koren's weights, a small solve for each item asked about; a person's level is
    one of the factors."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        **GaussianPersonal.arrays_needed,
        "similarity": Needed(("items", "items")),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {
        **GaussianPersonal.numbers_needed,
        "neighbours": Number(1, MOST_NEIGHBOURS),
    }

    def _weights(self, own: Own, item: int) -> ChosenWeights:
        """Those of the own ratings of largest co-rating weight."""
        model = self.model
        closeness = np.asarray(
            self.arrays["similarity"][item, own.items], np.float32
        )
        most = int(self.numbers["neighbours"])
        chosen = np.argsort(-closeness, kind="stable")[:most].astype(np.int64)
        near, asked = model.loadings[own.items[chosen]], model.loadings[item]
        noise = model.noise + model.variance[own.items[chosen]]
        weights = np.linalg.solve(
            near @ near.T + np.diag(noise), near @ asked
        ).astype(np.float64)
        left = max(float(asked @ asked - weights @ near @ asked), 0.0)
        return ChosenWeights(chosen, weights, left)

    def predict(self, own: Own) -> tuple[Floats, Floats]:
        """A ridge solve for every item; one for all where all own ratings count."""
        model = self.model
        if len(own.items) <= self.numbers["neighbours"]:
            # All own ratings: exactly the ridge solve.
            return super().predict(own)
        mean, left = np.array(model.baseline), np.empty(len(model.baseline))
        rest = own.values - model.baseline[own.items]
        for item in range(len(mean)):
            found = self._weights(own, item)
            mean[item] += found.values @ rest[found.chosen]
            left[item] = found.left
        return mean, np.sqrt(left + model.noise + model.variance)

    def explain(self, own: Own, item: int) -> Reason:
        """What each chosen rating adds; the others add nothing."""
        out = np.zeros(len(own.items))
        if len(own.items):
            found = self._weights(own, item)
            rest = own.values - self.model.baseline[own.items]
            out[found.chosen] = found.values * rest[found.chosen]
        return Reason(float(self.model.baseline[item]), out)

    def predict_cells(self, cells: Cells) -> Floats:
        """As `predict`, compiled."""
        from tacit.kernels.neighbours import predict_neighbours

        model = self.model
        out = np.empty(len(cells.ask_item))
        predict_neighbours(
            cells.ptr,
            cells.item,
            cells.value - model.baseline[cells.item],
            cells.ask_ptr,
            cells.ask_item,
            model.loadings,
            model.noise + model.variance,
            int(self.numbers["neighbours"]),
            np.asarray(self.arrays["similarity"], np.float32),
            out,
        )
        return np.asarray(out + model.baseline[cells.ask_item])
