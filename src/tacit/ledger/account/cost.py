"""What events cost, added up, and how a cost at one unit reads at another.

Guarantee: adding costs is adaptive composition. Gaussian noise adds in mu^2, identical
sampled rounds are counted, and a pure event is no worse than randomized response with its
epsilon (Kairouz, Oh & Viswanath 2015). Parts that lie beside another one (over other
people) add nothing, but only if the part they lie beside is in the list and costs as much.

Sampling whole people by a secret coin amplifies at the unit `user` only. At `rating` and
`value` the other ratings of the same person betray the coin: with A the law without her, B
and B' with her, (1-q)A + qB against (1-q)A + qB' can show the full ratio of B to B'
wherever A has no mass. There `sampled` is ignored, which is always safe. Reports of a
person (`Response`, `Choice`) and envelopes (`Reserve`) are never amplified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import exp, expm1, fsum, inf, log, log1p, sqrt
from typing import NamedTuple

from tacit.errors import SettingError
from tacit.ledger.account.event import Event
from tacit.units import Unit

_ABOVE = 1 + 1e-12
"""On a divergence that was computed in floating point."""
RESERVE_DRAWS = 10**12
"""Draws that an envelope of Gaussian rounds stands for; they cost less than 1e-20 of epsilon."""


class Tuned(NamedTuple):
    """The best of a secret number of trials, each of them `rho`-concentrated private."""

    rho: float
    eta: float
    gamma: float

    @property
    def expected(self) -> float:
        """How many trials there are in the mean."""
        if self.eta == 0:
            return (1 / self.gamma - 1) / log(1 / self.gamma)
        complement = -expm1(self.eta * log(self.gamma))
        return self.eta * (1 - self.gamma) / (self.gamma * complement)

    def divergence(self, order: float) -> float:
        """At most this, at any order above 1 (docs/proofs/tune.md, theorem 1).

        order rho + (1 + eta)((b - 1) rho + log(1/gamma)/b) + log(expected)/(order - 1), for
        every b >= 1; the best b is the root of log(1/gamma)/rho, or 1.
        """
        log_inverse_gamma = log(1 / self.gamma)
        other_order = max(1.0, sqrt(log_inverse_gamma / self.rho))
        per_trial = (other_order - 1) * self.rho + log_inverse_gamma / other_order
        bound = order * self.rho + (1 + self.eta) * per_trial
        return (bound + log(self.expected) / (order - 1)) * _ABOVE


@dataclass(frozen=True)
class Cost:
    """The sum of some events, ready for an accountant."""

    mu2: float = 0.0
    """Of all Gaussian releases in which everybody takes part: the sum of
    sensitivity^2/(sigma^2 - 4)."""
    draws: int = 0
    """Discrete Gaussian draws in all."""
    pure: Mapping[float, int] = field(default_factory=dict)
    """epsilon -> how often."""
    sampled: Mapping[tuple[float, float], int] = field(default_factory=dict)
    """(noise multiplier, chance of taking part) -> rounds."""
    unbounded: int = 0
    renyi: float = 0.0
    """Of Skellam releases: their Renyi divergence at every integer order a > 1 is at most
    a/2 times this."""
    tuned: Mapping[Tuned, int] = field(default_factory=dict)
    """Selections among a secret number of trials -> how often."""

    @property
    def by_orders(self) -> bool:
        """Whether only Renyi divergences bound some of it."""
        return bool(self.renyi or self.tuned)

    @property
    def everyone(self) -> Cost:
        """The same without coins: to know who took part can only tell more, so this is an
        upper bound."""
        mu2 = fsum(times / multiplier**2 for (multiplier, _), times in self.sampled.items())
        return replace(self, mu2=self.mu2 + mu2, sampled={})

    def __add__(self, other: Cost) -> Cost:
        return total((self, other))

    @property
    def pure_epsilon(self) -> float:
        """What all pure events add up to."""
        return fsum(epsilon * count for epsilon, count in self.pure.items())


def group(of: Unit, at: Unit, limit: int | None = None) -> int | None:
    """How many steps at the unit `of` one step at the unit `at` can take; None if no number
    is enough.

    | events of | at user | at rating | at value |
    |---|---|---|---|
    | user | 1 | 2: leave, and return changed | 2 |
    | rating | `limit`, the most ratings of one person that are used | 1 | 2: empty the
    cell, fill it anew |
    | value | none: who rated what is taken as public | none | 1 |
    """
    if of == at:
        return 1
    if of == "user":
        return 2
    if of == "rating":
        return 2 if at == "value" else limit
    return None


def cost(events: Iterable[Event], unit: Unit = "user", steps: int = 1) -> Cost:
    """The cost of one reservation's events for `steps` neighbouring steps, read at `unit`."""
    listed = tuple(events)
    leads = {
        event.name: event for event in listed if event.beside is None and event.instead is None
    }
    prices = []
    for event in listed:
        price = _price(event, unit, steps)
        payer = event.beside or event.instead
        if payer is not None:
            lead = leads.get(payer)
            if lead is None or not _covers(_price(lead, unit, steps), price):
                relation = "lies beside" if event.beside else "stands instead of"
                raise SettingError(
                    f"the event {event.name} {relation} {payer}, which does not pay for it"
                )
            price = Cost(draws=price.draws, unbounded=price.unbounded)
        prices.append(price)
    return total(prices)


def total(costs: Iterable[Cost]) -> Cost:
    """The sum of many costs."""
    mu2 = 0.0
    draws = 0
    unbounded = 0
    renyi = 0.0
    pure: dict[float, int] = {}
    sampled: dict[tuple[float, float], int] = {}
    tuned: dict[Tuned, int] = {}
    for term in costs:
        mu2 += term.mu2
        draws += term.draws
        unbounded += term.unbounded
        renyi += term.renyi
        for epsilon, count in term.pure.items():
            pure[epsilon] = pure.get(epsilon, 0) + count
        for pair, rounds in term.sampled.items():
            sampled[pair] = sampled.get(pair, 0) + rounds
        for tuning, often in term.tuned.items():
            tuned[tuning] = tuned.get(tuning, 0) + often
    return Cost(mu2, draws, pure, sampled, unbounded, renyi, tuned)


def _price(event: Event, unit: Unit, steps: int) -> Cost:
    if event.kind == "evaluation":
        return Cost()
    if event.kind == "unbounded":
        return Cost(unbounded=1)
    chance = event.sampled if unit == "user" else 1.0
    if event.kind == "gaussian":
        mu2 = steps * steps * event.sensitivity**2 / (event.sigma**2 - 4)
        draws = event.draws * event.times
        if chance < 1:
            return Cost(draws=draws, sampled={(mu2**-0.5, chance): event.times})
        return Cost(mu2 * event.times, draws)
    if event.kind == "skellam":
        # a D2^2/2v + ((2a-1) D2^2 + 6 D1)/4v^2 (Agarwal, Kairouz & Liu 2021); (2a-1) D2^2 +
        # 6 D1 <= a (2 D2^2 + 6 D1)
        l2 = steps * event.sensitivity
        l1 = steps * event.l1
        v = event.variance
        return Cost(renyi=(l2 * l2 / v + (l2 * l2 + 3 * l1) / (v * v)) * event.times)
    if event.kind == "reserve":
        if event.mu is not None:
            return Cost((steps * event.mu) ** 2 * event.times, RESERVE_DRAWS * event.times)
        assert event.epsilon is not None
        return Cost(pure={steps * event.epsilon: event.times})
    if event.kind == "tuning":
        if event.rho is not None:
            tuning = Tuned(steps * steps * event.rho, event.shape, event.stop)
            return Cost(tuned={tuning: event.times})
        assert event.epsilon is not None
        trial_epsilon = (2 + event.shape) * steps * event.epsilon
        return Cost(pure={trial_epsilon: event.times})
    if event.kind == "response":
        return Cost(pure={steps * event.epsilon: event.reports * event.times})
    if event.kind == "choice":
        return Cost(pure={steps * event.epsilon: event.times})
    return Cost(pure={amplified(steps * event.epsilon, chance): event.times})


def concentrated(price: Cost) -> float | None:
    """The least rho of which this much is rho-concentrated private: its divergence at order a
    is at most a rho. None where it has no such bound.

    Gaussian releases: mu^2/2 (the discrete law has no more than the continuous one: Canonne,
    Kamath & Steinke 2020, theorem 4). Pure ones: epsilon^2/2 (Bun & Steinke 2016).
    """
    if price.unbounded or price.sampled or price.renyi or price.tuned:
        return None
    pure = fsum(epsilon * epsilon * often for epsilon, often in price.pure.items())
    return (price.mu2 + pure) / 2


def amplified(epsilon: float, chance: float) -> float:
    """log(1 + q(e^epsilon - 1)): a pure event in which each whole person takes part with
    chance q."""
    if chance >= 1 or epsilon == inf:
        return epsilon
    return (
        epsilon + log(chance + (1 - chance) * exp(-epsilon))
        if epsilon > 1
        else log1p(chance * expm1(epsilon))
    )


def _covers(lead: Cost, other: Cost) -> bool:
    """Whether one event costs at least as much as another of its kind."""
    if lead.sampled or other.sampled:
        return lead.sampled == other.sampled
    is_single = (
        sum(lead.pure.values()) == 1
    )  # a single pure event dominates any split of its epsilon; a split does not
    pure = lead.pure == other.pure or (is_single and lead.pure_epsilon >= other.pure_epsilon)
    return (
        pure
        and lead.mu2 >= other.mu2
        and lead.renyi >= other.renyi
        and lead.tuned == other.tuned
        and lead.unbounded >= other.unbounded
    )
