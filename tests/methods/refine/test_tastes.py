"""Tastes: planted structure is found, and noise alone changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.spectrum_items import KEPT, Profile, covariance_factors, shared_scatter
from tacit.methods.refine.user_factors import (
    Axes,
    UserFactorEvidence,
    carried,
    typical_axes,
    user_factor_changes,
)
from tacit.methods.refine.weights import Weights


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def weights_of(mean):
    return Weights(mean, mean**2, np.log(mean), 1.0)


def test_axes_are_orthonormal_best_first_and_padded(rng):
    item_factors = rng.normal(0, [0.5, 0.2, 0.1], (200, 3))
    axes = typical_axes(item_factors, np.ones(200), np.ones(200), 50.0, 5)
    assert axes.vectors[:, :3].T @ axes.vectors[:, :3] == pytest.approx(np.eye(3), abs=1e-12)
    assert (np.diff(axes.reliability[:3]) <= 0).all()
    assert not axes.vectors[:, 3:].any()


def test_carriers_are_the_least_reliable_axes_that_show():
    axes = Axes(np.eye(8), np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    chosen = carried(axes, 4, 2, 0.25)
    assert chosen.reliability.tolist() == [0.9, 0.8, 0.4, 0.3]
    assert chosen.vectors.argmax(axis=0).tolist() == [0, 1, 5, 6]
    few = carried(axes, 7, 2, 0.25)
    assert few.reliability.tolist() == axes.reliability[:7].tolist()


def test_changes_of_loadings_are_found_and_noise_is_not(rng):
    weights = weights_of(np.full(500, 40.0))
    truth = rng.normal(0, 0.1, (500, 1))
    released = np.concatenate([40 * truth, np.zeros((500, 1))], axis=1) + rng.normal(
        0, 1.0, (500, 2)
    )
    evidence = UserFactorEvidence.none(500, 2).add(
        released, 1.0, np.ones((500, 2)), weights, np.zeros((500, 2))
    )
    found, unknown = user_factor_changes(evidence, weights, np.zeros(2))
    assert np.corrcoef(found[:, 0], truth[:, 0])[0, 1] > 0.95
    assert np.abs(found[:, 1]).max() < 0.02
    assert (unknown >= 0).all()


def test_evidence_of_sweeps_adds_up(rng):
    weights = weights_of(np.full(50, 10.0))
    truth, start = rng.normal(0, 0.2, (50, 2)), rng.normal(0, 0.1, (50, 2))
    one = UserFactorEvidence.none(50, 2).add(
        10 * truth, 1.0, np.ones((50, 2)), weights, np.zeros((50, 2))
    )
    two = one.add(5 * (truth - start), 1.0, np.full((50, 2), 0.5), weights, start)
    assert two.total == pytest.approx(10 * truth)
    assert two.precision == pytest.approx(1.25)


def covariance(rng, fresh, known, sd, items):
    weight = np.full(items, 8.0)
    truth = fresh @ fresh.T + known @ known.T
    noise = np.triu(rng.normal(0, sd, (items, items)), 1)
    return (KEPT * np.outer(weight, weight) * truth + noise + noise.T).astype(np.float32), Profile(
        weight, 1e-4
    )


def test_planted_likings_are_found(rng):
    fresh, known = rng.normal(0, 0.2, (200, 1)), rng.normal(0, 0.2, (200, 2))
    matrix, profile = covariance(rng, fresh, known, 0.5, 200)
    found = covariance_factors(matrix, 0.5, profile, known)
    assert abs(np.corrcoef(found.fresh[:, 0], fresh[:, 0])[0, 1]) > 0.95
    assert found.turn == pytest.approx(np.eye(2), abs=0.15)


def test_scatter_counts_more_where_rows_have_few_people():
    assert shared_scatter(100, 1e9) == pytest.approx(2)
    assert shared_scatter(100, 400) == pytest.approx(2.5)
    assert shared_scatter(100, 100) == shared_scatter(100, 0.0) == 3


def test_a_covariance_of_noise_says_nothing(rng):
    known = rng.normal(0, 1e-3, (200, 2))
    matrix, profile = covariance(rng, np.zeros((200, 1)), known, 3.0, 200)
    found = covariance_factors(matrix, 3.0, profile, known)
    assert found.fresh.shape[1] == 0
    assert found.turn == pytest.approx(np.eye(2), abs=1e-9)
    assert found.typical == 0
