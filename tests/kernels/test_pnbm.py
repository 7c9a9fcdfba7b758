"""Learned neighbourhoods: the gradient is the derivative of the loss, whatever the signs
and the floor."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tacit.kernels.item_pairs import (
    covariance_pairs,
    gradient_pairs,
    judge_people,
    pair_starts,
    residuals,
)
from tacit.kernels.item_rows import row_gradient, similar_rows
from tacit.kernels.neighbours import predict_cells
from tacit.methods.neighbourhood.twin import Data, square, train
from tacit.model.person.gaussian import GaussianModel, fold_in
from tacit.papers.wang_tang.printed import kernels as printed
from tacit.rounds.round import Block

ITEMS = 9
STEP = 1e-6


@pytest.fixture
def block():
    rng = np.random.default_rng(4)
    rows = [np.sort(rng.permutation(ITEMS)[: rng.integers(2, ITEMS + 1)]) for _ in range(25)]
    ptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    item = np.concatenate(rows).astype(np.uint32)
    return Block(np.arange(25), ptr, item, rng.integers(-2, 3, len(item)).astype(np.float64))


@pytest.fixture
def data(block):
    return Data.of(block, np.linspace(-0.3, 0.4, ITEMS))


def neighbours(seed=0, most=6):
    rng = np.random.default_rng(seed)
    index = np.array(
        [np.sort(rng.permutation([j for j in range(ITEMS) if j != i])[:most]) for i in range(ITEMS)]
    )
    return index.astype(np.int32), rng.normal(size=(ITEMS, most))


def guessed(row, dev, level, floor):
    """Plain numpy: what her other ratings say of one item."""
    size = max(np.abs(row).sum(), floor)
    return level + row @ (dev - level) / size


@pytest.mark.parametrize("level", [0.0, 0.3], ids=["item means", "levels"])
@pytest.mark.parametrize("floor", [1e-9, 50.0], ids=["no floor", "on the floor"])
def test_the_gradient_of_a_row_is_the_derivative_of_the_prediction(level, floor):
    rng = np.random.default_rng(2)
    row = np.append(rng.normal(size=6), 0.0)
    item = np.arange(7)
    dev = rng.normal(size=7)
    slots = np.empty(8, np.int64)
    slopes = np.empty(8)
    found = row_gradient(0, 7, 6, item, dev, item, row, level, floor, slots, slopes)
    assert found.count == 6
    assert found.value == pytest.approx(guessed(row[:6], dev[:6], level, floor))
    for c in range(6):
        near = np.tile(row[:6], (2, 1))
        near[0, c] += STEP
        near[1, c] -= STEP
        up, down = (guessed(each, dev[:6], level, floor) for each in near)
        assert slopes[c] == pytest.approx((up - down) / (2 * STEP), abs=1e-6)


def loss(data, similarity, floor):
    """Plain numpy: the sum of e^2/2 over all ratings."""
    total = 0.0
    for u in range(len(data.ptr) - 1):
        cells = np.arange(data.ptr[u], data.ptr[u + 1])
        for k in cells:
            others = cells[cells != k]
            row = similarity[data.item[k], data.item[others]]
            guess = guessed(row, data.dev[others], 0.0, floor)
            total += (guess - data.dev[k]) ** 2 / 2
    return total


def slope_of(data, similarity, floor, clamp=np.inf, drawn=True):
    got = np.ones_like(similarity)
    printed.gradient_pairs(
        data.ptr,
        data.item,
        data.dev,
        data.start,
        data.user,
        data.cell,
        np.full(len(data.item), drawn),
        similarity,
        floor,
        clamp,
        np.inf,
        0,
        ITEMS,
        got,
    )
    return got


@pytest.mark.parametrize(
    "floor", [1e-9, 2.0, 50.0], ids=["no floor", "some on the floor", "all on the floor"]
)
def test_the_printed_gradient_is_the_derivative_of_the_loss(data, floor):
    value = np.random.default_rng(0).normal(size=(ITEMS, ITEMS))
    got = slope_of(data, value, floor)
    assert not np.diag(got).any()
    for i, j in [(0, 1), (3, 2), (5, 8), (8, 1), (2, 4)]:
        up, down = value.copy(), value.copy()
        up[i, j] += STEP
        down[i, j] -= STEP
        slope = (loss(data, up, floor) - loss(data, down, floor)) / (2 * STEP)
        assert got[i, j] == pytest.approx(slope, abs=1e-6)


def test_only_drawn_ratings_count_and_errors_are_clamped(data):
    value = np.random.default_rng(0).normal(size=(ITEMS, ITEMS))
    assert not slope_of(data, value, 1.0, drawn=False).any()
    small = slope_of(data, value, 1.0, clamp=1e-3)
    large = slope_of(data, value, 1.0)
    assert np.abs(small).max() < 0.1 * np.abs(large).max()


@pytest.mark.parametrize("cosine", [True, False])
def test_similarities_are_those_of_the_textbook(data, cosine):
    index, value = np.empty((ITEMS, ITEMS), np.int32), np.empty((ITEMS, ITEMS))
    similar_rows(
        data.ptr,
        data.item,
        data.dev,
        data.start,
        data.user,
        data.cell,
        cosine,
        0.0,
        0,
        ITEMS,
        index,
        value,
    )
    table = np.full((len(data.ptr) - 1, ITEMS), np.nan)
    person = np.repeat(np.arange(len(table)), np.diff(data.ptr))
    table[person, data.item] = data.dev
    both = ~np.isnan(table[:, 0]) & ~np.isnan(table[:, 3])
    x, y = table[both, 0], table[both, 3]
    size = np.sqrt((x @ x) * (y @ y))
    if cosine:
        size = np.sqrt(np.nansum(table[:, 0] ** 2) * np.nansum(table[:, 3] ** 2))
    assert value[0, list(index[0]).index(3)] == pytest.approx(x @ y / size)


def test_threads_change_no_bit_of_the_training(data):
    index, value = neighbours()
    one, many = (train(data, index, square(value), 3, threads) for threads in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, many, strict=True))


def test_predictions_are_weighted_means_over_a_floor():
    ptr = np.array([0, 2])
    item = np.array([1, 2], np.uint32)
    rest = np.array([1.0, -3.0])
    start, near = np.array([0, 2, 2, 2]), np.array([1, 2], np.int32)
    for floor, wanted in ((0.1, (0.3 - 0.6) / 0.5), (5.0, (0.3 - 0.6) / 5)):
        out = np.empty(2)
        asked = np.array([0, 1], np.uint32)
        predict_cells(
            ptr, item, rest, np.array([0, 2]), asked, start, near, np.array([0.3, 0.2]), floor, out
        )
        assert out == pytest.approx([wanted, 0.0])


def pair_arrays(block, place):
    starts = np.empty(len(block.ptr), np.int64)
    pair_starts(block.ptr, block.item, place, starts)
    return starts, np.empty(starts[-1], np.uint32), np.empty(starts[-1])


@pytest.fixture
def place():
    spot = np.full(ITEMS, -1, np.int64)
    spot[[7, 0, 4, 2, 8]] = np.arange(5)
    return spot


def person_loss(cells, block, rest, target, place, s):
    total = 0.0
    for k in cells:
        others = [j for j in cells if j != k]
        row = np.array([s[place[block.item[k]], place[block.item[j]]] for j in others])
        guess = row @ rest[others] / max(np.abs(row).sum(), 1.0) if others else 0.0
        total += (guess - target[k]) ** 2 / 2
    return total


def test_the_gradient_of_pairs_is_the_derivative_of_each_persons_loss(block, place):
    rng = np.random.default_rng(1)
    s = rng.normal(size=(5, 5)) * 0.6
    s = s + s.T
    np.fill_diagonal(s, 0)
    rest, target = rng.normal(size=(2, len(block.item)))
    starts, index, values = pair_arrays(block, place)
    gradient_pairs(
        block.ptr, block.item, rest, target, place, s, 10.0, np.inf, starts, index, values
    )
    rows, columns = np.triu_indices(5)
    for person in range(6):
        cells = [
            k for k in range(block.ptr[person], block.ptr[person + 1]) if place[block.item[k]] >= 0
        ]
        length = 10.0 + sum(rest[k] ** 2 for k in cells)
        for at in range(starts[person], starts[person + 1]):
            a, b = rows[index[at]], columns[index[at]]
            up, down = s.copy(), s.copy()
            if a != b:
                up[a, b] = up[b, a] = s[a, b] + STEP
                down[a, b] = down[b, a] = s[a, b] - STEP
            change = person_loss(cells, block, rest, target, place, up)
            change -= person_loss(cells, block, rest, target, place, down)
            assert values[at] * length == pytest.approx(change / (2 * STEP), abs=1e-6)


def test_the_covariance_triangle_is_bounded_and_right(block, place):
    rest = np.random.default_rng(2).normal(size=len(block.item)) * 50
    starts, index, values = pair_arrays(block, place)
    covariance_pairs(block.ptr, block.item, rest, place, 5, 10.0, 1e9, starts, index, values)
    for first, last in pairwise(starts):
        assert np.sqrt((values[first:last] ** 2).sum()) < np.sqrt(0.5)
    cells = [k for k in range(block.ptr[0], block.ptr[1]) if place[block.item[k]] >= 0]
    y = np.zeros(5)
    y[place[block.item[cells]]] = rest[cells]
    wanted = np.outer(y, y) / (y @ y + 10.0)
    wanted[np.diag_indices(5)] /= np.sqrt(2)
    got = np.zeros(15)
    got[index[: starts[1]]] = values[: starts[1]]
    assert got == pytest.approx(wanted[np.triu_indices(5)])


def test_what_is_left_without_a_rating_is_what_a_fit_without_it_leaves(block):
    rng = np.random.default_rng(3)
    model = GaussianModel(np.zeros(ITEMS), np.full(ITEMS, 0.1), rng.normal(size=(ITEMS, 2)))
    rest, target = np.empty(len(block.item)), np.empty(len(block.item))
    residuals(block.ptr, block.item, block.value, model.loadings, model.precision, rest, target)
    cells = np.arange(block.ptr[1], block.ptr[2])
    others = cells[1:]
    without = fold_in(model, block.item[others], block.value[others])
    assert target[cells[0]] == pytest.approx(
        block.value[cells[0]] - model.loadings[block.item[cells[0]]] @ without.mean
    )


def test_the_judge_adds_up_squared_errors(block, place):
    rest, target = np.random.default_rng(5).normal(size=(2, len(block.item)))
    s = np.full((5, 5), 0.4)
    out = np.empty((25, 3))
    judge_people(block.ptr, block.item, rest, target, place, np.array([s, 0 * s]), np.inf, out)
    cells = np.arange(block.ptr[2], block.ptr[3])
    counting = [k for k in cells if place[block.item[k]] >= 0]
    zero = person_loss(counting, block, rest, target, place, 0 * s)
    assert out[2, 0] == pytest.approx((target[cells] ** 2).mean())
    assert out[2, 2] == pytest.approx(0)
    gain = 2 * (person_loss(counting, block, rest, target, place, s) - zero) / len(cells)
    assert out[2, 1] == pytest.approx(gain)
