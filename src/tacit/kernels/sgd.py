"""Sequential gradient epochs for biased matrix factorization: one rating after the other,
person by person.

These loops serve twins and printed forms: they train on everybody at once, one after the
other, in an order that the caller gives, so a seed decides the result and threads cannot.
Sums inside one dot product may be regrouped by the compiler; nothing here is a contribution
whose bits must agree between engines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Singles = NDArray[np.float32]
Numbers = NDArray[np.float32] | NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]

SUMS = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=SUMS)
def biased_epoch(
    ptr: Ints,
    item: Codes,
    value: Singles,
    people: Ints,
    own_bias: Singles,
    bias: Singles,
    user_factors: Singles,
    factors: Singles,
    rate: float,
    ridge: float,
    bias_ridge: float,
) -> float:
    """One pass over value ~ own_bias_u + bias_i + own_u'factors_i; gives the sum of squared
    errors on the way.

    `ptr`, `item` and `value` are the ratings in compressed rows, one row a person; `people`
    is the order in which they are taken. Biases and factors are moved in place.

    Two ratings are taken together: what the first step does to the second's product is known
    from q'r, so neither waits for the other. The steps are those of one after the other.
    """
    step = np.float32(rate)
    shrink = np.float32(1 - rate * ridge)
    bias_shrink = np.float32(1 - rate * bias_ridge)
    total = 0.0
    for k in range(people.size):
        person = people[k]
        p = user_factors[person]
        level = own_bias[person]
        cell, end = ptr[person], ptr[person + 1]
        while cell < end:
            i = item[cell]
            q = factors[i]
            j = item[cell + 1] if cell + 1 < end else i
            if j == i:
                error = value[cell] - level - bias[i] - _product(p, q)
                total += error * error
                first = step * error
                level = bias_shrink * level + first
                bias[i] = bias_shrink * bias[i] + first
                _one_step(p, q, first, shrink)
                cell += 1
                continue
            r = factors[j]
            pq, pr, qr = _three_products(p, q, r)
            error = value[cell] - level - bias[i] - pq
            first = step * error
            total += error * error
            level = bias_shrink * level + first
            bias[i] = bias_shrink * bias[i] + first
            product = shrink * pr + first * qr
            error = value[cell + 1] - level - bias[j] - product
            second = step * error
            total += error * error
            level = bias_shrink * level + second
            bias[j] = bias_shrink * bias[j] + second
            _two_steps(p, q, r, first, second, shrink)
            cell += 2
        own_bias[person] = level
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _product(p: Singles, q: Singles) -> np.float32:
    dot = np.float32(0.0)
    for a in range(p.size):
        dot += p[a] * q[a]
    return dot


@njit(cache=True, nogil=True, fastmath=SUMS)
def _three_products(
    p: Singles, q: Singles, r: Singles
) -> tuple[np.float32, np.float32, np.float32]:
    pq = np.float32(0.0)
    pr = np.float32(0.0)
    qr = np.float32(0.0)
    for a in range(p.size):
        pq += p[a] * q[a]
        pr += p[a] * r[a]
        qr += q[a] * r[a]
    return pq, pr, qr


@njit(cache=True, nogil=True, fastmath=SUMS)
def _one_step(p: Singles, q: Singles, scaled: np.float32, shrink: np.float32) -> None:
    for a in range(p.size):
        before = p[a]
        p[a] = shrink * before + scaled * q[a]
        q[a] = shrink * q[a] + scaled * before


@njit(cache=True, nogil=True, fastmath=SUMS)
def _two_steps(
    p: Singles, q: Singles, r: Singles, first: np.float32, second: np.float32, shrink: np.float32
) -> None:
    """The step of the rating of q, then that of r."""
    for a in range(p.size):
        before = p[a]
        between = shrink * before + first * q[a]
        q[a] = shrink * q[a] + first * before
        p[a] = shrink * between + second * r[a]
        r[a] = shrink * r[a] + second * between


@njit(cache=True, nogil=True, fastmath=SUMS)
def noisy_epoch(
    ptr: Ints,
    item: Codes,
    base: Singles,
    lift: Singles,
    user_factors: Singles,
    factors: Singles,
    rate: float,
    ridge: float,
    limit: float,
    noise: NDArray[np.float64],
) -> float:
    """As printed by Xian et al. and Berlioz et al.: noise on every error, a clamp, then the
    two factor steps.

    `base` is each rating less its fixed biases; `lift` is what a person's implicit ratings
    add to every factor (0 for plain SVD). Gives the sum of squared errors before the noise.
    """
    width = factors.shape[1]
    step, decay = np.float32(rate), np.float32(rate * ridge)
    total = 0.0
    for person in range(ptr.size - 1):
        p, up = user_factors[person], lift[person]
        for cell in range(ptr[person], ptr[person + 1]):
            q = factors[item[cell]]
            dot = np.float32(0.0)
            for a in range(width):
                dot += (p[a] + up) * q[a]
            error = base[cell] - dot
            total += error * error
            scaled = step * np.float32(min(max(error + noise[cell], -limit), limit))
            for a in range(width):
                before = p[a]
                p[a] = before + scaled * q[a] - decay * before
                q[a] = q[a] + scaled * (before + up) - decay * q[a]
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def full_gradient(
    ptr: Ints,
    item: Codes,
    base: Numbers,
    user_factors: Numbers,
    factors: Numbers,
    limit: int,
    own_step: Numbers,
    step: Numbers,
) -> float:
    """Sum of -1/2 the gradient of squared error over each person's first `limit` ratings;
    gives the squared error.

    Nothing moves: `own_step` and `step` are overwritten with the sums for the two sides.
    """
    width = factors.shape[1]
    own_step[:] = 0.0
    step[:] = 0.0
    total = 0.0
    for person in range(ptr.size - 1):
        p, move = user_factors[person], own_step[person]
        for cell in range(ptr[person], min(ptr[person + 1], ptr[person] + limit)):
            q, pull = factors[item[cell]], step[item[cell]]
            dot = np.float32(0.0)
            for a in range(width):
                dot += p[a] * q[a]
            error = base[cell] - dot
            total += error * error
            for a in range(width):
                move[a] += error * q[a]
                pull[a] += error * p[a]
    return total
