"""Intervals hold the truth as often as they say, and pairing makes them narrow."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.evaluation.measured import Sums
from tacit.evaluation.tables import LEVEL, MANY, interval, paired, student

PEOPLE = 400
TRIALS = 300


def sums(total: np.ndarray, count: np.ndarray, *, root: bool = False) -> Sums:
    return Sums(np.arange(len(total)), total, count, root)


def test_by_hand() -> None:
    total, count = np.array([8.0, 2.0]), np.array([2.0, 2.0])
    found = sums(total, count)
    assert found.value() == 2.5
    assert sums(total, count, root=True).value() == pytest.approx(2.5**0.5)
    # Person by person: (8 - 2.5 x 2) / 4 and (2 - 2.5 x 2) / 4.
    assert found.pull() == pytest.approx([0.75, -0.75])


def test_the_pull_is_the_derivative() -> None:
    rng = np.random.default_rng(0)
    total, count = rng.random(9) * 5, rng.integers(1, 6, 9).astype(float)
    found = sums(total, count, root=True)
    step = 1e-6
    for person in range(9):
        more = (np.arange(9) == person) * step
        moved = sums(total * (1 + more), count * (1 + more), root=True).value()
        base = found.value()
        assert moved is not None
        assert base is not None
        assert (moved - base) / step == pytest.approx(found.pull()[person], abs=1e-5)


@pytest.mark.parametrize("runs", [1, 5])
def test_intervals_hold_the_truth_about_as_often_as_they_say(runs: int) -> None:
    """People with an own error each; runs add noise that all people of a run share."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(TRIALS):
        own = rng.gamma(2.0, 0.5, PEOPLE)
        shared = rng.normal(0, 0.05, runs) if runs > 1 else [0.0]
        found = interval([sums(own + each, np.ones(PEOPLE)) for each in shared])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 1.0 <= found.high
    # Binomial: 0.95 of 300 is 285, four standard deviations are 15.
    assert inside >= TRIALS * 0.95 - 15


def test_pairing_takes_out_what_people_have_in_common() -> None:
    rng = np.random.default_rng(2)
    hard = rng.gamma(2.0, 0.5, PEOPLE)
    ones = np.ones(PEOPLE)
    model = sums(hard + 0.02 + rng.normal(0, 0.01, PEOPLE), ones)
    twin = sums(hard, ones)
    alone, together = interval([model]), paired([model], [twin])
    assert alone is not None
    assert together is not None
    assert together.mean == pytest.approx(0.02, abs=0.003)
    width = (together.high or 0) - (together.low or 0)
    assert width < ((alone.high or 0) - (alone.low or 0)) / 10


def test_a_run_without_the_metric_makes_it_unavailable() -> None:
    one = sums(np.ones(3), np.ones(3))
    assert interval([one, None]) is None
    assert paired([one], [None]) is None
    assert interval([]) is None


def test_students_quantile_is_that_of_scipy_on_both_sides_of_the_expansion() -> None:
    from scipy.stats import t

    for freedom in (1.0, 2.5, 30.0, 199.9, MANY, 200.1, 350.0, 6e3, 1e6, 1e12):
        wanted = t.ppf(0.5 + LEVEL / 2, freedom)
        assert student(freedom) == pytest.approx(wanted, rel=1e-10)
