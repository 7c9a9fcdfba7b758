"""A plan with its price, for a known number of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tacit.errors import Failure
from tacit.fitting.order import Order
from tacit.ledger.account import account
from tacit.ledger.account.event import Event, Unbounded
from tacit.methods.base import Public
from tacit.rounds.people import Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Round
from tacit.rounds.shares import federated_events, for_devices

ROUNDING = 1e-9
"""By how much the accountant may differ from the planner, since both add up floats."""


@dataclass(frozen=True)
class Planned:
    """What will be run, from which public facts, and what each part of it costs."""

    public: Public
    plan: Plan
    events: Mapping[str, Event]
    """Empty where nothing is noised."""

    @property
    def shape(self) -> tuple[str, ...]:
        """The names of its parts: plans of one shape differ in sizes and shares alone."""
        return tuple(f"{r.name}/{p.name}" for r, p in self.plan.parts)


def planned(order: Order, public: Public, preceding: tuple[Round, float] | None = None) -> Planned:
    """The method's plan for these public facts, priced to their budget.

    `preceding`: a round that is run first, and its share of the budget. Its event is among
    those of the plan, which pays for it; the plan begins after it.
    """
    plan = order.method.plan(public)
    if preceding is not None:
        plan = plan.after(*preceding)
    if order.is_shared and order.budget is not None:
        plan = for_devices(plan)
    plan = replace(plan, limited=public.schema.max_ratings)
    events: dict[str, Event] = {}
    if public.budget is not None:
        events = _events(plan, order, public.budget)
    if preceding is not None:
        plan = replace(plan, rounds=plan.rounds[1:])
    return Planned(public, plan, events)


def check_cost(events: Iterable[Event], order: Order) -> None:
    """Fail if the plan costs more than its budget: the accountant, not the planner, has the last
    word before the ledger is charged."""
    charged = tuple(events)
    budget = order.budget
    if budget is None or any(isinstance(event, Unbounded) for event in charged):
        return
    cost = account.epsilon(charged, budget.delta, unit=order.unit)
    if cost > budget.epsilon * (1 + ROUNDING):
        raise Failure(
            f"the plan costs epsilon {cost:.6g}, more than the {budget.epsilon:g} "
            "that was asked for",
            remedy="give a larger --epsilon",
        )


def is_federated(plan: Plan, order: Order) -> bool:
    """Whether servers and devices add the noise, and not a curator."""
    takes_turns = any(isinstance(r.takes_part, Turns) for r in plan.rounds)
    return order.is_shared or takes_turns


def _events(plan: Plan, order: Order, budget: Budget) -> dict[str, Event]:
    """The plan's events; where devices add noise, in laws that can be shared among them."""
    if is_federated(plan, order):
        return federated_events(plan, budget, order.noise)
    return plan.events(budget)
