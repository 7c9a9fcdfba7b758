"""Item effects behind known noise: found when they show, nothing when they drown."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.item_bias import BETWEEN, Evidence, ItemBiasEstimate, estimate_item_biases
from tacit.methods.refine.weights import Weights, denoise_weights

ITEMS = 4000


def known(weights: np.ndarray) -> Weights:
    return Weights(weights, weights**2, np.log(weights), float(np.std(np.log(weights))))


def planted(
    sd: float, *, intercept: float = 0.05, slope: float = 0.1, between: float = 0.1, seed: int = 0
) -> tuple[np.ndarray, Weights, Evidence]:
    rng = np.random.default_rng(seed)
    weights = known(np.exp(rng.normal(2.0, 1.2, ITEMS)))
    item_biases = (
        intercept + slope * weights.popularity + np.sqrt(between) * rng.standard_normal(ITEMS)
    )
    noisy = weights.mean * item_biases + sd * rng.standard_normal(ITEMS)
    return (
        item_biases,
        weights,
        Evidence.none(ITEMS).add(noisy, sd, 1.0, weights, np.zeros(ITEMS)),
    )


def test_finds_what_was_planted() -> None:
    _, weights, evidence = planted(3.0)
    fit = estimate_item_biases(evidence, weights, sampling=0.0)
    assert fit.intercept == pytest.approx(0.05, abs=0.03)
    assert fit.slope == pytest.approx(0.1, abs=0.03)
    assert 0.05 < fit.between < 0.2


def test_beats_both_the_raw_ratio_and_nothing() -> None:
    item_biases, weights, evidence = planted(10.0)
    error = np.mean((estimate_item_biases(evidence, weights, sampling=0.0).mean - item_biases) ** 2)
    assert error < 0.9 * np.mean(item_biases**2)
    assert error < 0.1 * np.mean((evidence.total / weights.mean - item_biases) ** 2)


@pytest.mark.parametrize("sd", [0.5, 5.0, 20.0])
def test_the_variance_is_honest(sd: float) -> None:
    item_biases, weights, evidence = planted(sd)
    fit = estimate_item_biases(evidence, weights, sampling=0.0)
    assert np.mean((fit.mean - item_biases) ** 2 / fit.variance) == pytest.approx(1.0, abs=0.25)


def test_uncertain_weights_do_not_hide_effects() -> None:
    """Sums of items whose weights are noisy have long tails: a normal likelihood finds half of
    their variance."""
    rng = np.random.default_rng(3)
    true = np.exp(rng.normal(2.0, 1.2, ITEMS))
    noisy = true + 8.0 * rng.standard_normal(ITEMS)
    mean = float(true.mean())
    weights = denoise_weights(noisy, 8.0, low=0.5, high=2000.0, mean=mean)
    item_biases = np.sqrt(0.3) * rng.standard_normal(ITEMS)
    nothing = np.zeros(ITEMS)
    sums = true * item_biases + 2.0 * rng.standard_normal(ITEMS)
    evidence = Evidence.none(ITEMS).add(sums, 2.0, 1.0, weights, nothing)
    fit = estimate_item_biases(evidence, weights, sampling=0.0)
    assert 0.27 < fit.between < 0.37


def test_rare_items_may_differ_more() -> None:
    rng = np.random.default_rng(6)
    weights = known(np.exp(rng.normal(2.0, 1.2, ITEMS)))
    rare = weights.popularity < -2.0
    left = []
    for fall in (0.0, 0.6):
        wide = np.exp(-fall * np.clip(weights.popularity, -1.3, 2.0))
        item_biases = np.sqrt(0.1 * wide) * rng.standard_normal(ITEMS)
        sums = weights.mean * item_biases + 3.0 * rng.standard_normal(ITEMS)
        evidence = Evidence.none(ITEMS).add(sums, 3.0, 1.0, weights, np.zeros(ITEMS))
        fit = estimate_item_biases(evidence, weights, sampling=0.0)
        left.append(float(fit.variance[rare].mean()))
    assert left[1] > 1.3 * left[0]


def drown(
    sd: float, seed: int, people: float = 600.0, features: np.ndarray | None = None
) -> ItemBiasEstimate:
    """Few people, many items, weights below the noise and themselves only known through it."""
    rng = np.random.default_rng(seed)
    true = np.exp(rng.normal(-0.5, 1.0, ITEMS))
    low = 0.2
    weights = denoise_weights(
        true + sd * rng.standard_normal(ITEMS),
        sd,
        low=low,
        high=people * 2 * low,
        mean=float(true.mean()),
    )
    evidence = Evidence.none(ITEMS)
    fit = None
    for _ in range(3):  # the sweeps of a plan: residuals from what was found before
        item_biases = np.zeros(ITEMS) if fit is None else fit.mean
        noisy = true * (0.3 * rng.standard_normal(ITEMS) - item_biases) + sd * rng.standard_normal(
            ITEMS
        )
        evidence = evidence.add(noisy, sd, 1.0, weights, item_biases)
        fit = estimate_item_biases(evidence, weights, features, sampling=0.3)
    assert fit is not None
    return fit


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sd", [30.0, 300.0, 3e4])
def test_never_runs_away(sd: float, seed: int) -> None:
    fit = drown(sd, seed)
    assert abs(fit.intercept) < 0.1
    assert abs(fit.slope) < 0.1
    assert 0.02 < fit.between < 0.3


def test_drowned_effects_are_nothing_and_say_so() -> None:
    fit = drown(3e4, 0)
    assert np.abs(fit.mean).max() < 0.01
    np.testing.assert_allclose(fit.variance, BETWEEN, rtol=0.3)


def test_drowned_features_are_nothing_too() -> None:
    rng = np.random.default_rng(9)
    fit = drown(3e4, 0, features=rng.standard_normal((ITEMS, 6)))
    assert np.abs(fit.mean).max() < 0.1
    assert np.abs(fit.coefficients).max() < 0.05


def test_features_explain_what_they_can() -> None:
    rng = np.random.default_rng(4)
    features = rng.standard_normal((ITEMS, 5))
    _, weights, evidence = planted(20.0, between=0.02)
    shifted = Evidence(
        evidence.total + weights.mean * 0.3 * features[:, 2], evidence.precision, evidence.taken
    )
    fit = estimate_item_biases(shifted, weights, features, sampling=0.0)
    assert fit.coefficients[2] == pytest.approx(0.3, abs=0.05)
    assert np.abs(np.delete(fit.coefficients, 2)).max() < 0.05


def test_two_releases_are_one_of_half_the_variance() -> None:
    _, weights, evidence = planted(5.0)
    nothing = np.zeros(ITEMS)
    twice = evidence.add(evidence.total, 5.0, 1.0, weights, nothing)
    np.testing.assert_allclose(twice.total, evidence.total)
    np.testing.assert_allclose(twice.precision, 2 * evidence.precision)


def test_a_sweep_of_residuals_means_the_same_as_sums() -> None:
    item_biases, weights, _ = planted(5.0)
    guess = 0.5 * item_biases
    evidence = Evidence.none(ITEMS).add(
        2.0 * weights.mean * (item_biases - guess), 1.0, 2.0, weights, guess
    )
    np.testing.assert_allclose(evidence.total, weights.mean * item_biases)
