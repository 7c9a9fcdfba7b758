"""The public random projection of Shin et al. (2018), Algorithm 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.one_bit.one_bit import ProjectedSettings

Floats = NDArray[np.float64]
STEADY = 1e-5
"""Added to the diagonal, as a share of it: a square projection is near singular."""


class Projection:
    """A public q x m projection, kept once; its pseudo-inverse is applied by a solve and
    never formed.

    With `recover` = ratings the descent is on B (equation 9). In terms of V = Phi'B it is
    the same descent with Phi' in place of the pseudo-inverse, from a start in the row
    space.
    """

    def __init__(self, items: int, settings: ProjectedSettings, rng: np.random.Generator) -> None:
        self.rows = reduced_rows(items, settings)
        self.transposed = settings.recover == "ratings"
        shape = (self.rows, items)
        if settings.entries == "sign":
            signs = rng.integers(0, 2, shape, dtype=np.int8)
            entries = 2 * signs.astype(np.float32) - 1
        else:
            entries = rng.standard_normal(shape, dtype=np.float32)
        self.matrix = entries / np.float32(np.sqrt(self.rows))
        self._solve: Any = None

    def back(self, gradient: Floats, exact: bool = False) -> Floats:
        """From the projected gradient (or the `exact` exact one) to the step on the item
        factors."""
        if exact and not self.transposed:
            return gradient
        if exact:
            return self.matrix.T @ (self.matrix @ gradient)
        if self.transposed:
            return self.matrix.T @ gradient
        return self._inverse(gradient)

    def inside(self, factors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The part of the factors in the row space."""
        return self._inverse(self.matrix @ factors).astype(np.float32)

    def _inverse(self, reduced: NDArray[Any]) -> Floats:
        """Phi'(Phi Phi')^-1 `reduced`, by one Cholesky factorization that is kept for all
        rounds."""
        from scipy.linalg import cho_factor, cho_solve

        if self._solve is None:
            gram = self.matrix @ self.matrix.T
            gram[np.diag_indices_from(gram)] *= 1 + STEADY
            self._solve = cho_factor(gram, overwrite_a=True)
        solved = cho_solve(self._solve, reduced.astype(np.float32))
        result: Floats = (self.matrix.T @ solved).astype(np.float64)
        return result


def reduced_rows(items: int, settings: ProjectedSettings) -> int:
    """q: as it was said, or a share of the items; no more than there are."""
    rows = settings.projection or round(settings.share * items)
    return max(1, min(rows, items))
