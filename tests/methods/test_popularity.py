"""Popularity: the conformance of every method, and its own planted truth."""

from __future__ import annotations

import numpy as np

from tacit import Popularity, sample, sample_catalogue
from tacit.fitting.run import trial
from tacit.testing import MethodTests


class TestPopularity(MethodTests):
    method = Popularity


def test_the_twin_ranks_by_how_much_is_rated():
    ratings = sample(people=500, ratings=20_000, seed=1)
    model = trial(Popularity(calibration="none", unit="rating"), ratings, items=sample_catalogue())
    counts = np.bincount(ratings.item, minlength=ratings.n_items)
    assert np.allclose(model.shared.arrays["weight"], counts)


def test_a_generous_budget_finds_the_most_popular():
    ratings = sample(people=2000, seed=1)
    model = trial(
        Popularity(epsilon=10.0, unit="rating"), ratings, items=sample_catalogue(), users=2000
    )
    counts = np.bincount(ratings.item, minlength=ratings.n_items)
    best = {sample_catalogue().ids[i] for i in np.argsort(-counts)[:10]}
    assert len(best & {line.item for line in model.recommend({}, 10)}) >= 8
