"""The kernels of `bayes` against plain linear algebra, one person and one left-out rating
at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.kernels.implicit import implicit_popularity_slope, implicit_products
from tacit.kernels.left_out import left_out_user_factors, user_factor_moments

ITEMS = 30
WIDTH = 7
AXES = 3
LEANINGS = 4
SIZE, MORE, SQUARES, MOST = 3.0, 20.0, 0.5, 16


@pytest.fixture
def people():
    rng = np.random.default_rng(4)
    rows = [np.sort(rng.permutation(ITEMS)[:size]) for size in (0, 1, 2, 12, 30)]
    ptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    item = np.concatenate(rows).astype(np.uint32)
    axes = np.linalg.qr(rng.normal(size=(WIDTH, AXES)))[0]
    return (
        ptr,
        item,
        rng.normal(size=len(item)),
        rng.normal(0, 0.4, (ITEMS, WIDTH)),
        rng.uniform(0.5, 2, ITEMS),
        axes,
    )


def posterior(items, residual, item_factors, precision):
    rows = item_factors[items]
    covariance = np.linalg.inv(np.eye(WIDTH) + (rows.T * precision[items]) @ rows)
    return covariance @ (rows.T @ (precision[items] * residual)), covariance


def test_a_rating_is_predicted_from_the_others_alone(people):
    ptr, item, residual, item_factors, precision, axes = people
    error, taste = np.empty(len(item)), np.empty((len(item), AXES))
    left_out_user_factors(ptr, item, residual, item_factors, precision, axes, error, taste, 0)
    for person in range(len(ptr) - 1):
        for cell in range(ptr[person], ptr[person + 1]):
            others = np.array(
                [c for c in range(ptr[person], ptr[person + 1]) if c != cell], np.int64
            )
            mean, _ = posterior(item[others], residual[others], item_factors, precision)
            assert error[cell] == pytest.approx(
                residual[cell] - item_factors[item[cell]] @ mean, abs=1e-10
            )
            assert taste[cell] == pytest.approx(axes.T @ mean, abs=1e-10)


def test_moments_are_those_of_the_posterior(people):
    ptr, item, residual, item_factors, precision, axes = people
    out = np.empty((len(ptr) - 1, AXES * (AXES + 1) // 2))
    user_factor_moments(ptr, item, residual, item_factors, precision, axes, out)
    rows, columns = np.triu_indices(AXES)
    for person in range(len(ptr) - 1):
        cells = slice(ptr[person], ptr[person + 1])
        mean, covariance = posterior(item[cells], residual[cells], item_factors, precision)
        moment = axes.T @ (np.outer(mean, mean) + covariance - np.eye(WIDTH)) @ axes
        expected = moment[rows, columns] * np.where(rows == columns, 1, np.sqrt(2))
        assert out[person] == pytest.approx(
            expected if ptr[person + 1] > ptr[person] else 0 * expected, abs=1e-10
        )


def test_the_packed_row_has_the_norm_of_the_matrix(people):
    ptr, item, residual, item_factors, precision, axes = people
    out = np.empty((len(ptr) - 1, AXES * (AXES + 1) // 2))
    user_factor_moments(ptr, item, residual, item_factors, precision, axes, out)
    rows, columns = np.triu_indices(AXES)
    full = np.zeros((AXES, AXES))
    full[rows, columns] = out[-1] / np.where(rows == columns, 1, np.sqrt(2))
    full[columns, rows] = full[rows, columns]
    assert np.linalg.norm(out[-1]) == pytest.approx(np.linalg.norm(full))


def test_the_cut_into_blocks_changes_no_bit(people):
    ptr, item, residual, item_factors, precision, axes = people
    whole, user_factors = np.empty(len(item)), np.empty((len(item), AXES))
    left_out_user_factors(
        ptr, item, residual, item_factors, precision, axes, whole, user_factors, 0
    )
    cut = ptr[3]
    part, part_tastes = (np.empty(len(item) - cut), np.empty((len(item) - cut, AXES)))
    left_out_user_factors(
        ptr[3:] - cut,
        item[cut:],
        residual[cut:],
        item_factors,
        precision,
        axes,
        part,
        part_tastes,
        0,
    )
    assert (part == whole[cut:]).all()
    assert (part_tastes == user_factors[cut:]).all()


def products(people, leaning):
    ptr, item, residual, item_factors, precision, axes = people
    directions = leaning.shape[1]
    width = directions * axes.shape[1] + directions * (directions + 1) // 2
    out = np.full((len(ptr) - 1, width), np.nan)
    implicit_products(
        ptr, item, residual, item_factors, precision, axes, leaning, SIZE, MORE, SQUARES, 1.0, out
    )
    return out


def popularity_slope(people, hints):
    ptr, item, residual, item_factors, precision, _ = people
    out = np.full((len(ptr) - 1, 2), np.nan)
    implicit_popularity_slope(ptr, item, residual, item_factors, precision, hints, MORE, MOST, out)
    return out


def from_the_fourth_on(people):
    """The last two of these people, as a block of their own."""
    ptr, item, residual, *same = people
    cut = ptr[3]
    return (ptr[3:] - cut, item[cut:], residual[cut:], *same)


def lines():
    """For items: how each is told from the usual ones, and what it implies."""
    rng = np.random.default_rng(6)
    return rng.normal(size=(ITEMS, LEANINGS)), rng.normal(size=(ITEMS, WIDTH))


def test_products_are_those_of_what_a_choice_says_and_what_ratings_say(people):
    ptr, item, residual, item_factors, precision, axes = people
    leaning, _ = lines()
    out = products(people, leaning)
    rows, columns = np.triu_indices(LEANINGS)
    for person in range(1, len(ptr) - 1):
        cells = slice(ptr[person], ptr[person + 1])
        mean, _ = posterior(item[cells], residual[cells], item_factors, precision)
        count = ptr[person + 1] - ptr[person]
        lean = SIZE * leaning[item[cells]].sum(axis=0) / (count + MORE)
        squares = SQUARES * np.outer(lean, lean)
        packed = squares[rows, columns] * np.where(rows == columns, 1, np.sqrt(2))
        both = np.outer(lean, axes.T @ mean).ravel()
        assert out[person] == pytest.approx(np.concatenate([both, packed]), abs=1e-10)
        # So the norm of the row is that of both matrices together.
        assert np.linalg.norm(out[person]) == pytest.approx(
            np.hypot(np.linalg.norm(both), np.linalg.norm(squares))
        )


def test_agreement_is_of_ratings_and_of_what_other_items_imply(people):
    ptr, item, residual, item_factors, precision, _ = people
    _, hints = lines()
    out = popularity_slope(people, hints)
    for person in range(1, len(ptr) - 1):
        cells = slice(ptr[person], ptr[person + 1])
        mean, covariance = posterior(item[cells], residual[cells], item_factors, precision)
        count = ptr[person + 1] - ptr[person]
        implied = hints[item[cells]].sum(axis=0) / (count + MORE)
        shown = np.eye(WIDTH) - covariance
        # Each rating beside what the other items imply.
        every = np.arange(ptr[person], ptr[person + 1])
        some = every[np.arange(min(count, MOST)) * count // min(count, MOST)]
        own = [
            precision[item[cell]]
            * residual[cell]
            * (hints[item[cell]] @ covariance @ item_factors[item[cell]])
            for cell in some
        ]
        agreed = implied @ mean - np.mean(own) * count / (count + MORE)
        expected = [agreed, implied @ shown @ implied]
        assert out[person] == pytest.approx(expected, abs=1e-10)


def test_who_has_rated_nothing_implies_nothing(people):
    leaning, hints = lines()
    assert people[0][1] == 0
    assert not products(people, leaning)[0].any()
    assert not popularity_slope(people, hints)[0].any()


def test_what_is_implied_is_the_same_in_any_block(people):
    leaning, hints = lines()
    last = from_the_fourth_on(people)
    assert (products(last, leaning) == products(people, leaning)[3:]).all()
    assert (popularity_slope(last, hints) == popularity_slope(people, hints)[3:]).all()


def test_directions_and_axes_that_are_not_there_add_nothing(people):
    *most, axes = people
    leaning, _ = lines()
    wide = np.hstack([axes, np.zeros((WIDTH, 9))])
    more = np.hstack([leaning, np.zeros((ITEMS, 9))])
    out = products((*most, wide), more)
    assert np.isfinite(out).all()
    assert np.linalg.norm(out, axis=1) == pytest.approx(
        np.linalg.norm(products(people, leaning), axis=1)
    )
