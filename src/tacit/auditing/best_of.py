"""An attack on the price of a tuning: the exact law of the best of a secret number of trials,
for pairs of trials that differ as much as their bound allows.

Whatever epsilon is found here is a proof that the mechanism costs at least so much: a price
below it is wrong. The law of the best is computed from the generating function of the number
of trials and not from the theorem that is audited, nor from the code that draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.ledger.account.event import TuningEvent

Law = NDArray[np.float64]
CELLS = 4000
"""Scores that a trial may have: fine enough that nothing is lost by counting in cells."""
WINNERS = (0.3, 0.1, 0.01)
"""Chances of an outcome that wins against all others."""
RARE = 1e-4
"""Chance of what is looked for, of that."""


def best(trial: Law, event: TuningEvent) -> Law:
    """The law of the best trial, of outcomes in ascending order of their score."""
    above = np.clip(1 - np.concatenate([[0.0], np.cumsum(trial)]), 0.0, 1.0)
    # 1 - (1 - gamma) x in terms of 1 - x, which is small where it matters.
    tail = event.stop + (1 - event.stop) * above
    if event.eta[0] == 0:
        reached = np.log(tail) / log(event.stop)
    else:
        normalizer = event.stop**-event.shape - 1
        reached = (tail**-event.shape - 1) / normalizer
    law: Law = np.maximum(np.diff(reached), 0.0)
    return law


def divergence(law: Law, other: Law, order: float) -> float:
    """The Renyi divergence of two laws."""
    support = law > 0
    if (other[support] <= 0).any():
        return inf
    logs = order * np.log(law[support]) + (1 - order) * np.log(other[support])
    top = float(logs.max())
    return (top + log(float(np.exp(logs - top).sum()))) / (order - 1)


def delta_of(law: Law, other: Law, epsilon: float) -> float:
    """The chance that epsilon does not cover."""
    return float(np.maximum(law - np.exp(epsilon) * other, 0.0).sum())


def epsilon_of(law: Law, other: Law, delta: float) -> float:
    """The least epsilon of two laws at `delta`, by bisection."""
    low, high = 0.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        covered = delta_of(law, other, middle) <= delta
        low, high = (low, middle) if covered else (middle, high)
    return low


def pairs(event: TuningEvent) -> Iterator[tuple[Law, Law]]:
    """Trials on two neighbours, within the bound of the event, in every direction: a score
    with Gaussian noise that a person moves up or down; and, pure, a rare outcome that she
    makes likelier while she makes all that would win against it rarer."""
    if event.rho is not None:
        one, other = _gaussians(sqrt(2 * event.rho))
        yield from ((one, other), (other, one))
        yield from ((one[::-1], other[::-1]), (other[::-1], one[::-1]))
        return
    assert event.epsilon is not None
    grown = float(np.exp(event.epsilon))
    for high in WINNERS:
        rare = RARE * high
        one = np.array([1 - high - rare, rare, high])
        other = np.array([0.0, rare * grown, high / grown])
        other[0] = 1 - other.sum()
        if one[0] / grown <= other[0] <= one[0] * grown:
            yield from ((one, other), (other, one))
            yield from ((one[::-1], other[::-1]), (other[::-1], one[::-1]))


def found_epsilon(event: TuningEvent, delta: float) -> float:
    """An epsilon that the tuning surely costs at `delta`: the largest over all pairs."""
    return max(
        epsilon_of(best(one, event), best(other, event), delta) for one, other in pairs(event)
    )


def _gaussians(mu: float) -> tuple[Law, Law]:
    """A standard normal score, and the same moved by mu, counted in cells: counting in cells
    can only hide, so both stay within the bound."""
    from scipy.special import ndtr

    edges = np.linspace(-9.0, 9.0 + mu, CELLS - 1)
    laws = [np.diff(np.concatenate([[0.0], ndtr(edges - at), [1.0]])) for at in (0.0, mu)]
    return laws[0], laws[1]
