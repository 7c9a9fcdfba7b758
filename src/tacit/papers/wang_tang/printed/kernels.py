"""The gradient of Wang & Tang's loss by every similarity, row by row.

Row i of the similarities enters no other item's prediction, so threads share nothing. The
plain twin is `tests/papers/printed/wang_tang.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit


@njit(cache=True, nogil=True)
def gradient_pairs(
    ptr: Any,
    item: Any,
    dev: Any,
    start: Any,
    user: Any,
    cell: Any,
    in_batch: Any,
    similarity: Any,
    floor: float,
    clamp: float,
    reach: float,
    first: int,
    last: int,
    out: Any,
) -> None:
    """Rows first..last-1 of the sum over `in_batch` cells of e d(prediction)/ds (equation 5
    with the sign that its text leaves out), e clamped to +-clamp.

    Where `floor` divides instead of the total similarity, the divisor does not move with
    s. A neighbour that differs from the prediction by more than `reach` is left out.
    """
    for i in range(first, last):
        row = similarity[i]
        out[i] = 0.0
        for at in range(start[i], start[i + 1]):
            u, mine = np.int64(user[at]), np.int64(cell[at])
            if not in_batch[mine]:
                continue
            weighted = 0.0
            size = 0.0
            for k in range(ptr[u], ptr[u + 1]):
                if k != mine:
                    s = row[item[k]]
                    weighted += s * dev[k]
                    size += abs(s)
            divisor = max(size, floor)
            guess = weighted / divisor
            error = min(max(guess - dev[mine], -clamp), clamp) / divisor
            turning = guess if size > floor else 0.0
            for k in range(ptr[u], ptr[u + 1]):
                difference = dev[k] - np.sign(row[item[k]]) * turning
                if k != mine and abs(difference) <= reach:
                    out[i, item[k]] += error * difference


@njit(cache=True, nogil=True)
def published_pairs(
    ptr: Any,
    item: Any,
    dev: Any,
    start: Any,
    user: Any,
    cell: Any,
    rating: Any,
    similarity: Any,
    floor: float,
    first: int,
    last: int,
    out: Any,
) -> None:
    """The same as the authors' published program has it: an item is its own neighbour, the
    error is the centred prediction less the raw rating, and the total similarity counts as
    constant."""
    for i in range(first, last):
        row = similarity[i]
        out[i] = 0.0
        for at in range(start[i], start[i + 1]):
            u = np.int64(user[at])
            weighted = 0.0
            size = 0.0
            for k in range(ptr[u], ptr[u + 1]):
                s = row[item[k]]
                weighted += s * dev[k]
                size += abs(s)
            divisor = max(size, floor)
            error = (weighted / divisor - rating[cell[at]]) / divisor
            for k in range(ptr[u], ptr[u + 1]):
                out[i, item[k]] += error * dev[k]
