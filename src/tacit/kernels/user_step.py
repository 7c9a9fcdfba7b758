"""One step of Hua et al.'s matrix factorization on the person's side: the gradients for her
items, then her own step.

A plain loop, one person at a time in a fixed order, so that a phone and a block of people
give the same bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit


@njit(cache=True, nogil=True)
def _mix(x: np.uint64) -> np.uint64:
    """The splitmix64 finaliser."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def first_profile(seed: int, person: int, out: NDArray[np.float64]) -> None:
    """A uniformly random direction of length 1 that follows from the public seed and the
    person's number."""
    key = _mix(np.uint64(seed) ^ _mix(np.uint64(person)))
    total = 0.0
    for a in range(out.size):
        first_uniform = (_mix(key + np.uint64(2 * a)) >> np.uint64(11)) / 9007199254740992.0
        second_uniform = (_mix(key + np.uint64(2 * a + 1)) >> np.uint64(11)) / 9007199254740992.0
        out[a] = np.sqrt(-2.0 * np.log(1.0 - first_uniform)) * np.cos(2.0 * np.pi * second_uniform)
        total += out[a] * out[a]
    for a in range(out.size):
        out[a] /= np.sqrt(total)


@njit(cache=True, nogil=True)
def take_step(
    people: NDArray[np.int64],
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    rating: NDArray[np.float64],
    items: NDArray[np.float32],
    user_factors: NDArray[np.float64],
    seed: int,
    rate: float,
    ridge: float,
    weights: tuple[float, float, float, float],
    bounded: bool,
    out: NDArray[np.float64],
) -> None:
    """out[cell] = -2 u (r - u'v) with u as it was; then u <- u - rate (sum of -2 v (r -
    u'v) + 2 ridge p u) / s.

    With n cells, s = each n + over and p = kept n + pull, where (each, over, kept, pull)
    are the weights. `bounded`: u is then brought back to length 1. A row of `user_factors` that is
    all zero is a person who was never here: it starts as a random direction.
    """
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
            error = rating[cell]
            for a in range(width):
                error -= u[a] * v[a]
            for a in range(width):
                out[cell, a] = -2.0 * u[a] * error
                change[a] -= 2.0 * v[a] * error
        cells = float(max(end - start, 1))
        share = weights[0] * cells + weights[1]
        pull = 2.0 * ridge * (weights[2] * cells + weights[3])
        total = 0.0
        for a in range(width):
            u[a] -= rate * (change[a] + pull * u[a]) / share
            total += u[a] * u[a]
        if bounded and total > 1.0:
            for a in range(width):
                u[a] /= np.sqrt(total)
