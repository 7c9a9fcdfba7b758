"""The calendar's matrix: whole numbers, an exact sensitivity, and the noise that follows."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import sqrt

import numpy as np
import pytest

import tacit
from tacit.data.sample import sample_catalogue
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.fitting.price import facts
from tacit.fitting.refresh import check_calendar
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.ledger.account.event import Gaussian
from tacit.rounds.calendar import GRID, Calendar, acts_like, calendar_events, mu_of
from tacit.rounds.plan import Budget


def matrix(calendar: Calendar) -> np.ndarray:
    """C, in Python's own integers."""
    c = calendar.coefficients
    size = calendar.horizon
    return np.array([[c[t - s] if s <= t else 0 for s in range(size)] for t in range(size)], object)


def test_coefficients_are_the_square_root_of_running_sums() -> None:
    c = matrix(Calendar(40)).astype(float) / GRID
    assert np.abs(c @ c - np.tril(np.ones((40, 40)))).max() < 0.01


def test_coefficients_never_rise_and_are_never_negative() -> None:
    c = Calendar(1000).coefficients
    assert c[0] == GRID
    assert min(c) >= 0
    assert all(a >= b for a, b in pairwise(c))


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("gap", [1, 2, 3])
def test_no_weeks_of_one_person_are_worse_than_the_norm(most: int, gap: int) -> None:
    calendar = Calendar(9, most, gap)
    c = matrix(calendar)
    worst = max(
        int((c[:, list(weeks)].sum(axis=1) ** 2).sum())
        for count in range(1, most + 1)
        for weeks in combinations(range(9), count)
        if all(b - a >= gap for a, b in pairwise(weeks))
    )
    assert worst == calendar.squared
    assert calendar.norm**2 >= worst
    assert calendar.norm < sqrt(worst) * (1 + 1e-9)


def test_rows_of_other_directions_move_no_more() -> None:
    calendar = Calendar(12, 3, 2)
    c = matrix(calendar).astype(float)
    rng = np.random.default_rng(0)
    for _ in range(300):
        gaps = rng.integers(2, 5, 3)
        weeks = np.cumsum(gaps) - gaps[0]
        rows = np.zeros((12, 4))
        for week in weeks[weeks < 12]:
            drawn = rng.normal(size=4)
            rows[week] = drawn / np.linalg.norm(drawn)
        assert np.linalg.norm(c @ rows) <= calendar.norm


def test_estimates_are_the_running_sums() -> None:
    calendar = Calendar(30)
    x = np.random.default_rng(1).integers(-1000, 1000, 30)
    y = matrix(calendar).astype(float) @ x
    found = [calendar.rows[: t + 1][::-1] @ y[: t + 1] for t in range(30)]
    np.testing.assert_allclose(found, np.cumsum(x), atol=1e-8)


@pytest.mark.parametrize(("horizon", "noise"), [(12, 1.85), (52, 2.32), (365, 2.94)])
def test_noise_grows_as_the_documents_say(horizon: int, noise: float) -> None:
    assert Calendar(horizon).last_growth == pytest.approx(noise, abs=0.005)


@pytest.mark.parametrize("asked", [(1, 1), (1001, 1), (10, 0), (10, 11)])
def test_refuses_calendars_that_cannot_be(asked: tuple[int, int]) -> None:
    with pytest.raises(SettingError):
        Calendar(*asked)


@pytest.mark.parametrize("name", ["popularity", "bias", "bayes", "ease"])
def test_all_releases_together_cost_the_budget(name: str) -> None:
    calendar = Calendar(52, 2, 4)
    order = check_calendar(tacit.methods.find(name)(epsilon=1.0), 6000)
    schema = Schema(1, 5).declare(6000)
    public = facts(order, schema, sample_catalogue(), None)
    budget = Budget(1.0, 1e-6)
    plan = order.method.plan(public)
    events = calendar_events(plan, budget, calendar)
    cost = epsilon(tuple(events.values()), 1e-6, unit="user")
    assert 0.9999 < cost <= 1.0
    assert mu_of(events) <= gaussian_mu(1.0, 1e-6)
    alone = plan.events(budget)
    for key, event in events.items():
        once = alone[key]
        assert isinstance(event, Gaussian)
        assert isinstance(once, Gaussian)
        assert event.draws == 52 * once.draws
        assert event.sensitivity == once.sensitivity * calendar.norm


def test_rules_go_by_the_noise_of_the_last_release() -> None:
    calendar = Calendar(52)
    like = acts_like(Budget(1.0, 1e-6), calendar)
    mu = gaussian_mu(1.0, 1e-6)
    found = gaussian_mu(like.epsilon, like.delta)
    assert found == pytest.approx(mu / calendar.last_growth, rel=1e-6)


def test_pure_budgets_and_other_units_are_refused() -> None:
    for options in ({"delta": 0.0}, {"unit": "rating"}):
        with pytest.raises(SettingError):
            check_calendar(tacit.Bias(epsilon=1.0, **options), 100)
    with pytest.raises(SettingError, match="no calendar"):
        check_calendar(tacit.ALS(epsilon=1.0), 100)
    with pytest.raises(SettingError, match="declared"):
        check_calendar(tacit.Bias(epsilon=1.0), None)
