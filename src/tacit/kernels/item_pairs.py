"""What one person adds to a symmetric matrix of item pairs: upper triangles, one person
alone, in a fixed order.

Only the M items that `place` maps to 0..M-1 count (others map to -1). Pair a <= b has the
row a M - a(a-1)/2 + b - a. The person's own Gaussian model leaves a `rest` of each rating;
`target` is what is left of it without that rating. The
prediction of target_a is sum_b s_ab rest_b / max(sum_b |s_ab|, 1) over her other items,
with one similarity s_ab = s_ba
for a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit
from tacit.kernels.personal import factorize, gather, project


@njit(cache=True, nogil=True)
def residuals(
    ptr: Any, item: Any, dev: Any, item_factors: Any, precision: Any, residual: Any, target: Any
) -> None:
    """What each person's own ridge solve leaves of each rating, with (`residual`) and without
    (`target`) that rating."""
    width = item_factors.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    work = np.empty(width)
    for person in range(ptr.size - 1):
        gather(ptr[person], ptr[person + 1], item, dev, item_factors, precision, system, right)
        for a in range(width):
            system[a, a] += 1.0
        factorize(system, right)
        for k in range(ptr[person], ptr[person + 1]):
            centre, spread = project(item_factors[item[k]], system, right, work)
            residual[k] = dev[k] - centre
            target[k] = residual[k] / max(
                1.0 - precision[item[k]] * spread, 1e-3
            )  # the leverage formula


@njit(cache=True, nogil=True)
def pair_starts(ptr: Any, item: Any, position: Any, out: Any) -> None:
    """Where each person's pairs begin, the diagonal included: c(c+1)/2 pairs for c items
    that count."""
    out[0] = 0
    for person in range(ptr.size - 1):
        count = 0
        for k in range(ptr[person], ptr[person + 1]):
            count += position[item[k]] >= 0
        out[person + 1] = out[person] + count * (count + 1) // 2


@njit(cache=True, nogil=True)
def _longest(ptr: Any) -> Any:
    longest = 0
    for person in range(ptr.size - 1):
        longest = max(longest, ptr[person + 1] - ptr[person])
    return longest


@njit(cache=True, nogil=True)
def _counting(start: int, end: int, item: Any, position: Any, spots: Any, cells: Any) -> Any:
    """The person's items that count: their spots, ascending, and their cells."""
    count = 0
    for k in range(start, end):
        if position[item[k]] >= 0:
            spots[count] = position[item[k]]
            cells[count] = k
            count += 1
    order = np.argsort(spots[:count])
    spots[:count] = spots[:count][order]
    cells[:count] = cells[:count][order]
    return count


@njit(cache=True, nogil=True)
def covariance_pairs(
    ptr: Any,
    item: Any,
    residual: Any,
    position: Any,
    size: int,
    damp: float,
    limit: float,
    starts: Any,
    index: Any,
    values: Any,
) -> None:
    """y_a y_b / (|y|^2 + damp), y the clipped rest; the diagonal divided by sqrt 2.

    The L2 norm of a person's triangle is |y|^2 / (sqrt 2 (|y|^2 + damp)) < 1/sqrt 2,
    diagonal included.
    """
    spots, cells = (np.empty(_longest(ptr), np.int64), np.empty(_longest(ptr), np.int64))
    clipped = np.empty(_longest(ptr))
    for person in range(ptr.size - 1):
        count = _counting(ptr[person], ptr[person + 1], item, position, spots, cells)
        length = damp
        for a in range(count):
            clipped[a] = min(max(residual[cells[a]], -limit), limit)
            length += clipped[a] * clipped[a]
        at = starts[person]
        for a in range(count):
            row = spots[a] * size - spots[a] * (spots[a] - 1) // 2 - spots[a]
            for b in range(a, count):
                index[at] = row + spots[b]
                values[at] = clipped[a] * clipped[b] / length * (np.sqrt(0.5) if a == b else 1.0)
                at += 1


@njit(cache=True, nogil=True)
def _predict(
    count: int, spots: Any, cells: Any, residual: Any, target: int, similarity: Any
) -> Any:
    """Prediction for the person's item `target` from her others, and the sum of the sizes of
    its similarities."""
    weighted, total = 0.0, 0.0
    row = similarity[spots[target]]
    for b in range(count):
        if b != target:
            s = row[spots[b]]
            weighted += s * residual[cells[b]]
            total += abs(s)
    return weighted / max(total, 1.0), total


@njit(cache=True, nogil=True)
def gradient_pairs(
    ptr: Any,
    item: Any,
    residual: Any,
    target: Any,
    position: Any,
    similarity: Any,
    damp: float,
    clamp: float,
    starts: Any,
    index: Any,
    values: Any,
) -> None:
    """The gradient of a person's loss sum e^2/2 by each s_ab = s_ba, divided by (the sum of
    her squared rests + damp).

    e = prediction - target, clamped to +-clamp. The diagonal stays 0: no item is its own neighbour.
    """
    size, longest = similarity.shape[0], _longest(ptr)
    spots, cells = np.empty(longest, np.int64), np.empty(longest, np.int64)
    errors = np.empty(longest)
    guesses = np.empty(longest)
    divisors = np.empty(longest)
    for person in range(ptr.size - 1):
        count = _counting(ptr[person], ptr[person + 1], item, position, spots, cells)
        length = damp
        for a in range(count):
            guess, total = _predict(count, spots, cells, residual, a, similarity)
            errors[a] = min(max(guess - target[cells[a]], -clamp), clamp)
            guesses[a] = guess if total > 1.0 else 0.0  # on the floor the divisor does not move
            divisors[a] = max(total, 1.0)
            length += residual[cells[a]] ** 2
        at = starts[person]
        for a in range(count):
            row = spots[a] * size - spots[a] * (spots[a] - 1) // 2 - spots[a]
            for b in range(a, count):
                index[at] = row + spots[b]
                values[at] = 0.0
                if a != b:
                    sign = np.sign(similarity[spots[a], spots[b]])
                    slope = errors[a] * (residual[cells[b]] - sign * guesses[a]) / divisors[a]
                    slope += errors[b] * (residual[cells[a]] - sign * guesses[b]) / divisors[b]
                    values[at] = slope / length
                at += 1


@njit(cache=True, nogil=True)
def judge_people(
    ptr: Any,
    item: Any,
    residual: Any,
    target: Any,
    position: Any,
    candidates: Any,
    clamp: float,
    out: Any,
) -> None:
    """Each person's mean squared error without neighbours (first column), and what each
    candidate adds to it.

    Errors are clamped to +-clamp. Items that do not count are predicted without neighbours
    under every candidate.
    """
    spots, cells = (np.empty(_longest(ptr), np.int64), np.empty(_longest(ptr), np.int64))
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        out[person, :] = 0.0
        for k in range(start, end):
            error = min(max(target[k], -clamp), clamp)
            out[person, 0] += error * error / (end - start)
        count = _counting(start, end, item, position, spots, cells)
        for a in range(count):
            plain = min(max(target[cells[a]], -clamp), clamp)
            for c in range(candidates.shape[0]):
                guess, _ = _predict(count, spots, cells, residual, a, candidates[c])
                error = min(max(guess - target[cells[a]], -clamp), clamp)
                out[person, 1 + c] += (error * error - plain * plain) / (end - start)
