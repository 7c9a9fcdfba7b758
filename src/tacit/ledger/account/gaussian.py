"""The closed form of the Gaussian mechanism with `math` alone, so that planning starts
without scipy.

delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), where mu^2 is
the sum over all releases of (sensitivity/sigma)^2 (Balle & Wang 2018; Dong, Roth & Su
2019). With x = epsilon/mu - mu/2 and the Mills ratio R(x) = Phi(-x)/phi(x) this is phi(x)
(R(x) - R(x + mu)): no e^epsilon, no underflow, stable for any budget.

Guarantee: every function here rounds towards more privacy loss, by more than its own
floating-point error.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, inf, log, pi, sqrt

_ROOT2 = sqrt(2)
_LOG_ROOT_2PI = 0.5 * log(2 * pi)
SMALLEST = 5e-324
"""A Gaussian's delta is never 0."""


def mills(x: float) -> float:
    """Phi(-x)/phi(x) for x >= 0, to about 1e-14."""
    if x < 4:
        return sqrt(pi / 2) * exp(x * x / 2) * erfc(x / _ROOT2)
    tail = x
    for k in range(60, 0, -1):  # Laplace's continued fraction: x + 1/(x + 2/(x + 3/(x + ...)))
        tail = x + k / tail
    return 1 / tail


def log_delta(mu: float, epsilon: float) -> float:
    """log delta(epsilon) of mu-Gaussian privacy, for any real epsilon; -inf for mu = 0 and
    epsilon >= 0."""
    if mu == 0:
        return -inf if epsilon >= 0 else log(1 - exp(epsilon))
    x = epsilon / mu - mu / 2
    y = x + mu
    margin = 1e-15 * (x * x + 10)  # relative error of phi(x) and of the two ratios
    if x > 1e100:
        return -inf
    if x > 0:
        mills_x = mills(x)
        gap = mills_x - mills(y) + 2e-14 * mills_x
        return -x * x / 2 - _LOG_ROOT_2PI + log(gap) + margin
    second = (
        exp(-x * x / 2 - _LOG_ROOT_2PI) * mills(y)
        if y >= 0
        else exp(epsilon) * erfc(y / _ROOT2) / 2
    )
    return min(0.0, log(max(erfc(x / _ROOT2) / 2 - second, 0.0) + 1e-14))


def delta_at(mu: float, epsilon: float) -> float:
    """delta(epsilon), never below the smallest positive number unless mu is 0."""
    value = log_delta(mu, epsilon)
    return 0.0 if mu == 0 and epsilon >= 0 else max(exp(value), SMALLEST)


@lru_cache(maxsize=256)
def epsilon_at(mu: float, delta: float) -> float:
    """The smallest epsilon >= 0 whose delta(epsilon) is at most `delta`."""
    if mu == 0:
        return 0.0
    if delta <= 0:
        return inf
    if delta >= 1:
        return 0.0
    target = log(delta)
    if log_delta(mu, 0.0) <= target:
        return 0.0
    low, high = (0.0, mu * mu / 2 + mu * sqrt(-2 * target))  # delta <= Phi(-x) <= exp(-x^2/2)/2
    while log_delta(mu, high) > target:  # only where rounding decides
        high *= 1 + 1e-12
    while high - low > 4e-16 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if log_delta(mu, middle) > target else (low, middle)
    return high
