"""Section 4.6 of McSherry & Mironov: from released sums and weights of pairs to covariances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.item_item.plan import PrintedState
from tacit.methods.refine.spectrum import leading

Floats = NDArray[np.float64]
LEAST_COUNT = 1.0
"""Of a noisy count that is divided by, or whose root scales."""


def averaged(state: PrintedState, shrinkage: Floats, least_weight: float) -> Floats:
    """(Cov + b mean Cov)/(Wgt + b mean Wgt), with one b for the diagonal and one for the
    rest; with none of either the plain Cov/Wgt. A divisor is at least `least_weight` of the mean
    weight."""
    covariance = np.asarray(state.covariance, np.float64)
    weights = np.asarray(state.weights, np.float64)
    size = len(covariance)
    out = np.empty_like(covariance)
    diagonal = np.diag_indices(size)
    off = max(size * (size - 1), 1)
    # The diagonal last: it overwrites what the rest's rule gave.
    total = covariance.sum() - covariance[diagonal].sum()
    heavy = weights.sum() - weights[diagonal].sum()
    out[:] = _shrunk(covariance, weights, shrinkage[1], total / off, heavy / off, least_weight)
    out[diagonal] = _shrunk(
        covariance[diagonal],
        weights[diagonal],
        shrinkage[0],
        covariance[diagonal].mean(),
        weights[diagonal].mean(),
        least_weight,
    )
    return out


def _shrunk(
    covariance: Floats,
    weights: Floats,
    pull: float,
    mean: float,
    mean_weight: float,
    least_weight: float,
) -> Floats:
    floor = least_weight * abs(mean_weight) + 1e-12
    divisor = np.maximum(weights + pull * mean_weight, floor)
    return np.asarray((covariance + pull * mean) / divisor)


def factor(
    state: PrintedState,
    shrinkage: Floats,
    clean: bool,
    rank: int,
    least_weight: float,
    *,
    roughly: bool = False,
) -> Floats:
    """Rank k of the matrix scaled by sqrt(MCnt_i MCnt_j) and scaled back; one row an item.
    Without cleaning neither shrunk nor scaled. `roughly`: by subspace iteration."""
    pull = shrinkage if clean else np.zeros(2)
    matrix = averaged(state, pull, least_weight)
    scale = np.ones(len(matrix))
    if clean:
        scale = np.sqrt(np.maximum(state.count, LEAST_COUNT))
        matrix = matrix * scale[:, None] * scale
    if roughly:
        values, vectors = leading(matrix.astype(np.float32), rank)
    else:
        values, vectors = leading(matrix, rank)
    rows = vectors * np.sqrt(np.maximum(values, 0)) / scale[:, None]
    return np.ascontiguousarray(rows, np.float64)
