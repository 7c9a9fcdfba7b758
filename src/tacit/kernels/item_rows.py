"""Probabilistic neighbourhoods: similarities of each item to at most N_k others, and the
exact gradient of the loss.

Person u's residual from the public baseline is d_uj, her level without item i is l = sum_{j
!= i} d_uj / (n_u - 1 + shrink) (0 if `shrink` is negative: item means alone), and the
prediction of d_ui is

    l + sum_j s_ij (d_uj - l) / max(sum_j |s_ij|, floor),      j over her other items that
    are neighbours of i.

Row i of the similarities enters no other item's prediction, so rows are trained one by one:
each is a small problem that stays in the cache, threads share nothing, and no number of
threads changes a bit. For the twin and the printed algorithms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.kernels.compiled import njit
from tacit.repr import shapes

ITEM_PULL, ITEM_PRIOR = 0.3, 10.0
"""An item's offset moves by ITEM_PULL errors in (raters + ITEM_PRIOR): the mean error of a
row, shrunk."""


class _RowGuess(NamedTuple):
    """One person's rating of one item, predicted from her others."""

    value: Any
    count: Any
    """How many of her other items are neighbours."""
    divisor: Any
    """Total of their similarities, or the floor."""

    def __repr__(self) -> str:
        return shapes(self)


@njit(cache=True, nogil=True)
def similar_rows(
    ptr: Any,
    item: Any,
    dev: Any,
    start: Any,
    user: Any,
    cell: Any,
    cosine: bool,
    damp: float,
    first: int,
    last: int,
    index: Any,
    value: Any,
) -> None:
    """Rows first..last-1: the neighbours of largest |similarity| (ascending by item) and
    their similarities.

    Pearson is over common raters, cosine over all raters; both shrink by common/(common +
    damp). A row with fewer neighbours than columns ends in -1.
    """
    items, columns = start.size - 1, index.shape[1]
    norm = np.zeros(items)
    for k in range(item.size):
        norm[item[k]] += dev[k] * dev[k]
    dot = np.zeros(items)
    mine_squares = np.zeros(items)
    their_squares = np.zeros(items)
    common = np.zeros(items, np.int64)
    score = np.zeros(items)
    for i in range(first, last):
        dot[:] = 0
        mine_squares[:] = 0
        their_squares[:] = 0
        common[:] = 0
        for at in range(start[i], start[i + 1]):
            mine = dev[cell[at]]
            for k in range(ptr[user[at]], ptr[np.int64(user[at]) + 1]):
                j, theirs = item[k], dev[k]
                dot[j] += mine * theirs
                common[j] += 1
                if not cosine:
                    mine_squares[j] += mine * mine
                    their_squares[j] += theirs * theirs
        for j in range(items):
            size = norm[i] * norm[j] if cosine else mine_squares[j] * their_squares[j]
            score[j] = 0.0
            if j != i and common[j] > 0 and size > 0:
                score[j] = dot[j] / np.sqrt(size) * common[j] / (common[j] + damp)
        best = np.argsort(-np.abs(score), kind="mergesort")[:columns]
        count = 0
        for j in np.sort(best):
            if score[j] != 0.0:
                index[i, count] = j
                value[i, count] = score[j]
                count += 1
        index[i, count:] = -1
        value[i, count:] = 0.0


@njit(cache=True, nogil=True)
def user_bias(total: float, deviation: float, count: int, shrink: float) -> Any:
    """The level of a person without one of her ratings."""
    return (total - deviation) / max(count - 1 + shrink, 1e-9) if shrink >= 0 else 0.0


@njit(cache=True, nogil=True)
def row_gradient(
    first: int,
    last: int,
    skip: Any,
    item: Any,
    dev: Any,
    position: Any,
    row: Any,
    level: float,
    floor: float,
    slots: Any,
    slopes: Any,
) -> Any:
    """Prediction of d_ui from one person's cells first..last-1 but `skip`, and its exact
    derivative by each s_ij used.

    `position` maps an item to its position in `row`, or to the last position, which holds 0.
    The slots that were used are in `slots`, d prediction / d s of each in `slopes`.
    """
    empty = row.size - 1
    weighted = 0.0
    size = 0.0
    count = 0
    for k in range(first, last):
        slot = position[item[k]]
        slots[count] = slot
        slopes[count] = dev[k] - level
        if k != skip:
            s = row[slot]
            weighted += s * slopes[count]
            size += abs(s)
            count += slot != empty
    if size > floor:
        mean = weighted / size
        for c in range(count):
            slopes[c] = (slopes[c] - np.sign(row[slots[c]]) * mean) / size
        return _RowGuess(level + mean, count, size)
    for c in range(count):
        slopes[c] /= floor
    return _RowGuess(level + weighted / floor, count, floor)


@njit(cache=True, nogil=True)
def _longest(ptr: Any) -> Any:
    longest = 0
    for u in range(ptr.size - 1):
        longest = max(longest, ptr[u + 1] - ptr[u])
    return longest


@njit(cache=True, nogil=True)
def train_rows(
    ptr: Any,
    item: Any,
    dev: Any,
    total: Any,
    start: Any,
    user: Any,
    cell: Any,
    index: Any,
    value: Any,
    prior: Any,
    offset: Any,
    shrink: float,
    floor: float,
    rate: float,
    decay: float,
    first: int,
    last: int,
) -> None:
    """One pass of stochastic gradient descent over rows first..last-1, in place.

    The prior of s_ij is N(p_ij, p_ij^2 / decay), p the `prior`: descent is on the multiples
    s_ij/p_ij, so a neighbour that began weak stays weak unless much speaks for it. `offset`
    is what the item's mean leaves once neighbours speak.
    """
    items, columns = start.size - 1, index.shape[1]
    position = np.full(items, columns, np.int64)
    row, centre = np.zeros(columns + 1), np.zeros(columns + 1)
    slots, slopes = (np.empty(_longest(ptr) + 1, np.int64), np.empty(_longest(ptr) + 1))
    for i in range(first, last):
        width = 0
        while width < columns and index[i, width] >= 0:
            position[index[i, width]] = width
            width += 1
        row[:columns] = value[i]
        centre[:columns] = prior[i]
        shift = offset[i]
        pull = ITEM_PULL / (start[i + 1] - start[i] + ITEM_PRIOR)
        for at in range(start[i], start[i + 1]):
            u, mine = np.int64(user[at]), np.int64(cell[at])
            level = user_bias(total[u], dev[mine], ptr[u + 1] - ptr[u], shrink)
            guess = row_gradient(
                ptr[u], ptr[u + 1], mine, item, dev, position, row, level, floor, slots, slopes
            )
            error = guess.value + shift - dev[mine]
            shift -= pull * error
            for c in range(guess.count):
                p = centre[slots[c]]
                row[slots[c]] -= rate * (error * slopes[c] * p * p + decay * (row[slots[c]] - p))
        value[i] = row[:columns]
        offset[i] = shift
        for c in range(width):
            position[index[i, c]] = columns
