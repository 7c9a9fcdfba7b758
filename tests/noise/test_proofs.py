"""The error bounds that let floats decide, each checked against big integers; and the exact
coins themselves."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.noise import kernels
from tacit.noise.bits import fresh
from tacit.noise.coin import _powers, below, coins, exp_coin, geometric
from tacit.noise.interval import exp_minus_rational, log, nearest, rational
from tacit.noise.knorm import _at_least_root, _probability
from tacit.noise.poisson import Inversion, Rejection
from tacit.noise.response import response_bound
from tacit.noise.shares import LogSeries


def minus_log(interval: tuple[int, int], precision: int) -> float:
    return -nearest(log(interval, precision), precision)


def test_the_small_exponential_keeps_its_bound() -> None:
    for d in np.concatenate([np.linspace(0, 0.25, 200), 2.0 ** np.arange(-60, -2)]).tolist():
        low, high = exp_minus_rational(Fraction(d), 128)
        value = Fraction(float(kernels._exp_small(d)))
        assert max(
            abs(value - Fraction(low, 1 << 128)), abs(value - Fraction(high, 1 << 128))
        ) < Fraction(1, 2**46)


def test_powers_are_rounded_once() -> None:
    for i, value in enumerate(_powers().tolist()):
        low, high = exp_minus_rational(Fraction(i, 4), 256)
        assert abs(Fraction(value) - Fraction(low + high, 2 << 256)) <= Fraction(math.ulp(value))


@pytest.mark.parametrize("mean", [65_536.0, 65_536.9999, 1e6 + 1 / 3, 5e11, 2.0**40])
def test_the_poisson_exponent_is_within_its_error(mean: float) -> None:
    law = Rejection(Fraction(mean))
    rng = np.random.default_rng(2)
    x = np.concatenate(
        [[0, 1, -1], rng.laplace(0, 3 * law.scale, 40).round(), [law.mode // 16, -(law.mode // 16)]]
    )
    value, error = law._exponents(x)
    assert np.all(error < 1e-3)
    peak = law._peak(256)
    for i, k in enumerate(x.astype(int).tolist()):
        here = law._log_weight(law.mode + k, 256)
        assert peak[1] >= here[0]  # the envelope dominates
        truth = Fraction(peak[0] + peak[1] - here[0] - here[1], 2 << 256)
        assert abs(Fraction(float(value[i])) - truth) < Fraction(float(error[i])) / 4


def test_the_poisson_exponent_leaves_far_draws_to_big_integers() -> None:
    _, error = Rejection(Fraction(70_000))._exponents(np.array([5000.0, -5000.0, 69_000.0]))
    assert np.all(error == 1.0)


@pytest.mark.parametrize("mean", [1e-6, 0.3, 1.0, 40.5, 5000.0, 65_535.5])
def test_inversion_borders_enclose_the_true_sums(mean: float) -> None:
    from scipy.stats import poisson

    law = Inversion(rational(Fraction(mean)))
    assert np.all(law.upper - law.lower <= 1)
    outcomes = np.arange(law.first, law.last + 1)
    truth = poisson.cdf(outcomes, mean) - (poisson.cdf(law.first - 1, mean) if law.first else 0)
    assert np.allclose(law.lower / 2.0**64, truth, rtol=0, atol=1e-10)
    assert int(law.lower[-1]) > 2**64 - 2**10


def test_the_knorm_exponent_is_within_its_error() -> None:
    rng = np.random.default_rng(3)
    for dimension, scale in itertools.product((1, 2, 15), (0.4, 1e3 / 7, 2.0**40)):
        exact, wide = (Fraction(scale), _at_least_root(dimension, Fraction(scale)))
        assert Fraction(wide) ** 2 >= dimension * exact**2
        rows = rng.laplace(0, wide, (20, dimension)).round()
        length = np.sqrt(np.sum(rows * rows, axis=1)) / scale
        x = length - np.sum(np.abs(rows), axis=1) / wide
        for i, row in enumerate(rows.astype(int).tolist()):
            squares, steps = (sum(k * k for k in row), sum(map(abs, row)) / Fraction(wide))
            truth = minus_log(_probability(squares, steps, exact, 600), 600)
            assert abs(float(x[i]) - truth) <= length[i] * 2.0**-47 + 2.0**-50


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5, 1.0, 8.0, 40.0, 45.0, 700.0])
def test_the_response_bound_never_passes_epsilon(epsilon: float) -> None:
    bound = response_bound(epsilon)
    assert 0 <= bound < 1 << 62
    low, _ = exp_minus_rational(Fraction(epsilon), 2000)
    # (2^62 + T)/(2^62 - T) <= e^epsilon, with e^-epsilon from below
    assert Fraction((1 << 62) - bound, (1 << 62) + bound) >= Fraction(low, 1 << 2000)
    assert math.isclose(bound / 2**62, math.tanh(epsilon / 2), rel_tol=1e-9)


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(2, 3)])
def test_a_coin_has_its_probability(probability: Fraction) -> None:
    bits = fresh()
    heads = sum(below(rational(probability), bits) for _ in range(5000))
    assert abs(heads - 5000 * probability) <= 10 * math.sqrt(5000 * probability * (1 - probability))


def test_a_coin_respects_the_bits_already_seen() -> None:
    bits = fresh()
    assert all(below(rational(Fraction(1, 2)), bits, prefix=0b0111, precision=4) for _ in range(50))
    assert not any(
        below(rational(Fraction(1, 2)), bits, prefix=0b1000, precision=4) for _ in range(50)
    )


@pytest.mark.parametrize("margin", [None, 0.5])
def test_many_coins_have_their_probability_on_both_paths(margin: float | None) -> None:
    n, x = 4000, 0.75
    ones = np.ones(n)

    def real(_):
        return lambda precision: exp_minus_rational(Fraction(x), precision)

    heads = int(coins(x * ones, 0 * ones, ones, real, fresh(), margin).sum())
    p = math.exp(-x)
    assert abs(heads - n * p) < 10 * math.sqrt(n * p * (1 - p))


def test_exp_coins_and_geometric_numbers() -> None:
    bits = fresh()
    heads = sum(exp_coin(Fraction(3, 2), bits) for _ in range(4000))
    p = math.exp(-1.5)
    assert abs(heads - 4000 * p) < 10 * math.sqrt(4000 * p * (1 - p))
    mean = np.mean([geometric(Fraction(2, 7), bits) for _ in range(3000)])
    q = math.exp(-2 / 7)
    assert abs(mean - q / (1 - q)) < 10 * math.sqrt(q) / (1 - q) / math.sqrt(3000)


@pytest.mark.parametrize("scale", [0.5, 30.0, 1e6])
def test_log_series_blocks_are_dominated(scale: float) -> None:
    law = LogSeries(Fraction(scale))
    assert sum(law.weights) <= 1 << 64
    for block in range(law.blocks + 1):
        low, high = law._chance(block, 1 << block, Fraction(1), 128)
        assert 0 <= low <= high <= (1 << 128) + 1
    for block in range(law.blocks):
        low, high = law._chance(block, 1 << block, Fraction(1), 128)
        assert abs(law.top[block] - low / 2**128) < 2.0**-50
