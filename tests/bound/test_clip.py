"""Every bound keeps its promise on the rounded integers, whatever comes, and the hunt can
tell when one does not."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.auditing.hunt import bound_contribution, hunt
from tacit.bound import CellClip, CentredCells, LevelCells, OwnMeans, PersonCount, RowClip, Rows
from tacit.errors import Failure, SettingError

ITEMS = 64


def rows_of(values: list[list[float]]) -> Rows:
    ptr = np.cumsum([0, *(len(row) for row in values)]).astype(np.int64)
    flat = np.array([x for row in values for x in row], np.float64).reshape(-1, 1)
    return Rows(ptr, np.arange(len(flat), dtype=np.uint32), flat)


BOUNDS = [
    RowClip(1.0, "l2", 64),
    RowClip(1.0, "l1", 64),
    RowClip(0.3, "l2", 2**20),
    CellClip(1.5, 64),
    CentredCells(ITEMS, steps=64),
    CentredCells(ITEMS, steps=2**16),
    OwnMeans(steps=64),
    OwnMeans(2.0, 5, 2**16),
]


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_no_neighbour_breaks_the_bound(bound, unit):
    target = 1 if isinstance(bound, OwnMeans) else ITEMS
    contribute = bound_contribution(bound, max(target, ITEMS))
    if target == 1:
        inner = contribute
        contribute = lambda person: inner((np.zeros_like(person[0]), person[1]))  # noqa: E731
    worst = hunt(contribute, unit, items=ITEMS)
    claimed = bound.sensitivity(unit)
    assert worst.l1 <= claimed.l1
    assert worst.l2 <= claimed.l2 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("bound", "unit", "tight"),
    [
        (RowClip(1.0, "l2", 1024), "user", 0.95),
        (CellClip(1.5, 64), "rating", 0.999),
        (CentredCells(ITEMS, steps=2**16), "rating", 0.97),
        (OwnMeans(2.0, 5, 2**16), "rating", 0.99),
    ],
    ids=str,
)
def test_the_hunt_comes_close_so_a_smaller_claim_would_be_caught(bound, unit, tight):
    contribute = bound_contribution(bound, ITEMS)
    if isinstance(bound, OwnMeans):
        inner = contribute
        contribute = lambda person: inner((np.zeros_like(person[0]), person[1]))  # noqa: E731
    worst = hunt(contribute, unit, items=ITEMS, starts=80, climbs=200)
    assert worst.l2 >= tight * bound.sensitivity(unit).l2


def test_the_published_constant_of_the_centred_chain():
    """docs/proofs/bounds.md: L = 2.106 for clip 2, shrink 5, limit 2, and a little more on a
    coarse grid."""
    fine = CentredCells(4000, steps=2**20).sensitivity("rating").l2 / 2**20
    assert 2.105 < fine <= 2.106
    assert fine < CentredCells(4000, steps=256).sensitivity("rating").l2 / 256 < 2.2


@given(
    st.lists(
        st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=6), min_size=1, max_size=6
    )
)
def test_row_norms_hold_in_integers_for_any_floats(values):
    rows = rows_of(values)
    for bound in (RowClip(1.0, "l2", 1000), RowClip(1.0, "l1", 1000)):
        q = bound.apply(rows)[:, 0]
        for first, last in zip(rows.ptr[:-1], rows.ptr[1:], strict=True):
            row = [int(x) for x in q[first:last]]
            norm = sum(x * x for x in row) if bound.norm == "l2" else sum(abs(x) for x in row)
            assert norm <= (1_000_000 if bound.norm == "l2" else 1000)


def test_a_row_with_a_hole_in_it_counts_nothing():
    q = RowClip(1.0).apply(rows_of([[np.nan, 0.5], [np.inf, 0.5], [0.5]]))[:, 0]
    assert q.tolist() == [0, 0, 0, 0, RowClip(1.0).steps // 2]


def test_rounding_is_toward_zero():
    assert CellClip(2.0, 10).apply(rows_of([[0.19, -0.19, 5.0, -5.0, np.nan]]))[:, 0].tolist() == [
        1,
        -1,
        20,
        -20,
        0,
    ]


def test_a_block_does_not_change_a_contribution():
    rng = np.random.default_rng(0)
    people = [rng.normal(size=rng.integers(1, 30)).tolist() for _ in range(50)]
    whole = RowClip(1.0).apply(rows_of(people))[:, 0]
    alone = np.concatenate([RowClip(1.0).apply(rows_of([person]))[:, 0] for person in people])
    assert np.array_equal(whole, alone)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("lines", [0, 1, 3])
def test_to_clip_and_add_in_one_pass_gives_the_same_integers(norm, lines):
    """People of one line each are clipped side by side, others one after the other."""
    rng = np.random.default_rng(lines)
    counts = np.full(11, lines) if lines == 1 else rng.integers(0, 4, 11)
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    values = rng.normal(size=(ptr[-1], 130)) * rng.choice([1e-3, 0.1, 10], (ptr[-1], 1))
    values[2, 7], values[3, 0], values[4] = np.nan, np.inf, 0.0
    rows = Rows(ptr, rng.integers(0, 5, ptr[-1]).astype(np.uint32), values)
    bound = RowClip(0.7, norm, 1000)
    out = rng.integers(-9, 9, (5, 130))
    expected = out.copy()
    np.add.at(expected, rows.index, bound.apply(rows))
    bound.add(rows, out)
    assert np.array_equal(out, expected)


def test_one_pass_too_pulls_back_what_a_float_lets_through():
    """As in `tests/attack/test_planted.py`: floats round to ten steps, integers allow nine."""
    values = np.random.default_rng(0).uniform(1, 100, (4000, 1))
    whole = np.zeros((1, 1), np.int64)
    RowClip(float(np.nextafter(10 / 64, 0)), steps=64).add(Rows.one_each(values), whole)
    assert whole == 9 * len(values)


def test_a_cap_on_ratings_makes_one_cell_a_swap():
    assert CellClip(1.0, 10).sensitivity("rating", limited=5).l1 == 20
    assert CellClip(1.0, 10).sensitivity("user").l2 == inf
    assert CellClip(1.0, 10).sensitivity("user", limited=4).l2 == 20


def test_a_grid_whose_squares_would_wrap_is_refused():
    with pytest.raises(SettingError):
        RowClip(2.0**12, steps=2**20)
    with pytest.raises(SettingError):
        replace(CentredCells(10), shrink=0)


def test_a_person_counts_once():
    assert PersonCount().sensitivity("user").l1 == PersonCount().steps
    with pytest.raises(Failure, match="more than once"):
        PersonCount().apply(rows_of([[1.0], [1.0, 1.0]]))


@pytest.mark.parametrize(
    "bound", [CellClip(1.0), CentredCells(9), OwnMeans(), LevelCells(), PersonCount()], ids=str
)
def test_a_bound_on_single_numbers_refuses_several_columns(bound):
    with pytest.raises(Failure, match="several columns"):
        bound.apply(Rows(np.array([0, 1]), np.zeros(1, np.uint32), np.ones((1, 2))))


def test_cells_that_meet_in_one_row_add_up():
    """k ones of a person in one row move it by k, not by sqrt k."""
    one_row = Rows(np.array([0, 3]), np.zeros(3, np.uint32), np.ones((3, 1)))
    with pytest.raises(Failure, match="meet in one row"):
        CellClip(1.0, 10).apply(one_row)
    moved = CellClip(1.0, 10, apart=False).apply(one_row).sum()
    assert moved == CellClip(1.0, 10, apart=False).sensitivity("user", 3).l2 == 30
    two_people = Rows(np.array([0, 0, 2, 4, 4]), np.array([5, 1, 1, 5], np.uint32), np.ones((4, 1)))
    assert CellClip(1.0, 10).apply(two_people).sum() == 40


@pytest.mark.parametrize("bound", [OwnMeans(), LevelCells()], ids=str)
def test_a_mean_belongs_to_row_0_or_one_cell_could_move_it_to_another(bound):
    with pytest.raises(Failure, match="outside row 0"):
        bound.apply(rows_of([[1.0, 2.0]]))


SWAPPED = [
    RowClip(1.0, "l2", 64),
    RowClip(1.0, "l1", 64),
    CellClip(1.5, 64),
    CentredCells(ITEMS, steps=64),
    CentredCells(ITEMS, steps=2**16),
    OwnMeans(steps=64),
    OwnMeans(2.0, 5, 2**16),
    LevelCells(64),
    LevelCells(2**20),
]


@pytest.mark.parametrize("most", [1, 2, 5, 20])
@pytest.mark.parametrize("bound", SWAPPED, ids=str)
def test_no_swap_under_a_cap_breaks_the_bound(bound, most):
    """With at most `most` ratings kept, a cell added to a full person takes another one's place."""
    rng = np.random.default_rng(most)
    claimed = bound.sensitivity("rating", most)
    wide = isinstance(bound, OwnMeans | LevelCells)

    def given(items, values):
        rows = Rows(np.array([0, len(items)]), items * (0 if wide else 1), values[:, None])
        out = np.zeros((ITEMS, bound.apply(rows).shape[1]), np.int64)
        np.add.at(out, rows.index, bound.apply(rows))
        return out

    for _ in range(400):
        items = rng.permutation(ITEMS)[: most + 1].astype(np.uint32)
        values = np.where(
            rng.random(most + 1) < 0.8,
            rng.choice([-3.0, 3.0]) * np.ones(most + 1),
            rng.normal(size=most + 1),
        )
        values[0], values[-1] = rng.choice([-3.0, 3.0], 2)
        for before, after in (
            (slice(0, most), slice(1, most + 1)),
            (slice(0, most - 1), slice(0, most)),
        ):
            move = given(items[before], values[before]) - given(items[after], values[after])
            assert np.abs(move).sum() <= claimed.l1
            assert (move.astype(float) ** 2).sum() <= claimed.l2**2 * (1 + 1e-12)
            assert move.any(axis=1).sum() <= claimed.rows


@pytest.mark.parametrize(
    ("bound", "unit", "limited", "expected"),
    [
        (CellClip(1.0, 10), "value", None, 20),
        (CellClip(1.0, 10), "rating", None, 10),
        (CellClip(1.0, 10), "rating", 5, 20),
        (CellClip(1.0, 10), "user", 4, 40),
        (RowClip(1.0, "l2", 10), "user", None, 100),
        (RowClip(1.0, "l1", 10), "user", None, 10),
    ],
)
def test_noise_by_rows_covers_every_row_that_moves(bound, unit, limited, expected):
    """With noise of its own on each row, epsilon adds up over rows: sum of L2 norms, not
    the L2 norm of all."""
    assert bound.sensitivity(unit, limited).by_rows(100) == pytest.approx(expected)


def level(steps):
    bound = LevelCells(steps)

    def contribute(person):
        items, values = person
        rows = Rows(
            np.array([0, len(items)], np.int64), np.zeros_like(items), values.reshape(-1, 1)
        )
        return bound.apply(rows).sum(axis=0)

    return bound, contribute


@pytest.mark.parametrize("unit", ["rating", "value"])
@pytest.mark.parametrize("steps", [64, 2**20])
def test_a_persons_level_moves_only_so_much(unit, steps):
    bound, contribute = level(steps)
    worst = hunt(contribute, unit, items=ITEMS)
    claimed = bound.sensitivity(unit)
    assert worst.l1 <= claimed.l1
    assert worst.l2 <= claimed.l2
    if unit == "rating" and steps > 64:
        assert worst.l2 > 0.999 * claimed.l2  # the first rating of a person attains it
