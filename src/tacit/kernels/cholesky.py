"""Small positive definite systems by Cholesky: plain loops, one system alone four rows of the
factor at a time, or many systems side by side, each in a lane of its own.

The order of operations depends on the size of a system only, so that nothing else in a
batch changes a bit of it. One system of 50 leaves the vector unit mostly idle: side by side they
take about a quarter of the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

Floats = NDArray[np.float32] | NDArray[np.float64]


@njit(cache=True, nogil=True, error_model="numpy")
def factor(system: Floats) -> None:
    """In place: the upper triangle R with R'R = system. Only the upper triangle is read."""
    width = system.shape[0]
    in_fours = width - width % 4
    for k in range(0, in_fours, 4):
        for row in range(k, k + 4):
            _scale_and_lower(system, row, k + 4)
        for i in range(k + 4, width):
            s0 = system[k, i]
            s1 = system[k + 1, i]
            s2 = system[k + 2, i]
            s3 = system[k + 3, i]
            r0 = system[k, i:]
            r1 = system[k + 1, i:]
            r2 = system[k + 2, i:]
            r3 = system[k + 3, i:]
            low = system[i, i:]
            # From 0, so that the compiler knows no index is negative.
            for j in range(low.size):
                low[j] = low[j] - s0 * r0[j] - s1 * r1[j] - s2 * r2[j] - s3 * r3[j]
    for k in range(in_fours, width):
        _scale_and_lower(system, k, width)


@njit(cache=True, nogil=True, error_model="numpy")
def _scale_and_lower(system: Floats, pivot: int, stop: int) -> None:
    """Finish row `pivot` of the factor and take it out of the rows below it, up to `stop`."""
    scale = 1 / np.sqrt(system[pivot, pivot])
    row = system[pivot, pivot:]
    for j in range(row.size):
        row[j] *= scale
    for i in range(pivot + 1, stop):
        by = system[pivot, i]
        top = system[pivot, i:]
        low = system[i, i:]
        for j in range(low.size):
            low[j] -= by * top[j]


@njit(cache=True, nogil=True, error_model="numpy")
def substitute(upper: Floats, right: Floats) -> None:
    """In place: `right` becomes (R'R)^-1 right."""
    width = right.size
    for k in range(width):
        right[k] /= upper[k, k]
        by = right[k]
        row = upper[k, k + 1 :]
        below = right[k + 1 :]
        for j in range(below.size):
            below[j] -= by * row[j]
    for k in range(width - 1, -1, -1):
        row, below = upper[k, k + 1 :], right[k + 1 :]
        total = right[k]
        for j in range(below.size):
            total -= row[j] * below[j]
        right[k] = total / upper[k, k]


@njit(cache=True, nogil=True)
def solve_many(systems: Floats, rights: Floats, out: Floats) -> None:
    """out[n] = systems[n]^-1 rights[n] for symmetric positive definite systems (their upper
    triangles are read)."""
    count, width = rights.shape
    system = np.empty((width, width), rights.dtype)
    for n in range(count):
        system[:] = systems[n]
        factor(system)
        out[n] = rights[n]
        substitute(system, out[n])


@njit(cache=True, nogil=True)
def row_start(row: int, width: int) -> int:
    """Where column 0 of a row would be in a packed upper triangle: column b is b later."""
    return row * width - row * (row - 1) // 2 - row


@njit(cache=True, nogil=True, error_model="numpy")
def factor_beside(upper: Floats, width: int) -> None:
    """In place: R with R'R = system for each lane of `upper`, a packed upper triangle of
    systems side by side. The diagonal becomes 1 / R."""
    for i in range(width):
        offset = row_start(i, width)
        scale = upper[offset + i]
        for j in range(i, width):
            out = upper[offset + j]
            k = 0
            while k + 4 <= i:
                _lower_four(upper, width, k, i, j, out)
                k += 4
            while k < i:
                a = upper[row_start(k, width) + i]
                b = upper[row_start(k, width) + j]
                for lane in range(out.size):
                    out[lane] -= a[lane] * b[lane]
                k += 1
            if j == i:
                for lane in range(out.size):
                    out[lane] = 1 / np.sqrt(out[lane])
            else:
                for lane in range(out.size):
                    out[lane] *= scale[lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _lower_four(upper: Floats, width: int, k: int, i: int, j: int, out: Floats) -> None:
    """Take four finished rows of the factor out of one entry of each system."""
    a0 = upper[row_start(k, width) + i]
    a1 = upper[row_start(k + 1, width) + i]
    a2 = upper[row_start(k + 2, width) + i]
    a3 = upper[row_start(k + 3, width) + i]
    b0 = upper[row_start(k, width) + j]
    b1 = upper[row_start(k + 1, width) + j]
    b2 = upper[row_start(k + 2, width) + j]
    b3 = upper[row_start(k + 3, width) + j]
    for lane in range(out.size):
        out[lane] = (
            out[lane]
            - a0[lane] * b0[lane]
            - a1[lane] * b1[lane]
            - a2[lane] * b2[lane]
            - a3[lane] * b3[lane]
        )


@njit(cache=True, nogil=True, error_model="numpy")
def substitute_beside(upper: Floats, right: Floats) -> None:
    """In place: each lane of `right` becomes (R'R)^-1 of it; `upper` from `factor_beside`."""
    width = right.shape[0]
    for k in range(width):
        offset = row_start(k, width)
        by = right[k]
        inverse = upper[offset + k]
        for lane in range(by.size):
            by[lane] *= inverse[lane]
        for j in range(k + 1, width):
            lanes = right[j]
            row = upper[offset + j]
            for lane in range(by.size):
                lanes[lane] -= by[lane] * row[lane]
    for k in range(width - 1, -1, -1):
        offset = row_start(k, width)
        by = right[k]
        inverse = upper[offset + k]
        for j in range(k + 1, width):
            lanes = right[j]
            row = upper[offset + j]
            for lane in range(by.size):
                by[lane] -= row[lane] * lanes[lane]
        for lane in range(by.size):
            by[lane] *= inverse[lane]
