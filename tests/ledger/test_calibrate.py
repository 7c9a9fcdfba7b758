"""From budgets to noise and back."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import SettingError
from tacit.ledger.account.account import epsilon, epsilon_of
from tacit.ledger.account.calibrate import (
    gaussian_mu,
    gaussian_sigma,
    remaining,
    response_epsilon,
    sampled_multiplier,
)
from tacit.ledger.account.cost import Cost
from tacit.ledger.account.event import Gaussian
from tacit.ledger.account.gaussian import epsilon_at


@pytest.mark.parametrize(
    ("budget", "mu"),
    [(0.1, 0.0275), (0.5, 0.124), (1, 0.237), (2, 0.448), (5, 1.02), (10, 1.85), (20, 3.24)],
)
def test_mu_matches_the_known_table(budget: float, mu: float) -> None:
    assert gaussian_mu(budget, 1e-6) == pytest.approx(mu, rel=4e-3)


@pytest.mark.parametrize(
    ("budget", "multiplier"), [(0.1, 36.3), (0.5, 8.06), (1, 4.22), (2, 2.23), (4, 1.19), (8, 0.65)]
)
def test_multipliers_match_the_known_table(budget: float, multiplier: float) -> None:
    assert 1 / gaussian_mu(budget, 1e-6) == pytest.approx(multiplier, rel=6e-3)


@given(st.floats(1e-3, 100), st.floats(1e-15, 0.5))
def test_a_calibrated_mu_never_costs_more_and_wastes_nothing(budget: float, delta: float) -> None:
    mu = gaussian_mu(budget, delta)
    assert epsilon_at(mu, delta) <= budget
    assert epsilon_at(mu * (1 + 1e-6), delta) > budget * (1 - 1e-9)


@given(
    st.floats(0.05, 20), st.lists(st.floats(0.01, 1), min_size=1, max_size=30), st.floats(1e3, 1e9)
)
def test_shares_of_mu_never_cost_more_than_the_budget(
    budget: float, shares: list[float], sensitivity: float
) -> None:
    mu = gaussian_mu(budget, 1e-6)
    sigmas = [gaussian_sigma(sensitivity, mu * (share / sum(shares)) ** 0.5) for share in shares]
    events = [Gaussian(name="p", sensitivity=sensitivity, sigma=sigma, draws=9) for sigma in sigmas]
    assert epsilon(events, 1e-6) <= budget


@pytest.mark.parametrize(("q", "rounds", "multiplier"), [(0.05, 200, 3.43), (0.01, 1000, 1.66)])
def test_sampled_multipliers_match_the_known_values(
    q: float, rounds: int, multiplier: float
) -> None:
    found = sampled_multiplier(q, rounds, 1.0, 1e-6)
    assert found == pytest.approx(multiplier, rel=5e-3)
    assert epsilon_of(Cost(sampled={(found, q): rounds}), 1e-6) <= 1


def test_everyone_is_a_sample_too() -> None:
    assert sampled_multiplier(1.0, 4, 1.0, 1e-6) == pytest.approx(
        2 / gaussian_mu(1.0, 1e-6), rel=1e-4
    )


@pytest.mark.parametrize(("k", "total", "each"), [(50, 1.0, 0.0344), (200, 4.0, 0.0598)])
def test_responses_match_the_known_values(k: int, total: float, each: float) -> None:
    found = response_epsilon(k, total, 1e-6)
    assert found == pytest.approx(each, abs=6e-5)
    assert epsilon_of(Cost(pure={found: k}), 1e-6) <= total


def test_responses_without_delta_share_evenly() -> None:
    assert response_epsilon(50, 1.0, 0.0) == pytest.approx(0.02)


def test_what_remains_fills_the_cap() -> None:
    spent = Cost(mu2=gaussian_mu(0.6, 1e-6) ** 2, pure={0.05: 2})
    left = remaining(spent, 1.0, 1e-6)
    full = spent + Cost(mu2=gaussian_mu(left, 1e-6) ** 2)
    assert epsilon_of(full, 1e-6) == pytest.approx(1.0, rel=1e-6)
    assert remaining(full + Cost(pure={0.1: 1}), 1.0, 1e-6) == 0
    assert remaining(Cost(pure={0.25: 3}), 1.0, 0.0) == 0.25


@pytest.mark.parametrize(
    ("budget", "delta"), [(0.0, 1e-6), (-1, 1e-6), (nan, 1e-6), (1.0, 0.0), (1.0, 1.0), (1.0, nan)]
)
def test_an_impossible_budget_is_refused(budget: float, delta: float) -> None:
    with pytest.raises(SettingError):
        gaussian_mu(budget, delta)
