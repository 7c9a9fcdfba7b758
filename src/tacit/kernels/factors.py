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
def implicit_mean(start: int, end: int, item: Codes, implicit: Floats, out: Floats) -> None:
    """m_u. `implicit` may have no rows: then it is 0."""
    out[:] = 0.0
    if implicit.shape[0] == 0 or end == start:
        return
    for cell in range(start, end):
        row = implicit[item[cell]]
        for a in range(out.size):
            out[a] += row[a]
    scale = 1.0 / np.sqrt(end - start)
    for a in range(out.size):
        out[a] *= scale


@njit(cache=True, nogil=True)
def _normal(
    begin: int,
    end: int,
    item: Codes,
    residual: Floats,
    item_factors: Floats,
    precision: Floats,
    start: Floats,
    system: Floats,
    mean: Floats,
) -> None:
    """`system` becomes I + X'PX (upper triangle) and `mean` X'P(residual - X start)."""
    width = item_factors.shape[1]
    for a in range(width):
        mean[a] = 0.0
        for b in range(a, width):
            system[a, b] = 0.0
        system[a, a] = 1.0
    for cell in range(begin, end):
        row, weight = item_factors[item[cell]], precision[item[cell]]
        residue = residual[cell]
        for a in range(width):
            residue -= row[a] * start[a]
        for a in range(width):
            scaled = weight * row[a]
            mean[a] += scaled * residue
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
    fixed_columns: int,
    pull: Floats,
    back: Floats,
    left_out_error: Floats,
) -> None:
    """For each cell of a person: `pull` = her covariance times the cell's row; `back`, what
    the rating itself had added to her mean along `pull`; `left_out_error`, the residual less what
    the first `fixed_columns` columns say without that rating."""
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
        left_out_error[c] = 0.0
    for a in range(width):
        line = pull[a]
        row = across[a]
        centre = mean[a] + start[a]
        for c in range(count):
            left_out_error[c] += line[c] * row[c]  # the spread, for now
            back[c] -= row[c] * centre
    for c in range(count):
        certain = precision[item[c]]
        back[c] = certain * back[c] / (1.0 - certain * left_out_error[c])
        left_out_error[c] = residual[c]
    for a in range(fixed_columns):
        line = pull[a]
        row = across[a]
        centre = mean[a] + start[a]
        for c in range(count):
            left_out_error[c] -= row[c] * (centre - back[c] * line[c])


@njit(cache=True, nogil=True)
def person_rows(
    ptr: Ints,
    item: Codes,
    residual: Floats,
    item_factors: Floats,
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
    width = item_factors.shape[1]
    free_columns = width - fixed
    longest = 0
    for person in range(ptr.size - 1):
        longest = max(longest, ptr[person + 1] - ptr[person])
    system = np.empty((width, width))
    covariance = np.empty((width, width))
    start = np.empty(width)
    mean = np.empty(width)
    moment = np.empty(free_columns * (free_columns + 1) // 2 if second > 0.0 else 0)
    # One line a column, one place a cell: loops over a person's cells are long, and no cell
    # depends on another.
    across, pull = np.empty((width, longest)), np.empty((width, longest))
    back, left_out_error = np.empty(longest), np.empty(longest)
    for person in range(ptr.size - 1):
        begin, end = ptr[person], ptr[person + 1]
        if begin == end:
            continue
        implicit_mean(begin, end, item, implicit, start)
        for a in range(fixed, width if lift.size else fixed):
            start[a] += lift[person]
        _normal(begin, end, item, residual, item_factors, precision, start, system, mean)
        factor(system)
        substitute(system, mean)
        _inverse(system, covariance)
        count = end - begin
        for c in range(count):
            row = item_factors[item[begin + c]]
            for a in range(width):
                across[a, c] = row[a]
        _left_out(
            residual[begin:end],
            precision,
            item[begin:end],
            across,
            covariance,
            mean,
            start,
            width if gradient else fixed,
            pull,
            back,
            left_out_error,
        )
        share = 1.0 / np.sqrt(max(count, even))
        at = 0
        for a in range(fixed, width if second > 0.0 else fixed):
            for b in range(a, width):
                entry = second * (mean[a] + start[a]) * (mean[b] + start[b])
                moment[at] = entry if a == b else entry * np.sqrt(2.0)
                at += 1
        for c in range(count):
            w, line = share * weight[item[begin + c]], out[begin + c]
            clipped = w * min(max(left_out_error[c], -limit), limit)
            for a in range(free_columns):
                line[a] = clipped * (
                    mean[fixed + a] + start[fixed + a] - back[c] * pull[fixed + a, c]
                )
            for a in range(moment.size):
                line[free_columns + a] = w * moment[a]
            if implicit.shape[0] > 0:
                for a in range(free_columns):
                    line[free_columns + moment.size + a] = w * (
                        mean[fixed + a] - back[c] * pull[fixed + a, c]
                    )


@njit(cache=True, nogil=True)
def implicit_values(
    ptr: Ints, item: Codes, item_factors: Floats, implicit: Floats, out: Floats
) -> None:
    """x_i'm_u for every cell: what having rated them says about the ratings."""
    start = np.empty(item_factors.shape[1])
    for person in range(ptr.size - 1):
        begin, end = ptr[person], ptr[person + 1]
        implicit_mean(begin, end, item, implicit, start)
        for cell in range(begin, end):
            total = 0.0
            for a in range(start.size):
                total += item_factors[item[cell], a] * start[a]
            out[cell] = total


@njit(cache=True, nogil=True)
def fold_in_rows(
    ptr: Ints,
    item: Codes,
    residual: Floats,
    item_factors: Floats,
    precision: Floats,
    implicit: Floats,
    lift: Floats,
    per_rating: Floats,
    out: Floats,
) -> None:
    """m_u + E[z_u] of every person; m_u from `implicit`, plus the given `lift`.
    `per_rating` has a number for each column."""
    width = item_factors.shape[1]
    system = np.empty((width, width))
    start = np.empty(width)
    for person in range(ptr.size - 1):
        begin, end = ptr[person], ptr[person + 1]
        implicit_mean(begin, end, item, implicit, start)
        for a in range(width):
            start[a] += lift[person, a]
        mean = out[person]
        _normal(begin, end, item, residual, item_factors, precision, start, system, mean)
        for a in range(width):
            system[a, a] += per_rating[a] * (end - begin)
        factor(system)
        substitute(system, mean)
        for a in range(width):
            mean[a] += start[a]


@njit(cache=True, nogil=True)
def predict_rows(
    ptr: Ints, item: Codes, baseline: Floats, item_factors: Floats, vectors: Floats, out: Floats
) -> None:
    """baseline_i + x_i'vector_u for every cell."""
    for person in range(ptr.size - 1):
        for cell in range(ptr[person], ptr[person + 1]):
            row, total = item_factors[item[cell]], baseline[item[cell]]
            for a in range(row.size):
                total += row[a] * vectors[person, a]
            out[cell] = total
