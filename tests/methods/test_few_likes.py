"""People with few likes: neither pairs of items nor vectors of people stand out of the noise,
and popularity is measured once more in their place, at the same cost."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.data.ratings import Ratings
from tacit.fitting.run import trial
from tacit.methods.factorization.als import likes_each, weighed
from tacit.methods.factorization.state import LikesState
from tacit.methods.item_item.ease import LEAST_TOLD, told_by_pairs
from tacit.methods.item_item.plan import EaseState
from tacit.model.model import Model

ITEMS = 150


def likes(people: int, each: int) -> Ratings:
    """Everybody likes so many items, well known ones more often."""
    rng = np.random.default_rng(0)
    chance = 1 / np.arange(1, ITEMS + 1) ** 0.8
    score = rng.gumbel(size=(people, ITEMS)) + np.log(chance)
    chosen = np.sort(np.argsort(-score, axis=1)[:, :each], axis=1)
    rows = {
        "user": np.repeat(np.arange(people), each),
        "item": [f"item {i:03}" for i in chosen.ravel()],
    }
    return tacit.read(pl.DataFrame(rows), positive=True)


def fitted(method: str, epsilon: float, given: Ratings) -> Model:
    made = {"ease": tacit.EASE, "als": tacit.ALS}[method]
    return trial(made(epsilon=epsilon), given, users=given.n_users)


@pytest.mark.parametrize("method", ["ease", "als"])
def test_the_whole_budget_measures_popularity(method: str) -> None:
    given = likes(8000, 4)
    arrays = fitted(method, 1.0, given).shared.arrays
    # Neither weights between items nor factors.
    assert "left" not in arrays
    assert not arrays.get("factors", np.zeros(1)).any()
    true = np.bincount(given.item, minlength=ITEMS)
    assert np.corrcoef(arrays["weight"], true)[0, 1] > 0.99


@pytest.mark.parametrize(("each", "paired"), [(3, False), (40, True)])
def test_single_likes_have_pairs_where_a_person_has_many(each: int, paired: bool) -> None:
    """At the unit `rating` too, popularity is measured once more where likes are few."""
    given = likes(900, each)
    made = tacit.EASE(epsilon=2.0, unit="rating")
    arrays = trial(made, given, users=given.n_users).shared.arrays
    assert ("left" in arrays) == paired
    if not paired:
        true = np.bincount(given.item, minlength=ITEMS)
        assert np.corrcoef(arrays["weight"], true)[0, 1] > 0.98


def test_people_with_many_likes_have_their_gram() -> None:
    assert "left" in fitted("ease", 4.0, likes(3000, 40)).shared.arrays


def test_the_rule_goes_by_released_popularity() -> None:
    """Of many likes more is taste; of 6 it drowns where 60 do not."""
    told = [
        told_by_pairs(EaseState(people=6000, weight=np.full(100, 60 * root)), 1600.0, 180)
        for root in (np.sqrt(60), np.sqrt(6))
    ]
    assert told[0] > LEAST_TOLD > told[1]


def test_two_releases_of_popularity_count_by_their_noise() -> None:
    rng = np.random.default_rng(1)
    true = np.full(2000, 40.0)
    state = LikesState(people=1000.0)
    for sd in (3.0, 1.0):
        raw = true + sd * rng.standard_normal(2000)
        state = weighed(state, raw, sd)
    assert state.counted_sd == pytest.approx(np.sqrt(0.9))
    assert np.std(state.counted - true) == pytest.approx(0.949, rel=0.06)


def test_likes_of_a_typical_person_are_read_off_weights() -> None:
    for count in (5, 200):
        each = count / np.sqrt(max(count, 30))
        state = LikesState(people=500.0, weight=np.full(50, 10 * each))
        assert likes_each(state) == pytest.approx(count)
