"""Loops of the printed factorizations, in double precision: an epoch of Xian et al.'s descent,
and both kinds of step of Hua et al., summed as they are made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.kernels.user_step import first_profile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]


@njit(cache=True, nogil=True)
def noisy_epoch(
    ptr: Ints,
    item: Codes,
    base: Floats,
    lift: Floats,
    user_factors: Floats,
    factors: Floats,
    rate: float,
    ridge: float,
    limit: float,
    lifted: bool,
    in_turn: bool,
    noise: Floats,
) -> float:
    """As printed by Xian et al. (Algorithm 1) and Berlioz et al.: noise on every error, a
    clamp, then the two factor steps.

    `base` is each rating less its fixed biases; `lift` is what a person's implicit ratings
    add to every factor (0 for plain SVD), in predictions, and in an item's step only if
    `lifted`. `in_turn`: that step sees the person's new factors. Gives the sum of squared
    errors before the noise.
    """
    width = factors.shape[1]
    total = 0.0
    for person in range(ptr.size - 1):
        p = user_factors[person]
        up = lift[person]
        for cell in range(ptr[person], ptr[person + 1]):
            q = factors[item[cell]]
            error = base[cell]
            for a in range(width):
                error -= (p[a] + up) * q[a]
            total += error * error
            noisy = min(max(error + noise[cell], -limit), limit)
            for a in range(width):
                before = p[a]
                p[a] = before + rate * (noisy * q[a] - ridge * before)
                user_factor = p[a] if in_turn else before
                if lifted:
                    user_factor += up
                q[a] = q[a] + rate * (noisy * user_factor - ridge * q[a])
    return total


@njit(cache=True, nogil=True)
def summed_step(
    people: Ints,
    ptr: Ints,
    item: Codes,
    rating: Floats,
    items: Floats,
    user_factors: Floats,
    seed: int,
    rate: float,
    ridge: float,
    weights: tuple[float, float, float, float],
    bounded: bool,
    moves: bool,
    total: Floats,
    raters: Floats,
) -> None:
    """`kernels_turns.take_step` whose gradients are added to `total`, an item's raters to
    `raters`; people's profiles stay where they are unless `moves`."""
    width = items.shape[1]
    change = np.empty(width)
    for person in range(ptr.size - 1):
        u = user_factors[person]
        if not u.any():
            first_profile(seed, people[person], u)
        start, end = ptr[person], ptr[person + 1]
        change[:] = 0.0
        for cell in range(start, end):
            v = items[item[cell]]
            to = total[item[cell]]
            error = rating[cell]
            for a in range(width):
                error -= u[a] * v[a]
            double = -2.0 * error
            for a in range(width):
                to[a] += double * u[a]
                change[a] += double * v[a]
            raters[item[cell], 0] += 1.0
        if not moves:
            continue
        cells = float(max(end - start, 1))
        share = weights[0] * cells + weights[1]
        pull = 2.0 * ridge * (weights[2] * cells + weights[3])
        length = 0.0
        for a in range(width):
            u[a] -= rate * (change[a] + pull * u[a]) / share
            length += u[a] * u[a]
        if bounded and length > 1.0:
            for a in range(width):
                u[a] /= np.sqrt(length)


@njit(cache=True, nogil=True)
def weighted_step(
    ptr: Ints,
    item: Codes,
    rating: Floats,
    items: Floats,
    user_factors: Floats,
    ridge: float,
    moves: bool,
    right: Floats,
    left: Floats,
) -> None:
    """Half of a weighted non-negative factorization, by multiplicative updates: every
    person's profile times (sum of r v)/(sum of (u'v) v + ridge u), if it `moves`; then the
    items' sums of r u into `right` and of (u'v) u into `left`. Cells that nobody rated
    weigh nothing."""
    width = items.shape[1]
    over = np.empty(width)
    under = np.empty(width)
    for person in range(ptr.size - 1):
        u = user_factors[person]
        start, end = ptr[person], ptr[person + 1]
        if moves:
            over[:] = 0.0
            under[:] = 0.0
            for cell in range(start, end):
                v = items[item[cell]]
                predicted = 0.0
                for a in range(width):
                    predicted += u[a] * v[a]
                for a in range(width):
                    over[a] += rating[cell] * v[a]
                    under[a] += predicted * v[a]
            for a in range(width):
                u[a] *= over[a] / max(under[a] + ridge * u[a], 1e-12)
        for cell in range(start, end):
            v = items[item[cell]]
            predicted = 0.0
            for a in range(width):
                predicted += u[a] * v[a]
            for a in range(width):
                right[item[cell], a] += rating[cell] * u[a]
                left[item[cell], a] += predicted * u[a]
