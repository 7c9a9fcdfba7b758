"""What a whole spectrum says, on matrices whose right answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.methods.refine import spectrum
from tacit.methods.refine.spectrum import noise_edge, shrink_spectrum, shrink_whole_spectrum

Array = NDArray[Any]
SIZE = 300
SD = 1.0
EDGE = noise_edge(SD, SIZE)


def symmetric_noise(seed: int, size: int = SIZE) -> Array:
    upper = np.triu(np.random.default_rng(seed).normal(size=(size, size)), 1)
    return SD * (upper + upper.T)


def planted(seed: int, values: Array) -> Array:
    draws = np.random.default_rng(seed).normal(size=(SIZE, len(values)))
    vectors = np.linalg.qr(draws)[0]
    return np.asarray((vectors * values) @ vectors.T)


def miss(found: Array, truth: Array) -> float:
    """Squared error off the diagonal, which was never released."""
    rest = found - truth
    np.fill_diagonal(rest, 0.0)
    return float((rest**2).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pure_noise_says_nothing(dtype: type) -> None:
    noise = symmetric_noise(1).astype(dtype)
    assert shrink_whole_spectrum(noise, SD, SIZE).rank == 0


def test_what_pure_noise_leaves_is_small() -> None:
    """Also below the edge, and where one true direction lets the others be looked at."""
    truth = planted(2, np.array([3 * EDGE]))
    found = shrink_whole_spectrum(truth + symmetric_noise(2), SD, SIZE)
    assert found.values[0] == pytest.approx(3 * EDGE, rel=0.05)
    assert found.values[1:].max(initial=0.0) < 0.12 * EDGE
    assert miss(found.dense(), truth) < 1.3 * miss(
        shrink_spectrum(truth + symmetric_noise(2), SD, SIZE).dense(), truth
    )


def test_many_directions_below_the_edge_are_not_lost() -> None:
    """Thirty-two of forty tastes drown one by one, and together they do not."""
    values = EDGE * np.concatenate([np.linspace(3, 1, 8), np.full(32, 0.45)])
    better = 0.0
    for seed in range(3):
        truth = planted(seed, values)
        noisy = truth + symmetric_noise(10 + seed)
        whole = shrink_whole_spectrum(noisy, SD, 120)
        edged = shrink_spectrum(noisy, SD, 120)
        assert whole.rank > edged.rank + 10
        better += miss(whole.dense(), truth) / miss(edged.dense(), truth) / 3
    assert better < 0.97


def test_values_fall_and_vectors_stay_orthonormal() -> None:
    values = EDGE * np.linspace(2, 0.3, 30)
    noisy = planted(4, values) + symmetric_noise(4)
    found = shrink_whole_spectrum(noisy, SD, 60)
    assert 0 < found.rank <= 60
    assert np.all(np.diff(found.values) <= 0)
    assert found.values[-1] > 0
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(found.rank), atol=1e-9)


def test_without_noise_or_with_too_many_rows_it_is_the_plain_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth = planted(5, np.array([5.0, 3.0]))
    plain = shrink_spectrum(truth, 0.0, 2)
    found = shrink_whole_spectrum(truth, 0.0, 2)
    np.testing.assert_array_equal(found.values, plain.values)
    monkeypatch.setattr(spectrum, "LARGEST", SIZE - 1)
    noisy = planted(6, np.array([3 * EDGE])) + symmetric_noise(6)
    np.testing.assert_array_equal(
        shrink_whole_spectrum(noisy, SD, 9).values, shrink_spectrum(noisy, SD, 9).values
    )
