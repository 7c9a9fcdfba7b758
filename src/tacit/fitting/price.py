"""What a fit will draw, from public facts alone: the one place that assembles the plan and the
events of an order, for `fit` itself and for `tacit plan`.

Nothing here sees a rating. What a plan may depend on besides the order is a schema, a catalogue
and, at the unit `value`, who rated what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.fitting.count import COUNT_SHARE, Counting, counting
from tacit.fitting.order import Order
from tacit.fitting.planned import Planned, check_cost, planned
from tacit.ledger.account.event import Event
from tacit.methods.base import Public
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Plan

if TYPE_CHECKING:
    from tacit.engine.base import Engine


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
