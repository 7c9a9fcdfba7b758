"""Reports about random directions: which of them a person's vector favours, and what all
reports say together.

A public seed gives every person `pairs` directions h_1 ... h_pairs with coordinates -1 or
+1; answer 2j stands for +h_j and answer 2j + 1 for -h_j. One hash of (seed, coordinate)
holds that coordinate's sign in up to 64 directions, so nothing is stored: the device needs
its own coordinates only, and the server those of the one direction it is told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.kernels.personal import factorize, gather

MOST_PAIRS = 64


@njit(cache=True, nogil=True)
def mixed(x: np.uint64) -> np.uint64:
    """The splitmix64 finaliser."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def favour(
    people: NDArray[np.int64],
    ptr: NDArray[np.int64],
    index: NDArray[np.uint32],
    values: NDArray[np.float64],
    key: np.uint64,
    pairs: int,
    out: NDArray[np.float64],
) -> None:
    """Write the answers of the directions nearest to each person's vector, as many as `out`
    has columns."""
    score = np.empty(pairs)
    for person in range(len(people)):
        seed = mixed(key ^ mixed(np.uint64(people[person])))
        score[:] = 0.0
        for cell in range(ptr[person], ptr[person + 1]):
            word = mixed(seed ^ np.uint64(index[cell]))
            value = values[cell]
            for pair in range(pairs):
                if (word >> np.uint64(pair)) & np.uint64(1):
                    score[pair] -= value
                else:
                    score[pair] += value
        used_pairs = np.uint64(0)
        for column in range(out.shape[1]):
            best, best_score = 0, -1.0
            for pair in range(pairs):
                if abs(score[pair]) > best_score and not (
                    used_pairs >> np.uint64(pair)
                ) & np.uint64(1):
                    best, best_score = pair, abs(score[pair])
            used_pairs |= np.uint64(1) << np.uint64(best)
            out[person, column] = 2 * best + (1 if score[best] < 0 else 0)


@njit(cache=True, nogil=True)
def tally(
    people: NDArray[np.int64], answers: NDArray[np.int64], key: np.uint64, out: NDArray[np.int64]
) -> None:
    """Add up the directions that were reported, over all coordinates: integers, so in any order."""
    for person in range(len(people)):
        seed = mixed(key ^ mixed(np.uint64(people[person])))
        pair = np.uint64(answers[person] >> 1)
        sign = 1 - 2 * (answers[person] & 1)
        for coordinate in range(len(out)):
            bit = (mixed(seed ^ np.uint64(coordinate)) >> pair) & np.uint64(1)
            out[coordinate] += -sign if bit else sign


@njit(cache=True, nogil=True)
def user_factors(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    taste: NDArray[np.float64],
    unexplained: NDArray[np.float64],
) -> None:
    """Posterior mean of each person's own vector z, and what x_i'z leaves of each of her
    residuals."""
    width = item_factors.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    for person in range(len(ptr) - 1):
        gather(ptr[person], ptr[person + 1], item, residual, item_factors, precision, system, right)
        for a in range(width):
            system[a, a] += 1.0
        factorize(system, right)
        # Back substitution: L'z = L^-1 right.
        for a in range(width - 1, -1, -1):
            total = right[a]
            for b in range(a + 1, width):
                total -= system[b, a] * right[b]
            right[a] = total / system[a, a]
        taste[person] = right
        for cell in range(ptr[person], ptr[person + 1]):
            fitted = 0.0
            for a in range(width):
                fitted += item_factors[item[cell], a] * right[a]
            unexplained[cell] = residual[cell] - fitted
