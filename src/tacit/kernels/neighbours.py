"""What the neighbours of an item say about a person's rating of it, for many people at once:
by given similarities, or by ridge weights over the ratings that covary most.

The plain twins are the personal models of `tacit.model.person`, one item at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]


@njit(cache=True, nogil=True)
def predict_cells(
    ptr: Ints,
    item: Codes,
    residuals: Floats,
    ask_ptr: Ints,
    ask_item: Codes,
    start: Ints,
    neighbour: NDArray[np.int32],
    similarity: Floats,
    floor: float,
    out: Floats,
) -> None:
    """What each person's neighbours add to each asked item, from what her own ratings leave
    over; each person alone."""
    mine = np.zeros(start.size - 1)
    rated = np.zeros(start.size - 1, np.bool_)
    for person in range(ptr.size - 1):
        for k in range(ptr[person], ptr[person + 1]):
            mine[item[k]] = residuals[k]
            rated[item[k]] = True
        for ask in range(ask_ptr[person], ask_ptr[person + 1]):
            weighted, size = 0.0, 0.0
            for at in range(start[ask_item[ask]], start[ask_item[ask] + 1]):
                if rated[neighbour[at]]:
                    weighted += similarity[at] * mine[neighbour[at]]
                    size += abs(similarity[at])
            out[ask] = weighted / max(size, floor)
        for k in range(ptr[person], ptr[person + 1]):
            rated[item[k]] = False


@njit(cache=True, nogil=True)
def predict_neighbours(
    ptr: Ints,
    item: Codes,
    residuals: Floats,
    ask_ptr: Ints,
    ask_item: Codes,
    item_factors: Floats,
    noise: Floats,
    neighbours: int,
    similarity: NDArray[np.float32],
    out: Floats,
) -> None:
    """Write the predicted deviation from the baseline for every asked cell, each person alone.

    `similarity` (items x items) chooses the neighbours; where it is empty, their covariance does.
    """
    for person in range(ptr.size - 1):
        start, count = ptr[person], ptr[person + 1] - ptr[person]
        if ask_ptr[person] == ask_ptr[person + 1]:
            continue
        user_items = item[start : start + count]
        rows = item_factors[user_items]
        for ask in range(ask_ptr[person], ask_ptr[person + 1]):
            out[ask] = 0.0
            if count == 0:
                continue
            covariance = rows @ item_factors[ask_item[ask]]
            strength = np.empty(count)
            for i in range(count):
                if similarity.shape[0] > 0:
                    strength[i] = -similarity[ask_item[ask], user_items[i]]
                else:
                    strength[i] = -abs(covariance[i]) / np.sqrt(noise[user_items[i]])
            nearest = np.argsort(strength, kind="mergesort")[:neighbours]
            near = rows[nearest]
            system = near @ near.T
            for i in range(len(nearest)):
                system[i, i] += noise[user_items[nearest[i]]]
            weights = np.linalg.solve(system, covariance[nearest])
            for i in range(len(nearest)):
                out[ask] += weights[i] * residuals[start + nearest[i]]
