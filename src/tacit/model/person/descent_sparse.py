"""Own ratings recovered from a projection (Shin et al. 2018, equation 10): the sparsest
vector that projects to B u.

The paper tries this and drops it. It is here to be measured: minimise |x|_1 subject to Phi
x = B u, on the device, by accelerated proximal steps on |Phi x - B u|^2/2 + weight |x|_1
with a small weight. The steps amplify rounding some hundred times, so they are taken in double
precision, and every sum in a fixed order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product, solve
from tacit.model.person.base import Cells, Floats, Own, Reason
from tacit.model.person.descent import Descent
from tacit.model.person.needs import Needed

STEPS = 200
"""Of the recovery."""
WEIGHT = 0.02
"""Of the largest entry of Phi'z: below it an entry is taken as 0."""
STEADY = 1e-10
"""Added to the diagonal, as a share of it: rows of a small projection may be the same."""
PEOPLE = 64
"""Solved side by side where many are asked for."""


class SparseDescent(Descent):
    """Needs `projection` (q x items) beside the arrays of the descent. An item of which
    nothing is recovered is 0."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        **Descent.arrays_needed,
        "projection": Needed(("rows", "items")),
    }

    @cached_property
    def projection(self) -> Floats:
        """The public projection Phi."""
        return np.ascontiguousarray(self.arrays["projection"], np.float64)

    @cached_property
    def _across(self) -> Floats:
        """Phi'."""
        return np.ascontiguousarray(self.projection.T)

    @cached_property
    def reduced(self) -> Floats:
        """B with Phi'B = the last factors."""
        gram = _product(self.projection, self._across)
        gram[np.diag_indices_from(gram)] *= 1 + STEADY
        return solve(gram, _product(self.projection, self.last))

    @cached_property
    def _size(self) -> float:
        """Largest squared singular value of the projection, by the power method."""
        vector = np.ones((self.projection.shape[1], 1))
        for _ in range(50):
            vector = _product(self._across, _product(self.projection, vector))
            vector /= np.sqrt((vector**2).sum())
        return float((_product(self.projection, vector) ** 2).sum()) * 1.01

    def _recover(self, user_factors: Floats) -> Floats:
        """One row of raw ratings a person, from rows of own factors."""
        target = _product(self.reduced, user_factors.T)
        phi, across, rate = self.projection, self._across, 1 / self._size
        threshold = rate * WEIGHT * np.abs(_product(across, target)).max(axis=0)
        recovered = np.zeros((phi.shape[1], user_factors.shape[0]))
        ahead, momentum = recovered, 1.0
        for _ in range(STEPS):
            gradient_step = ahead - rate * _product(across, _product(phi, ahead) - target)
            updated = np.sign(gradient_step) * np.maximum(np.abs(gradient_step) - threshold, 0)
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = updated + (momentum - 1) / grown * (updated - recovered)
            recovered, momentum = updated, grown
        return recovered.T

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """What is recovered of everything that a person would rate."""
        ends = np.array([0, len(user_ratings.items)])
        factors = self._own(ends, user_ratings.items.astype(np.uint32), user_ratings.values)
        mean = self._normalized(self._recover(factors)[0])
        residuals = user_ratings.values - mean[user_ratings.items]
        spread = np.sqrt((1.0 + float(product(residuals, residuals))) / (1 + len(residuals)))
        return mean, np.full(len(mean), spread)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The recovery is not linear in the ratings: what they change together is shared
        out evenly."""
        nobody = Own(user_ratings.items[:0], user_ratings.values[:0])
        baseline, prediction = (
            float(self.predict(rater)[0][item]) for rater in (nobody, user_ratings)
        )
        share = (prediction - baseline) / max(len(user_ratings.items), 1)
        return Reason(baseline, np.full(len(user_ratings.items), share))

    def predict_cells(self, cells: Cells) -> Floats:
        """As `predict`, a few people at a time."""
        factors = self._own(cells.ptr, cells.item, cells.value)
        out = np.empty(len(cells.ask_item))
        for start in range(0, len(factors), PEOPLE):
            ratings = self._normalized(self._recover(factors[start : start + PEOPLE]))
            begin = cells.ask_ptr[start]
            end = cells.ask_ptr[min(start + PEOPLE, len(factors))]
            counts = np.diff(cells.ask_ptr[start : start + PEOPLE + 1])
            out[begin:end] = ratings[
                np.repeat(np.arange(len(counts)), counts), cells.ask_item[begin:end]
            ]
        return out

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, one row a person."""
        return self._normalized(self._recover(self._own(ptr, item, value)))


def _product(left: Floats, right: Floats) -> Floats:
    """`left @ right`, compiled."""
    from tacit.kernels.descent import add_product  # compiled on first use

    out = np.zeros((len(left), right.shape[1]))
    add_product(left, np.ascontiguousarray(right), out)
    return out
