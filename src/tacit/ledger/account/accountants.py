"""Accountants: each says which costs it supports, and turns those into epsilon or delta.

A new accountant is a class of this file's form and a place in `account.ACCOUNTANTS`.
"""

from __future__ import annotations

from math import exp, expm1, fsum, lgamma, log1p, pi, sqrt
from typing import Any, Protocol

from tacit.errors import SettingError
from tacit.ledger.account.cost import Cost
from tacit.ledger.account.gaussian import SMALLEST, delta_at, epsilon_at
from tacit.ledger.account.renyi import renyi

MOST_LOSSES = {True: 512, False: 20_000}
"""Losses of the pure part that are composed exactly, with and without a Gaussian part."""
PER_DRAW = 8 * exp(-8 * pi**2)
"""What one draw of the discrete Gaussian adds to epsilon over the closed form."""
_ROUNDING = 1 + 1e-10
"""On a delta that was summed in floating point."""
_CLOSE = 1e-14
"""Relative width at which a bisection stops."""


class Accountant(Protocol):
    """Upper bounds for costs that `supports` accepts, at a delta or an epsilon above 0."""

    def supports(self, total: Cost) -> bool:
        """Whether every event of this cost is understood."""

    def epsilon(self, total: Cost, delta: float) -> float:
        """The least epsilon that is proven at `delta`."""

    def delta(self, total: Cost, epsilon: float) -> float:
        """The least delta that is proven at `epsilon`."""


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
