"""Running sums read by how people came: less noise where weeks are alike, the plain sums where
they are not."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.rounds.calendar import Calendar
from tacit.rounds.round import Stationary
from tacit.rounds.running import arrivals, running_sums

WEEKS = 26
CALENDAR = Calendar(WEEKS)
SIGMA = 3e4
"""Of each release, in units of a person's numbers times the grid: about what a year has."""
ITEMS = 400
EARLY = np.array([400.0, 300, 200, 100] + [0.0] * (WEEKS - 4))
EVENLY = np.full(WEEKS, 40.0)


def released(x: np.ndarray, seed: int) -> list[np.ndarray]:
    """Weeks x numbers, mixed and noised."""
    noise = np.random.default_rng(seed).normal(0, SIGMA, x.shape)
    return list(CALENDAR.mixing(len(x)) @ x + noise)


def errors(x: np.ndarray, came: np.ndarray, seed: int, known=None):
    """Root mean square errors of what is made of the releases and of the plain sums, and the
    error that is claimed."""
    noisy = released(x, seed)
    known = known or [Stationary()] * len(x)
    found = running_sums(CALENDAR, noisy, SIGMA, came, known)
    plain = CALENDAR.rows[: len(x)][::-1] @ np.stack(noisy)
    truth = x.sum(axis=0)
    rms = [np.sqrt(np.mean((e - truth) ** 2)) for e in (found.value, plain)]
    return (*rms, found.sd)


@pytest.mark.parametrize(("came", "share"), [(EARLY, 0.65), (EVENLY, 0.9)], ids=["early", "evenly"])
def test_where_weeks_are_alike_there_is_less_noise(came, share) -> None:
    mean = np.random.default_rng(0).exponential(0.05, ITEMS)
    found, plain, claimed = errors(came[:, None] * mean, came, 1)
    assert found < share * plain
    assert claimed == pytest.approx(found, rel=0.15)


def test_all_at_once_is_a_single_release() -> None:
    came = np.array([1000.0] + [1e-3] * (WEEKS - 1))
    mean = np.full(ITEMS, 0.05)
    *_, claimed = errors(came[:, None] * mean, came, 2)
    single = SIGMA / CALENDAR.norm
    assert claimed == pytest.approx(single, rel=0.05)


def test_where_sums_drift_it_is_no_worse_than_the_plain_ones() -> None:
    rng = np.random.default_rng(3)
    mean = rng.exponential(40.0, (WEEKS, ITEMS))  # each week anew
    found, plain, _ = errors(EVENLY[:, None] * mean, EVENLY, 4)
    assert found < 1.05 * plain


def test_one_number_that_moved_is_seen() -> None:
    x = EVENLY[:, None] * np.full(ITEMS, 0.05)
    x[-3:, 7] += 3000.0  # a film of which nobody knew
    noisy = released(x, 5)
    found = running_sums(CALENDAR, noisy, SIGMA, EVENLY, [Stationary()] * WEEKS)
    truth = x.sum(axis=0)
    sd = SIGMA * np.linalg.norm(CALENDAR.rows)
    assert abs(found.value[7] - truth[7]) < 5 * sd
    assert truth[7] > 100 * sd


def test_what_people_subtracted_is_known() -> None:
    """scale x weight x (b - taken): both change from week to week."""
    rng = np.random.default_rng(6)
    weight = rng.exponential(0.1, ITEMS)
    item_bias = rng.normal(0, 0.5, ITEMS)
    known, weeks = [], []
    for week in range(WEEKS):
        scale = rng.uniform(0.5, 2.0, ITEMS)
        taken = item_bias * week / WEEKS
        known.append(Stationary(scale, taken, weight))
        weeks.append(EARLY[week] * scale * weight * (item_bias - taken))
    found, plain, _ = errors(np.stack(weeks), EARLY + 1e-3, 7, known)
    assert found < 0.7 * plain


def test_people_are_never_fewer_than_none_and_their_shape_is_found() -> None:
    rng = np.random.default_rng(8)
    counts = CALENDAR.mixing(WEEKS) @ EARLY + rng.normal(0, 30e3, WEEKS)
    found = arrivals(CALENDAR, list(counts))
    assert (found > 0).all()
    assert found[:4].sum() > 0.85 * found.sum()
    assert abs(found.sum() - EARLY.sum()) < 0.2 * EARLY.sum()


def test_numbers_that_nobody_added_are_nothing() -> None:
    noisy = released(np.zeros((WEEKS, 3)), 9)
    known = [Stationary(np.array([0.0, 1.0, 1.0]))] * WEEKS
    found = running_sums(CALENDAR, noisy, SIGMA, EVENLY, known)
    assert np.isfinite(found.value).all()
    assert np.asarray(found.scale).tolist() == [0.0, 1.0, 1.0]


ML1M = [307, 313, 248, 483, 544, 663, 312, 161, 125, 321, 1910, 520, 127]
"""Newcomers of ML-1M in the first of 52 periods of 20 days."""


@pytest.mark.parametrize(
    ("came", "noise"),
    [([100] * 52, 1.90), (ML1M + [0] * 39, 1.29), ([9] + [0] * 51, 1.0)],
    ids=["evenly", "ml-1m", "at once"],
)
def test_noise_of_steady_sums_is_as_the_documents_say(came, noise) -> None:
    year = Calendar(52)
    people = np.array(came, float)
    nothing = [np.zeros(1)] * 52
    found = running_sums(year, nothing, 1.0, people, [Stationary()] * 52)
    assert found.sd * year.norm == pytest.approx(noise, abs=0.006)
