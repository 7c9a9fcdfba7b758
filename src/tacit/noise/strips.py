"""Exact draws from a symmetric, falling law on the integers: pmf(k) ~ w(|k|), w(m) =
exp(-m^2/2s^2) or exp(-m/s).

Guarantee: given ideal random bits the output law *is* the stated pmf, s being the exact
rational value of the float. Proof, piece by piece:

1. Proposal. Magnitudes 0..M-1 are cut into strips of W (a power of two) magnitudes. Strip j
   is chosen with probability p_j/2^42, p_j an integer, by an alias table of 2^10 columns of
   2^32: exact, as the p_j and a reject column sum to 2^42. The place in the strip is log2 W
   uniform bits. So m is proposed with probability p_j/(2^42 W).
2. Acceptance. m is kept with probability w(m)/(c p_j), c one constant. This is at most 1
   because p_j c >= w(jW) (p_j is rounded up from a rigorous upper bound) and w falls. Hence
   m comes out with probability proportional to w(m).
3. Tail. m = M + t for all t >= 0 is one more strip. With rate = M/s^2 (or 1/s), w(M+t) =
   w(M) e^(-rate t) e^(-t^2/2s^2) (without the last factor for Laplace). Propose t ~
   e^(-rate t) exactly; keep with w(M)/((1-e^-rate) W c p_tail), which is at most 1 as for a
   strip, and with e^(-t^2/2s^2). So M + t, too, comes out in proportion to w(M+t).
4. Sign. A fair bit; minus zero is rejected, so zero counts once.
5. The acceptance number u < w(m)/(c p_j) is compared in three stages that all give the
   answer of the exact comparison: the first 21 bits against a rigorous lower bound for the
   whole strip; 53 bits against a float that is off by less than the margin 2^-40;
   big-integer intervals of growing precision (`coin.below`). The float: w(jW)/(c p_j)
   rounded once (2^-53), times exp(-d), d = o(slope + o curve) <= 1/4 for offset o, with at
   most 6 roundings of relative size 2^-53, times `_exp_small` (2^-46): together below
   2^-45.

Range: scales from 2^-10 to 2^50. A draw of 2^63 or more would end in `Failure`; its chance
is below exp(-2^13).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, SettingError
from tacit.noise.bits import Bits, fresh
from tacit.noise.coin import below, exp_coin, geometric
from tacit.noise.interval import Interval, exp_minus_rational, one_minus_exp, over, times

Law = Literal["gaussian", "laplace"]
MIN_SCALE, MAX_SCALE = 2.0**-10, 2.0**50
_PRECISION = 192
_COLUMN_BITS = 10
_COIN_BITS = 32
_SQUEEZE_BITS = 21
_COLUMNS, _TOTAL = 1 << _COLUMN_BITS, 1 << (_COLUMN_BITS + _COIN_BITS)
_STRIPS_PER_SCALE: dict[Law, int] = {"gaussian": 64, "laplace": 23}
_REACH: dict[Law, float] = {"gaussian": 7.0, "laplace": 22.0}
_CHUNK_WORDS = 1 << 15
_THREAD_DRAWS = 1 << 16


@dataclass(frozen=True)
class Strips:
    """The strips of one law and scale: integers for the exact path, arrays for the compiled one."""

    law: Law
    scale: Fraction
    log_width: int
    strips: int
    constant: int
    """c of the proof, in units of 2^-192."""
    weights: tuple[int, ...]
    """p_j for the strips, then the tail, then the reject column; they sum to 2^42."""
    threshold: NDArray[np.uint32] = field(repr=False)
    alias: NDArray[np.uint16] = field(repr=False)
    squeeze: NDArray[np.uint32] = field(repr=False)
    top: NDArray[np.float64] = field(repr=False)
    slope: NDArray[np.float64] = field(repr=False)
    curve: float

    @property
    def start_of_tail(self) -> int:
        """The first magnitude beyond the strips."""
        return self.strips << self.log_width

    def exponent(self, magnitude: int) -> Fraction:
        """-ln w(magnitude)."""
        return (
            magnitude**2 / (2 * self.scale**2) if self.law == "gaussian" else magnitude / self.scale
        )

    def tail_rate(self) -> Fraction:
        """Of the geometric envelope of the tail."""
        return self.start_of_tail / self.scale**2 if self.law == "gaussian" else 1 / self.scale

    def acceptance(self, strip: int, magnitude: int, precision: int) -> Interval:
        """w(magnitude)/(c p_strip), or the first coin of the tail: the exact path's probability."""
        work = precision + _PRECISION
        low, high = exp_minus_rational(self.exponent(magnitude), work)
        if strip == self.strips:
            low, high = over((low, high), one_minus_exp(self.tail_rate(), work), work)
            low, high = low >> self.log_width, -(-high >> self.log_width)
        # In units of 2^-192, as `work` counts 192 bits more.
        mass = self.constant * self.weights[strip]
        return low // mass, -(-high // mass)

    def settle(self, strip: int, magnitude: int, prefix: int, bits: Bits) -> int | None:
        """The exact end of a draw that 53 bits did not decide, or of the tail: a magnitude,
        or None to reject."""
        if strip < self.strips:
            accepted = below(
                lambda precision: self.acceptance(strip, magnitude, precision), bits, prefix, 53
            )
            return magnitude if accepted else None
        start = self.start_of_tail
        if not below(lambda precision: self.acceptance(strip, start, precision), bits, prefix, 53):
            return None
        beyond = geometric(self.tail_rate(), bits)
        if self.law == "gaussian" and not exp_coin(beyond**2 / (2 * self.scale**2), bits):
            return None
        return start + beyond


def check_scale(name: str, scale: float) -> Fraction:
    """The exact value of the scale, or SettingError outside the proven range."""
    if not MIN_SCALE <= scale <= MAX_SCALE:  # also false for NaN
        raise SettingError(
            f"{name} {scale!r} is outside the range 2^-10 to 2^50 steps in which the "
            "draws are proven exact",
            remedy="choose another step of the grid",
        )
    return Fraction(scale)


@lru_cache(maxsize=64)
def table(law: Law, scale: float, reach: float | None = None) -> Strips:
    """The table for a law and scale; `reach` (where the tail starts, in scales) is for
    tests of the tail."""
    exact = check_scale("sigma" if law == "gaussian" else "scale", scale)
    log_width = max(0, (int(exact) // _STRIPS_PER_SCALE[law]).bit_length() - 1)
    width = 1 << log_width
    strips = max(1, -(-int(Fraction(_REACH[law] if reach is None else reach) * exact + 1) // width))
    if strips > _COLUMNS - 2:
        raise SettingError(
            f"a reach of {reach!r} scales needs too many strips", remedy="start the tail earlier"
        )

    heights = _heights(law, exact, width, strips)
    rate = strips * width / exact**2 if law == "gaussian" else 1 / exact
    tail = over(heights[strips], one_minus_exp(rate, _PRECISION), _PRECISION)
    envelope = [high for _, high in heights[:strips]] + [-(-tail[1] >> log_width)]
    constant = -(-sum(envelope) // (_TOTAL - _COLUMNS))
    weights = [-(-high // constant) for high in envelope]
    weights.append(_TOTAL - sum(weights))
    threshold, alias = _alias(weights)

    squeeze = np.zeros(strips + 2, np.uint32)
    top = np.zeros(strips + 2)
    slope = np.zeros(strips + 2)
    for j in range(strips):
        mass = constant * weights[j]
        # w((j+1)W) bounds the whole strip from below.
        lowest = heights[j + (width > 1)][0]
        squeeze[j] = (lowest << _SQUEEZE_BITS) // mass
        top[j] = float(Fraction(sum(heights[j]), 2 * mass))
        slope[j] = float(j * width / exact**2 if law == "gaussian" else 1 / exact)
    curve = float(1 / (2 * exact**2)) if law == "gaussian" else 0.0
    return Strips(
        law,
        exact,
        log_width,
        strips,
        constant,
        tuple(weights),
        threshold,
        alias,
        squeeze,
        top,
        slope,
        curve,
    )


def _heights(law: Law, scale: Fraction, width: int, strips: int) -> list[Interval]:
    """w(jW) for j = 0..strips: products of exponentials, rounded outward."""
    if law == "laplace":
        step = exp_minus_rational(width / scale, _PRECISION)
        heights = [(1 << _PRECISION, 1 << _PRECISION)]
        for _ in range(strips):
            heights.append(times(heights[-1], step, _PRECISION))
        return heights
    # w((j+1)W)/w(jW) = exp(-(2j+1) W^2/2s^2)
    ratio = exp_minus_rational(width**2 / (2 * scale**2), _PRECISION)
    change = exp_minus_rational(width**2 / scale**2, _PRECISION)
    heights = [(1 << _PRECISION, 1 << _PRECISION)]
    for _ in range(strips):
        heights.append(times(heights[-1], ratio, _PRECISION))
        ratio = times(ratio, change, _PRECISION)
    return heights


def _alias(weights: list[int]) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Walker's table in integers: column i keeps threshold_i of its 2^32 coins and gives
    the others to alias_i.

    Every step fills one column exactly from one smaller and one larger weight, so the
    shares are exact.
    """
    capacity = 1 << _COIN_BITS
    remaining = weights + [0] * (_COLUMNS - len(weights))
    threshold, alias = (np.zeros(_COLUMNS, np.uint32), np.arange(_COLUMNS, dtype=np.uint16))
    small = [i for i, w in enumerate(remaining) if w < capacity]
    large = [i for i, w in enumerate(remaining) if w >= capacity]
    while small and large:
        i, donor = small.pop(), large[-1]
        threshold[i], alias[i] = remaining[i], donor
        remaining[donor] -= capacity - remaining[i]
        if remaining[donor] < capacity:
            small.append(large.pop())
    # What is left is exactly full: such a column is its own alias, whatever its threshold.
    return threshold, alias


# Draws from a table of strips: the loop around the compiled one, over chunks of bits and
# threads.


def draw(
    strips: Strips, n: int, bits: Bits | None = None, threads: int = 1, margin: float | None = None
) -> NDArray[np.int64]:
    """`n` draws from a table. With several threads each has bits of its own, fresh from the system.

    `margin` may be raised (never lowered) in tests, to send more draws down the exact path.
    """
    from tacit.noise import kernels

    if n < 0 or threads < 1:
        raise SettingError(
            "a number of draws or threads is negative",
            remedy="ask for at least 0 draws and 1 thread",
        )
    out = np.empty(n, dtype=np.int64)
    margin = kernels.MARGIN if margin is None else max(margin, kernels.MARGIN)
    parts = min(threads, 1 + n // _THREAD_DRAWS)
    if parts == 1:
        _fill(strips, out, bits or fresh(), margin)
        return out
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(parts) as pool:
        for future in [
            pool.submit(_fill, strips, part, fresh(), margin) for part in np.array_split(out, parts)
        ]:
            future.result()
    return out


def _fill(strips: Strips, out: NDArray[np.int64], bits: Bits, margin: float) -> None:
    from tacit.noise import kernels

    event = np.zeros(4, dtype=np.int64)
    at, n = 0, out.size
    while at < n:
        words = bits.words(min(_CHUNK_WORDS, 3 * (n - at) + 16))
        word, stuck = 0, True
        while stuck:
            reached = kernels.strip_draws(
                words,
                out,
                at,
                word,
                strips.log_width,
                strips.threshold,
                strips.alias,
                strips.squeeze,
                strips.top,
                strips.slope,
                strips.curve,
                strips.strips,
                strips.strips + 1,
                margin,
                event,
            )
            at, word = reached[:2]
            stuck = reached[2]
            if stuck:
                negative = bool(event[2])
                magnitude = strips.settle(int(event[0]), int(event[1]), int(event[3]), bits)
                if magnitude is None or (magnitude == 0 and negative):
                    continue
                if magnitude >= 1 << 63:
                    raise Failure(
                        "a noise draw does not fit 64 bits (chance below exp(-8192)); "
                        "nothing was released"
                    )
                out[at] = -magnitude if negative else magnitude
                at += 1
