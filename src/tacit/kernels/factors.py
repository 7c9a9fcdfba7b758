"""What one person contributes to a factorization, from public item profiles and her own
ratings: plain loops.

A rating's residual is y_ui = x_i'z_u + e with z_u ~ N(m_u, I) and e ~ N(0, 1/precision_i).
The first `fixed` columns of x_i are settled (a person's level, her slope on popularity);
the others are the factors that a round improves. m_u is 0, n^-1/2 times the sum of the
implicit factors of what she rated, or a given `lift` in every factor. Each person alone, in
a fixed order of operations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.cholesky import factor, substitute
from tacit.kernels.compiled import njit

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
    first: int,
    last: int,
    item: Codes,
    residual: Floats,
    loadings: Floats,
    precision: Floats,
    start: Floats,
    system: Floats,
    mean: Floats,
) -> None:
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
def _left_out(
    residual: Floats,
    precision: Floats,
    item: Codes,
    across: Floats,
    covariance: Floats,
    mean: Floats,
    start: Floats,
    told: int,
    pull: Floats,
    back: Floats,
    left: Floats,
) -> None:
    """For each cell of a person: `pull` = her covariance times the cell's row; `back`, what
    the rating itself had added to her mean along `pull`; `left`, the residual less what the
    first `told` columns say without that rating."""
    count, width = residual.size, mean.size
    for a in range(width):
        line = pull[a]
        for c in range(count):
            line[c] = 0.0
        for b in range(width):
            entry, row = covariance[b, a], across[b]
            for c in range(count):
                line[c] += entry * row[c]
    for c in range(count):
        back[c] = residual[c]
        left[c] = 0.0
    for a in range(width):
        line = pull[a]
        row = across[a]
        centre = mean[a] + start[a]
        for c in range(count):
            left[c] += line[c] * row[c]  # the spread, for now
            back[c] -= row[c] * centre
    for c in range(count):
        certain = precision[item[c]]
        back[c] = certain * back[c] / (1.0 - certain * left[c])
        left[c] = residual[c]
    for a in range(told):
        line = pull[a]
        row = across[a]
        centre = mean[a] + start[a]
        for c in range(count):
            left[c] -= row[c] * (centre - back[c] * line[c])


@njit(cache=True, nogil=True)
def person_rows(
    ptr: Ints,
    item: Codes,
    residual: Floats,
    loadings: Floats,
    precision: Floats,
    fixed: int,
    implicit: Floats,
    lift: Floats,
    weight: Floats,
    even: float,
    limit: float,
    second: float,
    gradient: bool,
    out: Floats,
) -> None:
    """One line a cell. With z = E[z_u] from her *other* ratings and w = weight_i /
    sqrt(max(n_u, even)):

    columns 0..d-1       w y z, y the residual less the settled columns' part (`gradient`:
    less the factors' part too),
                         cut at +-limit. Leaving the rating itself out keeps it from
                         agreeing with itself.
    the next d(d+1)/2    second * w z z', z from all her ratings, upper triangle, off the
    diagonal times sqrt 2 (so that
                         the L2 norm of the line is the Frobenius norm); left out if `second` is 0
    the next d           w (z - m_u), for the implicit factors; left out if `implicit` has no rows
    """
    width = loadings.shape[1]
    many = width - fixed
    most = 0
    for person in range(ptr.size - 1):
        most = max(most, ptr[person + 1] - ptr[person])
    system = np.empty((width, width))
    covariance = np.empty((width, width))
    start = np.empty(width)
    mean = np.empty(width)
    moment = np.empty(many * (many + 1) // 2 if second > 0.0 else 0)
    # One line a column, one place a cell: loops over a person's cells are long, and no cell
    # depends on another.
    across, pull = np.empty((width, most)), np.empty((width, most))
    back, left = np.empty(most), np.empty(most)
    for person in range(ptr.size - 1):
        first, last = ptr[person], ptr[person + 1]
        if first == last:
            continue
        implicit_mean(first, last, item, implicit, start)
        for a in range(fixed, width if lift.size else fixed):
            start[a] += lift[person]
        _normal(first, last, item, residual, loadings, precision, start, system, mean)
        factor(system)
        substitute(system, mean)
        _inverse(system, covariance)
        count = last - first
        for c in range(count):
            row = loadings[item[first + c]]
            for a in range(width):
                across[a, c] = row[a]
        _left_out(
            residual[first:last],
            precision,
            item[first:last],
            across,
            covariance,
            mean,
            start,
            width if gradient else fixed,
            pull,
            back,
            left,
        )
        share = 1.0 / np.sqrt(max(count, even))
        at = 0
        for a in range(fixed, width if second > 0.0 else fixed):
            for b in range(a, width):
                entry = second * (mean[a] + start[a]) * (mean[b] + start[b])
                moment[at] = entry if a == b else entry * np.sqrt(2.0)
                at += 1
        for c in range(count):
            w, line = share * weight[item[first + c]], out[first + c]
            told = w * min(max(left[c], -limit), limit)
            for a in range(many):
                line[a] = told * (mean[fixed + a] + start[fixed + a] - back[c] * pull[fixed + a, c])
            for a in range(moment.size):
                line[many + a] = w * moment[a]
            if implicit.shape[0] > 0:
                for a in range(many):
                    line[many + moment.size + a] = w * (
                        mean[fixed + a] - back[c] * pull[fixed + a, c]
                    )


@njit(cache=True, nogil=True)
def implicit_values(
    ptr: Ints, item: Codes, loadings: Floats, implicit: Floats, out: Floats
) -> None:
    """x_i'm_u for every cell: what having rated them says about the ratings."""
    start = np.empty(loadings.shape[1])
    for person in range(ptr.size - 1):
        first, last = ptr[person], ptr[person + 1]
        implicit_mean(first, last, item, implicit, start)
        for cell in range(first, last):
            total = 0.0
            for a in range(start.size):
                total += loadings[item[cell], a] * start[a]
            out[cell] = total


@njit(cache=True, nogil=True)
def fold_in_rows(
    ptr: Ints,
    item: Codes,
    residual: Floats,
    loadings: Floats,
    precision: Floats,
    implicit: Floats,
    lift: Floats,
    per_rating: Floats,
    out: Floats,
) -> None:
    """m_u + E[z_u] of every person; m_u from `implicit`, plus the given `lift`.
    `per_rating` has a number for each column."""
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
        for a in range(width):
            system[a, a] += per_rating[a] * (last - first)
        factor(system)
        substitute(system, mean)
        for a in range(width):
            mean[a] += start[a]


@njit(cache=True, nogil=True)
def predict_rows(
    ptr: Ints, item: Codes, baseline: Floats, loadings: Floats, vectors: Floats, out: Floats
) -> None:
    """baseline_i + x_i'vector_u for every cell."""
    for person in range(ptr.size - 1):
        for cell in range(ptr[person], ptr[person + 1]):
            row, total = loadings[item[cell]], baseline[item[cell]]
            for a in range(row.size):
                total += row[a] * vectors[person, a]
            out[cell] = total
