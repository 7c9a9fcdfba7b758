"""From a cleaned item-item matrix to weights between items: ridge neighbourhoods and EASE.
Post-processing only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def ridge_weights(covariance: Array, to_item: Array, ridge: Array | float) -> Array:
    """Bell & Koren's weights: solve (C + ridge I) w = c, the neighbours' covariance C and
    theirs with the item, c.

    `ridge` is the variance of each neighbour's own noise (a scalar or one a neighbour); the
    prediction is w'y.
    """
    size = len(to_item)
    if size == 0:
        return np.zeros(0, covariance.dtype)
    lhs = np.array(covariance, dtype=np.float64)
    lhs[np.diag_indices(size)] += ridge
    return np.linalg.solve(lhs, np.asarray(to_item, dtype=np.float64))


def similarity(covariance: Array, diagonal: Array, floor: float) -> Array:
    """Cov_ij / sqrt(max(Cov_ii, floor) max(Cov_jj, floor)), clipped to [-1, 1]: Pearson or
    cosine from a noisy Gram."""
    scale = 1.0 / np.sqrt(np.maximum(diagonal, max(floor, 1e-12)))
    out = covariance * scale[:, None] * scale
    return np.asarray(np.clip(out, -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The strongest `item` of each item (items x n; -1 where there are fewer) and its
    `value`: for small devices."""

    item: NDArray[np.int32]
    value: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes that a device holds."""
        return int(self.item.nbytes + self.value.nbytes)


@dataclass(frozen=True, eq=False)
class Product:
    """The rows of L L', each made when it is asked for."""

    loadings: Array

    def __len__(self) -> int:
        return len(self.loadings)

    def __getitem__(self, rows: NDArray[np.int64]) -> Array:
        return np.asarray(self.loadings[rows] @ self.loadings.T)


def strongest(matrix: Array | Product, n: int, *, block: int = 512) -> Neighbours:
    """Each row's `n` entries of largest size off the diagonal, strongest first; ties by
    item number."""
    size = len(matrix)
    n = max(0, min(n, size - 1))
    item = np.full((size, n), -1, np.int32)
    value = np.zeros((size, n), np.float32)
    for start in range(0, size if n else 0, block):
        rows = np.arange(start, min(start + block, size))
        values = matrix[rows]
        strength = np.abs(values).astype(np.float64)
        strength[rows - start, rows] = -1.0
        order = np.argsort(-strength, axis=1, kind="stable")[:, :n]
        picked = np.take_along_axis(values, order, axis=1)
        item[rows] = np.where(picked != 0, order, -1)
        value[rows] = picked
    return Neighbours(item, value)


@dataclass(frozen=True, eq=False)
class LowRankEase:
    """EASE weights B_ji = left_j . right_i for j != i, zero on the diagonal; scores are x'B."""

    left: Array
    right: Array

    def scores(self, liked: NDArray[np.int64]) -> Array:
        """Scores of all items for a person who likes `liked`; her own items are scored by the
        others."""
        out = self.right @ self.left[liked].sum(0)
        out[liked] -= (self.left[liked] * self.right[liked]).sum(1)
        return np.asarray(out)

    def dense(self) -> Array:
        """All weights as one matrix."""
        out = self.left @ self.right.T
        np.fill_diagonal(out, 0.0)
        return np.asarray(out)


def ease(item_factors: Array, diagonal: Array) -> LowRankEase:
    """Ridge of every item on all others (Steck 2019) for the Gram L L' + diag(diagonal),
    diagonal > 0.

    P = (L L' + D)^-1 = D^-1 - U S U' with U = D^-1 L and S = (I + L'D^-1 L)^-1 (Woodbury):
    no cube of the catalogue. B_ji = -P_ji / P_ii.
    """
    work = np.asarray(item_factors, dtype=np.float64)
    inverse = 1.0 / np.asarray(diagonal, dtype=np.float64)
    spread = work * inverse[:, None]
    inner = np.linalg.inv(np.eye(work.shape[1]) + work.T @ spread)
    left_factor = spread @ inner
    inverse_diagonal = inverse - (left_factor * spread).sum(1)
    return LowRankEase(
        left_factor.astype(np.float32), (spread / inverse_diagonal[:, None]).astype(np.float32)
    )
