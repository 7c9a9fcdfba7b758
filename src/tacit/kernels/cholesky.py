"""Small positive definite systems by Cholesky, four rows of the factor at a time: plain
loops, one system alone.

The order of operations depends on the size of a system only, so that nothing else in a
batch changes a bit of it.
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
    whole = width - width % 4
    for k in range(0, whole, 4):
        for own in range(k, k + 4):
            _scale_and_lower(system, own, k + 4)
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
                low[j] = (
                    low[j] - s0 * r0[j] - s1 * r1[j] - s2 * r2[j] - s3 * r3[j]
                )
    for k in range(whole, width):
        _scale_and_lower(system, k, width)


@njit(cache=True, nogil=True, error_model="numpy")
def _scale_and_lower(system: Floats, own: int, stop: int) -> None:
    """Finish row `own` of the factor and take it out of the rows below it, up to `stop`."""
    scale = 1 / np.sqrt(system[own, own])
    row = system[own, own:]
    for j in range(row.size):
        row[j] *= scale
    for i in range(own + 1, stop):
        by = system[own, i]
        top = system[own, i:]
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
        rest = right[k + 1 :]
        for j in range(rest.size):
            rest[j] -= by * row[j]
    for k in range(width - 1, -1, -1):
        row, rest = upper[k, k + 1 :], right[k + 1 :]
        total = right[k]
        for j in range(rest.size):
            total -= row[j] * rest[j]
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
