"""A person's own steps along published item factors (Shin et al. 2018): what she does in the
rounds of the descent, and again with the published model; and products for what she recovers.

Its plain twin is in `tests/kernels/test_one_bit.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit


@njit(cache=True, nogil=True)
def advance(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    rating: NDArray[np.float64],
    path: NDArray[np.float32],
    start: NDArray[np.float64],
    rate: float,
    ridge: float,
    over: float,
    profiles: NDArray[np.float64],
) -> None:
    """Steps of equations (2) and (4) on each person's own factors, along the published item
    factors `path`.

    The last column of `profiles` counts the steps done, plus one; 0 is a device that has not
    begun. A device that was away catches up. The error is averaged over the person's own
    ratings, or divided by `over` unless that is 0.
    """
    width = path.shape[2]
    gradient = np.empty(width)
    for person in range(len(ptr) - 1):
        if profiles[person, width] == 0.0:
            profiles[person, :width] = start
            profiles[person, width] = 1.0
        count = over if over > 0 else max(ptr[person + 1] - ptr[person], 1)
        for step in range(np.int64(profiles[person, width]) - 1, path.shape[0]):
            gradient[:] = 0.0
            for cell in range(ptr[person], ptr[person + 1]):
                error = rating[cell]
                for a in range(width):
                    error -= profiles[person, a] * path[step, item[cell], a]
                for a in range(width):
                    gradient[a] -= 2.0 * error * path[step, item[cell], a]
            for a in range(width):
                profiles[person, a] -= (
                    rate / (step + 1) * (gradient[a] / count + 2.0 * ridge * profiles[person, a])
                )
        profiles[person, width] = path.shape[0] + 1


@njit(cache=True, nogil=True)
def add_product(
    left: NDArray[np.float64], right: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """out += left right, term after term: people stand side by side in the columns of `right`,
    and each one's sums are the same alone and among others, on every processor."""
    for row in range(left.shape[0]):
        if out.shape[1] == 1:  # several times as fast
            one = out[row, 0]
            for k in range(left.shape[1]):
                one += left[row, k] * right[k, 0]
            out[row, 0] = one
            continue
        total = out[row]
        for k in range(left.shape[1]):
            by = left[row, k]
            line = right[k]
            for person in range(total.size):
                total[person] += by * line[person]
