"""A box and a list: no neighbour moves them further than they say, and one attains it."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tacit.auditing.hunt import hunt
from tacit.bound import Box, ListedItems, Rows
from tacit.errors import Failure

STEPS = 64
ITEMS = 30


def boxed(bound):
    """A person's numbers follow from all of her values, as predictions do."""

    def contribute(person):
        items, values = person
        if not len(items):
            return np.zeros(len(bound.tops), np.int64)
        turned = np.cumsum(values * (1 + items)) % 2.1 - 0.3
        numbers = np.resize(turned, len(bound.tops)).reshape(1, -1)
        return bound.apply(Rows.one_each(numbers))[0]

    return contribute


def listing(bound):
    """A person's list changes wholly with any of her ratings."""

    def contribute(person):
        items, values = person
        out = np.zeros(ITEMS, np.int64)
        if not len(items):
            return out
        start = int(abs(values.sum() * 1000)) % ITEMS
        rows = np.sort((start + np.arange(bound.most)) % ITEMS)
        told = Rows(np.array([0, len(rows)], np.int64), rows, np.ones((len(rows), 1)))
        np.add.at(out, rows, bound.apply(told)[:, 0])
        return out

    return contribute


CASES = [
    (Box((1.0, 0.4), STEPS), boxed),
    (Box((1.0,) * 5, STEPS), boxed),
    (ListedItems(3, STEPS), listing),
    (ListedItems(10, STEPS), listing),
]


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
@pytest.mark.parametrize(("bound", "people"), CASES)
def test_no_neighbour_breaks_it_and_one_comes_close(bound, people, unit):
    worst = hunt(people(bound), unit, items=ITEMS, starts=24, climbs=40)
    claimed = bound.sensitivity(unit)
    assert worst.l1 <= claimed.l1
    assert worst.l2 <= claimed.l2 * (1 + 1e-12)
    assert worst.l2 >= 0.7 * claimed.l2


def test_a_list_that_is_replaced_costs_more_than_one_that_goes():
    """And less than two rows of that norm, which would be 6: no number is negative."""
    one, two = (ListedItems(9, 1).sensitivity(unit) for unit in ("user", "rating"))
    assert (one.l2, one.l1) == (3, 9)
    assert (two.l2, two.l1) == (sqrt(18), 18)


def test_numbers_outside_the_box_are_cut():
    odd = np.array([[-1.0, np.nan], [np.inf, 3.0], [0.5, -np.inf]])
    made = Box((1.0, 1.0), 10).apply(Rows.one_each(odd))
    assert made.tolist() == [[0, 0], [10, 10], [5, 0]]


def test_what_the_code_must_not_send_is_refused():
    twice = Rows(np.array([0, 2]), np.array([4, 4]), np.ones((2, 1)))
    with pytest.raises(Failure, match="twice"):
        ListedItems(5).apply(twice)
    lines = Rows(np.array([0, 2]), np.array([0, 0]), np.ones((2, 2)))
    with pytest.raises(Failure, match="one line"):
        Box((1.0, 1.0)).apply(lines)
    with pytest.raises(Failure, match="one row"):
        Box((1.0,)).apply(Rows(np.array([0, 1]), np.array([1]), np.ones((1, 1))))


def test_a_list_that_is_too_long_is_cut():
    rows = Rows(np.array([0, 1, 4]), np.array([7, 1, 2, 3]), np.ones((4, 1)))
    assert ListedItems(2, 1).apply(rows).ravel().tolist() == [1, 1, 1, 0]
