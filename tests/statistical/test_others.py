"""K-norm, randomized response, permute-and-flip and shares: right at the stated scale,
wrong 30 % off."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.noise import fresh, permute_and_flip, polya_shares, randomized_response, skellam_shares
from tacit.noise.interval import rational
from tacit.noise.knorm import knorm
from tacit.noise.poisson import Inversion, Rejection
from tacit.noise.shares import LogSeries

N = 100_000
FACTORS = [0.7, 1.0, 1.3]
PATHS = [(0.7, None), (1.0, None), (1.3, None), (1.0, 0.9)]
"""Scale and margin: a margin of 0.9 sends all to big integers."""
Cdfs = dict[str, Callable]


def coded(rows: NDArray[np.int64], half: int) -> NDArray[np.int64]:
    """Rows of the box |k| <= half as one number each, all others as -1."""
    inside = np.all(np.abs(rows) <= half, axis=1)
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        code = code * (2 * half + 1) + column + half
    return np.where(inside, code, -1)


@pytest.mark.parametrize(("factor", "margin"), PATHS)
@pytest.mark.parametrize(("dimension", "scale"), [(1, 2.0), (2, 0.8), (2, 1.5), (3, 0.6)])
def test_knorm_on_small_lattices(
    dimension: int, scale: float, factor: float, margin: float | None
) -> None:
    from scipy.stats import chi2

    n = N if margin is None else 2000
    half = 3
    box = 40
    sides = np.arange(-box, box + 1) if dimension < 3 else np.arange(-20, 21)
    grid = np.stack(np.meshgrid(*[sides] * dimension), axis=-1).reshape(-1, dimension)
    mass = np.exp(-np.sqrt(np.sum(grid**2, axis=1)) / scale)
    cells = (2 * half + 1) ** dimension
    expected = (
        np.bincount(coded(grid, half) + 1, weights=mass / mass.sum(), minlength=cells + 1) * n
    )
    observed = np.bincount(
        coded(knorm(n, dimension, factor * scale, margin=margin), half) + 1, minlength=cells + 1
    )
    big = expected >= 25
    expected, observed = (
        np.append(expected[big], expected[~big].sum()),
        np.append(observed[big], observed[~big].sum()),
    )
    kept = expected > 1
    p = chi2.sf(np.sum((observed[kept] - expected[kept]) ** 2 / expected[kept]), kept.sum() - 1)
    assert (p > 1e-20) == (factor == 1.0)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("dimension", [2, 10, 15])
def test_the_length_of_a_knorm_draw_is_gamma_at_large_scales(
    dimension: int, factor: float, fits: Callable[..., bool]
) -> None:
    from scipy.stats import gamma

    scale = 1e7
    length = np.sqrt(np.sum(knorm(20_000, dimension, factor * scale).astype(float) ** 2, axis=1))
    middle, law = dimension * scale, gamma(dimension, scale=scale)
    right = fits(
        np.round(length - middle).astype(np.int64),
        lambda k: law.cdf(k + middle),
        scale * dimension**0.5,
    )
    assert right == (factor == 1.0)


def test_knorm_has_no_favourite_direction() -> None:
    rows = knorm(50_000, 3, 1e6).astype(float)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.all(np.abs(unit.T @ unit / len(rows) - np.eye(3) / 3) < 10 / np.sqrt(len(rows)))
    assert np.all(np.abs(np.mean(unit**4, axis=0) - 0.2) < 5 / np.sqrt(len(rows)))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("x", "epsilon"), [(1.0, 0.5), (-1.0, 1.0), (0.5, 2.0), (-0.25, 2.5)])
def test_a_response_has_its_probability(x: float, epsilon: float, factor: float) -> None:
    from scipy.stats import binom

    n = 400_000
    heads = int(np.sum(randomized_response(np.full(n, x), factor * epsilon) == 1))
    grown = math.exp(epsilon)
    law = binom(n, (x * (grown - 1) + grown + 1) / (2 * (grown + 1)))
    assert (2 * min(law.cdf(heads), law.sf(heads - 1)) > 1e-20) == (factor == 1.0)


def flip_law(scores: list[int], sensitivity: float, epsilon: float) -> NDArray[np.float64]:
    """Over all orders: the chance of being first taken."""
    chance = [math.exp(-epsilon * (max(scores) - s) / (2 * sensitivity)) for s in scores]
    law = np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        left = 1.0
        for i in order:
            law[i] += left * chance[i]
            left *= 1 - chance[i]
    return law / law.sum()


@pytest.mark.parametrize(("factor", "margin"), PATHS)
def test_permute_and_flip_has_its_law(factor: float, margin: float | None) -> None:
    from scipy.stats import chisquare

    scores, n = [0, 4, 7, 7], 12_000 if margin is None else 3000
    taken = [
        permute_and_flip(np.array(scores), 2.0, factor * 1.2, fresh(), margin=margin)
        for _ in range(n)
    ]
    p = chisquare(np.bincount(taken, minlength=4), n * flip_law(scores, 2.0, 1.2)).pvalue
    assert (p > 1e-20) == (factor == 1.0)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("variance", [0.02, 1.0, 30.0, 5e3, 2e5, 1e9, 1e12])
def test_skellam_shares_have_their_variance(
    variance: float, factor: float, fits: Callable[..., bool], cdfs: Cdfs
) -> None:
    from scipy.stats import norm, poisson

    deviation = math.sqrt(variance)
    if variance < 1e5:
        top = int(variance / 2 + 12 * deviation + 12)
        one = poisson.pmf(np.arange(top), variance / 2)
        cdf = cdfs["pmf"](np.convolve(one, one[::-1]), 1 - top)
    else:  # kurtosis 3 + 1/variance: nothing that 1e5 draws could see
        cdf = lambda k: norm.cdf((k + 0.5) / deviation)  # noqa: E731
    drawn = skellam_shares(N, factor * variance)
    assert fits(drawn, cdf, max(deviation, 0.6)) == (factor == 1.0)


def test_skellam_shares_of_tiny_variance_sum_to_their_law() -> None:
    total = int(np.sum(skellam_shares(2_000_000, 1e-3) ** 2))
    assert abs(total - 2000) < 10 * math.sqrt(2000)


@pytest.mark.parametrize("width", [4, 8, 64])
@pytest.mark.parametrize("mean", [0.1, 2.5, 300.0])
def test_poisson_by_inversion_on_its_border_cells(
    mean: float, width: int, fits: Callable[..., bool]
) -> None:
    """Fewer bits at once put most draws on a border, where big integers decide."""
    from scipy.stats import poisson

    drawn = Inversion(rational(Fraction(mean)), width).draw(1000 if width < 64 else N, fresh())
    middle = round(mean)
    law = poisson(mean)
    assert fits(drawn - middle, lambda k: law.cdf(k + middle), max(1.0, math.sqrt(mean)))


@pytest.mark.parametrize("margin", [None, 0.9])
@pytest.mark.parametrize("mean", [65_536.0, 123_456.789])
def test_poisson_by_rejection(mean: float, margin: float | None, fits: Callable[..., bool]) -> None:
    from scipy.stats import poisson

    drawn = Rejection(Fraction(mean)).draw(N if margin is None else 400, fresh(), margin)
    middle = int(mean)
    law = poisson(mean)
    assert fits(drawn - middle, lambda k: law.cdf(k + middle), math.sqrt(mean))


@pytest.mark.parametrize(("reach", "margin"), [(24, None), (24, 0.9), (1, None)])
@pytest.mark.parametrize("scale", [0.4, 6.5])
def test_log_series_on_every_path(
    scale: float, reach: int, margin: float | None, fits: Callable[..., bool], cdfs: Cdfs
) -> None:
    """The table as it is; a margin that sends all to big integers; a tail from about one
    scale on."""
    drawn = LogSeries(Fraction(scale), reach, margin).draw(4000, fresh())
    j = np.arange(1, 400)
    assert fits(drawn, cdfs["pmf"](np.exp(-j / scale) / j, 1), max(1.0, scale))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("r", "scale"), [(1.0, 3.0), (0.5, 4.0), (0.1, 8.0), (0.3, 0.7)])
def test_polya_shares_have_their_law(
    r: float, scale: float, factor: float, fits: Callable[..., bool], cdfs: Cdfs
) -> None:
    from scipy.stats import nbinom

    one = nbinom.pmf(np.arange(500), r, -math.expm1(-1 / scale))
    drawn = polya_shares(N, r, factor * scale)
    assert fits(drawn, cdfs["pmf"](np.convolve(one, one[::-1]), -499), scale) == (factor == 1.0)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("scale", [5.0, 1e6])
def test_polya_shares_sum_to_the_discrete_laplace_law(
    scale: float, factor: float, fits: Callable[..., bool], cdfs: Cdfs
) -> None:
    total = polya_shares(20 * 20_000, 1 / 20, factor * scale).reshape(20, -1).sum(axis=0)
    assert fits(total, cdfs["laplace"](scale), 1.4 * scale) == (factor == 1.0)


@pytest.mark.parametrize("scale", [5.0, 1e6])
def test_too_few_polya_shares_are_noticed(
    scale: float, fits: Callable[..., bool], cdfs: Cdfs
) -> None:
    total = polya_shares(14 * 20_000, 1 / 20, scale).reshape(14, -1).sum(axis=0)
    assert not fits(total, cdfs["laplace"](scale), 1.4 * scale)
