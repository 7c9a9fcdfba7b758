"""How many people a plan is for, where nobody declared it: the one place that settles this.

Where people are public or seen (the unit `value`, the local model) they are known. Else the
first event counts them, and the released count chooses among plans that were made, priced and
checked before a rating was touched: one for each of a fixed row of numbers.

Guarantee: each of these plans composes to at most the mu (or, pure, the epsilon) of one
envelope, which the book is charged with the count. The choice is a function of a release and
of nothing else. So whatever is chosen, what is released is an adaptive composition of the
count and of rounds below that envelope, whose price is the budget (docs/proofs/count.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt

import numpy as np

from tacit.bound import PersonCount, Rows
from tacit.engine.base import Engine
from tacit.errors import SettingError, TacitError
from tacit.fitting.order import Order
from tacit.fitting.planned import Planned, planned
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import Event, Reserve
from tacit.methods.base import Public
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

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
