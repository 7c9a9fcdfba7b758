"""Bias: conformance, planted truth, and that noise cannot make it worse than one's own mean."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Bias, sample, sample_catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.data.splits import per_rating
from tacit.evaluation.metrics import rmse
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.testing import MethodTests


class TestBias(MethodTests):
    method = Bias


@pytest.fixture(scope="module")
def split():
    return per_rating(sample(people=2000, seed=2), 0.1, 0)


def error(split, **options):
    items = sample_catalogue() if options.pop("features", False) else None
    return measure(
        trial(Bias(**options), split.train, items=items, users=2000), split, lists=False
    )["rmse"]


def own_mean(split):
    """Each person's own mean, shrunk by five ratings toward everybody's."""
    given, asked = split.fold_in, split.test
    centre = given.value.mean()
    sums = np.bincount(given.user, given.value - centre, given.n_users)
    mean = centre + sums / (np.diff(given.ptr) + 5)
    return rmse(np.repeat(mean, np.diff(asked.ptr)), asked.value)


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_accuracy_on_the_sample_is_as_known(split, unit):
    """On the sample: global mean 1.13, own mean 1.05, item and person effects .97."""
    assert error(split, epsilon=20, unit=unit) < 0.985
    assert error(split, epsilon=2, unit=unit) < own_mean(split)


def test_features_help(split):
    assert error(split, epsilon=2, features=True) < error(split, epsilon=2) - 0.01


def test_planted_effects_are_found():
    rng = np.random.default_rng(0)
    people, items = 3000, 40
    item_bias = rng.normal(0, 0.6, items)
    rows = [np.sort(rng.permutation(items)[:15]) for _ in range(people)]
    item = np.concatenate(rows).astype(np.uint32)
    value = np.clip(3 + item_bias[item] + rng.normal(0, 0.7, len(item)), 1, 5).astype(np.float32)
    data = Ratings(
        Schema(1, 5),
        [str(i) for i in range(people)],
        [str(i) for i in range(items)],
        np.arange(0, 15 * people + 1, 15),
        item,
        value,
    )
    model = trial(Bias(epsilon=5), data, users=people)
    found = np.asarray(model.shared.arrays["baseline"])
    assert np.corrcoef(found, item_bias)[0, 1] > 0.98


def sparse(people, items, each, seed=0):
    """Four to six ratings a person, more items than people, no item effects worth the noise."""
    rng = np.random.default_rng(seed)
    rows = [
        np.sort(rng.permutation(items)[: rng.integers(each - 1, each + 2)]) for _ in range(people)
    ]
    item = np.concatenate(rows).astype(np.uint32)
    ptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    person = np.repeat(rng.normal(0.4, 0.5, people), np.diff(ptr))
    value = np.clip(np.rint(3 + person + rng.normal(0, 0.9, len(item))), 1, 5).astype(np.float32)
    names = [str(i) for i in range(max(people, items))]
    return Ratings(Schema(1, 5), names[:people], names[:items], ptr, item, value)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("unit", ["user", "rating"])
def test_never_worse_than_ones_own_mean_on_sparse_and_small_data(epsilon, unit):
    """Where an early recipe failed: the fit must shrink to nothing where the
    noise drowns the items."""
    split = per_rating(sparse(600, 900, 5), 0.1, 1)
    errors = [
        measure(trial(Bias(epsilon=epsilon, unit=unit), split.train, users=600), split, lists=False)
        for _ in range(3)
    ]
    assert (
        np.mean([e["rmse"] for e in errors]) < own_mean(split) + 0.012
    )  # .005, and three times the spread of the split


def test_a_pure_promise_costs_accuracy_only(split):
    model = trial(Bias(epsilon=5.0, delta=0.0), split.train, users=2000)
    assert {event.kind for event in model.statement.events} == {"laplace"}
    assert measure(model, split, lists=False)["rmse"] < own_mean(split) + 0.01
