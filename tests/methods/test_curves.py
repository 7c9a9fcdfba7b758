"""Slopes on what all think of items, and products of what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.first_order.rounds import POPULARITY_SLOPE, loadings
from tacit.methods.refine.user_factors import CURVED, KEPT, feature_interactions

ITEMS = 400


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_agreement_is_a_slope_on_effects_beside_popularity(rng):
    item_biases = rng.standard_normal(ITEMS)
    matrix, groups = loadings(np.zeros(ITEMS), item_biases=item_biases)
    assert np.array_equal(matrix[:, 2], POPULARITY_SLOPE * item_biases)
    assert groups.tolist() == [0, 1, 1]


def test_curves_are_the_quadratic_kernel_less_what_is_linear(rng):
    known = rng.standard_normal((ITEMS, 3)) * [0.4, 0.3, 0.2]
    weight = rng.random(ITEMS) + 0.1
    share = weight / weight.sum()
    centred = known - share @ known
    # The kernel, with constants and linear parts taken out on both sides.
    design = np.column_stack([np.ones(ITEMS), centred])
    hat = design @ np.linalg.solve((design.T * share) @ design, design.T * share)
    rest = np.eye(ITEMS) - hat
    kernel = rest @ (CURVED * (centred @ centred.T) ** 2) @ rest.T
    made = feature_interactions(known, weight)
    assert made.shape == (ITEMS, 6)
    np.testing.assert_allclose(made @ made.T, kernel, atol=1e-12)


def test_curves_of_many_loadings_are_few(rng):
    made = feature_interactions(rng.standard_normal((ITEMS, 30)), np.ones(ITEMS))
    assert made.shape == (ITEMS, KEPT)


@pytest.mark.parametrize("known", [np.zeros((ITEMS, 2)), np.zeros((ITEMS, 0))])
def test_where_nothing_is_known_curves_are_nothing(known):
    made = feature_interactions(known, np.ones(ITEMS))
    assert not made.any()
