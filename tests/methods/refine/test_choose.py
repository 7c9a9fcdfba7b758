"""The choice of prior scales from a noisy sum of gains."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from tacit.methods.first_order.choice import with_room
from tacit.methods.refine.choose import (
    COVER_WEIGHT,
    NOISE_FLOOR,
    ROW_CLIP,
    STEPS,
    Choice,
    Revealed,
    _width,
    candidates,
    choose,
)

GROUPS = np.array([0, 1, 2, 2])
PEOPLE = 1000.0
SHOWN = Revealed({1: np.array([0.5]), 2: np.array([0.3, 1.0])}, 0.05)


def chosen(told: np.ndarray, sd: float, noise: float = 0.75) -> Choice:
    return choose(told, sd, PEOPLE, GROUPS, noise, SHOWN)


def errors(width: float, group: int) -> list[float]:
    """Gains of the candidates of a group if tastes vary `width` times as much as the default
    says."""
    shown = SHOWN.tastes[group]

    def loss(scale: float) -> float:
        kept = scale**2 * shown / (1 + scale**2 * shown)
        missed = width * shown * (1 - kept) ** 2
        return float(0.3 * SHOWN.each * (missed + kept**2).sum())

    return [loss(step) - loss(1.0) for step in STEPS]


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


def test_another_level_must_stand_out_of_the_noise() -> None:
    told = released(c1=-0.02, c2=0.03)
    assert chosen(told, 0.002 * PEOPLE).scales[0] == pytest.approx(0.45)
    assert chosen(told, 0.01 * PEOPLE).scales[0] == 1.0


@pytest.mark.parametrize("width", [0.0, 0.25, 1.0, 2.0])
def test_tastes_get_the_width_that_gains_tell(width: float) -> None:
    """Two of three groups are told nothing but noise, so they stay as they are."""
    gains = dict(zip(("c6", "c7", "c8"), errors(width, 2), strict=True))
    rest = dict(zip(("c3", "c4", "c5"), errors(1.0, 1), strict=True))
    found = chosen(released(**gains, **rest), 1e-9).scales
    assert found[2] == found[3] == pytest.approx(np.sqrt(width), abs=0.1)
    assert found[:2] == pytest.approx(1.0, abs=0.02)


def test_a_gain_is_believed_the_less_the_more_noise_there_is() -> None:
    gains = dict(zip(("c6", "c7", "c8"), errors(0.0, 2), strict=True))
    found = [
        chosen(released(**gains), sd * PEOPLE).scales[2] for sd in (0.0001, 0.003, 0.01, 0.029)
    ]
    assert found == sorted(found)
    assert found[0] < 0.3 < 0.9 < found[-1] <= 1.0


def test_learned_tastes_are_not_widened() -> None:
    gains = dict(zip(("c6", "c7", "c8"), errors(3.0, 2), strict=True))
    narrow = Revealed(SHOWN.tastes, SHOWN.each, widest=1.0)
    told = released(**gains)
    assert chosen(told, 1e-9).scales[2] > 1.3
    found = choose(told, 1e-9, PEOPLE, GROUPS, 0.75, narrow)
    assert found.scales[2] == 1.0


def test_an_advantage_too_good_to_be_true_changes_nothing() -> None:
    assert np.ptp(chosen(released(c6=-5.0), 0.3 * PEOPLE).scales) == 0.0


def test_a_taste_that_nothing_shows_stays_as_it_is() -> None:
    blind = Revealed({1: np.zeros(1), 2: np.zeros(2)}, SHOWN.each)
    found = choose(released(c6=-0.05), 1e-9, PEOPLE, GROUPS, 0.75, blind)
    assert np.ptp(found.scales) == 0.0


def test_the_level_is_never_taken_out() -> None:
    assert np.all(candidates(GROUPS)[:, 0] > 0.0)


def test_the_noise_follows_what_people_report() -> None:
    choice = chosen(released(covered=-0.05), 1e-9)
    wider = (1.2816 / 1.1503) ** 2  # 75 % of a normal lie within 1.1503
    assert choice.noise == pytest.approx(0.75 * wider, rel=1e-3)
    assert choice.scales[0] == pytest.approx(np.sqrt(wider), rel=1e-3)


@pytest.mark.parametrize("sd", [0.45, 0.6, 1.0, 1.3])
def test_the_noise_is_found_however_far_off_it_was(sd: float) -> None:
    """Errors of any size, reported against intervals for a variance of .75."""
    reach = 1.2816 * np.sqrt(0.75) / sd
    covered = 2 * NormalDist().cdf(reach) - 1
    told = released(covered=covered - 0.8)
    found = chosen(told, 1e-9).noise
    assert found == pytest.approx(sd**2, rel=0.01)


def test_the_noise_stays_where_reports_are_noise() -> None:
    found = chosen(released(covered=-5.0), 1e9).noise
    assert found == pytest.approx(0.75)


def test_the_noise_never_vanishes() -> None:
    assert chosen(released(covered=5.0), 1e-9, 0.15).noise == NOISE_FLOOR


def test_a_share_far_from_nominal_is_believed_sooner_than_one_near_it() -> None:
    """Of the same noise a report of .15 keeps more of itself than one of .03."""
    sd = 0.03 * COVER_WEIGHT * PEOPLE
    kept = []
    for off in (0.03, 0.15):
        found = chosen(released(covered=off), sd).noise
        exact = chosen(released(covered=off), 1e-9).noise
        kept.append(np.log(found / 0.75) / np.log(exact / 0.75))
    assert 0.6 < kept[0] < 0.75 < kept[1] < 1.0


@pytest.mark.parametrize("gain", [1e300, -1e300, 0.0, float("inf")])
@pytest.mark.parametrize("each", [1e-12, 1e12, 1e200])
def test_whatever_was_released_has_an_answer(gain, each):
    """A fit was charged by then: a system without an answer would lose it."""
    gains = [gain] * len(STEPS)
    found = _width(gains, 1e-9, np.array([1e-9, 1e9]), each)
    assert 0.0 <= found <= STEPS[-1]


def test_errors_that_are_not_covered_are_told_in_full() -> None:
    """A person who errs far gains much: her row is as long as it may be, and says so."""
    rows = np.array([[3.0, -4.0, -0.24], [0.01, 0.02, 0.06], [0.0, 0.0, 0.0]])
    told = with_room(rows)
    assert told[:, -1] == pytest.approx(rows[:, -1])
    assert np.linalg.norm(told[0]) == pytest.approx(ROW_CLIP)
    assert told[0, 0] / told[0, 1] == pytest.approx(-0.75)
    assert told[1:] == pytest.approx(rows[1:])
