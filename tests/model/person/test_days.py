"""The personal day effect: against the full Gaussian, the kernel against numpy, and nothing
without times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit import Bias, sample, sample_catalogue
from tacit.data.splits import per_rating
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.model.person import gaussian
from tacit.model.person.base import Own
from tacit.model.person.gaussian import DAY, SECONDS, Daily, GaussianModel, GaussianPersonal, daily

ITEMS, WIDTH = 30, 4


@pytest.fixture
def model():
    rng = np.random.default_rng(3)
    return GaussianModel(
        rng.normal(0, 0.4, ITEMS),
        rng.uniform(0.01, 0.3, ITEMS),
        rng.normal(0, 0.4, (ITEMS, WIDTH)),
        0.7,
    )


@pytest.fixture
def own():
    rng = np.random.default_rng(4)
    items = rng.permutation(ITEMS)[:12]
    return Own(
        items,
        rng.uniform(-2, 2, 12),
        rng.integers(0, 4, 12) * SECONDS + rng.integers(0, SECONDS, 12),
    )


def by_hand(model, own, day):
    """Mean and standard deviation from the covariance of all ratings, nothing integrated out."""
    model = daily(model)
    days = np.append(own.times // SECONDS, np.full(ITEMS, day))
    rows = np.concatenate([model.loadings[own.items], model.loadings])
    spread = rows @ rows.T + DAY * (days[:, None] == days[None, :])
    count = len(own.items)
    known = spread[:count, :count] + np.diag(1 / model.precision[own.items])
    pull = np.linalg.solve(known, spread[:count, count:])
    mean = model.baseline + pull.T @ (own.values - model.baseline[own.items])
    left = np.diag(spread)[count:] - (pull * spread[:count, count:]).sum(axis=0)
    rest = own.values - model.baseline[own.items]
    misfit = float(rest @ np.linalg.solve(known, rest))
    scale = gaussian.own_scale(misfit, count)
    return mean, np.sqrt(left + scale / model.precision)


def personal(model):
    arrays = {"baseline": model.baseline, "variance": model.variance, "loadings": model.loadings}
    return GaussianPersonal(arrays, {"noise": model.noise})


@pytest.mark.parametrize("day", [2, 99])
def test_it_is_the_posterior_of_the_full_gaussian(model, own, day):
    asked = Own(own.items, own.values, own.times, day * SECONDS + 5)
    for found, right in zip(personal(model).predict(asked), by_hand(model, own, day), strict=True):
        np.testing.assert_allclose(found, right, atol=1e-12)


@pytest.mark.parametrize("day", [2, 99])
def test_the_kernel_agrees_with_numpy(model, own, day):
    order = np.argsort(own.items)
    ptr, asked_ptr = (np.array([0, 0, 12], np.int64), np.array([0, 0, ITEMS], np.int64))
    found = gaussian.predict_cells_by_day(
        model,
        ptr,
        own.items[order].astype(np.uint32),
        own.values[order],
        own.times[order],
        asked_ptr,
        np.arange(ITEMS, dtype=np.uint32),
        np.full(ITEMS, day * SECONDS),
    )
    for one, right in zip(found, by_hand(model, own, day), strict=True):
        np.testing.assert_allclose(one, right, atol=1e-12)


def test_reasons_add_up_to_the_prediction(model, own):
    asked = Own(own.items, own.values, own.times, 2 * SECONDS)
    reason = personal(model).explain(asked, 7)
    assert reason.baseline + reason.own.sum() == pytest.approx(personal(model).predict(asked)[0][7])


@pytest.mark.parametrize(("times", "asked"), [(False, 5), (True, None)])
def test_without_both_times_nothing_changes(model, own, times, asked):
    plain = Own(own.items, own.values)
    partly = Own(own.items, own.values, own.times if times else None, asked)
    np.testing.assert_array_equal(
        personal(model).predict(plain)[0], personal(model).predict(partly)[0]
    )


def test_a_shift_of_one_session_is_no_taste(model):
    """The same high ratings speak less for tomorrow if they were all given in one session."""
    items, high = np.arange(10), model.baseline[:10] + 1.0
    together = Daily(daily(model), items, high - model.baseline[:10], np.zeros(10, np.int64), 9)
    apart = Daily(daily(model), items, high - model.baseline[:10], np.arange(10), 99)
    assert np.linalg.norm(together.posterior().mean) < np.linalg.norm(apart.posterior().mean)


def test_planted_moods_are_found():
    """People whose ratings of one day share a mood are predicted better by those who know
    the day."""
    ratings, rng = sample(people=300), np.random.default_rng(6)
    day = rng.integers(0, 4, len(ratings))
    mood = rng.normal(0, 0.7, (ratings.n_users, 4))[ratings.user, day]
    value = np.clip(np.rint(ratings.value + mood), 1, 5).astype(np.float32)
    split = per_rating(replace(ratings, value=value, time=day * SECONDS), 0.1, 0)
    model = trial(Bias(calibration="none"), split.train, items=sample_catalogue())
    plain, by_day = (
        measure(model, split, lists=False, days=days)["rmse"] for days in (False, True)
    )
    assert by_day < plain - 0.01
