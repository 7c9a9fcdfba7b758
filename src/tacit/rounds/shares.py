"""Noise that servers draw whole and devices in shares: the plan and the events of a
federation.

Guarantee: where devices draw, every event is of a law whose shares add up to it exactly
(`tacit.noise.shares`, docs/proofs/federated.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

from tacit.bound.gram import EntryGram, FactorGram
from tacit.errors import SettingError
from tacit.ledger.account.event import Event, Gaussian, Skellam
from tacit.rounds.options import NoiseFrom
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Part, Released

GRAM_ROOT = 2**9
GRAM_GRID = 2**16
"""Grids of item-item sums whose noise devices draw in shares: coarse, since a share's cost
grows with the grid."""
SURELY = 1 + 1e-6
"""What stands instead of another event has this much more noise than is enough, so that rounding
never makes it cost more."""


def for_everyone(released: Released, people: float, arrived: int) -> Released:
    """A sum over a cohort as an estimate for all people; the same numbers where all of them
    came."""
    if arrived == people or arrived < 1:
        return released
    factor = people / arrived
    return replace(released, value=released.value * factor, sd=released.sd * factor)


def for_devices(plan: Plan) -> Plan:
    """The plan with item-item sums on a grid whose noise devices can draw; the bound's own
    proof covers any grid."""

    def coarse(part: Part) -> Part:
        if isinstance(part.bound, FactorGram):
            return replace(part, bound=replace(part.bound, root=min(part.bound.root, GRAM_ROOT)))
        if isinstance(part.bound, EntryGram):
            return replace(part, bound=replace(part.bound, grid=min(part.bound.grid, GRAM_GRID)))
        return part

    rounds = tuple(replace(r, parts=tuple(coarse(p) for p in r.parts)) for r in plan.rounds)
    return replace(plan, rounds=rounds)


def federated_events(plan: Plan, budget: Budget, noise: NoiseFrom) -> dict[str, Event]:
    """The plan's events in a federation whose noise comes from there.

    A server draws a whole noise by itself, of whatever law; only what devices draw must be
    of a law that can be shared.
    """
    if noise != "servers":
        return shared_events(plan, budget)
    planned = plan.events(budget)
    _check(planned)
    return planned


def shared_events(plan: Plan, budget: Budget) -> dict[str, Event]:
    """The plan's events with noise that devices can share: Skellam for Gaussian, Polya
    shares for Laplace.

    Guarantee: Skellam is accounted by its Renyi divergence, which asks for some per cent
    more noise than the closed form of the Gaussian; the scale is raised until the
    accountant, given these very events, is content.
    """
    from tacit.ledger.account.account import epsilon

    planned = plan.events(budget)
    _check(planned)
    parts = {f"{r.name}/{p.name}": p for r in plan.rounds for p in r.parts}

    def at(factor: float) -> dict[str, Event]:
        out: dict[str, Event] = {}
        for path, event in planned.items():
            if not isinstance(event, Gaussian):
                out[path] = event
                continue
            size = parts[path].bound.sensitivity(plan.unit, plan.limited)
            l2 = event.sensitivity
            l1 = min(size.l1, l2 * sqrt(event.draws), l2 * l2)
            variance = (factor * event.sigma) ** 2
            if event.instead is not None:
                lead = out[event.instead]
                assert isinstance(lead, Skellam)
                variance = SURELY * max(variance, _covered_from(lead, l1, l2))
            out[path] = Skellam(
                name=path,
                sensitivity=l2,
                l1=l1,
                variance=variance,
                draws=event.draws,
                times=event.times,
                beside=event.beside,
                instead=event.instead,
                steps=event.steps,
            )
        return out

    if not any(isinstance(event, Gaussian) for event in planned.values()):
        return planned
    low, high = 1.0, 2.0
    while epsilon(at(high).values(), budget.delta, unit=plan.unit) > budget.epsilon:
        low, high = high, high * 2
    for _ in range(20):
        middle = (low + high) / 2
        fits = epsilon(at(middle).values(), budget.delta, unit=plan.unit) <= budget.epsilon
        low, high = (low, middle) if fits else (middle, high)
    return at(high)


def _covered_from(lead: Skellam, l1: float, l2: float) -> float:
    """The variance from which Skellam noise of these sensitivities costs no more than the lead, for
    any number of steps.

    The cost of s steps (`tacit.ledger.account.cost`) is s^2 first + s second; the lead has no less
    for any s if it has no less of the first and none less of both together.
    """
    first = lead.sensitivity**2 * (1 / lead.variance + 1 / lead.variance**2)
    both = first + 3 * lead.l1 / lead.variance**2

    def smallest_variance(more: float, most: float) -> float:
        """v with l2^2/v + more/v^2 = most."""
        return (l2**2 + sqrt(l2**4 + 4 * most * more)) / (2 * most)

    return max(smallest_variance(l2**2, first), smallest_variance(l2**2 + 3 * l1, both))


def _check(planned: Mapping[str, Event]) -> None:
    """Refuse releases that have no federated form."""
    for path, event in planned.items():
        if event.kind not in ("gaussian", "laplace", "unbounded"):
            raise SettingError(
                f"the noise of {path} cannot be shared among devices",
                remedy="use the threads engine",
            )
        if event.sampled < 1:
            raise SettingError(
                f"{path} hides who takes part, which the servers of a federation see"
            )
