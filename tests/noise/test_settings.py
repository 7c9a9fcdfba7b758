"""What the samplers refuse, and what they do at the edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tacit.errors import Failure, SettingError
from tacit.noise import (
    bits,
    discrete_gaussian,
    discrete_laplace,
    permute_and_flip,
    polya_shares,
    randomized_response,
    skellam_shares,
)
from tacit.noise.knorm import knorm
from tacit.noise.strips import Strips, draw, table

NAN, INF = float("nan"), float("inf")
ONE = np.array([1.0])
SCORES = np.array([3, 1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: discrete_gaussian(3, NAN),
        lambda: discrete_gaussian(-1, 3.0),
        lambda: discrete_laplace(3, 0.0),
        lambda: discrete_laplace(3, 1.0, threads=0),
        lambda: knorm(3, 16, 1.0),
        lambda: knorm(3, 0, 1.0),
        lambda: knorm(3, 15, 2.0**50),
        lambda: randomized_response(ONE, 0.0),
        lambda: randomized_response(ONE, INF),
        lambda: randomized_response(ONE, NAN),
        lambda: permute_and_flip(SCORES, 0.0, 1.0),
        lambda: permute_and_flip(SCORES, 1.0, NAN),
        lambda: permute_and_flip(SCORES[:0], 1.0, 1.0),
        lambda: permute_and_flip(SCORES.astype(float), 1.0, 1.0),  # type: ignore[arg-type]
        lambda: skellam_shares(3, 0.0),
        lambda: skellam_shares(3, 1e13),
        lambda: skellam_shares(3, NAN),
        lambda: polya_shares(3, 0.0, 10.0),
        lambda: polya_shares(3, 1.5, 10.0),
        lambda: polya_shares(3, 0.5, INF),
    ],
)
def test_impossible_settings_are_refused_with_a_remedy(call: Callable[[], object]) -> None:
    with pytest.raises(SettingError) as caught:
        call()
    assert caught.value.remedy


@pytest.mark.parametrize(
    "call",
    [
        lambda n: discrete_gaussian(n, 20.0),
        lambda n: discrete_laplace(n, 1e6),
        lambda n: skellam_shares(n, 3.0),
        lambda n: skellam_shares(n, 1e9),
        lambda n: polya_shares(n, 0.1, 5.0),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_sampler_gives_as_many_integers_as_asked(
    call: Callable[[int], np.ndarray], n: int
) -> None:
    drawn = call(n)
    assert drawn.shape == (n,)
    assert drawn.dtype == np.int64


@pytest.mark.parametrize(("rows", "dimension"), [(0, 3), (1, 1), (5, 15)])
def test_knorm_gives_rows(rows: int, dimension: int) -> None:
    drawn = knorm(rows, dimension, 4.0)
    assert drawn.shape == (rows, dimension)
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace])
def test_the_largest_scale_uses_its_range_and_does_not_wrap(
    sampler: Callable[..., np.ndarray],
) -> None:
    drawn = sampler(20_000, 2.0**50).astype(float) / 2.0**50
    assert 2 < np.abs(drawn).max() < 60
    assert np.abs(np.unique(drawn)).size > 19_000


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace])
def test_the_smallest_scale_is_all_zeros(sampler: Callable[..., np.ndarray]) -> None:
    assert not sampler(1000, 2.0**-10).any()


@pytest.mark.parametrize("sampler", [discrete_gaussian, discrete_laplace])
def test_several_threads_draw_different_noise(sampler: Callable[..., np.ndarray]) -> None:
    drawn = sampler(200_000, 1e9, threads=3)
    assert np.unique(drawn).size > 199_000


def test_a_draw_beyond_64_bits_is_a_failure_and_no_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strips, "settle", lambda *_: 1 << 63)
    with pytest.raises(Failure, match="64 bits"):
        draw(table("laplace", 1e3), 1000, margin=0.9)


def test_injected_bits_give_the_same_noise_again() -> None:
    drawn = []
    for _ in range(2):
        with bits._inject(lambda n: b"7" * n):
            drawn.append(discrete_gaussian(1000, 50.0))
    assert np.array_equal(drawn[0], drawn[1])


def test_two_releases_have_different_noise() -> None:
    assert not np.array_equal(discrete_gaussian(100, 50.0), discrete_gaussian(100, 50.0))


def test_a_response_treats_odd_values_as_documented() -> None:
    values = np.array([NAN, INF, -INF, 3.0, -3.0])
    told = np.array([randomized_response(values, 60.0) for _ in range(200)])
    assert 40 < np.sum(told[:, 0] == 1) < 160
    assert np.all(told[:, 1:] == [1, -1, 1, -1])


@pytest.mark.parametrize("values", [np.array([True, False]), np.array([1, -1], dtype=np.int8)])
def test_a_response_takes_bits(values: np.ndarray) -> None:
    told = randomized_response(values, 60.0)
    assert told.tolist() == [1, -1]
    assert told.dtype == np.int8


def test_a_response_keeps_its_shape() -> None:
    assert randomized_response(np.zeros((2, 3)), 1.0).shape == (2, 3)


def test_selection_survives_extreme_settings() -> None:
    assert permute_and_flip(np.array([1, 2]), 5e-324, 1e308) == 1
    assert permute_and_flip(np.array([1, 2]), 1e308, 5e-324) in (0, 1)


def test_shares_survive_the_smallest_settings() -> None:
    assert not polya_shares(1000, 2.0**-40, 2.0**-10).any()
    assert not skellam_shares(1000, 2.0**-40).any()


def test_selection_survives_the_widest_gap() -> None:
    assert permute_and_flip(np.array([-(2**63), 2**63 - 1]), 1.0, 1.0) == 1
