"""The choice of prior scales from a noisy sum of gains."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.choose import (
    COVER_SLOPE,
    COVER_WEIGHT,
    NOISE_FLOOR,
    candidates,
    choose,
)

GROUPS = np.array([0, 1, 2, 2])
PEOPLE = 1000.0


def released(**gain: float) -> np.ndarray:
    """Sums with the given average gains by candidate position (1-based), and `covered`
    beyond nominal."""
    sums = np.full(len(candidates(GROUPS)), 0.01 * PEOPLE)
    sums[-1] = gain.pop("covered", 0.0) * COVER_WEIGHT * PEOPLE
    for name, value in gain.items():
        sums[int(name[1:]) - 1] = value * PEOPLE
    return sums


def test_the_default_is_first_and_each_other_row_moves_one_group() -> None:
    rows = candidates(GROUPS)
    assert np.all(rows[0] == 1.0)
    for row in rows[1:]:
        assert len(np.unique(GROUPS[row != 1.0])) == 1
    assert len(rows) == 1 + 2 + 3 + 3


def test_a_clear_advantage_is_taken_for_its_whole_group() -> None:
    choice = choose(released(c6=-0.05), 0.1, PEOPLE, GROUPS, 0.75)
    np.testing.assert_allclose(choice.scales, [1.0, 1.0, 0.0, 0.0], atol=1e-6)


def test_the_best_of_a_group_wins() -> None:
    choice = choose(
        released(c3=-0.02, c4=-0.05, c5=-0.03), 0.1, PEOPLE, GROUPS, 0.75
    )
    assert choice.scales[1] == pytest.approx(0.5, rel=1e-6)


def test_an_advantage_within_the_noise_changes_nothing() -> None:
    sd = 0.025 * PEOPLE
    assert (
        np.ptp(choose(released(c6=-0.05), sd, PEOPLE, GROUPS, 0.75).scales)
        == 0.0
    )


def test_an_advantage_too_good_to_be_true_changes_nothing() -> None:
    sd = 0.3 * PEOPLE
    assert (
        np.ptp(choose(released(c6=-5.0), sd, PEOPLE, GROUPS, 0.75).scales)
        == 0.0
    )


def test_the_level_is_never_taken_out() -> None:
    assert np.all(candidates(GROUPS)[:, 0] > 0.0)


def test_the_noise_follows_what_people_report() -> None:
    choice = choose(released(covered=-0.05), 1e-9, PEOPLE, GROUPS, 0.75)
    wider = np.exp(0.1 / COVER_SLOPE)
    assert choice.noise == pytest.approx(0.75 * wider)
    np.testing.assert_allclose(choice.scales, np.sqrt(wider))


def test_the_noise_stays_where_reports_are_noise() -> None:
    assert choose(
        released(covered=-5.0), 1e9, PEOPLE, GROUPS, 0.75
    ).noise == pytest.approx(0.75)


def test_the_noise_never_vanishes() -> None:
    assert (
        choose(released(covered=5.0), 1e-9, PEOPLE, GROUPS, 0.15).noise
        == NOISE_FLOOR
    )
