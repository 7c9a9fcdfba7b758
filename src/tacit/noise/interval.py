"""Rigorous intervals in big-integer fixed point: the arithmetic that makes the samplers exact.

A pair `(low, high)` at precision p stands for a real number between low/2^p and high/2^p. A
`Real` gives such a pair at any precision asked for, narrower and narrower as p grows.
Nothing here uses floating point.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial

Interval = tuple[int, int]
Real = Callable[[int], Interval]


def rational(value: Fraction) -> Real:
    """A rational number as a `Real`."""
    return lambda precision: fixed(value, precision)


def fixed(value: Fraction, precision: int) -> Interval:
    """A rational number rounded outwards to `precision` bits."""
    low, remainder = divmod(value.numerator << precision, value.denominator)
    return low, low + (remainder > 0)


def times(a: Interval, b: Interval, precision: int) -> Interval:
    """The product of two non-negative numbers."""
    return a[0] * b[0] >> precision, -(-a[1] * b[1] >> precision)


def over(a: Interval, b: Interval, precision: int) -> Interval:
    """The quotient of two positive numbers."""
    return (a[0] << precision) // b[1], -((-a[1] << precision) // b[0])


def exp_minus(x: Interval, precision: int) -> Interval:
    """exp(-x) for x >= 0 (a low end below 0 counts as 0)."""
    return _exp_minus(x[1], precision)[0], _exp_minus(max(x[0], 0), precision)[1]


def exp_minus_rational(x: Fraction, precision: int) -> Interval:
    """exp(-x) for a rational x >= 0."""
    low, high = exp_minus(fixed(x, precision + 8), precision + 8)
    return low >> 8, -(-high >> 8)


def one_minus_exp(x: Fraction, precision: int) -> Interval:
    """1 - exp(-x) for a rational x > 0."""
    low, high = exp_minus_rational(x, precision)
    return (1 << precision) - high, (1 << precision) - low


def _exp_minus(x: int, precision: int) -> Interval:
    """exp(-x/2^precision): Taylor at y = x/2^k < 1/256, then k squarings with outward rounding.

    The terms alternate and fall, so the sum is off by less than the last term; a term
    carries less than 3 units of rounding, y itself 1. The k squarings multiply a relative
    error by 2^k, which the guard bits cover.
    """
    if x == 0:
        return 1 << precision, 1 << precision
    if x >= precision << precision:  # exp(-precision) < 2^-precision
        return 0, 1
    halvings = max(0, x.bit_length() - precision + 8)
    work = precision + halvings + 24
    y = (x << (work - precision)) >> halvings
    total = term = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * y >> work) // count
        total += term if count % 2 == 0 else -term
    error = 3 * count + 8
    value = (max(total - error, 0), min(total + error, 1 << work))
    for _ in range(halvings):
        value = times(value, value, work)
    drop = work - precision
    return value[0] >> drop, -(-value[1] >> drop)


def log(x: Interval, precision: int) -> Interval:
    """The natural logarithm of a positive number."""
    return _log(x[0], precision)[0], _log(x[1], precision)[1]


def _log(x: int, precision: int) -> Interval:
    shift = x.bit_length() - precision  # x = 2^shift * f, f in [1/2, 1)
    work = precision + 32 + abs(shift).bit_length()
    f = (x << work) >> x.bit_length()
    # (1-f)/(1+f) is in (0, 1/3].
    low, high = _atanh(((1 << work) - f << work) // (f + (1 << work)), work)
    two = _log_two(work)
    # f and its image were rounded by at most a few units, and the slope of atanh is below 2 there.
    low, high = -2 * high - 16, -2 * low + 16
    low, high = (
        low + shift * two[0 if shift >= 0 else 1],
        high + shift * two[1 if shift >= 0 else 0],
    )
    drop = work - precision
    return low >> drop, -(-high >> drop)


def _atanh(z: int, work: int) -> Interval:
    """atanh(z) for 0 <= z <= 1/3: odd powers, a term rounded by 2 units at most; the rest
    is below the last."""
    square = z * z >> work
    total = 0
    power = z
    count = 1
    while power:
        total += power // count
        power = power * square >> work
        count += 2
    return max(total - 2 * count - 4, 0), total + 2 * count + 4


@lru_cache(maxsize=32)
def _log_two(work: int) -> Interval:
    low, high = _atanh((1 << work) // 3, work)
    return 2 * low - 8, 2 * high + 8


@lru_cache(maxsize=256)
def _bernoulli(n: int) -> Fraction:
    return (
        Fraction(1)
        if n == 0
        else -sum((comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)
    )


def log_factorial(k: int, precision: int) -> Interval:
    """ln k!: directly up to 4096, above by Stirling's series, whose rest is below its first
    omitted term."""
    if k <= 4096:
        return log((factorial(k) << precision,) * 2, precision)
    work = precision + 2 * k.bit_length() + 16
    unit = 1 << work
    at = log((k * unit, k * unit), work)
    tau = log(_two_pi(work), work)
    low = (2 * k + 1) * at[0] + tau[0] - 2 * k * unit
    high = (2 * k + 1) * at[1] + tau[1] - 2 * k * unit
    low, high = low >> 1, -(-high >> 1)
    order = 2
    while True:
        term = _bernoulli(order) / (order * (order - 1) * k ** (order - 1))
        a, b = fixed(term, work)
        if max(abs(a), abs(b)) <= 1:
            break
        low = low + a
        high = high + b
        order = order + 2
    drop = work - precision
    return (low - 2) >> drop, -(-(high + 2) >> drop)


@lru_cache(maxsize=32)
def _two_pi(work: int) -> Interval:
    """2 pi by Machin's formula, pi = 16 atan(1/5) - 4 atan(1/239)."""

    def atan_inverse(n: int) -> Interval:
        total = 0
        power = (1 << work) // n
        count = 1
        while power:
            total += power // count if count % 4 == 1 else -(power // count)
            power //= n * n
            count += 2
        return total - 2 * count, total + 2 * count

    a, b = atan_inverse(5), atan_inverse(239)
    return 2 * (16 * a[0] - 4 * b[1]), 2 * (16 * a[1] - 4 * b[0])


def nearest(x: Interval, precision: int) -> float:
    """The middle of the interval as a float: off by half its width and one rounding."""
    return float(Fraction(x[0] + x[1], 2 << precision))
