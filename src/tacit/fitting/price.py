"""What a fit will draw, from public facts alone: the one place that assembles the plan and the
events of an order, for `fit` itself and for `tacit plan`; the number of people it is for, and its
price.

Nothing here sees a rating. What a plan may depend on besides the order is a schema, a catalogue
and, at the unit `value`, who rated what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt

import numpy as np

from tacit.bound import PersonCount, Rows
from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.engine.base import Engine
from tacit.errors import Failure, SettingError, TacitError
from tacit.fitting.order import Order
from tacit.ledger.account import account
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import Event, Reserve, Unbounded
from tacit.methods.base import Public
from tacit.rounds.pattern import Pattern
from tacit.rounds.people import Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.shares import federated_events, for_devices
from tacit.rounds.state import State

ROUNDING = 1e-9
"""By how much the accountant may differ from the planner, since both add up floats."""
COUNT = "people/count"
"""The event of the count."""
COUNT_SHARE = 0.01
"""Of the budget. A count within a per cent of many people needs no more."""
STEPS = 4
"""Numbers of people in each doubling: a plan for a number at most a tenth beside the true one
has shares within some per cent of the best."""
LEAST, MOST = 4, 30
"""Doublings: from 16 people to a thousand million."""
GRID = tuple(round(2 ** (step / STEPS)) for step in range(LEAST * STEPS, MOST * STEPS + 1))
"""The numbers of people for which a plan is made."""

# A plan with its price, for a known number of people.


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


# How many people a plan is for, where nobody declared it: the one place that settles this.
#
# Where people are public or seen (the unit `value`, the local model) they are known. Else the
# first event counts them, and the released count chooses among plans that were made, priced and
# checked before a rating was touched: one for each of a fixed row of numbers.
#
# Guarantee: each of these plans composes to at most the mu (or, pure, the epsilon) of one
# envelope, which the book is charged with the count. The choice is a function of a release and
# of nothing else. So whatever is chosen, what is released is an adaptive composition of the
# count and of rounds below that envelope, whose price is the budget (docs/proofs/count.md).


@dataclass(frozen=True)
class Counting:
    """The count, and the plans among which it chooses."""

    plan: Plan
    """One round: the count."""
    event: Event
    plans: Mapping[int, Planned]
    """By the number of people that each is for."""

    @cached_property
    def charged(self) -> tuple[Event, ...]:
        """What the book is charged: the count, and what covers each of the plans."""
        unit = self.plan.unit
        prices = [cost(candidate.events.values(), unit) for candidate in self.plans.values()]
        if any(price.sampled or price.renyi for price in prices):
            raise SettingError(
                "no envelope covers rounds by a coin or noise in shares: the number of "
                "people must be known before they are planned",
                remedy="declare it with --users",
            )
        mu2 = max(price.mu2 for price in prices)
        pure = max(price.pure_epsilon for price in prices)
        reserves: list[Event] = []
        if mu2:
            reserves.append(Reserve(name="plan", mu=sqrt(mu2)))
        if pure:
            reserves.append(Reserve(name="plan, pure", epsilon=pure))
        return self.event, *reserves

    def plan_for(self, people: float) -> Planned:
        """The plan for about so many people: the nearest, by ratio."""
        near = min(self.plans, key=lambda size: abs(log(size / max(people, 1.0))))
        return self.plans[near]


@dataclass(frozen=True)
class Priced:
    """A plan that is settled, or a count of people that will settle it."""

    settled: Planned | None
    counting: Counting | None

    @property
    def charged(self) -> tuple[Event, ...]:
        """What the book is charged: the events themselves, or the count and what covers
        whatever it chooses."""
        if self.counting is not None:
            return self.counting.charged
        assert self.settled is not None
        return tuple(self.settled.events.values())

    @property
    def known_plan(self) -> Plan:
        """As much of the plan as is known before anything is released."""
        if self.counting is not None:
            round_ = self.counting.plan.rounds[0]
            part = replace(round_.parts[0], share=COUNT_SHARE)
            first_round = replace(round_, parts=(part,))
            return replace(self.counting.plan, rounds=(first_round,))
        assert self.settled is not None
        return self.settled.plan


def facts(order: Order, schema: Schema, catalogue: Catalogue, pattern: Pattern | None) -> Public:
    """All that the plan of this order may depend on."""
    return Public(
        schema,
        catalogue,
        order.unit,
        order.calibration,
        order.budget,
        pattern,
        None if order.start is None else order.start.shared,
    )


def seen_pattern(order: Order, schema: Schema, engine: Engine) -> Pattern | None:
    """Who rated what, where that is public. Which cells a cap keeps is settled before."""
    if order.unit != "value":
        return None
    if schema.max_ratings is not None:
        engine.limit(schema.max_ratings)
    return engine.pattern()


def priced(
    order: Order,
    public: Public,
    people: int | None = None,
    able: Callable[[Plan], None] = lambda plan: None,
) -> Priced:
    """The plan with its price. `people`: how many there are, where that is public though
    nobody declared it. `able` raises where a plan cannot be run."""
    people = public.schema.users or people
    if counts_people(order, people):
        priced_plan = Priced(None, counting(order, public, able))
    else:
        if people != public.schema.users:
            schema = public.schema.declare(users=people)
            public = replace(public, schema=schema)
        settled_plan = planned(order, public)
        able(settled_plan.plan)
        priced_plan = Priced(settled_plan, None)
    check_cost(priced_plan.charged, order)
    return priced_plan


def counts_people(order: Order, people: int | None) -> bool:
    """Whether the first event of such a fit counts the people: papers count as they are; at
    `value` and in the local model who takes part is public."""
    is_public = order.unit == "value" or order.method.local
    asks = order.method.needs_people and not is_public
    return people is None and order.calibration == "sound" and asks


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


def known_people(order: Order, engine: Engine) -> int | None:
    """The number of people where it is public without a count: who rated what is public at
    `value`, and in the local model a server sees which devices answer."""
    if order.calibration != "sound":
        return None
    if order.unit == "value" or order.method.local:
        return engine.people
    return None


def counting(order: Order, public: Public, able: Callable[[Plan], None]) -> Counting:
    """The count and its plans. `able` raises where a plan cannot be run here; such a plan is
    not among them, and where none is left the first one's error is raised."""
    plans: dict[int, Planned] = {}
    refused: TacitError | None = None
    event: Event | None = None
    for people in GRID:
        schema = public.schema.declare(users=people)
        facts = replace(public, schema=schema, coins=False)
        try:
            candidate = planned(order, facts, preceding=(count_people(), COUNT_SHARE))
            able(candidate.plan)
        except TacitError as error:
            refused = refused or error
            continue
        events = dict(candidate.events)
        count_event = events.pop(COUNT)
        event = event or count_event
        plans[people] = replace(candidate, events=events)
    if event is None:
        assert refused is not None
        raise refused
    count = Plan(order.unit, (count_people(),), limited=public.schema.max_ratings)
    return Counting(count, event, plans)


def count_people() -> Round:
    """Everybody adds one, and the state knows about how many there are."""

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        return {"count": Rows.one_each(np.ones((len(block.people), 1)))}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        return replace(state, people=max(1.0, float(released["count"].value[0, 0])))

    return Round("people", (Part("count", 1, PersonCount()),), contribute, absorb)
