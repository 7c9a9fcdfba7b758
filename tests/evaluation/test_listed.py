"""Lists of likes in closed form: popularity until pairs stand out by the method's own rule, then
both."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation.excess import LoudLists, forecast_recall, looks_at_pairs, row_likes
from tacit.evaluation.invent import Nature, Shape, invent
from tacit.fitting.run import trial
from tacit.ledger.account.calibrate import gaussian_mu

SHAPE = (2000, 150, 30.0)
LISTS = LoudLists(0.5, 1.8, 1.3, 0.1, -0.3, 1.0)


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_lists_lose_nothing_without_noise_and_nearly_all_under_much(unit):
    for mu, low, high in ((1e6, 0.999, 1.0), (1e-5, 0.0, 0.01)):
        recall, twin = forecast_recall(unit, *SHAPE, mu, LISTS)
        assert low <= recall / twin <= high


def test_a_short_catalogue_is_listed_by_popularity_alone():
    bare = LoudLists(0.0, 1.8, 1.3, 0.1, -9.0, 1.0)
    for items, least in ((20, 0.999), (40, 0.6)):
        popular = forecast_recall("user", 1e9, items, 2.0, 1.0, bare)
        assert least <= popular[0] <= 1.0


def test_it_turns_to_pairs_where_the_method_does():
    """The rule of the method, on people of a declared shape."""
    shape = Shape(900, 300, 40.0)
    likes = invent(shape, Nature(), 3)[0]
    turned = []
    for epsilon in (1.0, 2.0, 5.0, 10.0, 20.0):
        model = trial(tacit.EASE(epsilon=epsilon, delta=1e-6), likes, users=900)
        told = looks_at_pairs("user", 900, 300, 40.0, gaussian_mu(epsilon, 1e-6))
        assert ("left" in model.shared.arrays) == told
        turned.append(told)
    assert turned == sorted(turned)
    assert not turned[0]
    assert turned[-1]


def test_a_known_floor_is_what_is_left_of_recall_below_the_rule():
    mu = gaussian_mu(1.0, 1e-6)
    assert not looks_at_pairs("user", 2000, 400, 10.0, mu)
    recall, twin = forecast_recall("user", 2000, 400, 10.0, mu, LISTS, floor=0.7)
    assert recall / twin == pytest.approx(0.7, abs=0.05)


def test_likes_are_read_off_rows_as_the_method_does():
    rng = np.random.default_rng(0)
    for each in (3.0, 40.0):
        likes = rng.lognormal(0.0, 0.9, 200_000)
        likes *= each / likes.mean()
        weight = (likes / np.sqrt(np.maximum(likes, 6))).mean()
        assert row_likes(each) == pytest.approx(weight**2, rel=0.02)
