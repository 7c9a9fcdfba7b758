"""No neighbour moves a Gram further than its bound says, on the integers that are summed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tacit.auditing.hunt import gram_contribution, hunt
from tacit.bound import CellClip, CentredCells, CountedGram, EntryGram, FactorGram

ITEMS, SIZE = 24, 16


def contribution(bound):
    return gram_contribution(bound, SIZE)


BOUNDS = [
    (FactorGram(root=64), "user"),
    (FactorGram(root=64, diagonal=True), "user"),
    (FactorGram(root=64, norm="l1"), "user"),
    (FactorGram(root=64), "rating"),
    (EntryGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12), 0.5), "rating"),
    (EntryGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12), 0.5, grid=64), "rating"),
    (EntryGram(SIZE, CellClip(1.0, 2**12), 0.5), "rating"),
    (EntryGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12), 0.5), "value"),
    (CountedGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12)), "rating"),
    (CountedGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12), grid=64), "rating"),
    (CountedGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12), power=1.0), "rating"),
    (CountedGram(SIZE, CellClip(1.0, 2**12)), "rating"),
    (CountedGram(SIZE, CellClip(1.0, 2**12), power=1.0), "rating"),
]


@pytest.mark.parametrize(("bound", "unit"), BOUNDS, ids=str)
def test_no_neighbour_breaks_the_bound(bound, unit):
    worst = hunt(contribution(bound), unit, items=ITEMS, sizes=(0, 1, 2, 4, 8, 23), starts=36)
    claimed = bound.sensitivity(unit)
    assert worst.l2 <= claimed.l2 * (1 + 1e-12)
    assert worst.l1 <= claimed.l1


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_counts_attain_their_bound_exactly(power):
    """Ones are the only contribution to a weight matrix, so the largest move over all
    counts is the claim itself."""
    bound = CountedGram(SIZE, CellClip(1.0, 2**12), power=power)
    sums = [contribution(bound)((np.arange(n), np.ones(n))).astype(float) for n in range(SIZE + 1)]
    moves = [after - before for before, after in pairwise(sums)]
    claimed = bound.sensitivity("rating")
    assert max(np.abs(move).sum() for move in moves) == claimed.l1
    assert max(np.sqrt((move**2).sum()) for move in moves) == pytest.approx(claimed.l2, rel=1e-9)


def test_the_bounds_are_not_far_from_attained():
    for bound, unit, tight in (
        (FactorGram(root=1024), "user", 0.9),
        (EntryGram(SIZE, CellClip(1.0, 2**12), 0.5), "rating", 0.4),
        (CountedGram(SIZE, CentredCells(ITEMS, 2.0, 20, 1.0, 2**12)), "rating", 0.7),
    ):
        worst = hunt(contribution(bound), unit, items=ITEMS, sizes=(1, 2, 4, 8, 15, 23), starts=60)
        assert worst.l2 > tight * bound.sensitivity(unit).l2
