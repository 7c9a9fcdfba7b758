"""The optimising adversary: it reaches what bounds allow, never more, and sees a bound that is
not kept."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.auditing.adversary import (
    NEAR,
    QUICK_EFFORT,
    Pair,
    elsewhere,
    every_small_pair,
    flat,
    hunt_pairs,
    nudged,
    random_pair,
    records,
    uphill,
)
from tacit.auditing.walk import walk
from tacit.bound.clip import RowClip
from tacit.data.catalogue import Catalogue
from tacit.methods import find

DELTA = 1e-6


@pytest.fixture(scope="module")
def people():
    return tacit.sample(120)


def hunted(name, unit, people):
    method = find(name)(epsilon=5.0, delta=DELTA, unit=unit, threads=1)
    items = Catalogue(list(people.items))
    walked = walk(method, people, items, users=people.n_users)
    return hunt_pairs(walked, DELTA, QUICK_EFFORT)


@pytest.mark.parametrize(
    ("name", "unit"), [("bias", "user"), ("bias", "rating"), ("mf-input-sgd", "value")]
)
def test_nearly_every_bound_is_reached_and_none_is_passed(name, unit, people):
    got = hunted(name, unit, people)
    assert max(got.reached.values()) <= 1 + 1e-9
    assert min(got.reached.values()) > 0.8
    assert 0.9 * 5 < got.epsilon <= 5
    assert set(got.slack) == {name for name, share in got.reached.items() if share < NEAR}
    assert "a person with item" in got.witness


def test_a_matrix_is_reached_up_to_its_offset(people):
    got = hunted("covariance-svd", "user", people)
    assert 0.8 < got.reached["covariance/matrix"] <= 1


def test_a_skipped_clip_is_found(people, monkeypatch):
    """Rows go on the grid as they are: the search finds who moves a sum too far."""

    def unclipped(self, rows):
        return np.trunc(rows.values * self.steps).astype(np.int64)

    monkeypatch.setattr(RowClip, "apply", unclipped)
    got = hunted("bias", "user", people)
    assert max(got.reached.values()) > 1.2
    assert got.epsilon > 5


def test_steps_up_a_slope_end_at_its_top(people):
    """Neither end of the scale nor its middle, where all other searches look."""
    top = np.array([1.7, 4.4, 2.2])
    rng = np.random.default_rng(0)
    pair = Pair(np.arange(3), np.array([5.0, 1.0, 3.0]))

    def height(pair):
        return -float(((pair.value - top) ** 2).sum())

    for _ in range(40):
        start = nudged(pair, people, rng)
        plan_report = np.array([height(each) for each in flat([start])])
        steps = uphill([start], [plan_report], people)
        pair = max([pair, *steps], key=height)
        assert all(((p.value >= 1) & (p.value <= 5)).all() for p in steps)
    assert height(pair) > -0.1


def test_the_best_pair_is_tried_at_every_item_and_in_everybodys_place(people):
    pair = Pair(np.array([3, 5]), np.array([1.0, 5.0]), cell=1)
    tried = list(elsewhere(pair, people, np.random.default_rng(0)))
    items = {int(each.item[1]) for each in tried} - {5}
    assert items == set(range(people.n_items)) - {3, 5}
    assert {each.who for each in tried} == set(range(people.n_users))


def test_each_kind_of_search_only_adds(people):
    got = hunted("bias", "rating", people)
    told = list(got.stages.values())
    assert told == sorted(told)
    assert list(got.stages)[-1] == "gradient"
    assert told[-1] == got.epsilon


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_pairs_are_neighbours(unit, people):
    rng = np.random.default_rng(0)
    pairs = [random_pair(rng, people) for _ in range(30)]
    pairs += list(every_small_pair(people, unit))[:50]
    one, other = records(pairs, people, unit)
    for k, pair in enumerate(pairs):
        mine, theirs = one.row(k), other.row(k)
        rated = dict(zip(one.item[mine], one.value[mine], strict=True))
        left = dict(zip(other.item[theirs], other.value[theirs], strict=True))
        assert len(rated) == len(pair.item)
        cell = pair.item[pair.cell]
        if unit == "user":
            assert not left
        elif unit == "rating":
            assert rated.keys() - left.keys() == {cell}
            assert all(rated[i] == v for i, v in left.items())
        else:
            differ = {i for i in rated if rated[i] != left[i]}
            assert rated.keys() == left.keys()
            assert differ == {cell}
