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
from math import exp, expm1, fsum, inf, lgamma, log1p, pi, sqrt
from typing import Any, Protocol

from tacit.errors import SettingError
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.event import Event
from tacit.ledger.account.gaussian import SMALLEST, delta_at, epsilon_at
from tacit.ledger.account.renyi import renyi
from tacit.units import Unit

PROFILE_DELTAS = tuple(float(f"1e-{k}") for k in range(4, 13))
PER_DRAW = 8 * exp(-8 * pi**2)
"""What one draw of the discrete Gaussian adds to epsilon over the closed form."""


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


# Accountants: each declares which costs it supports, and converts those into epsilon or delta.
#
# A new accountant is a class of this file's form and a place in `account.ACCOUNTANTS`.


class Accountant(Protocol):
    """Upper bounds for costs that `supports` accepts, at a delta or an epsilon above 0."""

    def supports(self, total: Cost) -> bool:
        """Whether every event of this cost is understood."""

    def epsilon(self, total: Cost, delta: float) -> float:
        """The least epsilon that is proven at `delta`."""

    def delta(self, total: Cost, epsilon: float) -> float:
        """The least delta that is proven at `epsilon`."""


class LossDistributions:
    """dp-accounting's privacy loss distributions on a grid of 1e-4, rounded up: slower, and
    independent of all the others."""

    def supports(self, total: Cost) -> bool:
        """All but noise in shares and tuning, of whose loss only divergences are known."""
        return not (total.unbounded or total.by_orders)

    def epsilon(self, total: Cost, delta: float) -> float:
        """From the composed distribution."""
        return float(_loss_distribution(total).get_epsilon_for_delta(delta))

    def delta(self, total: Cost, epsilon: float) -> float:
        """From the composed distribution."""
        return float(_loss_distribution(total).get_delta_for_epsilon(epsilon))


def _loss_distribution(total: Cost) -> Any:
    """dp-accounting's privacy loss distribution, rounded up on a grid of 1e-4."""
    try:
        from dp_accounting.pld import common
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        raise SettingError(
            "a second opinion needs dp-accounting, which is not installed",
            remedy="pip install 'tacit[oracle]'",
        ) from None

    parts = []
    if total.mu2 > 0:
        parts.append(pld.from_gaussian_mechanism(1 / sqrt(total.mu2)))
    for epsilon, count in total.pure.items():
        single = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, 0.0))
        parts.append(single.self_compose(count))
    for (multiplier, chance), times in total.sampled.items():
        single = pld.from_gaussian_mechanism(multiplier, sampling_prob=chance)
        parts.append(single.self_compose(times))
    if not parts:
        return pld.identity()
    composed = parts[0]
    for part in parts[1:]:
        composed = composed.compose(part)
    return composed


VERIFIER: Accountant = LossDistributions()
MOST_LOSSES = {True: 512, False: 20_000}
"""Losses of the pure part that are composed exactly, with and without a Gaussian part."""
_ROUNDING = 1 + 1e-10
"""On a delta that was summed in floating point."""
_CLOSE = 1e-14
"""Relative width at which a bisection stops."""


class ClosedForm:
    """Gaussian events alone: one Gaussian of the summed mu^2, exactly."""

    def supports(self, total: Cost) -> bool:
        """No pure, sampled or shared noise."""
        return not (total.pure or total.sampled or total.by_orders)

    def epsilon(self, total: Cost, delta: float) -> float:
        """By inverting the closed form."""
        return epsilon_at(sqrt(total.mu2), delta) + total.pure_epsilon

    def delta(self, total: Cost, epsilon: float) -> float:
        """The closed form."""
        return delta_at(sqrt(total.mu2), epsilon)


class Composed:
    """Pure events as randomized responses, composed exactly, also with a Gaussian."""

    def supports(self, total: Cost) -> bool:
        """Few enough different losses, and nothing sampled or shared."""
        if total.sampled or total.by_orders:
            return False
        return _losses(total) is not None

    def epsilon(self, total: Cost, delta: float) -> float:
        """By bisection below basic composition."""
        mu, table = sqrt(total.mu2), _losses(total)
        assert table is not None
        low, high = 0.0, _basic(total, delta)
        while high - low > _CLOSE * high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            enough = _delta(mu, table, middle) <= delta
            low, high = (low, middle) if enough else (middle, high)
        return high

    def delta(self, total: Cost, epsilon: float) -> float:
        """The hockey-stick divergence of the product."""
        table = _losses(total)
        assert table is not None
        return min(1.0, max(_delta(sqrt(total.mu2), table, epsilon), SMALLEST))


class Divergences:
    """Renyi divergences at integer orders, beside basic composition: for everything."""

    def supports(self, total: Cost) -> bool:
        """All events that anything bounds."""
        return not total.unbounded

    def epsilon(self, total: Cost, delta: float) -> float:
        """The least of what the orders, basic composition and the figure without a coin say."""
        pure = total.pure_epsilon
        if not (total.sampled or total.by_orders):
            return min(renyi(total).epsilon(delta), _basic(total, delta))
        bound = renyi(total, pure=False).epsilon(delta) + pure
        if pure:
            bound = min(bound, renyi(total).epsilon(delta))
        return bound

    def delta(self, total: Cost, epsilon: float) -> float:
        """The least of what the orders say, with the pure part inside or taken off first."""
        pure = total.pure_epsilon
        bounds = [renyi(total).delta(epsilon)]
        if epsilon > pure and (total.mu2 or total.sampled or total.by_orders):
            bounds.append(renyi(total, pure=False).delta(epsilon - pure))
        return min(1.0, *bounds)


def _basic(total: Cost, delta: float) -> float:
    return epsilon_at(sqrt(total.mu2), delta) + total.pure_epsilon


def _losses(total: Cost) -> list[tuple[float, float]] | None:
    """(privacy loss, probability) of the pure events as randomized responses; None if there
    are too many."""
    size = 1
    for count in total.pure.values():
        size *= count + 1
    if size > MOST_LOSSES[total.mu2 > 0]:
        return None
    table = [(0.0, 0.0)]
    for epsilon, count in total.pure.items():
        keep = -log1p(
            exp(-epsilon)
        )  # log of the chance to answer truly; the other answer has log-chance keep - each
        chances = [
            _log_choose(count, x) + count * keep - (count - x) * epsilon for x in range(count + 1)
        ]
        outcomes = [((2 * x - count) * epsilon, chance) for x, chance in enumerate(chances)]
        table = [
            (loss + added_loss, chance + added_chance)
            for loss, chance in table
            for added_loss, added_chance in outcomes
        ]
    return [(loss, exp(chance)) for loss, chance in table]


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _delta(mu: float, table: list[tuple[float, float]], epsilon: float) -> float:
    """The hockey-stick divergence of a product: the mean over the pure loss of the Gaussian
    delta at what is left."""
    if mu == 0:
        terms = [chance * -expm1(epsilon - loss) for loss, chance in table if loss > epsilon]
    else:
        terms = [chance * delta_at(mu, epsilon - loss) for loss, chance in table if chance > 0]
    return fsum(terms) * _ROUNDING


ACCOUNTANTS: tuple[Accountant, ...] = (ClosedForm(), Composed(), Divergences())


def profile(events: Iterable[Event], *, unit: Unit = "user") -> list[tuple[float, float]]:
    """(epsilon, delta) at delta 1e-4 ... 1e-12, and at 0 if that is finite. Empty where
    nothing is bounded."""
    total = cost(events, unit)
    pairs = [(epsilon_of(total, at), at) for at in (*PROFILE_DELTAS, 0.0)]
    return [pair for pair in pairs if pair[0] < inf]
