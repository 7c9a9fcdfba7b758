"""Renyi divergence: what sampled Gaussian rounds, Skellam noise and many pure events cost
where no closed form adds.

A round in which each whole person takes part by a secret coin of chance q, with noise sigma
for sensitivity 1, has at the integer order a the divergence log(A)/(a-1), A = sum over k of
C(a,k) (1-q)^(a-k) q^k exp(k(k-1)/2 sigma^2) (Mironov, Talwar & Zhang 2019). All orders are
done at once, in log space, and remembered: a plan asks again and again.

Guarantee: figures are upper bounds. Divergences add under adaptive composition; the step to
(epsilon, delta) is Proposition 12 of Canonne, Kamath & Steinke 2020, at the best of a fixed
list of orders; A is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, expm1, fsum, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, NamedTuple

from tacit.ledger.account.cost import Cost

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLED = (*range(2, 65), *range(72, 257, 8), 320, 384, 512, 768, 1024)
"""Orders where people are sampled: the series is a finite sum at integers."""
INTEGERS = (*range(2, 65), *(int(64 * 1.04**k) for k in range(1, 180)))
"""The bound for Skellam noise holds at integers alone."""
REALS = (*(1 + k / 20 for k in range(1, 20)), *INTEGERS)
_ABOVE = 1 + 1e-12
"""On a bound whose own rounding is far less."""
_UP = 1e-9
"""Added to log A, whose own rounding is below 1e-10 at order 1024."""


@dataclass(frozen=True)
class Renyi:
    """Orders and the divergence at each."""

    orders: tuple[float, ...]
    divergence: tuple[float, ...]

    def epsilon(self, delta: float) -> float:
        """The least epsilon over all orders, at this delta."""
        return max(
            0.0,
            min(_epsilon(a, r, delta) for a, r in zip(self.orders, self.divergence, strict=True)),
        )

    def delta(self, epsilon: float) -> float:
        """The least delta over all orders, at this epsilon.

        Also by the total variation, which delta never exceeds: at most sqrt(1 - exp(-K))
        (Bretagnolle & Huber) and sqrt(K/2) (Pinsker), K the divergence at any order.
        """
        best = min(
            (a - 1) * (r - epsilon + log1p(-1 / a)) - log(a)
            for a, r in zip(self.orders, self.divergence, strict=True)
        )
        least_divergence = min(self.divergence)
        variation = min(sqrt(-expm1(-least_divergence)), sqrt(least_divergence / 2))
        return min(exp(min(best, 0.0)), variation * _ABOVE)


def _epsilon(order: float, divergence: float, delta: float) -> float:
    if delta * delta + expm1(-divergence) > 0:  # delta <= sqrt(1 - exp(-KL))
        return 0.0
    return divergence + log1p(-1 / order) - log(delta * order) / (order - 1)


def renyi(total: Cost, *, pure: bool = True) -> Renyi:
    """Of a whole cost. A pure event diverges by at most a epsilon^2/2, as a Gaussian;
    `pure=False` leaves them out."""
    rate = (
        total.mu2
        + total.renyi
        + (
            fsum(epsilon * epsilon * count for epsilon, count in total.pure.items())
            if pure
            else 0.0
        )
    )
    orders: tuple[float, ...] = SAMPLED if total.sampled else INTEGERS if total.renyi else REALS
    divergences = [a * rate / 2 for a in orders]
    for (multiplier, chance), times in total.sampled.items():
        divergences = [
            r + times * divergence
            for r, divergence in zip(divergences, sampled_gaussian(multiplier, chance), strict=True)
        ]
    for best, often in total.tuned.items():
        divergences = [
            r + often * best.divergence(a) for a, r in zip(orders, divergences, strict=True)
        ]
    return Renyi(orders, tuple(divergences))


@lru_cache(maxsize=1024)
def sampled_gaussian(multiplier: float, chance: float) -> tuple[float, ...]:
    """The divergence of one round at the orders `SAMPLED`."""
    import numpy as np

    if multiplier <= 0:
        return (inf,) * len(SAMPLED)
    table = _table()
    k, orders = table.k, table.orders
    terms = (
        table.choose
        + k * log(chance)
        + (orders[:, None] - k) * log1p(-chance)
        + k * (k - 1) / (2 * multiplier**2)
    )
    top = terms.max(axis=1)
    logs = top + np.log(np.exp(terms - top[:, None]).sum(axis=1))
    return tuple(((np.maximum(logs, 0.0) + _UP) / (orders - 1)).tolist())


class _Table(NamedTuple):
    """Binomial coefficients for the sum over how many took part."""

    choose: NDArray[np.float64]
    """log C(a, k), one row an order."""
    k: NDArray[np.float64]
    orders: NDArray[np.float64]


@cache
def _table() -> _Table:
    """log C(a, k) for every order a and every k up to the largest; -inf above a."""
    import numpy as np

    orders = np.array(SAMPLED, np.float64)
    k = np.arange(SAMPLED[-1] + 1, dtype=np.float64)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])
    below = k <= orders[:, None]
    difference = np.where(below, orders[:, None] - k, 0).astype(np.int64)
    choose = factorial[orders.astype(np.int64)][:, None] - factorial - factorial[difference]
    return _Table(np.where(below, choose, -np.inf), k, orders)
