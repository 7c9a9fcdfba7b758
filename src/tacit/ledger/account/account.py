"""Accountants: functions of events. Which one is used follows from the events alone.

| events | accountant |
|---|---|
| Gaussian | closed form, for the discrete Gaussian (below) |
| pure | the sum of epsilons at delta 0; above 0 the exact composition of randomized responses |
| both | the exact composition of the two |
| sampled Gaussian | Renyi at integer orders, or the figure without the coin where that is less |
| too many different pure events | Renyi, or basic composition where that is less |
| Skellam (noise in shares) | Renyi at integer orders, with all the rest |
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
from math import exp, expm1, fsum, inf, lgamma, log1p, pi, sqrt
from typing import Any

from tacit.errors import SettingError
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.event import Event, Unit
from tacit.ledger.account.gaussian import SMALLEST, delta_at, epsilon_at
from tacit.ledger.account.renyi import renyi

PROFILE_DELTAS = tuple(float(f"1e-{k}") for k in range(4, 13))
_TABLE = {True: 512, False: 20_000}
"""Losses of the pure part that are composed exactly, with and without a Gaussian part;
beyond, Renyi."""
_PER_DRAW = 8 * exp(-8 * pi**2)
_ROUNDING = 1 + 1e-10
"""On a delta that was summed in floating point."""


def epsilon(
    events: Iterable[Event], delta: float, *, unit: Unit = "user", verify: bool = False
) -> float:
    """The epsilon of all `events` together at `delta`; infinite where nothing bounds it."""
    return epsilon_of(cost(events, unit), delta, verify=verify)


def delta(
    events: Iterable[Event],
    epsilon: float,
    *,
    unit: Unit = "user",
    verify: bool = False,
) -> float:
    """The delta of all `events` together at `epsilon`."""
    return delta_of(cost(events, unit), epsilon, verify=verify)


def profile(
    events: Iterable[Event], *, unit: Unit = "user"
) -> list[tuple[float, float]]:
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
    slack = _PER_DRAW * total.draws
    if delta == 0:
        return inf if total.mu2 or total.sampled or total.renyi else total.pure_epsilon
    if (
        verify and not total.renyi
    ):  # the loss distribution of Skellam noise in many dimensions is not known
        return float(_loss_distribution(total).get_epsilon_for_delta(delta)) + slack
    mu, pure = sqrt(total.mu2), total.pure_epsilon
    if total.sampled or total.renyi:
        found = renyi(total, pure=False).epsilon(delta) + pure
        if pure:
            found = min(found, renyi(total).epsilon(delta))
        return min(
            found + slack, inf if total.renyi else epsilon_of(total.everyone, delta)
        )
    basic = epsilon_at(mu, delta) + pure
    if not total.pure:
        return basic + slack
    table = _losses(total)
    if table is None:
        return min(renyi(total).epsilon(delta), basic) + slack
    low, high = 0.0, basic
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (
            (middle, high) if _delta(mu, table, middle) > delta else (low, middle)
        )
    return high + slack


def delta_of(total: Cost, epsilon: float, *, verify: bool = False) -> float:
    """`delta` for a cost that is already added up."""
    if not epsilon >= 0:
        raise SettingError(f"epsilon is {epsilon:g}; it must be at least 0")
    if total.unbounded:
        return 1.0
    given, epsilon = epsilon, max(0.0, epsilon - _PER_DRAW * total.draws)
    pure = total.pure_epsilon
    private_alone = not total.mu2 and not total.sampled and not total.renyi
    if private_alone and epsilon >= pure:
        return 0.0
    if verify and not total.renyi:
        return float(_loss_distribution(total).get_delta_for_epsilon(epsilon))
    if not total.pure and not total.sampled and not total.renyi:
        return delta_at(sqrt(total.mu2), epsilon)
    table = None if total.sampled or total.renyi else _losses(total)
    if table is not None:
        return min(1.0, max(_delta(sqrt(total.mu2), table, epsilon), SMALLEST))
    bounds = [renyi(total).delta(epsilon)]
    if epsilon > pure and not private_alone:
        bounds.append(renyi(total, pure=False).delta(epsilon - pure))
    if total.sampled and not total.renyi:
        bounds.append(delta_of(total.everyone, given))
    return min(1.0, *bounds)


def _losses(total: Cost) -> list[tuple[float, float]] | None:
    """(privacy loss, probability) of the pure events as randomized responses; None if there
    are too many."""
    size = 1
    for count in total.pure.values():
        size *= count + 1
    if size > _TABLE[total.mu2 > 0]:
        return None
    table = [(0.0, 0.0)]
    for each, count in total.pure.items():
        keep = -log1p(
            exp(-each)
        )  # log of the chance to answer truly; the other answer has log-chance keep - each
        chances = [
            _log_choose(count, x) + count * keep - (count - x) * each
            for x in range(count + 1)
        ]
        ways = [((2 * x - count) * each, chance) for x, chance in enumerate(chances)]
        table = [
            (loss + more, chance + other)
            for loss, chance in table
            for more, other in ways
        ]
    return [(loss, exp(chance)) for loss, chance in table]


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _delta(mu: float, table: list[tuple[float, float]], epsilon: float) -> float:
    """The hockey-stick divergence of a product: the mean over the pure loss of the Gaussian
    delta at what is left."""
    if mu == 0:
        terms = [
            chance * -expm1(epsilon - loss) for loss, chance in table if loss > epsilon
        ]
    else:
        terms = [
            chance * delta_at(mu, epsilon - loss)
            for loss, chance in table
            if chance > 0
        ]
    return fsum(terms) * _ROUNDING


def _loss_distribution(total: Cost) -> Any:
    """dp-accounting's privacy loss distribution, rounded up on a grid of 1e-4."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    parts = []
    if total.mu2 > 0:
        parts.append(pld.from_gaussian_mechanism(1 / sqrt(total.mu2)))
    for each, count in total.pure.items():
        one = pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(each, 0.0)
        )
        parts.append(one.self_compose(count))
    for (multiplier, chance), times in total.sampled.items():
        one = pld.from_gaussian_mechanism(multiplier, sampling_prob=chance)
        parts.append(one.self_compose(times))
    if not parts:
        return pld.identity()
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole
