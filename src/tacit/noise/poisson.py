"""Exact Poisson draws at any mean up to 2^40, given as a `Real`: the building block of
noise shares.

Guarantee: given ideal bits the law is exactly Poisson(mean); there is no truncation and so
nothing to add to delta.

Small means (below 2^16): inversion. The outcomes are listed as first..last, then
alternately beyond both ends; u falls into the cell of outcome k if it is below the sum of
probabilities up to k and not below the sum before. 64 bits of u are compared with those
sums as rigorous lower and upper 64-bit bounds; a word on a border or beyond the table is
settled by more bits and more digits (`Inversion.settle`).

Large means: rejection from a discrete Laplace law around m = floor(mean). With w(k) =
mean^k/k!, b = the scale and
K = max over x of w(m+x) e^(|x|/b), the draw x is kept with probability e^(-h), h = ln K -
ln w(m+x) - |x|/b >= 0. w is
log-concave (w(k+1)/w(k) = mean/(k+1) falls), so the maximum to the right of m is at
floor(mean e^(1/b)), to the left at ceil(mean e^(-1/b)) - 1, or at m itself. About 76 % are
kept. The float form of h is free of cancellation: with z = x/(2m+x) and c(k) = 1/12k -
1/360k^3 + less than 1/1260k^5 (Stirling),
    ln w(m) - ln w(m+x) = x(x+1)/(2m+x) + (2m+2x+1)(z^3/3 + z^5/5 + ...) + x ln(m/mean) +
    c(m+x) - c(m);
the first term is 2z(k + 1/2) - x, simplified. For |x| <= m/16 the series is cut after z^11,
a relative 2^-57 of the
first term; all roundings together are below 20 units of 2^-53 of x(x+1)/(2m+x) + |x|/b + 2,
and `error` allows 2^-46 of
more than that. Near calls and |x| > m/16 go to big integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.noise.bits import Bits
from tacit.noise.coin import coins
from tacit.noise.interval import (
    Interval,
    Real,
    exp_minus,
    exp_minus_rational,
    fixed,
    log,
    log_factorial,
    nearest,
    over,
    rational,
    times,
)
from tacit.noise.laplace import discrete_laplace

_SWITCH = 1 << 16
_PRECISION = 192
_BEYOND = 80  # the table stops where a probability falls below 2^-80


class Inversion:
    """Poisson by inversion; `width` (64 bits of u compared at once) is lowered in tests of
    the border cells."""

    def __init__(self, mean: Real, width: int = 64) -> None:
        self.mean, self.width = mean, width
        self.mode = mean(64)[0] >> 64
        cells = self._table()
        drop = _PRECISION - width
        largest = (1 << width) - 1
        self.lower = np.array([low >> drop for low, _ in cells], dtype=np.uint64)
        self.upper = np.array(
            [min(-(-high >> drop), largest) for _, high in cells], dtype=np.uint64
        )

    def draw(self, n: int, bits: Bits) -> NDArray[np.int64]:
        """`n` draws: a table search, and the exact path where a word falls on a border."""
        u = bits.words(n) >> np.uint64(64 - self.width)
        cell = np.searchsorted(self.lower, u, side="right")
        # A cell is sure if u is also not below the upper bound of the border before it.
        border = np.concatenate([np.zeros(1, np.uint64), self.upper])[cell]
        out = (cell + self.first).astype(np.int64)
        for i in np.flatnonzero((u < border) | (cell == self.lower.size)).tolist():
            out[i] = self.settle(int(u[i]), bits)
        return out

    def settle(self, prefix: int, bits: Bits) -> int:
        """The outcome whose cell holds u, for the u that starts with the bits of `prefix`."""
        precision = self.width
        while True:
            prefix, precision = prefix << 64 | bits.word(), precision + 64
            low = high = 0
            for outcome, (a, b) in self._listed(precision + 64):
                lower = high
                low = low + a
                high = high + b
                if low >> 64 > prefix:
                    if -(-lower >> 64) <= prefix:
                        return outcome
                    break
                if b <= 1 and outcome > self.last:
                    break

    def _at_mode(self, precision: int) -> Interval:
        """The probability of `mode`: exp(-(mean - mode ln mean + ln mode!))."""
        work = precision + 2 * self.mode.bit_length() + 16
        mean = self.mean(work)
        if self.mode:
            logs, fact = log(mean, work), log_factorial(self.mode, work)
            mean = (
                mean[0] - self.mode * logs[1] + fact[0],
                mean[1] - self.mode * logs[0] + fact[1],
            )
        low, high = exp_minus(mean, work)
        return low >> work - precision, -(-high >> work - precision)

    def _up(self, precision: int) -> Iterator[tuple[int, Interval]]:
        """Outcomes from the mode upwards with their probabilities."""
        mean = self.mean(precision)
        chance = self._at_mode(precision)
        k = self.mode
        while True:
            yield k, chance
            k += 1
            low, high = times(chance, mean, precision)
            chance = low // k, -(-high // k)

    def _down(self, precision: int) -> Iterator[tuple[int, Interval]]:
        """Outcomes below the mode, downwards."""
        mean, chance = self.mean(precision), self._at_mode(precision)
        for k in range(self.mode, 0, -1):
            chance = over((chance[0] * k, chance[1] * k), mean, precision)
            yield k - 1, chance

    def _table(self) -> list[Interval]:
        negligible = 1 << _PRECISION - _BEYOND
        up: list[Interval] = []
        for _, chance in self._up(_PRECISION):
            up.append(chance)
            if chance[1] < negligible:
                break
        down: list[Interval] = []
        for _, chance in self._down(_PRECISION):
            down.append(chance)
            if chance[1] < negligible:
                break
        self.first, self.last = self.mode - len(down), self.mode + len(up) - 1
        sums = []
        low = 0
        high = 0
        for a, b in [*reversed(down), *up]:
            low, high = low + a, high + b
            sums.append((low, high))
        return sums

    def _listed(self, precision: int) -> Iterator[tuple[int, Interval]]:
        """All outcomes in the order of the table: first..last, then alternately above and below."""
        up, down = self._up(precision), self._down(precision)
        inner = [next(down) for _ in range(self.mode - self.first)]
        yield from reversed(inner)
        for _ in range(self.mode, self.last + 1):
            yield next(up)
        while True:
            yield next(up)
            below = next(down, None)
            if below is not None:
                yield below


class Rejection:
    """Poisson of a large rational mean by rejection from discrete Laplace draws."""

    def __init__(self, mean: Fraction) -> None:
        self.mean, self.mode = mean, int(mean)
        self.scale = float(math.isqrt(self.mode))
        rate, precision = 1 / Fraction(self.scale), 256
        inverse = exp_minus_rational(rate, precision)
        up = over(fixed(mean, precision), inverse, precision)
        down = times(fixed(mean, precision), inverse, precision)
        # Either neighbour may be the maximum if the interval holds an integer: then take
        # both, the larger counts.
        self.tops = (
            {k >> precision for k in up} | {-(-k >> precision) - 1 for k in down} | {self.mode}
        )
        self.peak = nearest(self._peak(_PRECISION), _PRECISION)
        self.tilt = nearest(log(fixed(self.mode / mean, _PRECISION), _PRECISION), _PRECISION)

    def draw(self, n: int, bits: Bits, margin: float | None = None) -> NDArray[np.int64]:
        """`n` draws: Laplace proposals around the mode, each kept by an exact coin."""
        out, filled = np.empty(n, dtype=np.int64), 0
        while filled < n:
            x = discrete_laplace(min(int(1.35 * (n - filled)) + 16, 1 << 17), self.scale, bits)
            x = x[x >= -self.mode]  # the others have no weight
            accepted = x[self._keep(x, bits, margin)][: n - filled]
            out[filled : filled + accepted.size] = accepted + self.mode
            filled += accepted.size
        return out

    def _keep(self, x: NDArray[np.int64], bits: Bits, margin: float | None) -> NDArray[np.bool_]:
        value, error = self._exponents(x.astype(np.float64))
        return coins(
            value, error, np.ones_like(value), lambda i: self._chance(int(x[i])), bits, margin
        )

    def _exponents(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        m = float(self.mode)
        near = np.abs(x) <= m / 16
        x = np.where(near, x, 0.0)
        z = x / (2 * m + x)
        q = z * z
        series = z * q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11)))))
        leading = x * (x + 1) / (2 * m + x)
        away = np.abs(x) / self.scale
        k = m + x
        stirling = (1 / (12 * k) - 1 / (360 * k**3)) - (1 / (12 * m) - 1 / (360 * m**3))
        value = leading + (2 * m + 2 * x + 1) * series + x * self.tilt + stirling - away + self.peak
        error = np.where(near, 2.0**-46 * (2 * np.abs(leading) + away + 3), 1.0)
        return value, error

    def _log_weight(self, k: int, precision: int) -> Interval:
        """ln w(k) - ln w(mode) + |k - mode|/scale."""
        work = precision + 2 * self.mode.bit_length() + 16
        at = log(fixed(self.mean, work), work)
        log_value = log_factorial(k, work)
        centre = log_factorial(self.mode, work)
        away, lift = (k - self.mode, fixed(abs(k - self.mode) / Fraction(self.scale), work))
        low = away * at[0 if away >= 0 else 1] - log_value[1] + centre[0] + lift[0]
        high = away * at[1 if away >= 0 else 0] - log_value[0] + centre[1] + lift[1]
        return low >> work - precision, -(-high >> work - precision)

    def _peak(self, precision: int) -> Interval:
        """ln K - ln w(mode)."""
        values = [self._log_weight(k, precision) for k in self.tops]
        return max(low for low, _ in values), max(high for _, high in values)

    def _chance(self, x: int) -> Real:
        def probability(precision: int) -> Interval:
            work = precision + 16
            peak, log_weight = self._peak(work), self._log_weight(self.mode + x, work)
            low, high = exp_minus((peak[0] - log_weight[1], max(peak[1] - log_weight[0], 0)), work)
            return low >> 16, -(-high >> 16)

        return probability


def poisson(mean: Fraction) -> Inversion | Rejection:
    """The sampler for a rational mean."""
    return Rejection(mean) if mean >= _SWITCH else Inversion(rational(mean))
