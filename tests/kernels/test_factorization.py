"""The loops of the factorizations against plain numpy, and that nobody's numbers depend on
anybody else's block."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.kernels.als import gram_rows, half_step, half_step_likes, solve_rows
from tacit.kernels.cholesky import solve_many
from tacit.kernels.factors import fold_in_rows, implicit_values, person_rows
from tacit.kernels.order import by_item

PEOPLE = 40
ITEMS = 25
WIDTH = 6


@pytest.mark.parametrize("width", [1, 3, 4, 5, 17])
def test_systems_are_solved(width):
    rng = np.random.default_rng(width)
    rows = rng.normal(size=(30, width + 3, width))
    systems = np.einsum("nka,nkb->nab", rows, rows) + np.eye(width)
    rights, out = rng.normal(size=(30, width)), np.empty((30, width))
    solve_many(np.triu(systems), rights, out)  # lower triangles are not read
    assert np.allclose(out, np.linalg.solve(systems, rights[:, :, None])[:, :, 0])


def test_a_half_step_is_ridge_regression(data):
    ptr, item, value, factors = data
    ridge = np.full((PEOPLE, WIDTH), 0.7)
    ridge[:, -1] = 0.1
    out = np.empty((PEOPLE, WIDTH))
    half_step(ptr, item, value, factors, ridge, 0, PEOPLE, out)
    for person in range(PEOPLE):
        rows, own = (
            factors[item[ptr[person] : ptr[person + 1]]],
            value[ptr[person] : ptr[person + 1]],
        )
        assert np.allclose(
            out[person], np.linalg.solve(rows.T @ rows + np.diag(ridge[person]), rows.T @ own)
        )


def test_rows_do_not_depend_on_the_block(data):
    ptr, item, value, factors = data
    ridge = np.ones((PEOPLE, WIDTH))
    whole = np.empty((PEOPLE, WIDTH))
    parts = np.empty((PEOPLE, WIDTH))
    half_step(ptr, item, value, factors, ridge, 0, PEOPLE, whole)
    for start in range(0, PEOPLE, 7):
        half_step(ptr, item, value, factors, ridge, start, min(start + 7, PEOPLE), parts)
    assert np.array_equal(whole, parts)


def test_likes_are_weighted_least_squares_over_all_items(data):
    ptr, item, _, factors = data
    out = np.empty((PEOPLE, WIDTH))
    half_step_likes(ptr, item, factors, factors.T @ factors, 3.0, 0.5, 0, PEOPLE, out)
    for person in range(PEOPLE):
        liked = np.zeros(ITEMS)
        liked[item[ptr[person] : ptr[person + 1]]] = 1.0
        weight = np.diag(1 + 3.0 * liked)
        told = np.linalg.solve(
            factors.T @ weight @ factors + 0.5 * np.eye(WIDTH), factors.T @ weight @ liked
        )
        assert np.allclose(out[person], told)


def test_grams_and_their_solutions(data):
    ptr, item, _, factors = data
    grams, right = np.zeros((PEOPLE, WIDTH, WIDTH)), np.ones((PEOPLE, WIDTH))
    gram_rows(ptr, item, factors, grams)
    out = np.empty_like(right)
    solve_rows(ptr, item, factors, np.full((PEOPLE, WIDTH), 2.0), right, out)
    assert np.allclose(np.einsum("nab,nb->na", grams + 2.0 * np.eye(WIDTH), out), right)


def test_the_other_order_gives_the_same_cells(data):
    ptr, item, _, _ = data
    starts, person, cell = by_item(ptr, item, ITEMS)
    for row in range(ITEMS):
        mine = slice(starts[row], starts[row + 1])
        assert (item[cell[mine]] == row).all()
        assert np.array_equal(np.searchsorted(ptr, cell[mine], side="right") - 1, person[mine])


def test_a_persons_line_leaves_its_own_rating_out(data):
    ptr, item, value, factors = data
    fixed, d = 2, WIDTH - 2
    precision = np.linspace(0.5, 1.5, ITEMS)
    weight = np.linspace(0.2, 2.0, ITEMS)
    out = np.empty((len(item), d + d * (d + 1) // 2))
    none = np.zeros((0, WIDTH))
    person_rows(
        ptr,
        item,
        value,
        factors,
        precision,
        fixed,
        none,
        np.zeros(0),
        weight,
        5.0,
        3.0,
        0.4,
        False,
        out,
    )
    u = int(np.argmax(np.diff(ptr)))
    cells = np.arange(ptr[u], ptr[u + 1])
    others = cells[1:]

    def fold(which):
        rows = factors[item[which]]
        return np.linalg.solve(
            np.eye(WIDTH) + rows.T @ (rows * precision[item[which]][:, None]),
            rows.T @ (precision[item[which]] * value[which]),
        )

    z, everything = fold(others), fold(cells)
    w = weight[item[cells[0]]] / np.sqrt(max(len(cells), 5))
    y = np.clip(value[cells[0]] - factors[item[cells[0]], :fixed] @ z[:fixed], -3, 3)
    assert np.allclose(out[cells[0], :d], w * y * z[fixed:])
    square = np.outer(everything[fixed:], everything[fixed:])
    assert np.linalg.norm(out[cells[0], d:]) == pytest.approx(0.4 * w * np.linalg.norm(square))


def test_a_lift_moves_where_every_factor_of_a_person_starts(data):
    ptr, item, value, factors = data
    fixed = 2
    none = np.zeros((0, WIDTH))
    lift = np.linspace(0.1, 0.5, PEOPLE)
    given = np.ones(ITEMS), fixed, none
    rest, out = (np.empty((len(item), WIDTH - fixed)), np.empty((len(item), WIDTH - fixed)))
    ones = np.ones(ITEMS)
    person_rows(ptr, item, value, factors, *given, lift, ones, 5.0, 9.0, 0.0, True, out)
    told = np.repeat(lift, np.diff(ptr))  # z = lift + what the rest of the ratings says
    left = value - told * factors[item, fixed:].sum(axis=1)
    person_rows(ptr, item, left, factors, *given, np.zeros(0), ones, 5.0, 9.0, 0.0, True, rest)
    u = int(np.argmax(np.diff(ptr)))
    cell = ptr[u]
    rows, others = (factors[item[ptr[u] : ptr[u + 1]]], slice(cell + 1, ptr[u + 1]))
    z = np.linalg.solve(np.eye(WIDTH) + rows[1:].T @ rows[1:], rows[1:].T @ left[others])
    share, error = 1 / np.sqrt(max(len(rows), 5)), left[cell] - rows[0] @ z
    assert np.allclose(rest[cell], share * error * z[fixed:])
    assert np.allclose(out[cell], share * error * (z[fixed:] + lift[u]))


def test_implicit_values_are_products_with_the_implicit_mean(data):
    ptr, item, _, factors = data
    implicit = np.random.default_rng(4).normal(size=(ITEMS, WIDTH))
    out = np.empty(len(item))
    implicit_values(ptr, item, factors, implicit, out)
    u = int(np.argmax(np.diff(ptr)))
    mine = item[ptr[u] : ptr[u + 1]]
    assert np.allclose(
        out[ptr[u] : ptr[u + 1]], factors[mine] @ implicit[mine].sum(axis=0) / np.sqrt(len(mine))
    )


def test_folding_in_with_implicit_ratings(data):
    ptr, item, value, factors = data
    implicit = np.random.default_rng(4).normal(size=(ITEMS, WIDTH)) * 0.1
    out = np.empty((PEOPLE, WIDTH))
    fold_in_rows(
        ptr,
        item,
        value,
        factors,
        np.ones(ITEMS),
        implicit,
        np.zeros((PEOPLE, WIDTH)),
        np.append(0.0, np.full(WIDTH - 1, 0.3)),
        out,
    )
    u = int(np.argmax(np.diff(ptr)))
    mine = item[ptr[u] : ptr[u + 1]]
    rows, start = factors[mine], implicit[mine].sum(axis=0) / np.sqrt(len(mine))
    ridge = np.eye(WIDTH) * (1 + 0.3 * len(mine))
    ridge[0, 0] = 1.0
    told = start + np.linalg.solve(
        ridge + rows.T @ rows, rows.T @ (value[ptr[u] : ptr[u + 1]] - rows @ start)
    )
    assert np.allclose(out[u], told)


def test_rows_beside_each_other_do_not_know_of_each_other():
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, 150)
    counts[::7] = 0
    ptr = np.concatenate([[0], np.cumsum(counts)])
    item = rng.integers(0, ITEMS, ptr[-1]).astype(np.uint32)
    value = rng.normal(size=ptr[-1]).astype(np.float32)
    factors = rng.normal(size=(ITEMS, WIDTH)).astype(np.float32)
    ridge = np.where(counts, 0.5, 0.0)[:, None] * np.ones(WIDTH)
    ridge = ridge.astype(np.float32)
    together = np.empty((150, WIDTH), np.float32)
    alone = np.empty((150, WIDTH), np.float32)
    half_step(ptr, item, value, factors, ridge, 0, 150, together)
    for row in range(150):
        half_step(ptr, item, value, factors, ridge, row, row + 1, alone)
    assert np.array_equal(together, alone)
    assert not together[counts == 0].any()
    assert together[counts > 0].any(axis=1).all()
