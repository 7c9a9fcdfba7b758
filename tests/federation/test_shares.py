"""Noise in shares: what devices draw together, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound import RowClip
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import Gaussian, Laplace, Skellam
from tacit.noise.portion import portion, together
from tacit.rounds.people import Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Part, Round
from tacit.rounds.shares import shared_events
from tacit.rounds.state import State


def skellam(variance: float, l2: float = 1000.0) -> Skellam:
    return Skellam(name="x", sensitivity=l2, l1=l2 * 10, variance=variance, draws=100)


@pytest.mark.parametrize("scale", [1.0, 1.3, 0.7])
def test_enough_portions_make_the_variance_that_was_charged(scale) -> None:
    """Accepts the true scale and rejects 30 % more and less."""
    draws = np.concatenate(
        [sum(portion(skellam(4e6), 1000, 20) for _ in range(20)) for _ in range(5)]
    )
    near = abs(draws.std() / (2000 * scale) - 1) < 0.12  # twelve standard errors of 5,000 draws
    assert near == (scale == 1.0)


def test_the_sum_of_portions_is_drawn_at_once_with_the_same_variance() -> None:
    draws = together(skellam(4e6), 5000, devices=30, enough=20)
    assert abs(draws.std() / (2000 * 1.5**0.5) - 1) < 0.12


def test_a_variance_beyond_one_draw_is_a_sum_of_draws() -> None:
    draws = together(skellam(2.0**46), 3000, 1, 1)
    assert abs(draws.std() / 2.0**23 - 1) < 0.15


def test_laplace_portions_make_the_laplace_law() -> None:
    event = Laplace(name="x", sensitivity=1, scale=50.0, draws=10)
    draws = sum(portion(event, 4000, 10) for _ in range(10))
    assert abs(np.abs(draws).mean() / 50 - 1) < 0.15


def test_noise_in_shares_costs_some_per_cent_more_than_a_curator() -> None:
    round_ = Round("r", (Part("sum", 100, RowClip(1.0)),), lambda b, s: {}, lambda s, r: s)
    plan, budget = Plan("user", (round_,)), Budget(1.0, 1e-6)
    (shared,) = shared_events(plan, budget).values()
    (alone,) = plan.events(budget).values()
    assert isinstance(shared, Skellam)
    assert isinstance(alone, Gaussian)
    assert 1.0 < shared.variance**0.5 / alone.sigma < 1.15
    assert epsilon([shared], 1e-6) <= 1.0


@pytest.mark.parametrize("budget", [1.0, 3000.0])
def test_what_stands_instead_is_paid_for_however_little_noise_there_is(budget: float) -> None:
    def chosen(_: State) -> bool:
        return False

    def made(name: str, width: int, instead: str = "") -> Round:
        part = Part(f"{name} sum", 5, RowClip(1.0, steps=2**11), width=width)
        return Round(
            name,
            (part,),
            lambda b, s: {},
            lambda s, r: s,
            instead=instead,
            chosen=chosen if instead else None,
        )

    rounds = (made("lead", 1), made("other", 400, "lead"))
    shared = shared_events(Plan("rating", rounds), Budget(budget, 1e-6))
    lead, other = shared.values()
    assert isinstance(lead, Skellam)
    assert isinstance(other, Skellam)
    assert other.l1 > lead.l1
    for steps in (1, 2, 50):
        alone = (
            cost([each.model_copy(update={"instead": None})], "rating", steps)
            for each in (lead, other)
        )
        one, two = (each.renyi for each in alone)
        assert 0.99 * one < two <= one
    assert epsilon(shared.values(), 1e-6, unit="rating") <= budget


def test_skellam_composes_and_never_costs_less_than_gaussian() -> None:
    one, many = (
        skellam(1e10),
        [skellam(1e10).model_copy(update={"name": str(k)}) for k in range(10)],
    )
    gaussian = Gaussian(name="x", sensitivity=1000, sigma=1e5, draws=100)
    assert epsilon([one], 1e-6) >= epsilon([gaussian], 1e-6)
    assert abs(epsilon(many, 1e-6) - epsilon([one.model_copy(update={"times": 10})], 1e-6)) < 1e-9


def test_turns_charge_one_device_for_the_turns_it_may_take() -> None:
    def plan(rounds: int, turns: int) -> Plan:
        parts = (Part("sum", 100, RowClip(1.0)),)
        return Plan(
            "user",
            tuple(
                Round(f"r{k}", parts, lambda b, s: {}, lambda s, r: s, Turns(k, turns))
                for k in range(rounds)
            ),
        )

    budget = Budget(1.0, 1e-6)
    events = shared_events(plan(10, 2), budget)
    assert {event.times for event in events.values()} == {2}
    assert 0.99 < epsilon(events.values(), 1e-6) <= 1.0
    two = shared_events(plan(2, 2), budget)
    assert events["r9/sum"].variance == pytest.approx(two["r0/sum"].variance, rel=1e-3)
