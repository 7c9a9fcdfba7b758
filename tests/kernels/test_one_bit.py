"""Kernels of the local model against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.kernels import directions as one_bit
from tacit.kernels.descent import advance
from tacit.model.person.gaussian import GaussianModel, fold_in
from tacit.papers.shin2018.printed import kernels as one_bit_descent

ITEMS = 40
PAIRS = 8
KEY = np.uint64(12345)


def directions(person):
    """The directions of one person, coordinate by coordinate, through `tally` alone."""
    out = np.zeros((PAIRS, ITEMS), np.int64)
    for pair in range(PAIRS):
        one_bit.tally(np.array([person]), np.array([2 * pair]), KEY, out[pair])
    return out


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.permutation(ITEMS)[: rng.integers(1, ITEMS)]) for _ in range(25)]
    ptr = np.cumsum([0, *(len(r) for r in rows)]).astype(np.int64)
    item = np.concatenate(rows).astype(np.uint32)
    return ptr, item, rng.normal(size=len(item))


def test_the_favoured_answers_are_the_nearest_directions(people):
    ptr, item, value = people
    found = np.empty((25, 3))
    numbers = np.arange(100, 125)
    one_bit.favour(numbers, ptr, item, value, KEY, PAIRS, found)
    for row, person in enumerate(numbers):
        vector = np.zeros(ITEMS)
        vector[item[ptr[row] : ptr[row + 1]]] = value[ptr[row] : ptr[row + 1]]
        scores = directions(person) @ vector
        nearest = np.argsort(-np.abs(scores), kind="stable")[:3]
        assert found[row].tolist() == [2 * j + (scores[j] < 0) for j in nearest]


def test_opposite_answers_cancel():
    out = np.zeros(ITEMS, np.int64)
    one_bit.tally(np.array([7, 7]), np.array([4, 5]), KEY, out)
    assert not out.any()


def test_directions_are_signs_without_a_pattern():
    table = np.concatenate([directions(person) for person in range(200)])
    assert set(np.unique(table)) == {-1, 1}
    cells = len(table)
    assert np.abs(table.mean(axis=0)).max() < 6 / np.sqrt(cells)
    gram = table.T @ table / cells
    assert np.abs(gram - np.eye(ITEMS)).max() < 6 / np.sqrt(cells)


def test_a_person_without_ratings_still_answers():
    found = np.empty((1, 2))
    one_bit.favour(
        np.array([3]), np.array([0, 0]), np.zeros(0, np.uint32), np.zeros(0), KEY, PAIRS, found
    )
    assert sorted(found[0].tolist()) == [0.0, 2.0]


def test_tastes_are_the_personal_posterior(people):
    ptr, item, value = people
    rng = np.random.default_rng(1)
    model = GaussianModel(rng.normal(size=ITEMS), np.zeros(ITEMS), rng.normal(size=(ITEMS, 4)), 0.9)
    taste, left = np.empty((25, 4)), np.empty(len(item))
    one_bit.user_factors(
        ptr, item, value - model.baseline[item], model.loadings, model.precision, taste, left
    )
    for row in range(25):
        cells = slice(ptr[row], ptr[row + 1])
        mean = fold_in(model, item[cells].astype(np.int64), value[cells]).mean
        assert np.allclose(taste[row], mean)
        assert np.allclose(
            left[cells],
            value[cells] - model.baseline[item[cells]] - model.loadings[item[cells]] @ mean,
        )


def plain_steps(rows, rating, path, start, rate, ridge):
    own = start.copy()
    for step, table in enumerate(path):
        chosen = table[rows].astype(np.float64)
        gradient = -2 * chosen.T @ (rating - chosen @ own) / max(len(rows), 1)
        own = own - rate / (step + 1) * (gradient + 2 * ridge * own)
    return own


def test_own_factors_follow_the_path_and_catch_up(people):
    ptr, item, value = people
    path = np.random.default_rng(2).normal(size=(5, ITEMS, 3)).astype(np.float32)
    start, own = np.full(3, 0.5), np.zeros((25, 4))
    advance(ptr, item, value, path[:2], start, 0.1, 0.01, 0.0, own)
    assert (own[:, 3] == 3).all()
    advance(ptr, item, value, path, start, 0.1, 0.01, 0.0, own)
    for row in range(25):
        cells = slice(ptr[row], ptr[row + 1])
        assert np.allclose(
            own[row, :3], plain_steps(item[cells], value[cells], path, start, 0.1, 0.01)
        )


def test_gradients_at_the_drawn_coordinate(people):
    ptr, item, value = people
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(ITEMS, 3)).astype(np.float32)
    own = rng.normal(size=(25, 4))
    projection = rng.normal(size=(6, ITEMS)).astype(np.float32)
    whole = np.empty((len(item), 3))
    one_bit_descent.whole_gradient(ptr, item, value, factors, own, whole)
    at_item, at_row = rng.integers(0, ITEMS * 3, 25), rng.integers(0, 6 * 3, 25)
    one, two = np.empty(25), np.empty(25)
    one_bit_descent.item_gradient(ptr, item, value, factors, own, at_item, one)
    one_bit_descent.projected_gradient(ptr, item, value, factors, own, projection, at_row, two)
    for row in range(25):
        dense = np.zeros((ITEMS, 3))
        cells = slice(ptr[row], ptr[row + 1])
        error = value[cells] - factors[item[cells]].astype(np.float64) @ own[row, :3]
        dense[item[cells]] = -2 * error[:, None] * own[row, :3]
        assert np.allclose(whole[cells], dense[item[cells]])
        assert one[row] == pytest.approx(dense.ravel()[at_item[row]])
        assert two[row] == pytest.approx(
            (projection.astype(np.float64) @ dense).ravel()[at_row[row]], rel=1e-5
        )


def test_coordinates_are_drawn_evenly():
    asked = np.empty(60_000, np.int64)
    one_bit_descent.draw_coordinates(np.arange(60_000), KEY, 30, asked)
    counts = np.bincount(asked, minlength=30)
    assert np.abs(counts - 2000).max() < 6 * np.sqrt(2000)
