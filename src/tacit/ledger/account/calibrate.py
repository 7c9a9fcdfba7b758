"""From a budget to noise. Every answer is rounded so that the accountant reports at most
the budget that was asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, isfinite, log, sqrt

from tacit.errors import SettingError
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, Tuned
from tacit.ledger.account.gaussian import epsilon_at, log_delta

LEAST_RHO = 1e-12
"""Of a trial: below this nothing is learned."""
_SAFE = 1 - 1e-12
"""Covers the rounding of shares, scales and sums that are derived from a calibrated value."""


@lru_cache(maxsize=256)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu whose Gaussian releases are (epsilon, delta)-private: the budget in
    the currency that adds.

    Releases with L2 sensitivities D_j and mu_j^2 summing to mu^2 take `gaussian_sigma(D_j, mu_j)`.
    """
    _check(epsilon, delta, above=0.0)
    target = log(delta)
    mu = _largest(lambda mu: log_delta(mu, epsilon) <= target, start=1.0) * _SAFE
    while epsilon_at(mu, delta) > epsilon:  # only where rounding decides
        mu *= _SAFE
    return mu


def gaussian_sigma(sensitivity: float, mu: float) -> float:
    """The discrete Gaussian's sigma (steps) that costs at most `mu`: the closed form
    charges sigma^2 - 4."""
    return sqrt((sensitivity / mu) ** 2 + 4) / _SAFE


def sampled_multiplier(q: float, rounds: int, epsilon: float, delta: float) -> float:
    """The least noise multiplier for `rounds` Gaussian rounds in which each whole person
    takes part with chance q.

    Valid only if the coin is secret and the number who take part is not released. By the
    Renyi accountant.
    """
    _check(epsilon, delta, above=0.0)
    if not 0 < q <= 1:
        raise SettingError(f"the sampling rate is {q:g}; it must be above 0 and at most 1")

    def fits(inverse: float) -> bool:
        mechanism = (1 / inverse, q)
        total = Cost(sampled={mechanism: rounds}) if q < 1 else Cost(mu2=rounds * inverse * inverse)
        return epsilon_of(total, delta) <= epsilon

    return 1 / (_largest(fits, start=0.5, digits=1e-5) * _SAFE)


def response_epsilon(k: int, epsilon: float, delta: float) -> float:
    """The largest epsilon of each of k randomized responses whose exact composition is
    (epsilon, delta)-private."""
    _check(epsilon, delta, above=-inf)
    if k < 1:
        raise SettingError(f"the number of reports is {k}; it must be at least 1")
    if delta == 0:
        return epsilon / k * _SAFE

    def fits(answer_epsilon: float) -> bool:
        return epsilon_of(Cost(pure={answer_epsilon: k}), delta) <= epsilon

    return _largest(fits, start=epsilon / k * _SAFE, digits=1e-10) * _SAFE


def tuning_rho(epsilon: float, delta: float, eta: float, gamma: float) -> float:
    """The largest rho of each trial whose selection (`Tuning`) is (epsilon, delta)-private."""
    _check(epsilon, delta, above=0.0)

    def fits(rho: float) -> bool:
        total = Cost(tuned={Tuned(rho, eta, gamma): 1})
        return epsilon_of(total, delta) <= epsilon

    if not fits(LEAST_RHO):
        raise SettingError(
            f"so many trials alone cost more than epsilon {epsilon:g} at delta {delta:g}",
            remedy="ask for a larger epsilon, or for fewer --trials",
        )
    return _largest(fits, start=LEAST_RHO, digits=1e-10) * _SAFE


def remaining(spent: Cost, epsilon: float, delta: float) -> float:
    """The largest epsilon at `delta` of one more Gaussian plan (pure at delta 0) that
    (epsilon, delta) still covers."""
    current_epsilon = epsilon_of(spent, delta)
    if current_epsilon >= epsilon:
        return 0.0
    if delta == 0:
        return epsilon - current_epsilon

    def fits(mu: float) -> bool:
        return epsilon_of(spent + Cost(mu2=mu * mu), delta) <= epsilon

    if not fits(1e-9):
        return 0.0
    return epsilon_at(_largest(fits, start=1e-2, digits=1e-3 if spent.sampled else 1e-9), delta)


def remaining_search(spent: Cost, eta: float, gamma: float, epsilon: float, delta: float) -> float:
    """The largest epsilon at `delta` of one more selection by this law of trials (`Tuning`)
    that (epsilon, delta) still covers; 0 where the number of trials alone costs too much."""

    def search_cost(rho: float) -> Cost:
        return Cost(tuned={Tuned(rho, eta, gamma): 1})

    def fits(rho: float) -> bool:
        return epsilon_of(spent + search_cost(rho), delta) <= epsilon

    if delta == 0 or not fits(LEAST_RHO):
        return 0.0
    return epsilon_of(search_cost(_largest(fits, LEAST_RHO, digits=1e-6)), delta)


def _largest(fits: Callable[[float], bool], start: float, digits: float = 1e-14) -> float:
    """The largest value that fits, to `digits`, always on the side that fits. `fits` is
    monotone."""
    low, high = start, start
    while not fits(low):
        low /= 2
    while fits(high):
        low, high = high, high * 2
    while high - low > digits * low:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _check(epsilon: float, delta: float, above: float) -> None:
    if not (isfinite(epsilon) and epsilon > 0):
        raise SettingError(f"epsilon is {epsilon:g}; it must be a positive, finite number")
    if not (above < delta and 0 <= delta < 1):
        raise SettingError(
            f"delta is {delta:g}; Gaussian noise needs it above 0 and below 1"
            if above == 0.0
            else f"delta is {delta:g}; it must be at least 0 and below 1",
            remedy="use the default 1e-6",
        )
