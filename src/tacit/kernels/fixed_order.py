"""Products and solves of a person's side: what they add, they add in the same order everywhere.

The order in which BLAS and LAPACK add depends on the kernel that a processor gets, so their last
bits do too, and what amplifies those differs visibly. Here arrays are multiplied and added entry by
entry, or summed by numpy, whose order depends on shapes alone. So a person is told the same on
every processor. numpy is enough: no compiler is needed beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[Any]
BLOCK = 1 << 16
"""Numbers that are multiplied before they are summed: they stay in a processor's cache."""


def product(left: Numbers, right: Numbers) -> Floats:
    """`left @ right` in double precision, of matrices or vectors."""
    if right.ndim == 1 and left.ndim > 1:
        rows = max(1, BLOCK // max(len(right), 1))
        out = np.empty(len(left))
        for first in range(0, len(left), rows):
            out[first : first + rows] = _times(left[first : first + rows], right).sum(axis=1)
        return out
    if right.ndim == 1:
        return np.asarray(_times(left, right).sum())
    if left.ndim == 1:
        return np.asarray(_times(left[:, None], right).sum(axis=0))
    out = np.zeros((len(left), right.shape[1]))
    if len(left) < len(right):
        for row, coefficient in enumerate(left):
            out[row] = product(coefficient, right)
    else:
        for k in range(len(right)):
            out += _times(left[:, k, None], right[k])
    return out


def _times(left: Numbers, right: Numbers) -> Floats:
    return np.asarray(np.multiply(left, right, dtype=np.float64))


def spread(rows: Floats, covariance: Floats) -> Floats:
    """x'Cx of every row x, for a symmetric C."""
    width = len(covariance)
    twice = covariance + np.triu(covariance, 1)
    out = np.zeros(len(rows))
    block = max(1, BLOCK // max(width, 1))
    for first in range(0, len(rows), block):
        x = np.ascontiguousarray(rows[first : first + block].T)
        along, total, more = np.zeros_like(x), out[first : first + block], np.empty_like(x)
        for a in range(width):
            along[a:] += np.multiply(twice[a, a:, None], x[a], out=more[a:])
            total += along[a] * x[a]
    return out


def solve(system: Numbers, right: Numbers) -> Floats:
    """system^-1 `right` by elimination with pivots: of a matrix and a vector or a matrix, or of
    a stack of matrices and a stack of vectors.

    A system without a solution is a `LinAlgError`, as it is to numpy.
    """
    left, out = np.array(system, np.float64), np.array(right, np.float64)
    if left.ndim == 2:
        return _solved(left[None], out.reshape(1, len(left), -1)).reshape(out.shape)
    return _solved(left, out[:, :, None])[:, :, 0]


def _solved(left: Floats, out: Floats) -> Floats:
    """In place: a stack of systems, each with columns on its right side."""
    systems, size = np.arange(len(left)), left.shape[1]
    for k in range(size):
        pivot = k + np.abs(left[:, k:, k]).argmax(axis=1)
        if (left[systems, pivot, k] == 0).any():
            raise np.linalg.LinAlgError("Singular matrix")
        for part in (left, out):
            part[systems, k], part[systems, pivot] = part[systems, pivot], part[systems, k]
        by = left[:, k + 1 :, k] / left[:, k, k, None]
        left[:, k + 1 :, k + 1 :] -= by[:, :, None] * left[:, k, None, k + 1 :]
        out[:, k + 1 :] -= by[:, :, None] * out[:, k, None]
    for k in range(size - 1, -1, -1):
        out[:, k] /= left[:, k, k, None]
        out[:, :k] -= left[:, :k, k, None] * out[:, k, None]
    return out


def inverse(system: Floats) -> Floats:
    """Of a symmetric positive definite matrix, by elimination in its place."""
    out = np.array(system, np.float64)
    for k in range(len(out)):
        row, column = out[k] / out[k, k], out[:, k].copy()
        row[k], column[k], out[:, k] = 1 / out[k, k], 0.0, 0.0
        out -= column[:, None] * row
        out[k] = row
    return out


def steady_solve(systems: Floats, right: Floats, count: NDArray[np.int64], least: float) -> Floats:
    """Solve each symmetric system for as many of its first `count` unknowns, all or a half, a
    quarter .., as are steady; the others are 0.

    Steady is where elimination, first unknown first, leaves each at least a share `least` of its
    own diagonal. What it leaves of one does not depend on those behind it.
    """
    left, out = systems.copy(), right.copy()
    width = right.shape[1]
    diagonal, used = np.arange(width), count.copy()
    smallest_pivots = least * left[:, diagonal, diagonal]
    with np.errstate(all="ignore"):  # behind an unsteady unknown anything may stand
        for k in range(width):
            by = left[:, k + 1 :, k] / left[:, k, k, None]
            left[:, k + 1 :, k + 1 :] -= by[:, :, None] * left[:, k, None, k + 1 :]
            out[:, k + 1 :] -= by * out[:, k, None]
    good = np.logical_and.accumulate(left[:, diagonal, diagonal] >= smallest_pivots, axis=1).sum(
        axis=1
    )
    while (used > good).any():
        used = np.where(used > good, used // 2, used)
    outside = diagonal >= used[:, None]
    left[outside] = 0.0
    left[np.broadcast_to(outside[:, None], left.shape)] = 0.0
    left[:, diagonal, diagonal] += outside
    out[outside] = 0.0
    for k in range(width - 1, -1, -1):
        out[:, k] /= left[:, k, k]
        out[:, :k] -= left[:, :k, k] * out[:, k, None]
    return out
