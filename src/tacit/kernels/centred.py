"""What own ratings say of other items once a person's level is taken off, for many people at
once. The plain twin is `tacit.model.person.centred`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]


@njit(cache=True, nogil=True)
def level_rest(
    ptr: Ints,
    residual: Floats,
    prior: float,
    middle: float,
    clamp: float,
    level: Floats,
    residuals: Floats,
) -> None:
    """Each person's average with `prior` fictitious ratings at `middle`, and what it leaves
    of each rating; clamped where `clamp` is above 0."""
    for person in range(ptr.size - 1):
        total = 0.0
        for cell in range(ptr[person], ptr[person + 1]):
            total += residual[cell]
        count = ptr[person + 1] - ptr[person] + prior
        level[person] = (total + prior * middle) / max(count, 1e-12)
        for cell in range(ptr[person], ptr[person + 1]):
            residue = residual[cell] - level[person]
            if clamp > 0:
                residue = min(max(residue, -clamp), clamp)
            residuals[cell] = residue


@njit(cache=True, nogil=True)
def predict_matrix(
    ptr: Ints,
    item: Codes,
    residuals: Floats,
    ask_ptr: Ints,
    ask_item: Codes,
    matrix: Floats,
    ridge: float,
    neighbours: int,
    similarity: Floats,
    out: Floats,
) -> None:
    """What `residuals` adds to every asked cell: ridge weights over the `neighbours` own ratings of
    largest similarity, over all where `neighbours` is 0."""
    for person in range(ptr.size - 1):
        start, count = ptr[person], ptr[person + 1] - ptr[person]
        user_items = item[start : start + count]
        for ask in range(ask_ptr[person], ask_ptr[person + 1]):
            out[ask] = 0.0
            if count == 0:
                continue
            target = ask_item[ask]
            if neighbours > 0 and count > neighbours:
                strength = np.empty(count)
                for i in range(count):
                    strength[i] = -similarity[target, user_items[i]]
                nearest = np.argsort(strength, kind="mergesort")[:neighbours]
            else:
                nearest = np.arange(count)
            size = len(nearest)
            system = np.empty((size, size))
            right = np.empty(size)
            for i in range(size):
                right[i] = matrix[user_items[nearest[i]], target]
                for j in range(size):
                    system[i, j] = matrix[user_items[nearest[i]], user_items[nearest[j]]]
                system[i, i] += ridge
            weights = np.linalg.solve(system, right)
            for i in range(size):
                out[ask] += weights[i] * residuals[start + nearest[i]]
