"""The K-norm law on Z^d: pmf(k) ~ exp(-|k|_2 / scale), for short vectors (d <= 15).

Guarantee: added to integer vectors of L2 sensitivity D (in steps) it is exactly epsilon = D
/ scale: the normalising
constant is the same for all centres on Z^d, and | |k|_2 - |k'|_2 | <= |k - k'|_2.

Exactness: candidates are d independent discrete Laplace draws of scale b >= scale *
sqrt(d), checked in rationals, so
exp(-|k|_1/b) falls no faster than the target: |k|_1/b <= |k|_2 sqrt(d)/b <= |k|_2/scale.
Keeping k with probability
exp(-(|k|_2/scale - |k|_1/b)) <= 1 gives the target. The float exponent is off by at most 12
roundings on |k|_2/scale,
20 on |k|_1/b (which is no larger) and one on the difference: below 2^-47 |k|_2/scale; near
calls go to big integers.
The share kept falls with d: about .09 at 10 and .023 at 15, which is why 15 is the limit.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise.bits import Bits, fresh
from tacit.noise.coin import coins
from tacit.noise.interval import Real, exp_minus
from tacit.noise.laplace import discrete_laplace
from tacit.noise.strips import MAX_SCALE, check_scale

MAX_DIMENSION = 15
_CHUNK_DRAWS = 1 << 18


def knorm(
    rows: int,
    dimension: int,
    scale: float,
    bits: Bits | None = None,
    *,
    margin: float | None = None,
) -> NDArray[np.int64]:
    """`rows` independent vectors of `dimension` integers, pmf(k) ~ exp(-|k|_2 / scale).

    `margin` is as in `draw.draw`: for tests of the exact path.
    """
    if not 1 <= dimension <= MAX_DIMENSION:
        raise SettingError(
            f"the K-norm law is offered for 1 to {MAX_DIMENSION} dimensions, not {dimension}",
            remedy="use Laplace on the L1 sensitivity, or Gaussian noise",
        )
    exact = check_scale("scale", scale)
    wide = _at_least_root(dimension, exact)
    if wide > MAX_SCALE:
        raise SettingError(
            f"scale {scale!r} is too large in {dimension} dimensions", remedy="use a coarser grid"
        )
    bits = bits or fresh()
    out = np.empty((rows, dimension), dtype=np.int64)
    filled = 0
    accepted = 1
    tried = 2
    while filled < rows:
        proposals = int(1.2 * (rows - filled) * tried / accepted) + 8
        count = max(1, min(proposals, _CHUNK_DRAWS // dimension))
        candidates = discrete_laplace(count * dimension, wide, bits).reshape(count, dimension)
        batch = candidates[_keep(candidates, exact, wide, bits, margin)][: rows - filled]
        out[filled : filled + len(batch)] = batch
        filled = filled + len(batch)
        accepted = accepted + len(batch)
        tried = tried + count
    return out


def _at_least_root(dimension: int, scale: Fraction) -> float:
    """A float that is at least scale * sqrt(dimension), shown by squaring in rationals."""
    wide = math.sqrt(dimension) * float(scale)
    while Fraction(wide) ** 2 < dimension * scale**2:
        wide = math.nextafter(wide, math.inf)
    return wide


def _keep(
    candidates: NDArray[np.int64], scale: Fraction, wide: float, bits: Bits, margin: float | None
) -> NDArray[np.bool_]:
    values = candidates.astype(np.float64)
    length = np.sqrt(np.sum(values * values, axis=1)) / float(scale)
    x = length - np.sum(np.abs(values), axis=1) / wide

    def exact(i: int) -> Real:
        row: list[int] = candidates[i].tolist()
        squares, steps = (sum(k * k for k in row), sum(map(abs, row)) / Fraction(wide))
        return lambda precision: _probability(squares, steps, scale, precision)

    return coins(x, length * 2.0**-47, np.ones_like(x), exact, bits, margin)


def _probability(squares: int, steps: Fraction, scale: Fraction, precision: int) -> tuple[int, int]:
    """exp(-(sqrt(squares)/scale - steps)) as an interval."""
    work = precision + 64
    root = math.isqrt(squares << 2 * work)
    low = math.floor(root / scale - (steps * 2**work))
    high = math.ceil((root + 1) / scale - (steps * 2**work))
    a, b = exp_minus((low, max(high, 0)), work)
    return a >> 64, -(-b >> 64)
