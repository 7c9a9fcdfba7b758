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
from tacit.kernels.pools import one_blas_thread

Scores = NDArray[np.float32] | NDArray[np.float64]

_RUN = 16
"""Scores that share one peak, about."""
_FEW = 4
"""Up to so many times the list's length, items are ranked all against all."""


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
        raise ValueError("exclude_ptr must have one entry more than there are rows")
    listed = exclude_item[exclude_ptr[0] : exclude_ptr[-1]]
    # The compiled loop checks no bounds.
    if listed.size and listed.max() >= scores.shape[1]:
        raise ValueError("exclude_item names a column that the scores do not have")
    items = np.full((len(scores), n), -1, dtype=np.int32)
    values = np.full((len(scores), n), np.nan, dtype=scores.dtype)
    # What a person knows is hidden in the scores while her row is looked at.
    rows = np.require(scores, requirements=["C", "W"])
    _top_rows(rows, exclude_ptr, exclude_item, items, values)
    return items, values


def top_n_all(
    score: Callable[[int, int], Scores],
    people: int,
    n: int,
    exclude_ptr: NDArray[np.int64],
    exclude_item: NDArray[np.uint32],
    rows: int = 256,
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
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, starts))
    return lists


def same_for_all(
    scores: NDArray[np.float64],
    n: int,
    exclude_ptr: NDArray[np.int64],
    exclude_item: NDArray[np.uint32],
) -> NDArray[np.int32]:
    """`top_n_all` where everybody's scores are these, all of them finite: one order, and of
    it what each person does not know."""
    lists = np.full((len(exclude_ptr) - 1, n), -1, dtype=np.int32)
    order = np.argsort(-scores, kind="stable").astype(np.int32)
    _first_unknown(order, exclude_ptr, exclude_item, lists)
    return lists


@njit(cache=True, nogil=True)
def _first_unknown(order: Any, ptr: Any, item: Any, lists: Any) -> None:
    excluded = np.zeros(order.size, np.bool_)
    for row in range(lists.shape[0]):
        for k in range(ptr[row], ptr[row + 1]):
            excluded[item[k]] = True
        filled = 0
        for k in range(order.size):
            if filled == lists.shape[1]:
                break
            if not excluded[order[k]]:
                lists[row, filled] = order[k]
                filled += 1
        for k in range(ptr[row], ptr[row + 1]):
            excluded[item[k]] = False


@njit(cache=True, nogil=True)
def _threshold(peak: Any, n: int) -> Any:
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
        cut[0], cut[1] = -np.inf, 0
        return np.nextafter(cut[0], cut[1])  # which every score that counts reaches
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
def _top_rows(scores: Any, exclude_ptr: Any, exclude_item: Any, items: Any, values: Any) -> None:
    rows, columns = scores.shape
    n = items.shape[1]
    peak = np.empty(-(-columns // _RUN), dtype=scores.dtype)
    longest = 0
    for r in range(rows):
        longest = max(longest, exclude_ptr[r + 1] - exclude_ptr[r])
    excluded_scores = np.empty(longest, dtype=scores.dtype)
    runs = np.empty(peak.size + 1, dtype=np.int32)
    candidates = np.empty(columns + 1, dtype=np.int32)
    score = np.empty(_FEW * n, dtype=scores.dtype)
    for r in range(rows):
        row = scores[r]
        excluded = exclude_item[exclude_ptr[r] : exclude_ptr[r + 1]]
        for x in range(excluded.size):
            excluded_scores[x] = row[excluded[x]]
            row[excluded[x]] = -np.inf
        _peaks(row, peak)
        count = _reaching(row, peak, _threshold(peak, n), runs, candidates)
        if count <= _FEW * n:
            _by_rank(row, candidates[:count], score, items[r], values[r])
        else:  # many equal scores
            _by_insertion(row, candidates[:count], items[r], values[r])
        # Backward: of an item named twice the first has the score.
        for x in range(excluded.size - 1, -1, -1):
            row[excluded[x]] = excluded_scores[x]


@njit(cache=True, nogil=True)
def _reaching(row: Any, peak: Any, threshold: Any, runs: Any, candidates: Any) -> int:
    """The items whose scores reach `threshold`, in `candidates`; how many there are. Every one is
    written and only counted if it does: a branch that is hard to foresee takes longer."""
    run_count = 0
    for k in range(peak.size):
        runs[run_count] = k
        run_count += peak[k] >= threshold
    count = 0
    for run in range(run_count):  # few
        for j in range(runs[run], row.size, peak.size):
            candidates[count] = j
            count += row[j] >= threshold
    return count


@njit(cache=True, nogil=True)
def _by_rank(row: Any, candidates: Any, score: Any, items: Any, values: Any) -> None:
    """The best of some items: each one's place is how many come before it."""
    for k in range(candidates.size):
        score[k] = row[candidates[k]]
    for k in range(candidates.size):
        mine, item = score[k], candidates[k]
        rank = np.int32(0)
        for j in range(candidates.size):
            rank += np.int32((score[j] > mine) | ((score[j] == mine) & (candidates[j] < item)))
        if rank < items.size:
            items[rank] = item
            values[rank] = mine


@njit(cache=True, nogil=True)
def _by_insertion(row: Any, candidates: Any, items: Any, values: Any) -> None:
    """The same for any number of items, one after the other."""
    size = 0
    for k in range(candidates.size):
        size = _insert(values, items, size, row[candidates[k]], candidates[k])


@njit(cache=True, nogil=True)
def _insert(best: Any, items: Any, size: int, score: Any, item: int) -> int:
    """Into a list in order; of equal scores the lower item comes first. How long the list is
    then."""
    at = size
    if size == best.size:
        if not _ranks_before(score, item, best[size - 1], items[size - 1]):
            return size
        at = size - 1
    length = at + 1
    while at > 0 and _ranks_before(score, item, best[at - 1], items[at - 1]):
        best[at], items[at] = best[at - 1], items[at - 1]
        at -= 1
    best[at], items[at] = score, item
    return length


@njit(cache=True, nogil=True)
def _ranks_before(score: Any, item: int, other_score: Any, other_item: int) -> bool:
    """Whether this item comes before that one in a list."""
    return score > other_score or (score == other_score and item < other_item)
