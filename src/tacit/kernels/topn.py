"""The n best of each row of scores, without those a person already knows.

One fast pass finds the peak of each run of scores; the n-th best peak bounds the n-th best
score from below, so only the few runs that reach it are looked into and sorted. Ties go to
the lower index, so a list does not depend on the block it was computed in. A score of NaN
or minus infinity is never listed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Scores = NDArray[np.float32] | NDArray[np.float64]

_RUN = 16
"""Scores that share one peak, about."""


def top_n(
    scores: Scores,
    n: int,
    exclude_ptr: NDArray[np.int64] | None = None,
    exclude_item: NDArray[np.uint32] | None = None,
) -> tuple[NDArray[np.int32], Scores]:
    """For each row the indices of its `n` largest scores, best first, and those scores.

    Row r leaves out `exclude_item[exclude_ptr[r]:exclude_ptr[r + 1]]` (in any order).
    Pointers need not start at 0: a block of a larger table passes its slice of them and the
    whole of the items. Missing places are -1 and NaN.
    """
    if n < 1:
        raise ValueError(f"n is {n}; it must be at least 1")
    if exclude_ptr is None or exclude_item is None:
        exclude_ptr, exclude_item = (
            np.zeros(len(scores) + 1, dtype=np.int64),
            np.zeros(0, dtype=np.uint32),
        )
    if len(exclude_ptr) != len(scores) + 1:
        raise ValueError(
            "exclude_ptr must have one entry more than there are rows"
        )
    listed = exclude_item[exclude_ptr[0] : exclude_ptr[-1]]
    # The compiled loop checks no bounds.
    if listed.size and listed.max() >= scores.shape[1]:
        raise ValueError(
            "exclude_item names a column that the scores do not have"
        )
    items = np.full((len(scores), n), -1, dtype=np.int32)
    values = np.full((len(scores), n), np.nan, dtype=scores.dtype)
    _top_rows(
        np.ascontiguousarray(scores), exclude_ptr, exclude_item, items, values
    )
    return items, values


def top_n_all(
    score: Callable[[int, int], Scores],
    people: int,
    n: int,
    exclude_ptr: NDArray[np.int64],
    exclude_item: NDArray[np.uint32],
    rows: int = 128,
    threads: int = 1,
) -> NDArray[np.int32]:
    """Lists for all people, `rows` at a time: `score(start, stop)` gives the scores of one
    block of people. With several threads each takes the next block, and one thread of BLAS:
    pools that multiply inside of each other wait for each other."""
    lists = np.empty((people, n), dtype=np.int32)

    def work(start: int) -> None:
        stop = min(start + rows, people)
        lists[start:stop] = top_n(
            score(start, stop), n, exclude_ptr[start : stop + 1], exclude_item
        )[0]

    starts = range(0, people, rows)
    if threads == 1:
        for start in starts:
            work(start)
        return lists
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, starts))
    return lists


@njit(cache=True, nogil=True)
def _least(peak: Any, n: int) -> Any:
    """A score that at least `n` of the peaks reach, so at least n scores: about the n-th
    largest, found by halving."""
    # Low, high, middle: kept in the scores' own precision.
    cut = np.empty(3, peak.dtype)
    cut[0], cut[1] = np.inf, -np.inf
    finite = 0
    for k in range(peak.size):
        if np.isfinite(peak[k]):
            finite += 1
            cut[0], cut[1] = min(cut[0], peak[k]), max(cut[1], peak[k])
    if finite < n:
        cut[0] = -np.inf
        return cut[0]
    for _ in range(8):
        cut[2] = cut[0] + (cut[1] - cut[0]) / 2
        middle, reach = cut[2], np.int32(0)
        for k in range(peak.size):
            reach += np.int32(peak[k] >= middle)
        cut[0 if reach >= n else 1] = middle
    return cut[0]


@njit(cache=True, nogil=True)
def _peaks(row: Any, peak: Any) -> None:
    """The largest score of each run, whose scores lie `peak.size` apart: so neighbours are
    compared side by side. NaN never wins."""
    runs = peak.size
    peak[:] = -np.inf
    for start in range(0, row.size, runs):
        part = row[start : start + runs]
        for k in range(part.size):
            value = part[k]
            peak[k] = value if value > peak[k] else peak[k]


@njit(cache=True, nogil=True)
def _top_rows(
    scores: Any, exclude_ptr: Any, exclude_item: Any, items: Any, values: Any
) -> None:
    rows, columns = scores.shape
    n = items.shape[1]
    row, peak = (
        np.empty(columns, dtype=scores.dtype),
        np.empty(-(-columns // _RUN), dtype=scores.dtype),
    )
    for r in range(rows):
        row[:] = scores[r]
        for x in range(exclude_ptr[r], exclude_ptr[r + 1]):
            row[exclude_item[x]] = -np.inf
        _peaks(row, peak)
        least, size = _least(peak, n), 0
        best, place = values[r], items[r]
        for k in range(peak.size):
            if peak[k] >= least:  # few runs do
                for j in range(k, columns, peak.size):
                    if row[j] >= least and row[j] > -np.inf:
                        size = _insert(best, place, size, row[j], j)


@njit(cache=True, nogil=True)
def _insert(best: Any, place: Any, size: int, score: Any, item: int) -> int:
    """Into a list in order; of equal scores the lower item comes first. How long the list is
    then."""
    at = size
    if size == best.size:
        if not _before(score, item, best[size - 1], place[size - 1]):
            return size
        at = size - 1
    length = at + 1
    while at > 0 and _before(score, item, best[at - 1], place[at - 1]):
        best[at], place[at] = best[at - 1], place[at - 1]
        at -= 1
    best[at], place[at] = score, item
    return length


@njit(cache=True, nogil=True)
def _before(score: Any, item: int, other: Any, place: int) -> bool:
    """Whether this item comes before that one in a list."""
    return score > other or (score == other and item < place)
