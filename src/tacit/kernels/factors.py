"""What one person contributes to a factorization, from public item profiles and her own ratings: plain loops.

A rating's residual is y_ui = x_i'z_u + e with z_u ~ N(m_u, I) and e ~ N(0, 1/precision_i). The first `fixed` columns of
x_i are settled (a person's level, her slope on popularity); the others are the factors that a round improves. m_u is 0,
or n^-1/2 times the sum of the implicit factors of what she rated. Each person alone, in a fixed order of operations.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels.cholesky import factor, substitute

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]


@njit(cache=True, nogil=True)
def implicit_mean(first: int, last: int, item: Codes, implicit: Floats, out: Floats) -> None:
    """m_u. `implicit` may have no rows: then it is 0."""
    out[:] = 0.0
    if implicit.shape[0] == 0 or last == first:
        return
    for cell in range(first, last):
        row = implicit[item[cell]]
        for a in range(out.size):
            out[a] += row[a]
    scale = 1.0 / np.sqrt(last - first)
    for a in range(out.size):
        out[a] *= scale


@njit(cache=True, nogil=True)
def _normal(
    first: int, last: int, item: Codes, residual: Floats, loadings: Floats, precision: Floats, start: Floats,
    system: Floats, mean: Floats,
) -> None:  # fmt: skip
    """`system` becomes I + X'PX (upper triangle) and `mean` X'P(residual - X start)."""
    width = loadings.shape[1]
    for a in range(width):
        mean[a] = 0.0
        for b in range(a, width):
            system[a, b] = 0.0
        system[a, a] = 1.0
    for cell in range(first, last):
        row, weight = loadings[item[cell]], precision[item[cell]]
        left = residual[cell]
        for a in range(width):
            left -= row[a] * start[a]
        for a in range(width):
            scaled = weight * row[a]
            mean[a] += scaled * left
            for b in range(a, width):
                system[a, b] += scaled * row[b]


@njit(cache=True, nogil=True)
def _inverse(upper: Floats, out: Floats) -> None:
    """(R'R)^-1, the posterior covariance."""
    for b in range(out.shape[0]):
        row = out[b]
        row[:] = 0.0
        row[b] = 1.0
        substitute(upper, row)


@njit(cache=True, nogil=True)
def person_rows(
    ptr: Ints, item: Codes, residual: Floats, loadings: Floats, precision: Floats, fixed: int, implicit: Floats,
    weight: Floats, even: int, limit: float, second: float, gradient: bool, out: Floats,
) -> None:  # fmt: skip
    """One line a cell. With z = E[z_u] from her *other* ratings and w = weight_i / sqrt(max(n_u, even)):

    columns 0..d-1       w y z, y the residual less the settled columns' part (`gradient`: less the factors' part too),
                         cut at +-limit. Leaving the rating itself out keeps it from agreeing with itself.
    the next d(d+1)/2    second * w z z', z from all her ratings, upper triangle, off the diagonal times sqrt 2 (so that
                         the L2 norm of the line is the Frobenius norm); left out if `second` is 0
    the next d           w (z - m_u), for the implicit factors; left out if `implicit` has no rows
    """
    width = loadings.shape[1]
    many = width - fixed
    system = np.empty((width, width))
    covariance = np.empty((width, width))
    start = np.empty(width)
    mean = np.empty(width)
    pull = np.empty(width)
    for person in range(ptr.size - 1):
        first, last = ptr[person], ptr[person + 1]
        if first == last:
            continue
        implicit_mean(first, last, item, implicit, start)
        _normal(first, last, item, residual, loadings, precision, start, system, mean)
        factor(system)
        substitute(system, mean)
        _inverse(system, covariance)
        share = 1.0 / np.sqrt(max(last - first, even))
        for cell in range(first, last):
            row, certain = loadings[item[cell]], precision[item[cell]]
            left, spread = residual[cell], 0.0
            for a in range(width):
                total = 0.0
                for b in range(width):
                    total += covariance[a, b] * row[b]
                pull[a] = total
                spread += total * row[a]
                left -= row[a] * (mean[a] + start[a])
            back = certain * left / (1.0 - certain * spread)  # what the rating itself had added, along `pull`
            left = residual[cell]
            for a in range(width):
                if a < fixed or gradient:
                    left -= row[a] * (mean[a] + start[a] - back * pull[a])
            left = min(max(left, -limit), limit)
            w = share * weight[item[cell]]
            line = out[cell]
            at = many
            for a in range(many):
                line[a] = w * left * (mean[fixed + a] + start[fixed + a] - back * pull[fixed + a])
            if second > 0.0:
                for a in range(fixed, width):
                    for b in range(a, width):
                        entry = second * w * (mean[a] + start[a]) * (mean[b] + start[b])
                        line[at] = entry if a == b else entry * np.sqrt(2.0)
                        at += 1
            if implicit.shape[0] > 0:
                for a in range(many):
                    line[at + a] = w * (mean[fixed + a] - back * pull[fixed + a])


@njit(cache=True, nogil=True)
def fold_in_rows(
    ptr: Ints, item: Codes, residual: Floats, loadings: Floats, precision: Floats, implicit: Floats, lift: Floats,
    per_rating: float, out: Floats,
) -> None:  # fmt: skip
    """m_u + E[z_u] of every person; m_u from `implicit`, plus the given `lift`. `per_rating` spares column 0."""
    width = loadings.shape[1]
    system = np.empty((width, width))
    start = np.empty(width)
    for person in range(ptr.size - 1):
        first, last = ptr[person], ptr[person + 1]
        implicit_mean(first, last, item, implicit, start)
        for a in range(width):
            start[a] += lift[person, a]
        mean = out[person]
        _normal(first, last, item, residual, loadings, precision, start, system, mean)
        for a in range(1, width):
            system[a, a] += per_rating * (last - first)
        factor(system)
        substitute(system, mean)
        for a in range(width):
            mean[a] += start[a]


@njit(cache=True, nogil=True)
def predict_rows(ptr: Ints, item: Codes, baseline: Floats, loadings: Floats, vectors: Floats, out: Floats) -> None:
    """baseline_i + x_i'vector_u for every cell."""
    for person in range(ptr.size - 1):
        for cell in range(ptr[person], ptr[person + 1]):
            row, total = loadings[item[cell]], baseline[item[cell]]
            for a in range(row.size):
                total += row[a] * vectors[person, a]
            out[cell] = total
