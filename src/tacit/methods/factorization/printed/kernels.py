"""One epoch of the printed gradient descent, in double precision: one rating after the other,
person by person."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]


@njit(cache=True, nogil=True)
def noisy_epoch(
    ptr: Ints,
    item: Codes,
    base: Floats,
    lift: Floats,
    own: Floats,
    factors: Floats,
    rate: float,
    ridge: float,
    limit: float,
    lifted: bool,
    in_turn: bool,
    noise: Floats,
) -> float:
    """As printed by Xian et al. (Algorithm 1) and Berlioz et al.: noise on every error, a
    clamp, then the two factor steps.

    `base` is each rating less its fixed biases; `lift` is what a person's implicit ratings
    add to every factor (0 for plain SVD), in predictions, and in an item's step only if
    `lifted`. `in_turn`: that step sees the person's new factors. Gives the sum of squared
    errors before the noise.
    """
    width = factors.shape[1]
    total = 0.0
    for person in range(ptr.size - 1):
        p = own[person]
        up = lift[person]
        for cell in range(ptr[person], ptr[person + 1]):
            q = factors[item[cell]]
            error = base[cell]
            for a in range(width):
                error -= (p[a] + up) * q[a]
            total += error * error
            noisy = min(max(error + noise[cell], -limit), limit)
            for a in range(width):
                before = p[a]
                p[a] = before + rate * (noisy * q[a] - ridge * before)
                seen = p[a] if in_turn else before
                if lifted:
                    seen += up
                q[a] = q[a] + rate * (noisy * seen - ridge * q[a])
    return total
