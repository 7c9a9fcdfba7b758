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
    rest: Floats,
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
            left = residual[cell] - level[person]
            if clamp > 0:
                left = min(max(left, -clamp), clamp)
            rest[cell] = left


@njit(cache=True, nogil=True)
def predict_matrix(
    ptr: Ints,
    item: Codes,
    rest: Floats,
    ask_ptr: Ints,
    ask_item: Codes,
    matrix: Floats,
    ridge: float,
    most: int,
    similarity: Floats,
    out: Floats,
) -> None:
    """What `rest` adds to every asked cell: ridge weights over the `most` own ratings of
    largest similarity, over all where `most` is 0."""
    for person in range(ptr.size - 1):
        first, count = ptr[person], ptr[person + 1] - ptr[person]
        own = item[first : first + count]
        for ask in range(ask_ptr[person], ask_ptr[person + 1]):
            out[ask] = 0.0
            if count == 0:
                continue
            asked = ask_item[ask]
            if most > 0 and count > most:
                strength = np.empty(count)
                for i in range(count):
                    strength[i] = -similarity[asked, own[i]]
                chosen = np.argsort(strength, kind="mergesort")[:most]
            else:
                chosen = np.arange(count)
            size = len(chosen)
            system = np.empty((size, size))
            right = np.empty(size)
            for i in range(size):
                right[i] = matrix[own[chosen[i]], asked]
                for j in range(size):
                    system[i, j] = matrix[own[chosen[i]], own[chosen[j]]]
                system[i, i] += ridge
            weights = np.linalg.solve(system, right)
            for i in range(size):
                out[ask] += weights[i] * rest[first + chosen[i]]
