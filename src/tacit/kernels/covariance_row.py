"""One person's row of a covariance, compiled. Its plain twin is in
`tests/equivalence/test_covariance_reference.py`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def centred_factors(
    ptr: NDArray[np.int64],
    residuals: Floats,
    inside: NDArray[np.bool_],
    clip: float,
    shrink: float,
    limit: float,
    offset: float,
    out: Floats,
) -> None:
    """y/sqrt(|y|^2 + offset) over the cells `inside`, y = residuals less the person's own
    shrunk mean, clamped."""
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        total = 0.0
        for cell in range(start, end):
            total += min(max(residuals[cell], -clip), clip)
        mean = total / (end - start + shrink)
        length = offset
        for cell in range(start, end):
            out[cell] = 0.0
            if inside[cell]:
                y = min(max(min(max(residuals[cell], -clip), clip) - mean, -limit), limit)
                out[cell] = y
                length += y * y
        scale = 1.0 / np.sqrt(length)
        for cell in range(start, end):
            out[cell] *= scale
