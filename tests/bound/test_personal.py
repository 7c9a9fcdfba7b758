"""A person's own weight: never more than its share of what the bound allows."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tacit.bound import RowClip, Rows
from tacit.bound.personal import WHOLE, factor_weights, lessened
from tacit.errors import Failure, SettingError
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.event import Gaussian, Laplace, Reserve, Response, Skellam
from tacit.ledger.account.personal import lesser, weight_for


def norm(values: np.ndarray) -> float:
    return sqrt(sum(int(each) ** 2 for each in values.ravel()))


def test_no_row_exceeds_its_share_of_the_bound() -> None:
    rng = np.random.default_rng(0)
    bound = RowClip(1.0)
    most = bound.sensitivity("user").l2
    for _ in range(200):
        size = int(rng.integers(1, 40))
        values = rng.normal(size=(size, 1)) * 10.0 ** rng.integers(-3, 4)
        rows = Rows(np.array([0, size]), np.arange(size), values)
        weight = int(rng.integers(0, WHOLE + 1))
        whole = bound.apply(rows)
        found = lessened(whole, rows.ptr, np.array([weight]))
        assert norm(found) <= weight / WHOLE * most
        assert (np.abs(found) * WHOLE <= np.abs(whole) * weight).all()
    # A row that meets the bound keeps nearly all of its share.
    full = bound.apply(Rows(np.array([0, 1]), np.array([0]), np.ones((1, 1))))
    half = lessened(full, np.array([0, 1]), np.array([WHOLE // 2]))
    assert norm(half) > 0.4999 * most


def test_a_whole_weight_changes_nothing_and_none_leaves_nothing() -> None:
    whole = np.array([[5], [-7], [9], [-1]])
    ptr = np.array([0, 2, 4])
    found = lessened(whole, ptr, np.array([WHOLE, 0]))
    assert found.ravel().tolist() == [5, -7, 0, 0]
    assert lessened(whole, ptr, np.array([WHOLE // 2] * 2)).ravel().tolist() == [2, -3, 4, 0]


def test_products_have_the_weight_and_no_more() -> None:
    rng = np.random.default_rng(1)
    for weight in (1, 7, 1000, WHOLE // 3, WHOLE - 1, WHOLE):
        row = rng.integers(-(2**13), 2**13, size=(20, 1))
        root = factor_weights(np.array([weight]))
        q = lessened(row, np.array([0, 20]), root)
        products = int((q.astype(object) ** 2).sum())
        whole = int((row.astype(object) ** 2).sum())
        assert products * WHOLE <= whole * weight


@pytest.mark.parametrize("weight", [-1, WHOLE + 1])
def test_other_weights_are_a_failure(weight: int) -> None:
    with pytest.raises(Failure):
        lessened(np.ones((1, 1), np.int64), np.array([0, 1]), np.array([weight]))


EVENTS = (
    Gaussian(name="a", sensitivity=1000.0, sigma=4000.0, draws=50),
    Laplace(name="b", sensitivity=10.0, scale=50.0, draws=5),
    Skellam(name="c", sensitivity=100.0, l1=900.0, variance=1e6, draws=50),
    Reserve(name="d", mu=0.2),
)


def test_the_weight_is_the_largest_that_costs_no_more_than_was_asked() -> None:
    all_of_it = epsilon(EVENTS, 1e-6)
    for asked in (0.05, 0.3, 0.9 * all_of_it):
        weight = weight_for(EVENTS, asked, 1e-6)
        assert 0 < weight < WHOLE
        costs = [epsilon([lesser(e, w) for e in EVENTS], 1e-6) for w in (weight, weight + 1)]
        assert costs[0] <= asked < costs[1]
    assert weight_for(EVENTS, all_of_it * 1.01, 1e-6) == WHOLE
    assert weight_for(EVENTS, 0.0, 1e-6) == 0


def test_concentrated_privacy_falls_with_the_square_of_the_weight() -> None:
    one = lesser(EVENTS[0], WHOLE // 4)
    assert isinstance(one, Gaussian)
    assert one.sensitivity == 250.0
    assert one.sigma == 4000.0
    assert epsilon([lesser(EVENTS[1], WHOLE // 2)], 0.0) == pytest.approx(0.1)


def test_who_answers_by_a_coin_cannot_ask_for_less() -> None:
    event = Response(name="bit", epsilon=1.0, reports=1)
    with pytest.raises(SettingError, match="the same"):
        lesser(event, WHOLE // 2)
