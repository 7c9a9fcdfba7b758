"""What a device draws for itself, enough for itself alone: bits, choices, and whole vectors
of noise.

Guarantee: each function protects one person against everybody, given that the event was
paid: any two records of that person give any answer with chances that differ by a factor of
at most e^epsilon (or as the event's noise says). For a choice the chance of an answer is
P/favoured if it is favoured and (1 - P)/(choices - favoured) if not, whatever the record
is; P is a 63-bit fraction of at most favoured e^epsilon / (favoured e^epsilon + choices -
favoured), from a rigorous bound, so the ratio of the two is at most e^epsilon. That exactly
`favoured` different answers are favoured is enforced here and never trusted: any other row
counts as favouring the first ones.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Gaussian, Laplace, RandomizedChoice
from tacit.noise.bits import Bits, fresh
from tacit.noise.interval import exp_minus_rational
from tacit.noise.law import law_of
from tacit.noise.release import Noise, draw_noise

CHUNK = 1 << 22
"""Draws held at a time where every device noises a whole vector."""


def log_ratio(event: Event) -> float:
    """How far one bit of this event may favour one record over another."""
    law = law_of(event)
    if law.name != "response":
        raise Failure(f"the event of {event.name} is no randomized response")
    return law.spread


def respond(
    event: Event, values: NDArray[np.float64], bits: Bits | None = None
) -> NDArray[np.int8]:
    """One bit, -1 or +1, for each value in [-1, 1]."""
    from tacit.noise.response import randomized_response

    return randomized_response(values, log_ratio(event), bits)


def unbiased(event: Event) -> float:
    """What a bit is multiplied by so that it expects its value: (e^epsilon + 1)/(e^epsilon - 1)."""
    ratio = log_ratio(event)
    return (exp(ratio) + 1) / expm1(ratio)


def choose(
    event: RandomizedChoice, favoured: NDArray[np.float64], bits: Bits | None = None
) -> NDArray[np.int64]:
    """One answer a row; `favoured` lists the likelier answers of each person."""
    source = bits or fresh()
    rows = _valid(favoured, event.choices, event.favoured)
    count = len(rows)
    truly = source.words(count) >> np.uint64(1) < np.uint64(
        choice_bound(event.epsilon, event.choices, event.favoured)
    )
    inside = rows[np.arange(count), source.below(event.favoured, count)]
    outside = source.below(event.choices - event.favoured, count)
    # Rows ascend: skip each favoured answer in turn.
    for column in range(event.favoured):
        outside += outside >= rows[:, column]
    return np.where(truly, inside, outside)


def _valid(favoured: NDArray[np.float64], choices: int, count: int) -> NDArray[np.int64]:
    """Ascending, different, in range; a row that is not becomes the first answers."""
    rows = np.sort(
        np.nan_to_num(np.asarray(favoured, np.float64), nan=-1.0, posinf=-1.0, neginf=-1.0), axis=1
    )
    good = (rows[:, 0] >= 0) & (rows[:, -1] < choices) & (np.diff(rows, axis=1) >= 1).all(axis=1)
    return np.where(good[:, None], np.floor(rows), np.arange(count)).astype(np.int64)


@lru_cache(maxsize=64)
def choice_bound(epsilon: float, choices: int, favoured: int) -> int:
    """floor(2^63 P), P = favoured/(favoured + (choices - favoured) exp(-epsilon)), never above."""
    precision = 128
    _, high = exp_minus_rational(Fraction(epsilon), precision)
    unit = 1 << precision
    return (favoured * unit << 63) // (favoured * unit + (choices - favoured) * high)


def own_noise(event: Event, people: int, size: int) -> Noise:
    """The sum over `people` devices of a vector of noise that each draws in full."""
    if not isinstance(event, Gaussian | Laplace):
        raise Failure(f"the event of {event.name} is no noise that a device adds")
    total = np.zeros(size, np.int64)
    device_sd = 0.0
    at_once = max(1, CHUNK // size)
    for start in range(0, people, at_once):
        noise = draw_noise(event, (min(at_once, people - start), size))
        total += noise.steps.sum(axis=0)
        device_sd = noise.sd
    return Noise(total, device_sd * sqrt(people))
