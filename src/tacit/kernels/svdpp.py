"""SVD++ with learned implicit factors (Koren 2008), person by person, the implicit factors
stepped once a person.

A person's implicit part is the sum of y_j over all she rated, divided by the root of their
number. Within one person's ratings it is held fixed and its gradient collected; the y_j are
then moved once. That is what makes an epoch linear in the ratings; the step is the same to
first order in the rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.kernels.sgd import SUMS

Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]


@njit(cache=True, nogil=True, fastmath=SUMS)
def implicit_part(ptr: Ints, item: Codes, implicit: Singles, person: int, out: Singles) -> None:
    """n^-1/2 times the sum of the implicit factors of what a person rated; 0 for nobody's
    ratings."""
    count = ptr[person + 1] - ptr[person]
    out[:] = 0.0
    for cell in range(ptr[person], ptr[person + 1]):
        y = implicit[item[cell]]
        for a in range(out.size):
            out[a] += y[a]
    if count:
        scale = np.float32(1 / np.sqrt(count))
        for a in range(out.size):
            out[a] *= scale


@njit(cache=True, nogil=True, fastmath=SUMS)
def step_implicit(
    start: int, end: int, item: Codes, implicit: Singles, pull: Singles, decay: float
) -> None:
    """Each y_j takes all of the person's steps at once: n of its own shrinks, and the
    collected pull."""
    count = np.float32(end - start)
    keep = np.float32(max(0.0, float(1 - decay * count)))
    spread = np.float32(1 / np.sqrt(count))
    for cell in range(start, end):
        y = implicit[item[cell]]
        for a in range(pull.size):
            y[a] = keep * y[a] + spread * pull[a]


@njit(cache=True, nogil=True, fastmath=SUMS)
def svdpp_epoch(
    ptr: Ints,
    item: Codes,
    value: Singles,
    people: Ints,
    own_bias: Singles,
    bias: Singles,
    user_factors: Singles,
    factors: Singles,
    implicit: Singles,
    rate: float,
    ridge: float,
    bias_ridge: float,
) -> float:
    """One pass over value ~ own_bias_u + bias_i + (own_u + implicit part)'factors_i; gives the
    sum of squared errors on the way.

    As `kernels_sgd.biased_epoch`, with the implicit factors moved once after each person.
    """
    width = factors.shape[1]
    step = np.float32(rate)
    shrink = np.float32(1 - rate * ridge)
    bias_shrink = np.float32(1 - rate * bias_ridge)
    part = np.empty(width, np.float32)
    pull = np.empty(width, np.float32)
    total = 0.0
    for k in range(people.size):
        person = people[k]
        start, end = ptr[person], ptr[person + 1]
        if start == end:
            continue
        implicit_part(ptr, item, implicit, person, part)
        pull[:] = 0.0
        p, level = user_factors[person], own_bias[person]
        for cell in range(start, end):
            row = item[cell]
            q = factors[row]
            dot = np.float32(0.0)
            for a in range(width):
                dot += (p[a] + part[a]) * q[a]
            error = value[cell] - level - bias[row] - dot
            total += error * error
            scaled = step * error
            level = bias_shrink * level + scaled
            bias[row] = bias_shrink * bias[row] + scaled
            for a in range(width):
                before, weight = p[a], q[a]
                pull[a] += scaled * weight
                p[a] = shrink * before + scaled * weight
                q[a] = shrink * weight + scaled * (before + part[a])
        own_bias[person] = level
        step_implicit(start, end, item, implicit, pull, rate * ridge)
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def noisy_plus_epoch(
    ptr: Ints,
    item: Codes,
    base: Singles,
    user_factors: Singles,
    factors: Singles,
    implicit: Singles,
    rate: float,
    ridge: float,
    limit: float,
    noise: NDArray[np.float64],
) -> float:
    """`kernels_sgd.noisy_epoch` with learned implicit factors: noise on every error, a clamp, then
    all three steps."""
    width = factors.shape[1]
    step, shrink = np.float32(rate), np.float32(1 - rate * ridge)
    part, pull = np.empty(width, np.float32), np.empty(width, np.float32)
    total = 0.0
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        if start == end:
            continue
        implicit_part(ptr, item, implicit, person, part)
        pull[:] = 0.0
        p = user_factors[person]
        for cell in range(start, end):
            q = factors[item[cell]]
            dot = np.float32(0.0)
            for a in range(width):
                dot += (p[a] + part[a]) * q[a]
            error = base[cell] - dot
            total += error * error
            scaled = step * np.float32(min(max(error + noise[cell], -limit), limit))
            for a in range(width):
                before, weight = p[a], q[a]
                pull[a] += scaled * weight
                p[a] = shrink * before + scaled * weight
                q[a] = shrink * weight + scaled * (before + part[a])
        step_implicit(start, end, item, implicit, pull, rate * ridge)
    return total
