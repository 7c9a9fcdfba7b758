"""Vectors of single ratings: the bound holds on the integers, and the ridge's gain is what
a search finds at most."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from tacit.auditing.hunt import hunt
from tacit.bound import Rows
from tacit.bound.vectors import CellVectors, ridge_gain

ITEMS, WIDTH = 30, 3
COEFFICIENTS = np.random.default_rng(0).normal(size=(ITEMS, WIDTH))
COEFFICIENTS /= np.linalg.norm(COEFFICIENTS, axis=1)[:, None]


def contribution(bound):
    def contribute(person):
        items, values = person
        rows = Rows(
            np.array([0, len(items)]), items, COEFFICIENTS[items] * np.clip(values, -2, 2)[:, None]
        )
        out = np.zeros((ITEMS, WIDTH), np.int64)
        np.add.at(out, items, bound.apply(rows))
        return out.ravel()

    return contribute


@pytest.mark.parametrize("steps", [64, 2**20])
def test_no_changed_value_moves_more_than_claimed(steps):
    bound = CellVectors(2.0, steps)
    worst = hunt(contribution(bound), "value", items=ITEMS)
    claimed = bound.sensitivity("value").l2
    assert worst.l2 <= claimed
    assert worst.l2 > 0.93 * claimed  # a smaller claim would be caught


def test_it_promises_nothing_at_other_units():
    assert (
        CellVectors(2.0).sensitivity("rating").l2 == CellVectors(2.0).sensitivity("user").l2 == inf
    )


def test_a_vector_too_long_is_shortened_and_a_hole_counts_nothing():
    bound = CellVectors(2.0, 1000)
    rows = Rows(np.array([0, 2]), np.arange(2), np.array([[30.0, 40.0, 0.0], [np.nan, 1.0, 1.0]]))
    assert bound.apply(rows).tolist() == [[1200, 1600, 0], [0, 0, 0]]


def test_the_gain_of_a_ridge_is_reached_and_not_passed():
    rng = np.random.default_rng(1)
    best = 0.0
    for _ in range(3000):
        ridge = 10 ** rng.uniform(-2, 2)
        rows = rng.normal(size=(rng.integers(1, 6), 2)) * 10 ** rng.uniform(-2, 1)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1.0)
        gain = np.linalg.norm(np.linalg.solve(rows.T @ rows + ridge * np.eye(2), rows[0]))
        ratio = gain / float(ridge_gain(np.array([ridge]))[0])
        assert ratio <= 1 + 1e-9
        best = max(best, ratio)
    assert best > 0.98
