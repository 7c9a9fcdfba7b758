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
from tacit.fitting.count import COUNT_SHARE, count_people
from tacit.fitting.order import Order
from tacit.fitting.planned import Planned, planned
from tacit.methods.base import Public
from tacit.rounds.pattern import Pattern

if TYPE_CHECKING:
    from tacit.engine.base import Engine


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
    """The whole plan and what each part of it draws; after a count of people where their
    number is neither declared nor seen."""
    if not counts_people(order, public.schema):
        return planned(order, public)
    count = count_people()
    made = planned(order, public, before=(count, COUNT_SHARE))
    part = replace(count.parts[0], share=COUNT_SHARE)
    first = replace(count, parts=(part,))
    plan = replace(made.plan, rounds=(first, *made.plan.rounds))
    return replace(made, plan=plan)


def counts_people(order: Order, schema: Schema) -> bool:
    """Whether the first event of such a fit counts the people: papers count as they are, and
    in the local model a server sees which devices answer."""
    sound = order.calibration == "sound"
    return schema.users is None and sound and not order.method.local
