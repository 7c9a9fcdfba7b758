"""Accountants: functions of events. Which one is used follows from the events alone.

| events | accountant |
|---|---|
| Gaussian | closed form, for the discrete Gaussian (below) |
| pure | the sum of epsilons at delta 0; above 0 the exact composition of randomized responses |
| both | the exact composition of the two |
| sampled Gaussian | Renyi at integer orders, or the figure without the coin where that is less |
| too many different pure events | Renyi, or basic composition where that is less |
| Skellam (noise in shares) | Renyi at integer orders, with all the rest |
| Tuning (the best of some trials) | Renyi, with all the rest; pure trials as one pure event |
| `verify=True` | privacy loss distributions (dp-accounting), slower and independent of all
the above |

Guarantee: every figure is an upper bound for the adaptive composition of the events at
`unit`. The discrete Gaussian is at multiplicative distance e^(2 exp(-8 pi^2)) per draw from
a post-processing of a continuous Gaussian of variance sigma^2 - 4 (round the continuous
draw by a discrete Gaussian of standard deviation 2), so the closed form holds with mu^2 =
sum of sensitivity^2/(sigma^2 - 4) and epsilon + 8 K e^(-8 pi^2) over K draws; events
enforce sigma >= 16. `Unbounded` gives infinity, `Evaluation` nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from tacit.errors import SettingError
from tacit.ledger.account.accountants import (
    PER_DRAW,
    Accountant,
    ClosedForm,
    Composed,
    Divergences,
    LossDistributions,
)
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.event import Event
from tacit.units import Unit

PROFILE_DELTAS = tuple(float(f"1e-{k}") for k in range(4, 13))
ACCOUNTANTS: tuple[Accountant, ...] = (ClosedForm(), Composed(), Divergences())
VERIFIER: Accountant = LossDistributions()


def epsilon(
    events: Iterable[Event], delta: float, *, unit: Unit = "user", verify: bool = False
) -> float:
    """The epsilon of all `events` together at `delta`; infinite where nothing bounds it."""
    return epsilon_of(cost(events, unit), delta, verify=verify)


def delta(
    events: Iterable[Event], epsilon: float, *, unit: Unit = "user", verify: bool = False
) -> float:
    """The delta of all `events` together at `epsilon`."""
    return delta_of(cost(events, unit), epsilon, verify=verify)


def profile(events: Iterable[Event], *, unit: Unit = "user") -> list[tuple[float, float]]:
    """(epsilon, delta) at delta 1e-4 ... 1e-12, and at 0 if that is finite. Empty where
    nothing is bounded."""
    total = cost(events, unit)
    pairs = [(epsilon_of(total, at), at) for at in (*PROFILE_DELTAS, 0.0)]
    return [pair for pair in pairs if pair[0] < inf]


def epsilon_of(total: Cost, delta: float, *, verify: bool = False) -> float:
    """`epsilon` for a cost that is already added up."""
    if not 0 <= delta < 1:
        raise SettingError(f"delta is {delta:g}; it must be at least 0 and below 1")
    if total.unbounded:
        return inf
    slack = PER_DRAW * total.draws
    if delta == 0:
        return inf if total.mu2 or total.sampled or total.by_orders else total.pure_epsilon
    if verify and VERIFIER.supports(total):
        return VERIFIER.epsilon(total, delta) + slack
    bound = accountant(total).epsilon(total, delta) + slack
    if total.sampled and not total.by_orders:  # the figure without the coin may be less
        return min(bound, epsilon_of(total.everyone, delta))
    return bound


def delta_of(total: Cost, epsilon: float, *, verify: bool = False) -> float:
    """`delta` for a cost that is already added up."""
    if not epsilon >= 0:
        raise SettingError(f"epsilon is {epsilon:g}; it must be at least 0")
    if total.unbounded:
        return 1.0
    remaining_epsilon = max(0.0, epsilon - PER_DRAW * total.draws)
    private_alone = not (total.mu2 or total.sampled or total.by_orders)
    if private_alone and remaining_epsilon >= total.pure_epsilon:
        return 0.0
    if verify and VERIFIER.supports(total):
        return VERIFIER.delta(total, remaining_epsilon)
    bound = accountant(total).delta(total, remaining_epsilon)
    if total.sampled and not total.by_orders:
        return min(bound, delta_of(total.everyone, epsilon))
    return bound


def accountant(total: Cost) -> Accountant:
    """The first that supports these events: the tightest."""
    return next(candidate for candidate in ACCOUNTANTS if candidate.supports(total))
