"""An earlier release as a prior: it says what it said, with no more certainty, and nothing
of what it did not know."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.earlier import DRIFT, Earlier, fewer_columns
from tacit.methods.refine.global_mean import GLOBAL_MEAN_SD, GlobalMean
from tacit.methods.refine.weights import Weights

ITEMS = 40


def exact(mean):
    return Weights(mean, mean**2, np.log(mean), 1.0)


@pytest.fixture
def item_biases():
    return np.random.default_rng(1).normal(0, 0.3, ITEMS)


@pytest.fixture
def weight():
    return np.random.default_rng(2).uniform(5, 500, ITEMS)


def made(item_biases, weight, *, precision=25.0, known=None, unsure=0.0, level=0.2):
    return Earlier(
        known=np.ones(ITEMS, bool) if known is None else known,
        total=weight * item_biases,
        precision=np.full(ITEMS, precision),
        taken=np.zeros(ITEMS),
        cross=np.zeros(ITEMS),
        apart=np.zeros(ITEMS),
        weight=weight,
        weight_square=weight**2 * (1 + unsure),
        weight_log=np.log(weight),
        level=level,
        level_variance=0.01,
        sampling=np.full(ITEMS, 0.5),
    )


@pytest.mark.parametrize("people", [0.1, 1.0, 7.0])
def test_the_old_effects_are_what_it_says_whatever_the_number_of_people(
    item_biases, weight, people
):
    found, _ = made(item_biases, weight).evidence(exact(people * weight), 0.2, 0.5)
    np.testing.assert_allclose(found.total / (people * weight), item_biases, atol=1e-12)


@pytest.mark.parametrize("people", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("unsure", [0.0, 0.5])
def test_it_is_never_surer_than_it_was(item_biases, weight, people, unsure):
    found, _ = made(item_biases, weight, unsure=unsure).evidence(exact(people * weight), 0.2, 0.5)
    of_an_effect = 1 / found.precision / (people * weight) ** 2
    assert (of_an_effect >= 1 / (25.0 * weight**2) + 0.99 * DRIFT).all()


def test_fewer_people_behind_the_old_sums_count_as_noise(item_biases, weight):
    """Sampling is taken to be shared; where it was larger, the difference is added."""
    alike, _ = made(item_biases, weight).evidence(exact(weight), 0.2, 0.5)
    small, _ = made(item_biases, weight / 4).evidence(exact(weight), 0.2, 0.5)
    extra = 1 / small.precision - (16 / 25.0 + DRIFT * weight**2)
    np.testing.assert_allclose(extra, (4 * 0.5 - 0.5) * weight)
    np.testing.assert_allclose(1 / alike.precision, 1 / 25.0 + DRIFT * weight**2)


def test_more_people_behind_the_old_sums_count_as_noise_of_the_new(item_biases, weight):
    _, shared = made(item_biases, 4 * weight).evidence(exact(weight), 0.2, 0.5)
    np.testing.assert_allclose(shared, 0.5 / 4)


def test_effects_move_with_the_level(item_biases, weight):
    found, _ = made(item_biases, weight, level=0.2).evidence(exact(weight), 0.5, 0.5)
    np.testing.assert_allclose(found.total / weight, item_biases - 0.3, atol=1e-12)


def test_items_that_were_not_known_say_nothing(item_biases, weight):
    known = np.arange(ITEMS) % 2 == 0
    found, _ = made(item_biases, weight, known=known).evidence(exact(weight), 0.2, 0.5)
    assert (found.total[~known] == 0).all()
    assert (found.precision[~known] < 1e-9).all()


def test_the_level_of_then_and_now_are_pooled():
    earlier = made(np.zeros(ITEMS), np.ones(ITEMS), level=0.4)
    kept = GLOBAL_MEAN_SD**2 / (
        GLOBAL_MEAN_SD**2 + 0.01
    )  # a release of 0.6 with variance .01, shrunk toward mid-scale
    found = earlier.better_global_mean(GlobalMean(0.6 * kept, GLOBAL_MEAN_SD**2 * (1 - kept), 30.0))
    assert found.mean == pytest.approx(0.5, abs=0.01)
    assert found.variance == pytest.approx(0.005, rel=0.05)


def test_a_level_that_noise_hides_is_that_of_then():
    earlier = made(np.zeros(ITEMS), np.ones(ITEMS), level=0.4)
    assert earlier.better_global_mean(
        GlobalMean(0.0, GLOBAL_MEAN_SD**2, 30.0)
    ).mean == pytest.approx(0.4, abs=1e-3)


def test_fewer_columns_are_the_same_model_but_for_what_is_dropped():
    rng = np.random.default_rng(5)
    item_factors = rng.normal(size=(ITEMS, 9)) * np.geomspace(1, 0.01, 9)
    found, dropped = fewer_columns(item_factors, np.ones(ITEMS), 4)
    assert found.shape == (ITEMS, 5)
    np.testing.assert_allclose((found**2).sum(axis=1) + dropped, (item_factors**2).sum(axis=1))
    np.testing.assert_allclose(found @ found.T, item_factors @ item_factors.T, atol=0.2)


def test_old_weights_answer_where_noise_hides_the_new_ones(weight):
    flat = Weights(
        np.full(ITEMS, weight.mean()), np.full(ITEMS, 2 * weight.mean() ** 2), np.zeros(ITEMS), 1.0
    )
    found = made(np.zeros(ITEMS), weight).better_weights(flat, weight * 0, 1e5)
    np.testing.assert_allclose(found.mean / weight, 1.0, atol=0.05)


def test_a_clear_release_outweighs_old_weights(weight):
    now = 10 * weight[::-1]
    found = made(np.zeros(ITEMS), weight).better_weights(exact(now), now, 0.01)
    np.testing.assert_allclose(found.mean / now, 1.0, atol=0.05)
