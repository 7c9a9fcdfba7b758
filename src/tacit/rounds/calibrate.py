"""From a plan and a budget to events: how much noise each part gets, so that all of them
together cost the budget.

Gaussian parts share mu^2 of the whole, pure ones share epsilon (docs/proofs/first-order.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, sqrt

from tacit.errors import SettingError
from tacit.ledger.account.event import (
    Event,
    Gaussian,
    KNorm,
    Laplace,
    RandomizedChoice,
    Response,
    Selection,
)
from tacit.rounds.people import Coin
from tacit.rounds.plan import Budget, Plan, is_beside
from tacit.rounds.round import Kind, Part, Round

SCALES = (2.0**-8, 2.0**47)
"""Least and largest noise in steps, well inside what `tacit.noise` draws: refused here,
before anything is charged."""
FINEST = 16
"""Steps of a discrete Gaussian's sigma from which its closed form holds."""
SURELY = 1 - 1e-9
"""So that rounding never makes a plan cost more than its budget, or a round more than the
one whose place it takes."""
NOTHING = 1e-12
"""A rest of the budget below which no Gaussian part is left: shares are sums of floats."""
PURE = (Kind.REPORT, Kind.INPUT, Kind.OBJECTIVE, Kind.OUTPUT, Kind.SELECTION)
"""One unit moves one number or one short row: pure noise is the smaller, whatever delta
allows."""
BY_ROWS = (Kind.OBJECTIVE, Kind.OUTPUT)
"""Noise is drawn row by row, and epsilon adds up over the rows that move."""
MOST_GAIN = 1e4
"""How much more mu than without a coin is looked for."""
CLOSE = 1e-6
"""How closely the largest mu that a coin allows is found."""


def events(plan: Plan, budget: Budget) -> dict[str, Event]:
    """The event of each part, keyed `round/part`, so that all of them together cost at most
    `budget`."""
    from tacit.ledger.account.account import epsilon as account

    pricing = _Pricing(plan, budget)
    level = pricing.level()
    coins = any(isinstance(r.takes_part, Coin) for r in plan.rounds)
    if coins and level > 0:  # a coin buys more mu for the same epsilon

        def fits(level: float) -> bool:
            priced = tuple(pricing.at(level).values())
            return account(priced, budget.delta, unit=plan.unit) <= budget.epsilon

        level = _raised(level, fits)
    return pricing.at(level)


def _raised(level: float, fits: Callable[[float], bool]) -> float:
    """The largest calibration level that `fits`, by doubling and bisection from `level`, which must
    fit."""
    low, high = level, 2 * level
    while fits(high) and high < MOST_GAIN * level:
        low, high = high, 2 * high
    while high > (1 + CLOSE) * low:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


class _Pricing:
    """The split of one budget over the parts of one plan."""

    def __init__(self, plan: Plan, budget: Budget) -> None:
        self.plan = plan
        self.budget = budget
        self.whole = plan.budget_share or 1.0
        pure = sum(
            p.share
            for r, p in plan.parts
            if p.printed is None and _is_pure(p, budget) and not is_beside(r)
        )
        self.rest = 1 - pure / self.whole
        """Of epsilon, what the Gaussian parts share."""
        self.each = _each_report(plan, budget)

    def level(self) -> float:
        """The mu of all Gaussian parts together, as if no coin were tossed."""
        from tacit.ledger.account.calibrate import gaussian_mu

        if self.rest <= NOTHING or self.budget.delta <= 0:
            return 0.0
        mu = gaussian_mu(self.budget.epsilon * self.rest, self.budget.delta)
        return mu * SURELY

    def at(self, level: float) -> dict[str, Event]:
        """The events if all Gaussian parts together have this mu."""
        priced: dict[str, Event] = {}
        for round_, part in self.plan.parts:
            event = self._event(round_, part, level)
            times = round_.takes_part.times
            if times > 1:
                event = event.model_copy(update={"times": times})
            if round_.instead:
                part_name = self.plan.first_of(round_).parts[0].name
                replaced = {"instead": f"{round_.instead}/{part_name}"}
                event = event.model_copy(update=replaced)
            elif is_beside(round_):
                lead = _lead(self.plan, round_, part, event, priced)
                event = event.model_copy(update={"beside": lead})
            priced[event.name] = event
        return priced

    def _event(self, round_: Round, part: Part, level: float) -> Event:
        """The frozen event from which the noise of this part will be drawn."""
        name = f"{round_.name}/{part.name}"
        if part.printed is not None:
            return part.printed.event(name, part)
        if round_.takes_part.printed:
            raise SettingError(f"{round_.takes_part.printed} exist in `paper` calibration only")
        times = round_.takes_part.times
        share = part.share / self.whole
        mu = level * sqrt(share / self.rest / times) if self.rest > NOTHING else 0.0
        if round_.instead:
            mu *= SURELY
        epsilon = self.each or self.budget.epsilon * share / times
        pure = _is_pure(part, self.budget)
        sensitivity = _sensitivity(self.plan, name, part, pure)
        _check_scale(name, sensitivity / (epsilon if pure else mu))
        sampled = round_.takes_part.chance
        if pure:
            return _pure_event(name, part, sensitivity, epsilon, sampled)
        return _gaussian(name, part, sensitivity, mu, sampled)


def _each_report(plan: Plan, budget: Budget) -> float | None:
    """The epsilon of each of several like reports and nothing else: they compose exactly,
    so delta buys more."""
    from tacit.ledger.account.calibrate import response_epsilon

    paid_parts = [p for r, p in plan.parts if not is_beside(r)]
    alike = all(
        p.kind is Kind.REPORT and p.printed is None and p.share == paid_parts[0].share
        for p in paid_parts
    )
    if len(paid_parts) < 2 or not alike or budget.delta == 0:
        return None
    return response_epsilon(len(paid_parts), budget.epsilon, budget.delta)


def _lead(plan: Plan, later: Round, part: Part, event: Event, priced: Mapping[str, Event]) -> str:
    """The same part in the first slice or turn, which must exist and cost as much."""
    for first in plan.firsts:
        name = f"{first.name}/{part.name}"
        if name not in priced or not first.takes_part.is_first_of(later.takes_part):
            continue
        if priced[name].model_copy(update={"name": event.name}) == event:
            return name
    raise SettingError(f"{later.name}/{part.name} has no equal part in {later.takes_part.first}")


def _is_pure(part: Part, budget: Budget) -> bool:
    return part.kind in PURE or budget.delta == 0


def _sensitivity(plan: Plan, name: str, part: Part, pure: bool) -> float:
    """How far one unit can move the part, in the norm of its noise."""
    size = plan.moves[id(part.bound)]
    sensitivity = size.l1 if pure else size.l2
    if part.kind in BY_ROWS:
        sensitivity = size.by_rows(part.size)
    if part.kind is Kind.INPUT and plan.unit != "value":
        raise SettingError(
            f"{name} lists every cell, so who rated what must be public", remedy="use --unit value"
        )
    if sensitivity == inf:
        kind = "pure" if pure else "finite"
        raise SettingError(
            f"the part {name} has no {kind} bound at the unit {plan.unit}",
            remedy="ask for a positive --delta" if pure else "choose another unit",
        )
    return sensitivity


def _check_scale(name: str, scale: float) -> None:
    smallest, largest = SCALES
    if not smallest <= scale <= largest:
        raise SettingError(
            f"the noise of {name} would be {scale:.3g} steps of its grid, more or less "
            "than can be drawn",
            remedy="ask for an epsilon between a millionth and a million",
        )


def _pure_event(name: str, part: Part, sensitivity: float, epsilon: float, sampled: float) -> Event:
    """A report, a selection, K-norm noise by rows, or Laplace noise."""
    if part.kind is Kind.REPORT and part.choices:
        return RandomizedChoice(
            name=name, epsilon=epsilon, choices=part.choices, favoured=part.favoured
        )
    if part.kind is Kind.REPORT:
        return Response(name=name, epsilon=epsilon, reports=1, sampled=sampled)
    if part.kind is Kind.SELECTION:
        return Selection(
            name=name,
            sensitivity=sensitivity,
            epsilon=epsilon,
            candidates=part.numbers,
            sampled=sampled,
            steps=part.bound.steps,
        )
    if part.kind in BY_ROWS:
        return KNorm(
            name=name,
            sensitivity=sensitivity,
            scale=sensitivity / epsilon,
            dimension=part.width,
            rows=part.size,
            sampled=sampled,
            steps=part.bound.steps,
        )
    return Laplace(
        name=name,
        sensitivity=sensitivity,
        scale=sensitivity / epsilon,
        draws=part.numbers,
        sampled=sampled,
        steps=part.bound.steps,
    )


def _gaussian(name: str, part: Part, sensitivity: float, mu: float, sampled: float) -> Event:
    """The closed form for the discrete Gaussian uses sigma^2 - 4."""
    sigma = sqrt((sensitivity / mu) ** 2 + 4) * (1 + 1e-12)
    if sigma < FINEST:
        raise SettingError(
            f"the grid of {name} is too coarse for so little noise: {sigma:.3g} steps, "
            f"{FINEST} are needed"
        )
    return Gaussian(
        name=name,
        sensitivity=sensitivity,
        sigma=sigma,
        draws=part.numbers,
        sampled=sampled,
        steps=part.bound.steps,
    )
