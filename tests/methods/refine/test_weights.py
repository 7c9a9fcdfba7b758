"""Weights behind known noise."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.weights import RARE, Weights, denoise_weights, emphasis


def planted(items: int = 3000, sd: float = 20.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    true = 400.0 / (1.0 + np.arange(items)) ** 0.8
    return true, true + sd * rng.standard_normal(items)


def refined(true: np.ndarray, noisy: np.ndarray, sd: float) -> Weights:
    return denoise_weights(noisy, sd, low=0.1, high=1000.0, mean=float(true.mean()))


def test_beats_clipping_the_noise_by_far() -> None:
    true, noisy = planted()
    error = np.mean((refined(true, noisy, 20.0).mean - true) ** 2)
    assert error < 0.25 * np.mean((np.maximum(noisy, 0) - true) ** 2)


def test_without_noise_nothing_changes() -> None:
    true, _ = planted()
    np.testing.assert_allclose(refined(true, true, 1e-9).mean, true, rtol=0.15)


def test_stays_in_range_and_moments_agree() -> None:
    true, noisy = planted()
    weights = refined(true, noisy, 20.0)
    assert weights.mean.min() >= 0.1
    assert weights.mean.max() <= 1000.0
    assert np.all(weights.square >= weights.mean**2 * (1 - 1e-12))
    assert np.all(weights.log <= np.log(weights.mean) + 1e-12)


def test_keeps_order() -> None:
    true, noisy = planted()
    order = np.argsort(noisy)
    assert np.all(np.diff(refined(true, noisy, 20.0).mean[order]) >= -1e-6)


@pytest.mark.parametrize("sd", [1e3, 1e5, 1e8])
def test_drowned_items_are_all_alike(sd: float) -> None:
    true, noisy = planted(sd=sd)
    weights = refined(true, noisy, sd)
    assert np.abs(weights.popularity).max() < 0.25
    np.testing.assert_allclose(weights.mean, true.mean(), rtol=0.7)


def test_the_mean_known_from_elsewhere_stops_noise_from_passing_for_weight() -> None:
    rng = np.random.default_rng(1)
    weights = denoise_weights(
        200.0 * rng.standard_normal(2000), 200.0, low=0.2, high=900.0, mean=2.0
    )
    assert weights.mean.mean() < 4.0


@pytest.mark.parametrize("noisy", [np.zeros(0), np.zeros(1), np.full(5, -1e12), np.full(5, 1e12)])
def test_edges_are_finite(noisy: np.ndarray) -> None:
    weights = denoise_weights(noisy, 1.0, low=0.1, high=100.0, mean=1.0)
    assert np.all(np.isfinite(weights.mean))
    assert np.all(np.isfinite(weights.square))


def test_emphasis_lifts_rare_items_and_never_exceeds_one() -> None:
    true, noisy = planted(sd=1.0)
    multiplier, clip = emphasis(refined(true, noisy, 1.0), 1.0, 0.1)
    assert multiplier.max() == 1.0
    assert multiplier[0] < 0.3
    assert 0.0 < clip <= 1.0


def test_effort_that_leans_to_rare_items_gives_them_more_of_a_row() -> None:
    true, noisy = planted(sd=1.0)
    weights = refined(true, noisy, 1.0)
    usual, clip = emphasis(weights, 1.0, 0.1)
    leaning, other = emphasis(weights, 1.0, 0.1, RARE)
    assert leaning[-1] / other > 1.2 * usual[-1] / clip
    assert leaning[0] / other < usual[0] / clip


def test_emphasis_is_flat_where_everything_drowns() -> None:
    true, noisy = planted(sd=1e6)
    multiplier, clip = emphasis(refined(true, noisy, 1e6), 1e6, 0.1)
    assert np.all(multiplier == 1.0)
    assert clip == pytest.approx(1.0)


def test_features_tell_crowded_from_rare_where_noise_hides_both() -> None:
    rng = np.random.default_rng(3)
    feature = rng.standard_normal((2000, 1))
    truth = np.exp(1.0 + 1.2 * feature[:, 0] + 0.3 * rng.standard_normal(2000))
    noisy = truth + rng.normal(0, 10.0, 2000)
    given = {"low": 0.1, "high": 500.0, "mean": float(truth.mean())}
    blind, told = (
        denoise_weights(noisy, 10.0, **given),
        denoise_weights(noisy, 10.0, **given, features=feature),
    )
    assert (
        np.corrcoef(told.log, np.log(truth))[0, 1]
        > np.corrcoef(blind.log, np.log(truth))[0, 1] + 0.05
    )


def test_features_that_say_nothing_change_little() -> None:
    rng = np.random.default_rng(4)
    truth = np.exp(rng.normal(1.0, 1.0, 2000))
    noisy = truth + rng.normal(0, 3.0, 2000)
    given = {"low": 0.1, "high": 500.0, "mean": float(truth.mean())}
    blind = denoise_weights(noisy, 3.0, **given)
    told = denoise_weights(noisy, 3.0, **given, features=rng.standard_normal((2000, 3)))
    assert np.abs(told.log - blind.log).mean() < 0.25
