"""Per-person rows: clip, put on the integer grid, sum. Plain loops, one person at a time,
so blocks never change a bit.

A row that holds NaN or infinity becomes zero: a contribution is bounded whatever the caller
computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit

TOGETHER = 4
"""People who are clipped side by side."""


@njit(cache=True, nogil=True)
def grid_squared(ptr: Any, values: Any, limit: float, steps: int, out: Any) -> None:
    """Clip each person's cells to an L2 norm of `limit` and round toward zero on the grid.

    The bound is then *checked in integers*: sum q^2 <= floor((steps*limit)^2). A row that a float
    rounding let through is pulled toward zero one step at a time until it holds. Beside
    `grid_absolute`, so that a fit compiles only the one that it needs.
    """
    ceiling = np.int64(np.floor((steps * limit) ** 2))
    squares = np.empty(TOGETHER)
    for start in range(0, ptr.size - 1, TOGETHER):
        stop = min(start + TOGETHER, ptr.size - 1)
        _squares(ptr, values, start, stop, squares)
        for person in range(start, stop):
            begin, end = ptr[person], ptr[person + 1]
            square = squares[person - start]
            _grid_squared(values, begin, end, square, limit, steps, ceiling, begin, out)


@njit(cache=True, nogil=True)
def add_squared(ptr: Any, index: Any, values: Any, limit: float, steps: int, out: Any) -> None:
    """`grid_squared`, and `add_rows` of what it gives, one person at a time: her integers never
    leave the cache."""
    most = 0
    for person in range(ptr.size - 1):
        most = max(most, ptr[person + 1] - ptr[person])
    whole = np.empty((most, values.shape[1]), np.int64)
    ceiling = np.int64(np.floor((steps * limit) ** 2))
    squares = np.empty(TOGETHER)
    for start in range(0, ptr.size - 1, TOGETHER):
        stop = min(start + TOGETHER, ptr.size - 1)
        _squares(ptr, values, start, stop, squares)
        for person in range(start, stop):
            first, last = ptr[person], ptr[person + 1]
            square = squares[person - start]
            _grid_squared(values, first, last, square, limit, steps, ceiling, 0, whole)
            for cell in range(last - first):
                row = index[first + cell]
                for column in range(values.shape[1]):
                    out[row, column] += whole[cell, column]


@njit(cache=True, nogil=True, inline="always")
def _squares(ptr: Any, values: Any, start: int, stop: int, squares: Any) -> None:
    """Each person's sum of squares, at most `TOGETHER` people. Side by side where all have one
    line: a sum has an order, so one alone would wait for each of its additions."""
    width = values.shape[1]
    single = stop - start == TOGETHER
    for person in range(start, stop):
        single = single and ptr[person + 1] - ptr[person] == 1
    if single:
        cell = ptr[start]
        size0, size1, size2, size3 = 0.0, 0.0, 0.0, 0.0
        for column in range(width):
            size0 += values[cell, column] * values[cell, column]
            size1 += values[cell + 1, column] * values[cell + 1, column]
            size2 += values[cell + 2, column] * values[cell + 2, column]
            size3 += values[cell + 3, column] * values[cell + 3, column]
        squares[0], squares[1], squares[2], squares[3] = size0, size1, size2, size3
    else:
        for person in range(start, stop):
            size = 0.0
            for cell in range(ptr[person], ptr[person + 1]):
                for column in range(width):
                    value = values[cell, column]
                    size += value * value
            squares[person - start] = size


@njit(cache=True, nogil=True, inline="always")
def _grid_squared(
    values: Any,
    first: int,
    last: int,
    square: float,
    limit: float,
    steps: int,
    ceiling: int,
    to: int,
    out: Any,
) -> None:
    """One person, the sum of whose squares is `square`, into the lines of `out` from `to` on."""
    width = values.shape[1]
    size = np.sqrt(square)
    if np.isfinite(size):
        factor = steps * (limit / size if size > limit else 1.0)
        total = np.int64(0)
        for cell in range(last - first):
            for column in range(width):
                # Conversion rounds toward zero.
                q = np.int64(values[first + cell, column] * factor)
                out[to + cell, column] = q
                total += q * q
        while total > ceiling:
            total = np.int64(0)
            for cell in range(last - first):
                for column in range(width):
                    q = _toward_zero(out[to + cell, column])
                    out[to + cell, column] = q
                    total += q * q
    else:
        for cell in range(last - first):
            for column in range(width):
                out[to + cell, column] = 0


@njit(cache=True, nogil=True)
def grid_absolute(ptr: Any, values: Any, limit: float, steps: int, out: Any) -> None:
    """The same by the L1 norm: sum |q| <= floor(steps*limit)."""
    width = values.shape[1]
    ceiling = np.int64(np.floor(steps * limit))
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        size = 0.0
        for cell in range(start, end):
            for column in range(width):
                size += abs(values[cell, column])
        if not np.isfinite(size):
            for cell in range(start, end):
                for column in range(width):
                    out[cell, column] = 0
            continue
        factor = steps * (limit / size if size > limit else 1.0)
        total = np.int64(0)
        for cell in range(start, end):
            for column in range(width):
                q = np.int64(values[cell, column] * factor)
                out[cell, column] = q
                total += abs(q)
        while total > ceiling:
            total = np.int64(0)
            for cell in range(start, end):
                for column in range(width):
                    q = _toward_zero(out[cell, column])
                    out[cell, column] = q
                    total += abs(q)


@njit(cache=True, nogil=True, inline="always")
def _toward_zero(q: int) -> int:
    """One step nearer to zero."""
    return q - (q > 0) + (q < 0)


@njit(cache=True, nogil=True)
def grid_cells(values: Any, limit: float, steps: int, out: Any) -> None:
    """Clip each number to +-limit and round toward zero; NaN becomes 0."""
    top = np.int64(np.floor(steps * limit))
    for cell in range(values.shape[0]):
        for column in range(values.shape[1]):
            value = values[cell, column]
            if np.isnan(value):
                out[cell, column] = 0
            elif value >= limit:
                out[cell, column] = top
            elif value <= -limit:
                out[cell, column] = -top
            else:
                out[cell, column] = np.int64(value * steps)


@njit(cache=True, nogil=True)
def _shrunk_mean(q: Any, start: int, end: int, shrink: int) -> Any:
    """trunc(sum / (count + shrink)) in integers."""
    total = np.int64(0)
    for cell in range(start, end):
        total += q[cell, 0]
    mean = abs(total) // (end - start + shrink)
    return -mean if total < 0 else mean


@njit(cache=True, nogil=True)
def mean_cells(ptr: Any, q: Any, shrink: int) -> None:
    """In place: each person's shrunk mean in her first cell, 0 in the others."""
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        if end > start:
            mean = _shrunk_mean(q, start, end, shrink)
            for cell in range(start, end):
                q[cell, 0] = 0
            q[start, 0] = mean


@njit(cache=True, nogil=True)
def centre_cells(ptr: Any, q: Any, shrink: int, top: int) -> None:
    """In place and in integers: take away each person's shrunk mean
    trunc(sum/(count+shrink)), clip to +-top."""
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        mean = _shrunk_mean(q, start, end, shrink)
        for cell in range(start, end):
            q[cell, 0] = min(max(q[cell, 0] - mean, -top), top)


@njit(cache=True, nogil=True)
def level_cells(ptr: Any, values: Any, steps: int, out: Any) -> None:
    """Each person's sum/(c+5), c/(c+5), log2(1+c)/6 on the grid, in her first line of
    `out`; NaN counts as 0."""
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        count = end - start
        if count == 0:
            continue
        total = 0.0
        for cell in range(start, end):
            value = values[cell, 0]
            if not np.isnan(value):
                total += min(max(value, -2.0), 2.0)
        out[start, 0] = np.int64(steps * total / (count + 5))
        out[start, 1] = np.int64(steps * count / (count + 5))
        out[start, 2] = np.int64(steps * np.log2(1.0 + count) / 6)


@njit(cache=True, nogil=True)
def add_rows(index: Any, q: Any, out: Any) -> None:
    """out[index] += q; wraps modulo 2^64, which costs accuracy and never privacy."""
    for cell in range(index.size):
        row = index[cell]
        for column in range(q.shape[1]):
            out[row, column] += q[cell, column]


@njit(cache=True, nogil=True)
def shrunk_means(ptr: Any, value: Any, shrink: float, limit: float, out: Any) -> None:
    """Each person's mean, shrunk toward 0 by `shrink` fictitious ratings and clipped to +-limit."""
    for person in range(ptr.size - 1):
        total = 0.0
        for cell in range(ptr[person], ptr[person + 1]):
            total += value[cell]
        mean = total / max(ptr[person + 1] - ptr[person] + shrink, 1e-300)
        out[person] = min(max(mean, -limit), limit)
