"""Noise in shares: integer laws closed under sums, so that many devices together draw the
noise of one curator.

Guarantee: both are exact given ideal bits, so nothing has to be added to delta for the sampling.

- Skellam: a share is the difference of two independent Poisson(v/2), of variance v; the sum
  of independent shares is Skellam with the sum of the variances, exactly (Poisson laws
  add).
- Polya: a share is the difference of two independent NegBin(r, e^(-1/s)), pmf(k) ~ C(k+r-1,
  k) e^(-k/s); the sum of shares has the sum of the r. At sum 1 it is exactly the discrete
  Laplace law of scale s, pure epsilon = D1/s. Above 1 more independent noise is added, so
  round r up: `r = nextafter(1/n, 1)` makes n shares always enough.

NegBin(r, q) is a sum of N independent log-series numbers, P(j) ~ q^j/j, with N ~ Poisson(-r
ln(1-q)). Log-series, exactly: the block 2^i..2^(i+1)-1 is chosen with an integer weight p_i
of 2^64, c p_i >= q^(2^i); a place in it by i bits; it is kept with probability q^(2^i)/(c
p_i) * (2^i/j) * q^(j-2^i) <= 1. Beyond the last block, from M on, j = M + t with t ~ q^t
exactly, kept with q^M/((1-q) M c p_tail) * M/(M+t). Either way j comes out as q^j/j.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, SettingError
from tacit.noise.bits import Bits, fresh
from tacit.noise.coin import below, coins, geometric
from tacit.noise.interval import Interval, Real, exp_minus_rational, log, one_minus_exp, over
from tacit.noise.poisson import Inversion, Rejection, poisson
from tacit.noise.strips import check_scale

MIN_VARIANCE, MAX_VARIANCE = 2.0**-40, 2.0**41
MIN_PART = 2.0**-40
_PRECISION = 192
_CHUNK = 1 << 17


def skellam_shares(n: int, variance: float, bits: Bits | None = None) -> NDArray[np.int64]:
    """`n` independent shares of variance `variance` (in squared steps): the difference of
    two Poisson(variance/2)."""
    if not MIN_VARIANCE <= variance <= MAX_VARIANCE:
        raise SettingError(
            f"variance {variance!r} of a share is outside 2^-40 to 2^41 squared steps",
            remedy="choose another grid",
        )
    bits, source = bits or fresh(), _poisson(float(variance))
    return source.draw(n, bits) - source.draw(n, bits)


def polya_shares(n: int, r: float, scale: float, bits: Bits | None = None) -> NDArray[np.int64]:
    """`n` independent shares, each the `r`-th part (0 < r <= 1) of a discrete Laplace draw
    of `scale`."""
    if not MIN_PART <= r <= 1:
        raise SettingError(
            f"the part {r!r} of a share is outside 2^-40 to 1",
            remedy="use 1 over the number of shares",
        )
    check_scale("scale", scale)
    bits, source = bits or fresh(), _negative_binomial(float(r), float(scale))
    out = np.empty(n, dtype=np.int64)
    for start in range(0, n, _CHUNK):
        count = min(_CHUNK, n - start)
        out[start : start + count] = source.draw(count, bits) - source.draw(count, bits)
    return out


@lru_cache(maxsize=16)
def _poisson(variance: float) -> Inversion | Rejection:
    return poisson(Fraction(variance) / 2)


class NegativeBinomial:
    """NegBin(r, e^(-1/scale)) as a Poisson number of log-series numbers."""

    def __init__(self, r: float, scale: float) -> None:
        self.series = LogSeries(Fraction(scale))
        part, rate = Fraction(r), 1 / Fraction(scale)

        def mean(precision: int) -> Interval:
            """-r ln(1 - q), which is positive: an interval around ln 1 may reach below."""
            work = precision + 128
            low, high = log(one_minus_exp(rate, work), work)
            return max(0, math.floor(-high * part) >> 128), -(math.floor(low * part) >> 128)

        self.number = Inversion(mean)

    def draw(self, n: int, bits: Bits) -> NDArray[np.int64]:
        """`n` draws: each a sum of a Poisson number of log-series numbers."""
        ends = np.cumsum(self.number.draw(n, bits))
        total = int(ends[-1]) if n else 0
        # Running sums may wrap; their differences are right modulo 2^64 all the same.
        zero = np.zeros(1, np.int64)
        sums = np.concatenate([zero, np.cumsum(self.series.draw(total, bits))])
        out: NDArray[np.int64] = np.diff(sums[np.concatenate([zero, ends])])
        return out


@lru_cache(maxsize=16)
def _negative_binomial(r: float, scale: float) -> NegativeBinomial:
    return NegativeBinomial(r, scale)


class LogSeries:
    """P(j) ~ e^(-j/scale)/j for j = 1, 2, ...

    Tests lower `reach` (where the tail starts, in scales) and raise `margin`.
    """

    def __init__(self, scale: Fraction, reach: int = 24, margin: float | None = None) -> None:
        self.scale, self.margin = scale, margin
        self.blocks = int(reach * scale + 1).bit_length()
        self.start = 1 << self.blocks  # M
        heights = [exp_minus_rational((1 << i) / scale, _PRECISION) for i in range(self.blocks + 1)]
        tail = over(heights.pop(), one_minus_exp(1 / scale, _PRECISION), _PRECISION)
        envelope = [high for _, high in heights] + [-(-tail[1] >> self.blocks)]
        room = (1 << 64) - 64
        self.constant = -(-sum(envelope) // room)
        self.weights = [-(-high // self.constant) for high in envelope]
        self.border = np.array(
            [sum(self.weights[: i + 1]) - 1 for i in range(len(envelope))], dtype=np.uint64
        )
        tops = [
            Fraction(sum(h), 2 * self.constant * w)
            for h, w in zip(heights, self.weights, strict=False)
        ]
        self.top = np.array([float(top) for top in tops])

    def draw(self, n: int, bits: Bits) -> NDArray[np.int64]:
        """`n` draws: proposals by block, each kept by an exact coin."""
        out, filled = np.empty(n, dtype=np.int64), 0
        while filled < n:
            accepted = self._batch(min(2 * (n - filled) + 16, 2 * _CHUNK), bits)[: n - filled]
            out[filled : filled + accepted.size] = accepted
            filled += accepted.size
        return out

    def _batch(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """What is kept of `count` proposals, in their order: a caller that cuts the end off
        must not prefer any."""
        block_index = np.searchsorted(self.border, bits.words(count), side="left")
        # 0: rejected, as is a word past the last border.
        out = np.zeros(count, dtype=np.int64)
        for i in np.flatnonzero(block_index == self.blocks).tolist():
            out[i] = self._beyond(bits)
        inside = np.flatnonzero(block_index < self.blocks)
        block = block_index[inside].astype(np.int64)
        offset = (
            (bits.words(block.size) >> np.uint64(1)) >> (63 - block).astype(np.uint64)
        ).astype(np.int64)
        block_start = np.left_shift(np.int64(1), block)
        x, j = offset / float(self.scale), block_start + offset

        def exact(i: int) -> Real:
            which, value = int(block[i]), int(j[i])
            return lambda precision: self._chance(
                which, value, Fraction(1 << which, value), precision
            )

        accepted = coins(
            x, 2.0**-50 * (x + 1), self.top[block] * (block_start / j), exact, bits, self.margin
        )
        out[inside[accepted]] = j[accepted]
        return out[out > 0]

    def _chance(self, block: int, j: int, ratio: Fraction, precision: int) -> Interval:
        """q^j/(c p_block) * ratio, for the tail divided by (1-q) M: the exact path's
        probability."""
        work = precision + _PRECISION
        low, high = exp_minus_rational(j / self.scale, work)
        if block == self.blocks:
            low, high = over((low, high), one_minus_exp(1 / self.scale, work), work)
            low, high = low >> self.blocks, -(-high >> self.blocks)
        mass = self.constant * self.weights[block]
        return math.floor(low * ratio / mass), math.ceil(high * ratio / mass)

    def _beyond(self, bits: Bits) -> int:
        """A number from the tail, or 0 to reject."""
        t = geometric(1 / self.scale, bits)
        ratio = Fraction(self.start, self.start + t)
        if not below(
            lambda precision: self._chance(self.blocks, self.start, ratio, precision), bits
        ):
            return 0
        if self.start + t >= 1 << 62:
            raise Failure(
                "a noise share does not fit 64 bits (chance below exp(-4096)); nothing was released"
            )
        return self.start + t
