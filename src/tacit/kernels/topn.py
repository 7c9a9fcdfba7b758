"""The n best of each row of scores, without those a person already knows.

A bounded heap per row: one pass over the scores, no sort of the whole row. Ties go to the lower index, so a list does
not depend on the block it was computed in. A score of NaN or minus infinity is never listed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Scores = NDArray[np.float32] | NDArray[np.float64]

_STRETCH = 64


def top_n(
    scores: Scores,
    n: int,
    exclude_ptr: NDArray[np.int64] | None = None,
    exclude_item: NDArray[np.uint32] | None = None,
) -> tuple[NDArray[np.int32], Scores]:
    """For each row the indices of its `n` largest scores, best first, and those scores.

    Row r leaves out `exclude_item[exclude_ptr[r]:exclude_ptr[r + 1]]` (in any order). Pointers need not start at 0:
    a block of a larger table passes its slice of them and the whole of the items. Missing places are -1 and NaN.
    """
    if n < 1:
        raise ValueError(f"n is {n}; it must be at least 1")
    if exclude_ptr is None or exclude_item is None:
        exclude_ptr, exclude_item = np.zeros(len(scores) + 1, dtype=np.int64), np.zeros(0, dtype=np.uint32)
    if len(exclude_ptr) != len(scores) + 1:
        raise ValueError("exclude_ptr must have one entry more than there are rows")
    listed = exclude_item[exclude_ptr[0] : exclude_ptr[-1]]
    if listed.size and listed.max() >= scores.shape[1]:  # the compiled loop checks no bounds
        raise ValueError("exclude_item names a column that the scores do not have")
    items = np.full((len(scores), n), -1, dtype=np.int32)
    values = np.full((len(scores), n), np.nan, dtype=scores.dtype)
    _top_rows(np.ascontiguousarray(scores), exclude_ptr, exclude_item, items, values)
    return items, values


def top_n_all(
    score: Callable[[int, int], Scores],
    people: int,
    n: int,
    exclude_ptr: NDArray[np.int64],
    exclude_item: NDArray[np.uint32],
    rows: int = 128,
) -> NDArray[np.int32]:
    """Lists for all people, `rows` at a time: `score(start, stop)` gives the scores of one block of people."""
    lists = np.empty((people, n), dtype=np.int32)
    for start in range(0, people, rows):
        stop = min(start + rows, people)
        lists[start:stop] = top_n(score(start, stop), n, exclude_ptr[start : stop + 1], exclude_item)[0]
    return lists


@njit(cache=True, nogil=True)
def _worse(score_a: Any, item_a: Any, score_b: Any, item_b: Any) -> Any:
    return score_a < score_b or (score_a == score_b and item_a > item_b)


@njit(cache=True, nogil=True)
def _sift_down(item: Any, score: Any, at: int, size: int) -> None:
    """Restore the heap, worst entry at the root, below position `at`."""
    moved_item, moved_score = item[at], score[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _worse(score[child + 1], item[child + 1], score[child], item[child]):
            child += 1
        if not _worse(score[child], item[child], moved_score, moved_item):
            break
        item[at], score[at] = item[child], score[child]
        at = child
    item[at], score[at] = moved_item, moved_score


@njit(cache=True, nogil=True)
def _least(row: Any, n: int, lane: Any) -> Any:
    """A score that at least `n` entries of the row reach, in one fast pass: about the n-th largest of 64 interleaved
    maxima, found by halving."""
    lane[:] = -np.inf
    if n > _STRETCH:
        return lane[0]
    for i in range(0, row.size - row.size % _STRETCH, _STRETCH):
        part = row[i : i + _STRETCH]
        for j in range(_STRETCH):
            lane[j] = part[j] if part[j] > lane[j] else lane[j]
    cut = np.empty(3, lane.dtype)  # low, high, middle: kept in the scores' own precision
    cut[0], cut[1] = lane.min(), lane.max()
    if cut[0] == -np.inf or cut[1] == np.inf:
        return cut[0]
    for _ in range(7):
        cut[2] = cut[0] + (cut[1] - cut[0]) / 2
        middle, reach = cut[2], 0
        for j in range(_STRETCH):
            reach += lane[j] >= middle
        cut[0 if reach >= n else 1] = middle
    return cut[0]


@njit(cache=True, nogil=True)
def _top_rows(scores: Any, exclude_ptr: Any, exclude_item: Any, items: Any, values: Any) -> None:
    rows, columns = scores.shape
    n = items.shape[1]
    row, lane = np.empty(columns, dtype=scores.dtype), np.empty(_STRETCH, dtype=scores.dtype)
    for r in range(rows):
        item, value = items[r], values[r]
        row[:] = scores[r]
        for x in range(exclude_ptr[r], exclude_ptr[r + 1]):
            row[exclude_item[x]] = -np.inf
        least = _least(row, n, lane)
        size = i = 0
        while i < columns:
            # Most stretches hold nothing good enough: counting is branch-free and uses the vector unit.
            end = min(i + _STRETCH, columns)
            if size == n:
                least = max(least, value[0])
            good = 0
            for j in range(i, end):
                good += row[j] >= least
            if good:
                for j in range(i, end):
                    if not row[j] >= least or row[j] == -np.inf:
                        continue
                    if size < n:
                        item[size], value[size] = j, row[j]
                        size += 1
                        if size == n:
                            for at in range(n // 2 - 1, -1, -1):
                                _sift_down(item, value, at, n)
                    elif row[j] > value[0]:
                        item[0], value[0] = j, row[j]
                        _sift_down(item, value, 0, n)
            i = end
        if size < n:
            for at in range(size // 2 - 1, -1, -1):
                _sift_down(item, value, at, size)
        for last in range(size - 1, 0, -1):
            item[0], item[last] = item[last], item[0]
            value[0], value[last] = value[last], value[0]
            _sift_down(item, value, 0, last)
