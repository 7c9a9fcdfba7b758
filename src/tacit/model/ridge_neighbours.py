"""Neighbourhood predictions from a released covariance: ridge weights over the own ratings that covary most.

Shared arrays as for the personal Gaussian model; the covariance of two items is the product of their loadings. The
number `neighbours` says how many own ratings a prediction uses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.model.gaussian_personal import GaussianPersonal
from tacit.model.personal import Cells, Floats, Own, Reason


class RidgeNeighbours(GaussianPersonal):
    """Bell & Koren's weights, a small solve for each item asked about."""

    def _weights(self, own: Own, item: int) -> tuple[NDArray[np.int64], Floats, float]:
        """(chosen own ratings, their weights, what is left of the item's own variance)."""
        model = self.model
        rows = model.loadings[own.items]
        covariance = rows @ model.loadings[item]
        noise = model.noise + model.variance[own.items]
        chosen = self._choose(own.items, item, covariance, noise)
        near = rows[chosen]
        weights = np.linalg.solve(near @ near.T + np.diag(noise[chosen]), covariance[chosen])
        own_variance = float(model.loadings[item] @ model.loadings[item])
        return chosen, weights, max(own_variance - float(weights @ covariance[chosen]), 0.0)

    @property
    def _similarity(self) -> NDArray[np.float32]:
        """What chooses neighbours where it is not their covariance; else empty."""
        return np.zeros((0, 0), np.float32)

    def _choose(self, items: NDArray[np.int64], item: int, covariance: Floats, noise: Floats) -> NDArray[np.int64]:
        order = np.argsort(-np.abs(covariance) / np.sqrt(noise), kind="stable")
        return order[: int(self.numbers["neighbours"])].astype(np.int64)

    def predict(self, own: Own) -> tuple[Floats, Floats]:
        model = self.model
        if len(own.items) == 0:
            return super().predict(own)
        if len(own.items) <= self.numbers["neighbours"]:  # all own ratings: exactly the ridge solve
            return super().predict(own)
        mean, left = np.array(model.baseline), np.empty(len(model.baseline))
        rest = own.values - model.baseline[own.items]
        for item in range(len(mean)):
            chosen, weights, left[item] = self._weights(own, item)
            mean[item] += weights @ rest[chosen]
        return mean, np.sqrt(left + model.noise + model.variance)

    def explain(self, own: Own, item: int) -> Reason:
        out = np.zeros(len(own.items))
        if len(own.items):
            chosen, weights, _ = self._weights(own, item)
            out[chosen] = weights * (own.values - self.model.baseline[own.items])[chosen]
        return Reason(float(self.model.baseline[item]), out)

    def predict_cells(self, cells: Cells) -> Floats:
        from tacit.kernels.ridge_neighbours import predict_neighbours

        model = self.model
        out = np.empty(len(cells.ask_item))
        predict_neighbours(
            cells.ptr, cells.item, cells.value - model.baseline[cells.item], cells.ask_ptr, cells.ask_item,
            model.loadings, model.noise + model.variance, int(self.numbers["neighbours"]),
            self._similarity, out,
        )  # fmt: skip
        return np.asarray(out + model.baseline[cells.ask_item])
