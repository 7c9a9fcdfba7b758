"""Randomized response: one bit, +1 with probability (1 + x t)/2, t = tanh(epsilon/2), for a
value x in [-1, 1].

Guarantee: for any two values the chances of either report differ by a factor of at most
e^epsilon, exactly. The report
is +1 iff a uniform 63-bit number is below H = 2^62 + q, q an integer with |q| <= T, T =
floor(2^62 t) from a rigorous
lower bound of t. So both chances lie between (2^62 - T)/2^63 and (2^62 + T)/2^63, whose
ratio is at most
(1 + t)/(1 - t) = e^epsilon. Privacy needs only |q| <= T, which is enforced in integers.
That q is x T up to a relative
2^-51 matters for accuracy alone: the report, divided by t, is unbiased to that precision.

| value | treated as |
|---|---|
| below -1, above 1, infinite | the nearer end |
| NaN | 0: a fair coin |
| bool | False -1, True +1 |
| empty | empty; draws nothing |
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise.bits import Bits, fresh
from tacit.noise.interval import exp_minus_rational

_HALF = 1 << 62


def randomized_response(
    values: NDArray[Any], epsilon: float, bits: Bits | None = None
) -> NDArray[np.int8]:
    """One report, -1 or +1, for each value (floats in [-1, 1], int8 in -1, 0, 1, or
    booleans); see the table above."""
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise SettingError(
            f"epsilon must be positive and finite, not {epsilon!r}",
            remedy="choose a finite epsilon",
        )
    bound = response_bound(float(epsilon))
    flat = np.asarray(values)
    if flat.dtype == np.bool_:
        flat = 2 * flat.astype(np.int8) - 1
    x = np.clip(np.nan_to_num(flat.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
    # |x| times a float of T could round up past T, so the integer is cut to T; 2^62 itself
    # still fits int64.
    shift = np.minimum((np.abs(x) * float(bound)).astype(np.int64), bound)
    height = (_HALF + np.where(x < 0, -shift, shift)).astype(np.uint64)
    words = (bits or fresh()).words(x.size).reshape(x.shape) >> np.uint64(1)
    return np.where(words < height, np.int8(1), np.int8(-1)).astype(np.int8)


@lru_cache(maxsize=64)
def response_bound(epsilon: float) -> int:
    """T = floor(2^62 tanh(epsilon/2)), never above: tanh(epsilon/2) = (1 - q)/(1 + q), q =
    exp(-epsilon)."""
    precision = 128
    _, high = exp_minus_rational(Fraction(epsilon), precision)
    unit = 1 << precision
    return max(0, (unit - high) * _HALF // (unit + high))
