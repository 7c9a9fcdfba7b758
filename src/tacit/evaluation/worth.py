"""What a plan costs and buys, as facts: the releases, their noise, the attacker's gain, the
expected error."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any

from tacit.evaluation.forecast import forecast
from tacit.fitting.check import check
from tacit.fitting.price import counts_people, facts, priced
from tacit.ledger.account import account
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.data.catalogue import Catalogue
    from tacit.data.schema import Schema
    from tacit.fitting.order import Order
    from tacit.methods.base import Method
    from tacit.model.model import Model
    from tacit.rounds.pattern import Pattern
    from tacit.units import Unit

PRIORS = (0.5, 0.1, 0.01)
"""How likely an attacker thinks it beforehand that the unit is there."""


def worth(
    method: Method,
    schema: Schema,
    catalogue: Catalogue,
    *,
    start: Model | None = None,
    pattern: Pattern | None = None,
    try_it: bool = True,
) -> dict[str, Any]:
    """Facts for `tacit plan`: what a fit with these options will draw. Reads no ratings;
    `pattern` is who rated what, at the unit `value`, where it is public."""
    order = check(method, people=schema.users, start=start)
    people = None if pattern is None else len(pattern.ptr) - 1
    made = priced(order, facts(order, schema, catalogue, pattern), people)
    plan = made.known
    events = {event.name: event for event in made.charged}
    whole = sum(
        part.share
        for round_ in plan.rounds
        for part in round_.parts
        if not round_.instead
    )
    if made.counting is not None:  # the rest is not settled yet
        whole = 1.0
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
        found = forecast(
            method,
            schema.users or 1000,
            len(catalogue),
            max_ratings=schema.max_ratings,
        )
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
        "profile": account.profile(events.values(), unit=order.unit),
        "story": list(plan.story),
        "unknown": _unknown(order, schema, pattern),
        "releases": releases,
        "events": [event.model_dump(mode="json") for event in events.values()],
        "attacker": attacker(events.values(), order.unit)
        if order.budget
        else None,
        "expected": expected,
    }


def _unknown(
    order: Order, schema: Schema, pattern: Pattern | None
) -> list[str]:
    """What a fit will know that this plan does not."""
    found = []
    if counts_people(order, schema.users):
        found.append(
            "the number of people: it is counted first, and the count chooses among plans "
            "of equal cost; give --users to see one of them"
        )
    if order.method.local and schema.users is None:
        found.append("how many devices will answer, which a server sees")
    if order.unit == "value" and pattern is None:
        found.append(
            "who rated what, which is public at the unit value: give --ratings for the "
            "figures of that file"
        )
    return found


def attacker(events: Iterable[Event], unit: Unit) -> dict[str, Any]:
    """The most anyone can gain who must tell whether one unit was there, from the whole
    trade-off curve of the events. Advantage is hits less false alarms."""
    total = cost(events, unit)
    advantage = account.delta_of(total, 0.0)
    return {
        "proven": not total.unbounded,
        "advantage": advantage,
        "best_guess": (1 + advantage) / 2,
        "by_prior": [
            {
                "prior": prior,
                "best_guess": right(
                    prior,
                    lambda epsilon: account.delta_of(total, epsilon),
                ),
            }
            for prior in PRIORS
        ],
    }


def right(prior: float, delta: Callable[[float], float]) -> float:
    """How often the best guess is right at most, where the unit is there with chance `prior`.

    Guarantee: guess "there" on the event A. With P and Q the laws with and without the unit
    and p <= 1/2 the chance is p P(A) + (1-p) (1 - Q(A)) = 1 - p + p (P(A) - (1-p)/p Q(A)),
    and delta(epsilon) is the largest P(A) - e^epsilon Q(A) over all A: here epsilon is the
    log of the odds. For p > 1/2 the two laws change places, and delta covers both ways. At
    p = 1/2 it is (1 + delta(0))/2, for Gaussian rounds Phi(mu/2).
    """
    less = min(prior, 1 - prior)
    return 1 - less + less * delta(log((1 - less) / less))


def noise_sd(event: Event) -> float:
    """Standard deviation in steps."""
    if event.kind == "skellam":
        return sqrt(event.variance)
    law = event.law
    if law.name == "gaussian":
        return law.spread
    if law.name == "laplace":
        return law.spread * sqrt(2)
    if event.kind == "knorm":
        return event.scale * sqrt(event.dimension + 1)
    return 0.0
