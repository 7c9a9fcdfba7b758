"""Widths of several groups of tastes, told together from noisy gains."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.choose import AS_IS, KEPT, Revealed, candidates, choose, expected, widths

GROUPS = np.array([0, 1, 2, 2, AS_IS])
TRIALS = candidates(GROUPS)[1:]
EACH = 0.05
PEOPLE = 1000.0


def information() -> np.ndarray:
    """Of loadings that overlap: what groups 1 and 2 say of items is alike."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, len(GROUPS)))
    rows[:, 1] += rows[:, 2]
    return rows.T @ rows / 40


def gains(*times: float) -> np.ndarray:
    """Average gains of the trials if tastes of the groups vary so many times as much."""
    known = expected(TRIALS, GROUPS, information())
    return KEPT * EACH * (known @ np.array([1.0, *times]))


def found(told: np.ndarray, sd: float) -> dict[int, float]:
    return widths(told, sd, TRIALS, GROUPS, information(), EACH)


def test_expected_gains_are_those_of_people_drawn_from_the_model() -> None:
    """Ratings of drawn tastes, estimated under each prior: errors of what is estimated."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, len(GROUPS))) * 0.5
    times = np.array([1.0, 0.3, 2.0, 2.0, 1.0])
    people = 200_000
    user_factors = rng.normal(size=(people, len(GROUPS))) * np.sqrt(times)
    ratings = user_factors @ rows.T + rng.normal(size=(people, len(rows)))

    def errors(scales: np.ndarray) -> float:
        scaled = rows * scales
        inner = np.eye(len(scales)) + scaled.T @ scaled
        estimate = ratings @ scaled @ np.linalg.inv(inner) * scales
        return float((((estimate - user_factors) @ rows.T) ** 2).sum() / people)

    default = errors(np.ones(len(GROUPS)))
    measured = [errors(row) - default for row in TRIALS]
    told = expected(TRIALS, GROUPS, rows.T @ rows) @ [1.0, 1.0, 0.3, 2.0]
    assert told == pytest.approx(measured, abs=0.02)
    assert np.ptp(told) > 0.3


@pytest.mark.parametrize("times", [(1.0, 1.0), (0.3, 3.0), (2.0, 0.5)])
def test_groups_that_overlap_are_told_apart(times: tuple[float, float]) -> None:
    told = found(gains(1.0, *times), 1e-6)
    assert (told[1], told[2]) == pytest.approx(times, abs=0.15)
    assert told[0] == pytest.approx(1.0, abs=0.1)


def test_the_default_stays_where_gains_are_noise() -> None:
    far = found(gains(1.0, 0.3, 3.0), 0.5)
    assert list(far.values()) == pytest.approx([1.0] * 3, abs=0.35)
    wide = [found(gains(1.0, 1.0, 3.0), sd)[2] for sd in (1e-4, 0.01, 0.05)]
    assert wide == sorted(wide, reverse=True)
    assert wide[0] > 2.7


def test_tastes_never_vary_less_than_not_at_all() -> None:
    told = found(-50 * gains(1.0, 1.0, 3.0), 1e-3)
    assert min(told.values()) >= 0.0


def test_what_is_not_asked_for_stays_as_it_is() -> None:
    shown = Revealed({}, EACH, information=information())
    told = np.append(gains(1.0, 0.3, 3.0), 0.0) * PEOPLE
    scales = choose(told, 1e-3, PEOPLE, GROUPS, 0.75, shown).scales
    assert scales[[0, 4]] == pytest.approx(1.0)
    assert scales[2] == scales[3] > 1.6
    assert scales[1] < 0.65


@pytest.mark.parametrize("gain", [1e300, -1e300, 0.0, float("inf")])
@pytest.mark.parametrize("size", [0.0, 1e-12, 1e9])
def test_whatever_was_released_has_an_answer(gain: float, size: float) -> None:
    """A fit was charged by then: a system without an answer would lose it."""
    told = widths(np.full(len(TRIALS), gain), 1e-9, TRIALS, GROUPS, size * information(), EACH)
    assert all(np.isfinite(one) and one >= 0 for one in told.values())
