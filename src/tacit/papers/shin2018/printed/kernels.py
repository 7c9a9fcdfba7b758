"""The printed descent of Shin et al. (2018), one person at a time: one coordinate of her
gradient for the items, drawn by a public hash, or all of it. `rating` is on the raw scale,
as the paper has no biases. Her own steps are `tacit.kernels.descent`.

Plain twins are in `tests/kernels/test_one_bit.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.kernels.directions import mixed


@njit(cache=True, nogil=True)
def draw_coordinates(
    people: NDArray[np.int64], key: np.uint64, rows: int, out: NDArray[np.int64]
) -> None:
    """The coordinate that each person is asked about: public, and uniform to within 2^-64 x
    rows."""
    for person in range(len(people)):
        out[person] = np.int64(mixed(key ^ mixed(np.uint64(people[person]))) % np.uint64(rows))


@njit(cache=True, nogil=True)
def item_gradient(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    rating: NDArray[np.float64],
    factors: NDArray[np.float32],
    user_factors: NDArray[np.float64],
    coordinates: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Algorithm 1, line 8: -2 y_ij u_il (r_ij - u_i'v_j) at the drawn (j, l); 0 where she
    has not rated j."""
    width = factors.shape[1]
    for person in range(len(ptr) - 1):
        target_item, column = coordinates[person] // width, coordinates[person] % width
        out[person] = 0.0
        for cell in range(ptr[person], ptr[person + 1]):
            if item[cell] == target_item:
                error = rating[cell]
                for a in range(width):
                    error -= user_factors[person, a] * factors[target_item, a]
                out[person] = -2.0 * user_factors[person, column] * error


@njit(cache=True, nogil=True)
def projected_gradient(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    rating: NDArray[np.float64],
    factors: NDArray[np.float32],
    user_factors: NDArray[np.float64],
    projection: NDArray[np.float32],
    coordinates: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Algorithm 2, lines 7 and 8, at the drawn (s, l) only: one row of the projection meets
    her own ratings."""
    width = factors.shape[1]
    for person in range(len(ptr) - 1):
        row, column = coordinates[person] // width, coordinates[person] % width
        total = 0.0
        for cell in range(ptr[person], ptr[person + 1]):
            error = rating[cell]
            for a in range(width):
                error -= user_factors[person, a] * factors[item[cell], a]
            total += projection[row, item[cell]] * error
        out[person] = -2.0 * user_factors[person, column] * total


@njit(cache=True, nogil=True)
def whole_gradient(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    rating: NDArray[np.float64],
    factors: NDArray[np.float32],
    user_factors: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The gradient row of each of her cells: for the naive method and for the non-private twin."""
    width = factors.shape[1]
    for person in range(len(ptr) - 1):
        for cell in range(ptr[person], ptr[person + 1]):
            error = rating[cell]
            for a in range(width):
                error -= user_factors[person, a] * factors[item[cell], a]
            for a in range(width):
                out[cell, a] = -2.0 * user_factors[person, a] * error
