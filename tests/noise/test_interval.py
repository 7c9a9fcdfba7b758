"""Rigorous intervals: they hold the true value, and are narrow. The oracle is `decimal` at
400 digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.noise.interval import (
    exp_minus,
    exp_minus_rational,
    fixed,
    log,
    log_factorial,
    one_minus_exp,
    over,
    times,
)

positive = st.fractions(min_value=0, max_value=300, max_denominator=10**20)
precisions = st.integers(64, 600)


def true(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def holds(interval: tuple[int, int], value: Decimal, precision: int, width: int) -> None:
    scaled = value * (Decimal(2) ** precision)
    assert interval[0] <= scaled <= interval[1]
    assert interval[1] - interval[0] <= width


@given(positive, precisions)
def test_exp_of_minus_a_rational(x: Fraction, precision: int) -> None:
    with localcontext(prec=400):
        holds(exp_minus_rational(x, precision), (-true(x)).exp(), precision, 3)


def test_exp_of_minus_zero_is_one() -> None:
    assert exp_minus_rational(Fraction(0), 100) == (1 << 100, 1 << 100)


def test_exp_of_minus_a_huge_number_is_near_zero() -> None:
    assert exp_minus_rational(Fraction(10**9), 128) == (0, 1)


def test_exp_of_an_interval_covers_both_ends() -> None:
    low, high = exp_minus((1 << 64, 2 << 64), 64)
    assert low <= exp_minus_rational(Fraction(2), 64)[0]
    assert high >= exp_minus_rational(Fraction(1), 64)[1]


@given(st.fractions(min_value=Fraction(1, 10**15), max_value=10**15), precisions)
def test_log(x: Fraction, precision: int) -> None:
    with localcontext(prec=400):
        low, high = log(fixed(x, precision + 80), precision + 80)
        holds((low >> 80, -(-high >> 80)), true(x).ln(), precision, 3)


@pytest.mark.parametrize("k", [0, 1, 2, 10, 4096, 4097, 5000, 20_000])
@pytest.mark.parametrize("precision", [64, 300])
def test_log_factorial(k: int, precision: int) -> None:
    with localcontext(prec=400):
        direct = sum((Decimal(i).ln() for i in range(2, k + 1)), Decimal(0)) if k < 20 else None
    low, high = log_factorial(k, precision)
    reference = log((math.factorial(k) << 400,) * 2, 400)
    assert low <= -(-reference[1] >> 400 - precision)
    assert high >= reference[0] >> 400 - precision
    assert high - low <= 3
    if direct is not None:
        with localcontext(prec=400):
            assert low <= direct * 2**precision <= high


def test_log_factorial_steps_by_the_logarithm_at_large_numbers() -> None:
    k, precision = 5 * 10**11, 200
    a = log_factorial(k, precision)
    b = log_factorial(k - 1, precision)
    step = log((k << 200,) * 2, precision)
    assert a[0] - b[1] <= step[1]
    assert a[1] - b[0] >= step[0]
    assert a[1] - a[0] <= 3


@given(
    positive.filter(lambda x: x > Fraction(1, 10**9)),
    positive.filter(lambda x: x > Fraction(1, 10**9)),
)
def test_products_and_quotients_hold_the_true_value(a: Fraction, b: Fraction) -> None:
    p = 128
    low, high = times(fixed(a, p), fixed(b, p), p)
    assert Fraction(low, 1 << p) <= a * b <= Fraction(high, 1 << p)
    low, high = over(fixed(a, p), fixed(b, p), p)
    assert Fraction(low, 1 << p) <= a / b <= Fraction(high, 1 << p)


@given(positive.filter(lambda x: x > Fraction(1, 10**12)))
def test_one_minus_exp(x: Fraction) -> None:
    with localcontext(prec=400):
        holds(one_minus_exp(x, 200), 1 - (-true(x)).exp(), 200, 3)
