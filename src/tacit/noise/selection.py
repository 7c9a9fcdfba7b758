"""Permute-and-flip (McKenna & Sheldon, 2020): choose a candidate of high score, with pure epsilon.

Guarantee: scores are integers of which one unit moves each by at most `sensitivity`.
Candidates are visited in uniform random order, each taken with probability exp(-epsilon
(best - score)/(2 sensitivity)); the first taken is the answer. This is epsilon-DP and never
worse than the exponential mechanism. Exact: the order is that of distinct random 64-bit
keys (all redrawn on a tie), the coins are those of `coin.coins` with epsilon and
sensitivity as exact rationals. The float exponent is off by at most 4 roundings, a relative
2^-51.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise.bits import Bits, fresh
from tacit.noise.coin import coins
from tacit.noise.interval import Real, exp_minus_rational


def permute_and_flip(
    scores: NDArray[np.int64],
    sensitivity: float,
    epsilon: float,
    bits: Bits | None = None,
    *,
    margin: float | None = None,
) -> int:
    """The position of the chosen candidate. `margin` is as in `draw.draw`."""
    for name, value in (("sensitivity", sensitivity), ("epsilon", epsilon)):
        if not (value > 0 and math.isfinite(value)):
            raise SettingError(
                f"{name} must be positive and finite, not {value!r}",
                remedy=f"choose a finite {name}",
            )
    if scores.size == 0:
        raise SettingError("there is no candidate to choose from", remedy="offer at least one")
    if not np.issubdtype(scores.dtype, np.signedinteger):
        raise SettingError(
            "scores must be signed integers", remedy="put them on the integer grid first"
        )
    bits = bits or fresh()
    values = scores.astype(np.int64)
    # Exact modulo 2^64, even end to end.
    highest = np.uint64(int(values.max()) % 2**64)
    gap = highest - values.astype(np.uint64)
    rate = Fraction(epsilon) / (2 * Fraction(sensitivity))
    order = _order(values.size, bits)
    # Beyond 64 the coin looks only at whether u is 0 to 53 bits, so any larger exponent may
    # stand for all.
    x = np.minimum(gap[order].astype(np.float64) * float(min(rate, Fraction(10**6))), 1e6)

    def exact(i: int) -> Real:
        exponent = int(gap[order[i]]) * rate
        return lambda precision: exp_minus_rational(exponent, precision)

    accepted = coins(x, np.minimum(x, 1e3) * 2.0**-51, np.ones_like(x), exact, bits, margin)
    return int(order[np.argmax(accepted)])  # the best itself is always taken


def _order(n: int, bits: Bits) -> NDArray[np.int64]:
    """A uniform permutation: the order of n distinct random keys."""
    while True:
        keys = bits.words(n)
        order = np.argsort(keys, kind="stable")
        if n < 2 or np.all(np.diff(keys[order]) != 0):
            return order.astype(np.int64)


# How many trials a private selection runs: the truncated negative binomial law, exactly.
#
# P(k) is proportional to (1 - gamma)^k times the product over l = 1..k-1 of (l + eta)/(l + 1),
# for k = 1, 2, ..., with -1 < eta <= 1: geometric at eta 1, logarithmic at eta 0 (Papernot &
# Steinke 2022). A geometric k is kept if coins of chance (l + eta)/(l + 1) all come up, each
# tossed as soon as it is known that it will be needed; all chances are rational, and coins of
# them are exact.


def trials(eta: Fraction, gamma: Fraction, bits: Bits) -> int:
    """One draw of the law, at least 1."""
    number = 1
    while not _coin(gamma, bits):
        # One trial more, if it is kept; else all begins anew.
        failed = eta == 1 or _coin((number + eta) / (number + 1), bits)
        number = number + 1 if failed else 1
    return number


def _coin(chance: Fraction, bits: Bits) -> bool:
    """True with exactly this chance."""
    return bits.below(chance.denominator) < chance.numerator
