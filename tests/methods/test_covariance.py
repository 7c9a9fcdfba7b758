"""Covariance methods and EASE: conformance, a plain reference, and planted structure."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import EASE, CovarianceKNN, CovarianceSVD, Popularity, sample
from tacit.data.splits import per_person, per_rating
from tacit.evaluate.sweep import measure
from tacit.fitting import trial
from tacit.testing import MethodTests


class TestSVD(MethodTests):
    method = CovarianceSVD


class TestKNN(MethodTests):
    method = CovarianceKNN


class TestEase(MethodTests):
    method = EASE
    rated = False


@pytest.fixture(scope="module")
def split():
    return per_rating(sample(people=2000, seed=2), 0.1, 0)


def error(split, cls, **options):
    return measure(trial(cls(**options), split.train, users=2000), split, lists=False)["rmse"]


@pytest.mark.parametrize("cls", [CovarianceSVD, CovarianceKNN])
@pytest.mark.parametrize("unit", ["user", "rating"])
def test_a_generous_budget_finds_the_tastes(split, cls, unit):
    """On the sample: item and person effects .97, factors .85 without noise."""
    assert error(split, cls, epsilon=50, unit=unit) < 0.93


def test_little_budget_falls_back_to_effects(split):
    from tacit import Bias

    assert error(split, CovarianceSVD, epsilon=0.5) < error(split, Bias, epsilon=0.5) + 0.02


def test_ease_beats_popularity():
    likes = sample(people=2000, seed=4).take(sample(people=2000, seed=4).value >= 4)
    part = per_person(likes, 300, 0.8, 0)

    def recall(cls, **options):
        return measure(trial(cls(**options), part.train, users=2000), part, lists=True)["recall@20"]

    assert recall(EASE, epsilon=20, unit="rating") > 1.1 * recall(Popularity, epsilon=20, unit="rating")


def test_few_own_ratings_make_neighbours_and_factors_agree(split):
    model = trial(CovarianceKNN(epsilon=20), split.train, users=2000)
    own = {model.shared.catalogue.ids[i]: 1.0 + i % 5 for i in range(20)}
    near = np.array([p.rating for p in model.predict(own)])
    told = model.explain(own, model.shared.catalogue.ids[40])
    assert told.rating == pytest.approx(near[40], abs=1e-5)
