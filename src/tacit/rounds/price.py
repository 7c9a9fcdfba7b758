"""From a plan and a budget to events: how much noise each part gets, so that all of them
together cost the budget."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, sqrt

from tacit.errors import SettingError
from tacit.ledger.account.event import (
    Choice,
    Event,
    Gaussian,
    KNorm,
    Laplace,
    Response,
    Selection,
    Unbounded,
)
from tacit.rounds.round import (
    Budget,
    Cohort,
    Coin,
    Kind,
    Part,
    Plan,
    Round,
    Slice,
    Turns,
    is_beside,
)

SCALES = (2.0**-8, 2.0**47)
"""Least and largest noise in steps, well inside what `tacit.noise` draws: refused here,
before anything is charged."""


def events(plan: Plan, budget: Budget) -> dict[str, Event]:
    """The event of each part, keyed `round/part`, so that all of them together cost at most
    `budget`."""
    from tacit.ledger.account.account import epsilon as account
    from tacit.ledger.account.calibrate import gaussian_mu

    priced = [(r, p) for r in plan.rounds for p in r.parts]
    whole = plan.whole or 1.0
    pure = {id(p) for _, p in priced if p.claim is None and _is_pure(p, budget)}
    pure_share = (
        sum(p.share for r, p in priced if id(p) in pure and not is_beside(r)) / whole
    )
    rest = 1 - pure_share
    mu = (
        gaussian_mu(budget.epsilon * rest, budget.delta)
        if rest > 1e-12 and budget.delta > 0
        else 0.0
    )
    mu *= 1 - 1e-9  # so that rounding never makes a plan cost more than its budget
    each = _each_report(plan, budget)

    def at(level: float) -> dict[str, Event]:
        events: dict[str, Event] = {}
        for r, p in priced:
            share = p.share / whole
            turns = r.takes_part.most if isinstance(r.takes_part, Turns) else 1
            part_mu = level * sqrt(share / rest / turns) if rest > 1e-12 else 0.0
            if r.instead:
                part_mu *= (
                    1 - 1e-9
                )  # so that rounding never makes it cost more than the round it replaces
            event = _event(
                plan,
                r,
                p,
                each or budget.epsilon * share / turns,
                part_mu,
                id(p) in pure,
            )
            if turns > 1:
                event = event.model_copy(update={"times": turns})
            if r.instead:
                event = event.model_copy(
                    update={"instead": f"{r.instead}/{plan.first_of(r).parts[0].name}"}
                )
            elif is_beside(r):
                event = event.model_copy(
                    update={"beside": _lead(plan, r, p, event, events)}
                )
            events[event.name] = event
        return events

    if (
        any(isinstance(r.takes_part, Coin) for r in plan.rounds) and mu > 0
    ):  # a coin buys more mu for the same epsilon

        def fits(level: float) -> bool:
            return (
                account(tuple(at(level).values()), budget.delta, unit=plan.unit)
                <= budget.epsilon
            )

        low, high = mu, 2 * mu
        while fits(high) and high < 1e4 * mu:
            low, high = high, 2 * high
        while high > (1 + 1e-6) * low:
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        mu = low
    return at(mu)


def _each_report(plan: Plan, budget: Budget) -> float | None:
    """The epsilon of each of several like reports and nothing else: they compose exactly,
    so delta buys more."""
    from tacit.ledger.account.calibrate import response_epsilon

    paid = [p for r in plan.rounds for p in r.parts if not is_beside(r)]
    alike = all(
        p.kind is Kind.REPORT and p.claim is None and p.share == paid[0].share
        for p in paid
    )
    if len(paid) < 2 or not alike or budget.delta == 0:
        return None
    return response_epsilon(len(paid), budget.epsilon, budget.delta)


def _lead(
    plan: Plan, later: Round, part: Part, event: Event, events: Mapping[str, Event]
) -> str:
    """The same part in slice 0 of the same partition, which must exist and cost as much."""
    if isinstance(
        later.takes_part, Turns
    ):  # the first turn is charged for all turns that one device may take
        names = [f"{r.name}/{part.name}" for r in plan.first_turns]
        equal = [
            n
            for n in names
            if n in events
            and events[n].model_copy(update={"name": event.name}) == event
        ]
        if not equal:
            raise SettingError(
                f"{later.name}/{part.name} has no equal part in the first turn"
            )
        return equal[0]
    assert isinstance(later.takes_part, Slice)
    for r in plan.rounds:
        name = f"{r.name}/{part.name}"
        first = isinstance(r.takes_part, Slice) and (
            r.takes_part.index,
            r.takes_part.of,
        ) == (
            0,
            later.takes_part.of,
        )
        if first and name in events:
            alike = events[name].model_copy(update={"name": event.name})
            if alike == event:
                return name
    raise SettingError(
        f"{later.name}/{part.name} has no equal part in slice 0 of its partition"
    )


def _is_pure(part: Part, budget: Budget) -> bool:
    if part.kind in (
        Kind.REPORT,
        Kind.INPUT,
        Kind.OBJECTIVE,
        Kind.OUTPUT,
        Kind.SELECTION,
    ):
        # one unit moves one number or one short row: pure noise is the smaller, whatever
        # delta allows
        return True
    return budget.delta == 0


def _event(
    plan: Plan, round_: Round, part: Part, epsilon: float, mu: float, pure: bool
) -> Event:
    """The frozen event from which the noise of this part will be drawn."""
    name = f"{round_.name}/{part.name}"
    draws = part.tape if part.kind.paper_only else part.numbers
    if part.claim is not None:
        claim = part.claim
        return Unbounded(
            name=name,
            claimed_epsilon=claim.epsilon,
            claimed_delta=claim.delta,
            reason=claim.reason,
            noise=claim.noise,
            scale=claim.scale * part.bound.steps,
            draws=draws,
        )
    if part.kind.paper_only:
        raise SettingError(
            f"{part.kind.value} releases exist in `paper` calibration only"
        )
    if isinstance(round_.takes_part, Cohort):
        raise SettingError("cohorts of one item exist in `paper` calibration only")
    sampled, steps = getattr(round_.takes_part, "rate", 1.0), part.bound.steps
    size = part.bound.sensitivity(plan.unit, plan.limited)
    needed = size.l1 if pure else size.l2
    if part.kind in (Kind.OBJECTIVE, Kind.OUTPUT):
        needed = size.by_rows(
            part.size
        )  # noise is drawn row by row, and epsilon adds up over the rows that move
    if part.kind is Kind.INPUT and plan.unit != "value":
        raise SettingError(
            f"{name} lists every cell, so who rated what must be public",
            remedy="use --unit value",
        )
    if needed == inf:
        raise SettingError(
            f"the part {name} has no {'pure' if pure else 'finite'} bound at the unit {plan.unit}",
            remedy="ask for a positive --delta" if pure else "choose another unit",
        )
    if not SCALES[0] <= (scale := needed / (epsilon if pure else mu)) <= SCALES[1]:
        raise SettingError(
            f"the noise of {name} would be {scale:.3g} steps of its grid, more or less "
            "than can be drawn",
            remedy="ask for an epsilon between a millionth and a million",
        )
    if part.kind is Kind.REPORT and part.choices:
        return Choice(
            name=name, epsilon=epsilon, choices=part.choices, favoured=part.favoured
        )
    if part.kind is Kind.REPORT:
        return Response(name=name, epsilon=epsilon, reports=1, sampled=sampled)
    if part.kind is Kind.SELECTION:
        return Selection(
            name=name,
            sensitivity=needed,
            epsilon=epsilon,
            candidates=draws,
            sampled=sampled,
            steps=steps,
        )
    if part.kind in (Kind.OBJECTIVE, Kind.OUTPUT):
        return KNorm(
            name=name,
            sensitivity=needed,
            scale=needed / epsilon,
            dimension=part.width,
            rows=part.size,
            sampled=sampled,
            steps=steps,
        )
    if pure:
        return Laplace(
            name=name,
            sensitivity=needed,
            scale=needed / epsilon,
            draws=draws,
            sampled=sampled,
            steps=steps,
        )
    sigma = sqrt((needed / mu) ** 2 + 4) * (
        1 + 1e-12
    )  # the closed form for the discrete Gaussian uses sigma^2 - 4
    if sigma < 16:
        raise SettingError(
            f"the grid of {name} is too coarse for so little noise: {sigma:.3g} steps, 16 "
            "are needed"
        )
    return Gaussian(
        name=name,
        sensitivity=needed,
        sigma=sigma,
        draws=draws,
        sampled=sampled,
        steps=steps,
    )
