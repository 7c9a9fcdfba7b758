"""Bounds of the local model: hunted over pairs of records."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.auditing.hunt import bound_contribution
from tacit.bound import Rows
from tacit.bound.report import Replaced, Report

ITEMS = 30


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_two_records_differ_by_the_bound_and_may_reach_it(norm):
    bound = Replaced(1.0, norm, 1000)
    contribute = bound_contribution(bound, ITEMS)
    rng, worst = np.random.default_rng(0), 0.0
    for trial in range(400):
        one, two = (
            contribute(
                (
                    rng.permutation(ITEMS)[:size].astype(np.uint32),
                    rng.choice([-3.0, 0.1, 3.0], size),
                )
            )
            for size in rng.integers(1, 1 + trial % ITEMS + 1, 2)
        )
        move = (one - two).astype(float)
        worst = max(worst, np.abs(move).sum() if norm == "l1" else np.sqrt((move**2).sum()))
    claimed = getattr(bound.sensitivity("user"), norm)
    assert worst <= claimed
    opposite = contribute((np.array([0], np.uint32), np.array([3.0]))) - contribute(
        (np.array([0], np.uint32), np.array([-3.0]))
    )
    assert np.abs(opposite).sum() == claimed


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_every_unit_pays_for_a_replaced_record(unit):
    assert Replaced(1.0).sensitivity(unit) == Replaced(1.0).sensitivity("user")


def test_a_report_is_bounded_by_its_law():
    rows = Rows.one_each(np.array([[5.0], [-7.0], [np.nan]]))
    assert Report().apply(rows)[:, 0].tolist() == [1, -1, 0]
    assert "one randomized report" in Report().words()
