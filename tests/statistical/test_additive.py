"""Discrete Gaussian and Laplace: right scale, right tail, right on the exact path, and like
two other samplers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.noise import discrete_gaussian, discrete_laplace, fresh
from tacit.noise.coin import exp_coin, geometric
from tacit.noise.strips import Law, draw, table

N = 100_000
SAMPLER = {"gaussian": discrete_gaussian, "laplace": discrete_laplace}
LAWS: list[Law] = ["gaussian", "laplace"]
SCALES = [0.5, 1.0, 3.3, 10.0, 46.5, 1e3, 1e6, 1e9, 2.0**45]
WRONG = [0.7, 1.3]


def spread(law: Law, scale: float) -> float:
    return max(scale, 0.6) * (1.0 if law == "gaussian" else 1.4)


@cache
def reference(law: Law, scale: float, n: int) -> NDArray[np.int64]:
    """Canonne, Kamath & Steinke (2020) in plain Python: a discrete Laplace draw, for the
    Gaussian kept by a coin."""
    exact, bits = Fraction(scale), fresh()
    wide = Fraction(int(scale) + 1) if law == "gaussian" else exact
    out: list[int] = []
    while len(out) < n:
        magnitude, negative = geometric(1 / wide, bits), bits.bits(1)
        if negative and magnitude == 0:
            continue
        if law == "gaussian" and not exp_coin(
            (magnitude - exact**2 / wide) ** 2 / (2 * exact**2), bits
        ):
            continue
        out.append(-magnitude if negative else magnitude)
    return np.array(out)


def opendp(law: Law, scale: float, n: int) -> NDArray[np.int64]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "gaussian":
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)
    else:
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
    return np.array(mechanism([0] * n))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("law", LAWS)
def test_accepts_the_true_scale(
    law: Law, scale: float, fits: Callable[..., bool], cdfs: dict[str, Callable]
) -> None:
    assert fits(SAMPLER[law](N, scale), cdfs[law](scale), spread(law, scale))


@pytest.mark.parametrize("factor", WRONG)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("law", LAWS)
def test_rejects_a_wrong_scale(
    law: Law, scale: float, factor: float, fits: Callable[..., bool], cdfs: dict[str, Callable]
) -> None:
    assert not fits(SAMPLER[law](N, factor * scale), cdfs[law](scale), spread(law, scale))


@pytest.mark.parametrize("scale", [0.5, 3.3, 1e3])
@pytest.mark.parametrize("law", LAWS)
def test_the_exact_path_has_the_same_law(
    law: Law, scale: float, fits: Callable[..., bool], cdfs: dict[str, Callable]
) -> None:
    """A margin of 0.9 sends every draw that the squeeze did not keep to big integers."""
    drawn = draw(table(law, scale), N // 2, margin=0.9)
    assert fits(drawn, cdfs[law](scale), spread(law, scale))


@pytest.mark.parametrize("scale", [0.5, 3.3, 1e3])
@pytest.mark.parametrize("law", LAWS)
def test_an_early_tail_has_the_same_law(
    law: Law, scale: float, fits: Callable[..., bool], cdfs: dict[str, Callable]
) -> None:
    """With the tail from one scale on, a third of all draws go through it."""
    early = table(law, scale, 1.0)
    drawn = draw(early, N // 12)
    assert np.mean(np.abs(drawn) >= early.start_of_tail) > 0.01
    assert fits(drawn, cdfs[law](scale), spread(law, scale))


@pytest.mark.parametrize("scale", [3.3, 1e3])
@pytest.mark.parametrize("law", LAWS)
def test_the_frequency_beyond_the_last_strip_is_that_of_the_tail(
    law: Law, scale: float, cdfs: dict[str, Callable]
) -> None:
    early = table(law, scale, 2.0)
    start = early.start_of_tail
    drawn = draw(early, N // 2)
    share = 2 * float(cdfs[law](scale)(np.array([-float(start)]))[0])
    expected = share * drawn.size
    assert abs(int(np.sum(np.abs(drawn) >= start)) - expected) < 10 * np.sqrt(expected)


@pytest.mark.parametrize("law", LAWS)
def test_agrees_with_plain_rejection_in_big_integers(law: Law, same: Callable[..., bool]) -> None:
    assert same(SAMPLER[law](N, 6.25), reference(law, 6.25, 6000))


@pytest.mark.parametrize("factor", WRONG)
@pytest.mark.parametrize("law", LAWS)
def test_differs_from_plain_rejection_at_a_wrong_scale(
    law: Law, factor: float, same: Callable[..., bool]
) -> None:
    assert not same(SAMPLER[law](N, factor * 6.25), reference(law, 6.25, 6000))


@pytest.mark.parametrize("scale", [1.5, 200.0])
@pytest.mark.parametrize("law", LAWS)
def test_agrees_with_opendp(law: Law, scale: float, same: Callable[..., bool]) -> None:
    theirs = opendp(law, scale, 20_000)
    assert same(SAMPLER[law](N, scale), theirs)
    assert not same(SAMPLER[law](N, 1.3 * scale), theirs)
    assert not same(SAMPLER[law](N, 0.7 * scale), theirs)


@pytest.mark.parametrize("law", LAWS)
def test_signs_and_neighbours_are_independent(law: Law) -> None:
    drawn = SAMPLER[law](N, 1e6).astype(float)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 10 / np.sqrt(N)
    assert abs(np.corrcoef(np.abs(drawn[:-1]), np.abs(drawn[1:]))[0, 1]) < 10 / np.sqrt(N)
    assert abs(np.mean(np.sign(drawn))) < 10 / np.sqrt(N)


@pytest.mark.parametrize("law", LAWS)
def test_the_lowest_bits_are_fair_at_a_large_scale(law: Law) -> None:
    drawn = SAMPLER[law](N, 1e12)
    for bit in range(20):
        assert abs(np.mean(drawn >> bit & 1) - 0.5) < 5 / np.sqrt(N)
