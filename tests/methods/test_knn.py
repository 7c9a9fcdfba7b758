"""Item neighbours: conformance, similarities that are what they are called, planted
structure, and size."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import CosineKNN, PearsonKNN, Ratings, Schema, sample
from tacit.data.splits import per_rating
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.testing import MethodTests


class TestPearson(MethodTests):
    method = PearsonKNN


class TestCosine(MethodTests):
    method = CosineKNN


def planted(people=3000, items=60, each=20, seed=0):
    """Items of one third are loved and hated together; who rates what is by chance."""
    rng = np.random.default_rng(seed)
    taste = rng.choice([-1.0, 1.0], (people, 3))
    item = np.concatenate(
        [np.sort(rng.choice(items, each, replace=False)) for _ in range(people)]
    ).astype(np.uint32)
    user = np.repeat(np.arange(people), each)
    value = np.clip(np.round(3 + 1.2 * taste[user, item % 3] + rng.normal(0, 0.5, len(item))), 1, 5)
    ptr = np.arange(0, people * each + 1, each, dtype=np.int64)
    names = [str(i) for i in range(items)]
    return Ratings(
        Schema(1, 5), [str(u) for u in range(people)], names, ptr, item, value.astype(np.float32)
    )


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_planted_groups_are_each_others_neighbours(unit):
    model = trial(PearsonKNN(epsilon=20, unit=unit, items=60), planted(), users=3000)
    for item in (0, 1, 2, 31):
        near = model.similar(str(item), 15)
        assert all(int(name) % 3 == item % 3 for name, _, _ in near)


def test_the_twins_similarity_is_the_cosine_of_scaled_rows():
    data = planted(people=300)
    model = trial(CosineKNN(calibration="none", items=60, rank=60, keep=59), data)
    rows = np.zeros((300, 60))
    rows[np.repeat(np.arange(300), 20), data.item] = data.value / 5
    rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True) + 0.5)
    gram = rows.T @ rows
    wanted = gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    got = np.stack([model.personal.similar(i) for i in range(60)])
    assert np.corrcoef(got[~np.eye(60, dtype=bool)], wanted[~np.eye(60, dtype=bool)])[0, 1] > 0.9


def test_neighbours_beat_effects_where_tastes_differ():
    split = per_rating(sample(people=2000, seed=2), 0.1, 0)
    model = trial(PearsonKNN(epsilon=50, unit="rating"), split.train, users=2000)
    assert measure(model, split, lists=False)["rmse"] < 0.95


@pytest.mark.parametrize("method", [PearsonKNN, CosineKNN])
def test_fewer_neighbours_make_a_smaller_model(method):
    data = sample(people=300, ratings=9000, seed=3)
    sizes = []
    for keep in (5, 20):
        model = trial(method(calibration="none", keep=keep), data)
        assert np.diff(model.shared.arrays["start"]).max() <= keep
        sizes.append(model.shared.nbytes)
    assert sizes[0] < sizes[1]
