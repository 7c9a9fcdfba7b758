"""The choice of prior scales from a noisy sum of gains."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from tacit.methods.refine.choose import (
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
    wider = (1.2816 / 1.1503) ** 2  # 75 % of a normal lie within 1.1503
    assert choice.noise == pytest.approx(0.75 * wider, rel=1e-3)
    np.testing.assert_allclose(choice.scales, np.sqrt(wider), rtol=1e-3)


@pytest.mark.parametrize("sd", [0.45, 0.6, 1.0, 1.3])
def test_the_noise_is_found_however_far_off_it_was(sd: float) -> None:
    """Errors of any size, reported against intervals for a variance of .75."""
    reach = 1.2816 * np.sqrt(0.75) / sd
    covered = 2 * NormalDist().cdf(reach) - 1
    told = released(covered=covered - 0.8)
    found = choose(told, 1e-9, PEOPLE, GROUPS, 0.75).noise
    assert found == pytest.approx(sd**2, rel=0.01)


def test_the_noise_stays_where_reports_are_noise() -> None:
    assert choose(
        released(covered=-5.0), 1e9, PEOPLE, GROUPS, 0.75
    ).noise == pytest.approx(0.75)


def test_the_noise_never_vanishes() -> None:
    assert (
        choose(released(covered=5.0), 1e-9, PEOPLE, GROUPS, 0.15).noise
        == NOISE_FLOOR
    )


def test_a_share_far_from_nominal_is_believed_sooner_than_one_near_it() -> None:
    """Of the same noise a report of .15 keeps more of itself than one of .03."""
    sd = 0.03 * COVER_WEIGHT * PEOPLE
    kept = []
    for off in (0.03, 0.15):
        found = choose(released(covered=off), sd, PEOPLE, GROUPS, 0.75).noise
        exact = choose(released(covered=off), 1e-9, PEOPLE, GROUPS, 0.75).noise
        kept.append(np.log(found / 0.75) / np.log(exact / 0.75))
    assert 0.6 < kept[0] < 0.75 < kept[1] < 1.0
