"""The cleaned spectrum, the item loadings and the neighbour weights, on matrices whose
right answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.methods.refine.neighbour import ease, ridge_weights, similarity, strongest
from tacit.methods.refine.spectrum import (
    leading,
    noise_edge,
    paper_average,
    paper_clean,
    project_psd,
    shrink_spectrum,
)
from tacit.methods.refine.spectrum_items import Profile, fit_item_factors, profile

Array = NDArray[Any]


def symmetric_noise(rng: np.random.Generator, size: int, sd: float) -> Array:
    upper = np.triu(rng.normal(size=(size, size)), 1) * sd
    return upper + upper.T


def planted(size: int, values: tuple[float, ...], seed: int = 0) -> tuple[Array, Array]:
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, len(values))))[0]
    return (vectors * np.array(values)) @ vectors.T, vectors


def test_the_edge_is_where_noise_ends() -> None:
    noise = symmetric_noise(np.random.default_rng(1), 600, 0.7)
    assert float(np.linalg.eigvalsh(noise)[-1]) == pytest.approx(noise_edge(0.7, 600), rel=0.03)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pure_noise_cleans_itself_to_nothing(dtype: type) -> None:
    noise: Array = symmetric_noise(np.random.default_rng(2), 500, 3.0).astype(dtype)
    assert shrink_spectrum(noise, 3.0, 30).rank == 0


def test_shrinkage_is_nearly_the_best_that_these_vectors_allow() -> None:
    truth, _ = planted(500, (150.0, 90.0, 70.0))
    noisy = truth + symmetric_noise(np.random.default_rng(3), 500, 1.0)
    found = shrink_spectrum(noisy, 1.0, 30)
    best = np.einsum(
        "ik,ij,jk->k", found.vectors, truth, found.vectors
    )  # least squares over diagonal values
    assert found.rank == 3
    assert np.allclose(found.values, best, rtol=0.1)


def test_shrinkage_beats_keeping_the_eigenvalues() -> None:
    truth, _ = planted(400, (120.0, 60.0, 55.0))
    noisy = truth + symmetric_noise(np.random.default_rng(4), 400, 1.0)
    found = shrink_spectrum(noisy, 1.0, 20)
    values, vectors = leading(noisy, 3)
    assert np.linalg.norm(found.dense() - truth) < 0.97 * np.linalg.norm(
        (vectors * values) @ vectors.T - truth
    )


def test_a_missing_diagonal_is_imputed() -> None:
    truth, _ = planted(60, (40.0,))
    without = truth - np.diag(np.diag(truth))
    found = shrink_spectrum(without, 0.0, 1, passes=60)
    assert np.allclose(found.dense(), truth, atol=1e-4)


def test_subspace_iteration_agrees_with_lapack() -> None:
    truth, _ = planted(900, tuple(np.linspace(400, 120, 12)))
    noisy = truth + symmetric_noise(np.random.default_rng(5), 900, 1.0)
    exact, fast = (
        shrink_spectrum(noisy, 1.0, 40),
        shrink_spectrum(noisy.astype(np.float32), 1.0, 40),
    )
    assert fast.rank == exact.rank
    assert np.linalg.norm(fast.dense() - exact.dense()) < 1e-3 * np.linalg.norm(exact.dense())


def test_the_same_matrix_always_gives_the_same_numbers() -> None:
    noisy = (planted(300, (90.0,))[0] + symmetric_noise(np.random.default_rng(6), 300, 1.0)).astype(
        np.float32
    )
    assert np.array_equal(
        shrink_spectrum(noisy, 1.0, 10).loadings, shrink_spectrum(noisy, 1.0, 10).loadings
    )


def test_projection_leaves_no_negative_eigenvalue_and_keeps_psd_matrices() -> None:
    noisy = planted(40, (9.0, 5.0))[0] + symmetric_noise(np.random.default_rng(7), 40, 1.0)
    fixed = project_psd(noisy)
    assert np.linalg.eigvalsh(fixed)[0] > -1e-9
    assert np.allclose(project_psd(fixed), fixed)


@pytest.mark.parametrize("bad", [np.zeros((3, 4)), np.zeros(3)])
def test_only_square_matrices_have_a_spectrum(bad: Array) -> None:
    with pytest.raises(SettingError, match="square"):
        shrink_spectrum(bad, 1.0)


def test_a_negative_noise_level_is_refused() -> None:
    with pytest.raises(SettingError, match="noise_sd"):
        shrink_spectrum(np.eye(3), -1.0)


def test_paper_average_shrinks_diagonal_and_rest_apart() -> None:
    covariance, weight = (np.array([[8.0, 1.0], [1.0, 4.0]]), np.array([[2.0, 1.0], [1.0, 2.0]]))
    average = paper_average(covariance, weight, 1.0, 3.0)
    assert np.allclose(average, [[(8 + 6) / 4, 4 / 4], [4 / 4, (4 + 6) / 4]])


def test_paper_clean_returns_a_clean_low_rank_matrix_unchanged() -> None:
    item_factors = np.random.default_rng(8).normal(size=(30, 3))
    weight = np.full((30, 30), 50.0)
    cleaned = paper_clean(
        item_factors @ item_factors.T * 50,
        weight,
        np.full(30, 9.0),
        rank=3,
        shrink_diagonal=0.0,
        shrink_off=0.0,
    )
    assert np.allclose(cleaned @ cleaned.T, item_factors @ item_factors.T)


def weighted(seed: int, size: int, sd: float) -> tuple[Array, Array, Array]:
    """A released covariance a_i a_j q_i'q_j of items from popular to rare, without its diagonal."""
    rng = np.random.default_rng(seed)
    weight = 30.0 * np.arange(1, size + 1) ** -0.7
    item_factors = rng.normal(size=(size, 3)) * np.array([0.6, 0.4, 0.3])
    clean = np.outer(weight, weight) * (item_factors @ item_factors.T)
    np.fill_diagonal(clean, 0.0)
    return clean + symmetric_noise(rng, size, sd), weight, item_factors


def test_loadings_are_found_and_rare_items_shrink() -> None:
    noisy, weight, item_factors = weighted(9, 400, 2.0)
    found = fit_item_factors(noisy.astype(np.float32), 2.0, Profile(weight, 0.01), rank_max=20)
    truth, guess = item_factors @ item_factors.T, found.mean @ found.mean.T
    head = np.ix_(range(60), range(60))
    assert found.rank >= 3
    assert np.linalg.norm(guess[head] - truth[head]) < 0.25 * np.linalg.norm(truth[head])
    assert found.spread[-1] > 3 * found.spread[0]


def test_row_regressions_beat_the_bare_spectrum() -> None:
    noisy, weight, item_factors = weighted(10, 400, 4.0)
    found = fit_item_factors(noisy.astype(np.float32), 4.0, Profile(weight, 0.0), rank_max=20)
    bare = shrink_spectrum(noisy.astype(np.float32), 4.0, 20).loadings / weight[:, None]
    truth = item_factors @ item_factors.T
    assert np.linalg.norm(found.mean @ found.mean.T - truth) < 0.8 * np.linalg.norm(
        bare @ bare.T - truth
    )


def test_loadings_of_pure_noise_are_nothing() -> None:
    noise = symmetric_noise(np.random.default_rng(11), 300, 5.0).astype(np.float32)
    assert fit_item_factors(noise, 5.0, Profile(np.full(300, 3.0), 0.0)).rank == 0


def test_a_catalogue_of_one_item_has_no_loadings() -> None:
    assert fit_item_factors(np.zeros((1, 1), np.float32), 1.0, Profile(np.ones(1), 0.1)).rank == 0


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_the_profile_finds_the_co_rating_weight_to_a_factor_of_two(unit: Any) -> None:
    rng = np.random.default_rng(12)
    chance = 0.5 * np.arange(1, 201) ** -0.5
    active = np.exp(rng.normal(0, 0.6, 2000))[:, None]
    rated = (rng.random((2000, 200)) < np.minimum(chance * active, 1)).astype(float)
    each = rated.sum(1)
    counts = (
        (rated / np.sqrt(np.maximum(each, 50))[:, None]).sum(0) if unit == "user" else rated.sum(0)
    )
    pair = 1 / (each + 5) if unit == "user" else 1 / np.sqrt(each + 5)
    together = (rated * pair[:, None]).T @ rated
    np.fill_diagonal(together, 0)
    guess = profile(counts, 2000, unit, variance=1.0, offset=5.0).weight
    assert 0.5 < (guess.sum() ** 2 - (guess**2).sum()) / together.sum() < 2


def test_ridge_weights_predict_like_the_full_gaussian_model() -> None:
    rng = np.random.default_rng(13)
    item_factors = rng.normal(size=(9, 2))
    own = rng.uniform(0.5, 1, 8)
    y = rng.normal(size=8)
    neighbours, item = item_factors[:8], item_factors[8]
    weights = ridge_weights(neighbours @ neighbours.T, neighbours @ item, own)
    person = np.linalg.solve(
        np.eye(2) + (neighbours.T / own) @ neighbours, (neighbours.T / own) @ y
    )
    assert weights @ y == pytest.approx(item @ person)


def test_no_neighbours_no_weights() -> None:
    assert len(ridge_weights(np.zeros((0, 0)), np.zeros(0), 1.0)) == 0


def test_similarity_is_bounded_by_the_noise_floor() -> None:
    matrix = np.array([[4.0, 2.0, 9.0], [2.0, 4.0, 0.1], [9.0, 0.1, -3.0]])
    found = similarity(matrix, np.diag(matrix), 1.0)
    assert found[0, 1] == pytest.approx(0.5)
    assert np.abs(found).max() <= 1


def test_strongest_keeps_the_largest_off_the_diagonal() -> None:
    matrix = np.array(
        [[9.0, -3.0, 1.0, 0.0], [-3.0, 9.0, 0.0, 2.0], [1.0, 0.0, 9.0, 0.0], [0.0, 2.0, 0.0, 9.0]]
    )
    found = strongest(matrix, 2)
    assert found.item.tolist() == [[1, 2], [0, 3], [0, -1], [1, -1]]
    assert found.value[0].tolist() == [-3.0, 1.0]
    assert found.nbytes == 4 * 2 * 8


def test_low_rank_ease_is_ease() -> None:
    rng = np.random.default_rng(14)
    item_factors, diagonal = rng.normal(size=(25, 4)), rng.uniform(1, 3, 25)
    inverse = np.linalg.inv(item_factors @ item_factors.T + np.diag(diagonal))
    expected = -inverse / np.diag(inverse)
    np.fill_diagonal(expected, 0)
    found = ease(item_factors, diagonal)
    liked = np.array([2, 5, 11])
    assert np.allclose(found.dense(), expected, atol=1e-6)
    assert np.allclose(found.scores(liked), expected[liked].sum(0), atol=1e-5)
