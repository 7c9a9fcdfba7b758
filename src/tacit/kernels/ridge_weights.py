"""Ridge weights over the published neighbours of an item that a person has rated, for many
people and cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]

STEADY = 0.1
"""Least part of a neighbour's variance that the closer ones must leave: below, covariances
left out tell."""


@njit(cache=True, nogil=True)
def steady_weights(system: Floats, right: Floats) -> Floats:
    """Solve for as many of the first neighbours, all or a half, a quarter .., as make a
    steady system; else 0."""
    size = right.size
    out = np.zeros(size)
    factor = np.empty((size, size))
    while size > 0:
        good = True
        for i in range(size):
            for j in range(i + 1):
                total = system[i, j]
                for k in range(j):
                    total -= factor[i, k] * factor[j, k]
                if i == j:
                    good = good and total >= STEADY * system[i, i]
                    factor[i, i] = np.sqrt(max(total, 1e-12))
                else:
                    factor[i, j] = total / factor[j, j]
            if not good:
                break
        if good:
            break
        size //= 2
    for i in range(size):
        total = right[i]
        for k in range(i):
            total -= factor[i, k] * out[k]
        out[i] = total / factor[i, i]
    for i in range(size - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, size):
            total -= factor[k, i] * out[k]
        out[i] = total / factor[i, i]
    return out


@njit(cache=True, nogil=True)
def predict_kept(
    ptr: Ints,
    item: Codes,
    residual: Floats,
    ask_ptr: Ints,
    ask_item: Codes,
    start: Ints,
    neighbour: NDArray[np.int32],
    covariance: Floats,
    variance: Floats,
    limit: int,
    out: Floats,
) -> None:
    """Write what neighbours add to each asked cell, each person alone; `residual` is what the
    level leaves of ratings."""
    cell = np.full(variance.size, -1, np.int64)
    slot = np.full(variance.size, -1, np.int64)
    selected = np.empty(limit, np.int64)
    right = np.empty(limit)
    system = np.empty((limit, limit))
    for person in range(ptr.size - 1):
        for k in range(ptr[person], ptr[person + 1]):
            cell[item[k]] = k
        for ask in range(ask_ptr[person], ask_ptr[person + 1]):
            size = 0
            for k in range(start[ask_item[ask]], start[ask_item[ask] + 1]):
                if size < limit and cell[neighbour[k]] >= 0:
                    selected[size], right[size] = neighbour[k], covariance[k]
                    slot[neighbour[k]] = size
                    size += 1
            system[:size, :size] = 0.0
            for i in range(size):
                system[i, i] = variance[selected[i]]
                for k in range(start[selected[i]], start[selected[i] + 1]):
                    j = slot[neighbour[k]]
                    if j >= 0:
                        system[i, j] = system[j, i] = covariance[k]
            weights = steady_weights(system[:size, :size], right[:size])
            out[ask] = 0.0
            for i in range(size):
                out[ask] += weights[i] * residual[cell[selected[i]]]
                slot[selected[i]] = -1
        for k in range(ptr[person], ptr[person + 1]):
            cell[item[k]] = -1
