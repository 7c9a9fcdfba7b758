"""Exact coins: a probability known only through ever narrower intervals, compared with a
number of ever more bits.

Guarantee: `below` is true with exactly the given probability. Write u for a uniform number
in [0, 1) whose bits are drawn one word at a time. With b bits seen, u lies in a known
interval of width 2^-b; the answer is given only when that interval and the probability's do
not overlap, so it is the answer of the exact comparison. The expected number of words is
below 3. A caller that has already compared some bits of u passes them as `prefix`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.noise.bits import Bits
from tacit.noise.interval import Real, exp_minus_rational, nearest


def below(probability: Real, bits: Bits, prefix: int = 0, precision: int = 0) -> bool:
    """Whether u < probability, for the uniform u whose first `precision` bits are `prefix`."""
    while True:
        prefix, precision = prefix << 64 | bits.word(), precision + 64
        low, high = probability(precision)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False


def exp_coin(exponent: Fraction, bits: Bits) -> bool:
    """True with probability exp(-exponent), exponent >= 0."""
    return below(lambda precision: exp_minus_rational(exponent, precision), bits)


def geometric(rate: Fraction, bits: Bits) -> int:
    """t = 0, 1, 2, ... with probability proportional to exp(-rate t); pure Python, for rare
    events and tests.

    Canonne, Kamath & Steinke (2020): with rate = a/b, t = floor(x/a) for x of rate 1/b, and
    x = u + b v with u uniform below b kept with probability exp(-u/b), and v of rate 1.
    """
    a, b = rate.numerator, rate.denominator
    while True:
        u = bits.below(b)
        if exp_coin(Fraction(u, b), bits):
            break
    v = 0
    while exp_coin(Fraction(1), bits):
        v += 1
    return (u + b * v) // a


def coins(
    x: NDArray[np.float64],
    error: NDArray[np.float64],
    factor: NDArray[np.float64],
    exact: Callable[[int], Real],
    bits: Bits,
    margin: float | None = None,
) -> NDArray[np.bool_]:
    """Independent exact coins of probability factor * exp(-x), in floats that together are
    off by `error` at most.

    `exact(i)` is the probability of coin i as a `Real`, asked for only where 53 bits and
    the floats do not decide.
    """
    from tacit.noise import kernels

    words, out = bits.words(x.size), np.empty(x.size, dtype=np.uint8)
    margin = kernels.MARGIN if margin is None else max(margin, kernels.MARGIN)
    kernels.flips(x, error, factor, words, _powers(), margin, out)
    for i in np.flatnonzero(out == 2).tolist():
        out[i] = below(exact(i), bits, int(words[i]) >> 11, 53)
    return out.astype(np.bool_)


@lru_cache(maxsize=1)
def _powers() -> NDArray[np.float64]:
    """exp(-i/4) for i = 0..255, each rounded once."""
    return np.array([nearest(exp_minus_rational(Fraction(i, 4), 160), 160) for i in range(256)])
