"""McSherry & Mironov's neighbourhoods as printed: neighbours are the own items of largest co-rating weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.model.personal import Floats
from tacit.model.ridge_neighbours import RidgeNeighbours


class WeightedNeighbours(RidgeNeighbours):
    """The arrays of `RidgeNeighbours` and `similarity`, the released weight matrix."""

    @property
    def _similarity(self) -> NDArray[np.float32]:
        return np.asarray(self.arrays["similarity"], np.float32)

    def _choose(self, items: NDArray[np.int64], item: int, covariance: Floats, noise: Floats) -> NDArray[np.int64]:
        order = np.argsort(-self._similarity[item, items], kind="stable")
        return order[: int(self.numbers["neighbours"])].astype(np.int64)
