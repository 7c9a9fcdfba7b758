"""How much chance is in a person's own ratings: it widens or narrows her intervals alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.model.person.gaussian import TYPICAL, UNSURE, GaussianModel, fold_in, own_scale, predict
from tacit.model.person.rank import LIKED, chance_above

ITEMS, WIDTH, NOISE = 300, 3, 0.7
REACH = 1.2815515655446004


def model() -> GaussianModel:
    rng = np.random.default_rng(0)
    return GaussianModel(
        rng.normal(0.3, 0.4, ITEMS),
        rng.uniform(0.0, 0.1, ITEMS),
        0.3 * rng.standard_normal((ITEMS, WIDTH)),
        NOISE,
    )


def ratings(given: GaussianModel, rng: np.random.Generator, times: float) -> np.ndarray:
    """Of all items, by somebody whose ratings have `times` everybody's variance."""
    taste = given.loadings @ rng.standard_normal(WIDTH)
    deviation = np.sqrt(times * (NOISE + given.variance))
    chance = deviation * rng.standard_normal(ITEMS)
    return np.asarray(given.baseline + taste + chance)


def test_nobody_and_somebody_like_everybody_have_everybodys_noise() -> None:
    given = model()
    nobody = fold_in(given, np.zeros(0, np.int64), np.zeros(0))
    assert nobody.scale == 1.0 + UNSURE / TYPICAL
    rng = np.random.default_rng(1)
    scales = []
    for _ in range(200):
        rated = ratings(given, rng, 1.0)
        items = rng.choice(ITEMS, 60, replace=False)
        scales.append(fold_in(given, items, rated[items]).scale)
    # Each has a standard deviation of about sqrt(2 60)/80.
    usual = 1.0 + UNSURE / (TYPICAL + 60)
    assert np.mean(scales) == pytest.approx(usual, abs=0.03)


def test_it_is_the_misfit_of_the_whole_row() -> None:
    """Against y'V^-1 y written out."""
    given = model()
    rng = np.random.default_rng(2)
    items = rng.choice(ITEMS, 25, replace=False)
    rated = ratings(given, rng, 2.0)[items]
    rows = given.loadings[items]
    whole = rows @ rows.T + np.diag(NOISE + given.variance[items])
    rest = rated - given.baseline[items]
    misfit = rest @ np.linalg.solve(whole, rest)
    found = fold_in(given, items, rated).scale
    assert found == pytest.approx((TYPICAL + UNSURE + misfit) / (TYPICAL + 25))


def test_intervals_hold_for_steady_and_for_fickle_people() -> None:
    """Everybody's noise would cover far too many of the one and too few of the other."""
    given = model()
    rng = np.random.default_rng(3)
    for times in (0.4, 2.5):
        inside, plainly = 0.0, 0.0
        for _ in range(60):
            rated = ratings(given, rng, times)
            items = rng.permutation(ITEMS)
            own, asked = items[:100], items[100:]
            posterior = fold_in(given, own, rated[own])
            mean, sd = predict(given, posterior, asked)
            gap = np.abs(rated[asked] - mean)
            inside += float((gap < REACH * sd).mean()) / 60
            same, sd = predict(given, replace(posterior, scale=1.0), asked)
            np.testing.assert_array_equal(same, mean)
            plainly += float((gap < REACH * sd).mean()) / 60
        assert abs(inside - 0.8) < 0.07  # shrunk by a sixth
        assert abs(plainly - 0.8) > 0.14


def test_no_ratings_whatever_make_a_variance_below_zero() -> None:
    for count in (1, 10, 10_000):
        assert own_scale(0.0, count) == pytest.approx((TYPICAL + UNSURE) / (TYPICAL + count))


def test_a_like_is_more_certain_from_somebody_steady() -> None:
    given = model()
    rng = np.random.default_rng(4)
    steady = ratings(given, rng, 0.2)
    items = rng.choice(ITEMS, 100, replace=False)
    posterior = fold_in(given, items, steady[items])
    mean, sd = predict(given, posterior)
    _, plain = predict(given, replace(posterior, scale=1.0))
    liked = mean > LIKED
    assert liked.any()
    surer = chance_above(mean, sd, LIKED) > chance_above(mean, plain, LIKED)
    assert surer[liked].all()
