"""What a plan costs and buys, as facts: the releases, their noise, the attacker's gain, the
expected error."""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING, Any

from tacit.evaluation.forecast import forecast
from tacit.ledger.account import account
from tacit.ledger.account.event import Event
from tacit.methods.base import Public

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.schema import Schema
    from tacit.methods.base import Method


def worth(
    method: Method, schema: Schema, catalogue: Catalogue, *, try_it: bool = True
) -> dict[str, Any]:
    """Facts for `tacit plan`. Reads no ratings."""
    from tacit.fitting.check import check

    order = check(method, people=schema.users)
    public = Public(
        schema, catalogue, order.unit, order.calibration, order.budget
    )
    plan = method.plan(public)
    events = plan.events(order.budget) if order.budget else {}
    whole = sum(
        part.share
        for round_ in plan.rounds
        for part in round_.parts
        if not round_.instead
    )
    releases = []
    for round_ in plan.rounds:
        for part in round_.parts:
            event = events.get(f"{round_.name}/{part.name}")
            releases.append(
                {
                    "release": f"{round_.name}/{part.name}",
                    "share": part.share / whole,
                    "instead": round_.instead or None,
                    "numbers": part.size * part.width,
                    "noise_sd": noise_sd(event) / part.bound.steps
                    if event
                    else 0.0,
                    "bound": part.bound.words(),
                }
            )
    expected = None
    if try_it and order.budget is not None:
        found = forecast(method, schema.users or 1000, len(catalogue))
        if found.private is not None:
            expected = {
                "private": found.private,
                "twin": found.twin,
                "own_mean": found.own_mean,
            }
    return {
        "method": method.name,
        "unit": order.unit,
        "items": len(catalogue),
        "epsilon": order.budget.epsilon if order.budget else None,
        "delta": order.budget.delta if order.budget else None,
        "profile": account.profile(events.values()),
        "story": list(plan.story),
        "releases": releases,
        "attacker": attacker(order.budget.epsilon, order.budget.delta)
        if order.budget
        else None,
        "expected": expected,
    }


def attacker(epsilon: float, delta: float) -> dict[str, float]:
    """The most anyone can gain who must tell whether one unit was there: advantage is hits
    less false alarms."""
    advantage = (exp(min(epsilon, 700)) - 1 + 2 * delta) / (
        exp(min(epsilon, 700)) + 1
    )
    return {"advantage": advantage, "best_guess": (1 + advantage) / 2}


def noise_sd(event: Event) -> float:
    """Standard deviation in steps."""
    if event.kind == "gaussian":
        return event.sigma
    if event.kind == "laplace":
        return event.scale * sqrt(2)
    if event.kind == "knorm":
        return event.scale * sqrt(event.dimension + 1)
    return 0.0
