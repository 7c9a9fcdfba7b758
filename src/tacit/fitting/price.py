"""What a fit will draw, from public facts alone: the one place that assembles the plan and the
events of an order, for `fit` itself, for `tacit plan` and for a forecast.

Nothing here sees a rating. What a plan may depend on besides the order is a schema, a catalogue
and, at the unit `value`, who rated what.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.fitting.count import COUNT_SHARE, Counting, counting
from tacit.fitting.order import Order
from tacit.fitting.planned import Planned, planned
from tacit.methods.base import Public
from tacit.rounds.pattern import Pattern

if TYPE_CHECKING:
    from tacit.engine.base import Engine

ASSUMED = 1000
"""People for whom figures are shown where their number is not known."""


def facts(
    order: Order, schema: Schema, catalogue: Catalogue, pattern: Pattern | None
) -> Public:
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


def seen_pattern(
    order: Order, schema: Schema, engine: Engine
) -> Pattern | None:
    """Who rated what, where that is public. Which cells a cap keeps is settled before."""
    if order.unit != "value":
        return None
    if schema.max_ratings is not None:
        engine.limit(schema.max_ratings)
    return engine.pattern()


def priced(order: Order, public: Public) -> Planned:
    """The whole plan and what each part of it draws. Where people are counted first, or seen
    by those who run it, it is the plan for about `ASSUMED` of them."""
    schema = public.schema
    if schema.users is not None or order.budget is None:
        return planned(order, public)
    if counts_people(order, schema):
        return _counted(counting(order, public, lambda plan: None))
    people = ASSUMED
    if public.pattern is not None:
        people = len(public.pattern.ptr) - 1
    declared = replace(public, schema=schema.declare(users=people))
    return planned(order, declared)


def _counted(choices: Counting) -> Planned:
    """The count, and one of the plans of equal cost among which it will choose."""
    made = choices.chosen(ASSUMED)
    count = choices.plan.rounds[0]
    part = replace(count.parts[0], share=COUNT_SHARE)
    first = replace(count, parts=(part,))
    plan = replace(made.plan, rounds=(first, *made.plan.rounds))
    events = {choices.event.name: choices.event, **made.events}
    return replace(made, plan=plan, events=events, envelope=choices.charged)


def counts_people(order: Order, schema: Schema) -> bool:
    """Whether the first event of such a fit counts the people: papers count as they are, in
    the local model a server sees which devices answer, at `value` people are public."""
    sound = order.calibration == "sound"
    seen = order.method.local or order.unit == "value"
    return schema.users is None and sound and not seen
