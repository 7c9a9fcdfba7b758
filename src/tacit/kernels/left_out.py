"""Each rating's error when it is predicted from the person's other ratings, and her taste
as those others show it.

One small Cholesky solve a person, then one triangular solve a cell. Cells are taken in tiles of
a fixed size, each cell in a lane of its own with the operations of a lone one in their order: so
lanes vectorise, and neither a tile nor a block changes a bit. Plain loops over one person at a
time. `tacit.model.person.gaussian` is the numpy twin and test oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit

TILE = 32
"""Cells that are solved side by side: 16 take a seventh more time, 64 no less."""


@njit(cache=True, nogil=True, inline="always")
def _solve_upper(system: Any, right: Any) -> None:
    """In place: the upper triangle of `system` becomes U with U'U = system, and `right`
    becomes U'^-1 right."""
    width = right.size
    for k in range(width):
        pivot = np.sqrt(system[k, k])  # the prior's identity keeps every pivot at 1 or more
        line = system[k]
        for b in range(k, width):
            line[b] /= pivot
        for a in range(k + 1, width):
            factor = line[a]
            below = system[a]
            for b in range(a, width):
                below[b] -= factor * line[b]
        right[k] /= pivot
        value = right[k]
        for b in range(k + 1, width):
            right[b] -= line[b] * value


@njit(cache=True, nogil=True, inline="always")
def _gather(
    start: int,
    end: int,
    item: Any,
    residual: Any,
    item_factors: Any,
    precision: Any,
    system: Any,
    right: Any,
) -> None:
    """Add a person's cells to her system: four at a time, each sum in the order of cells."""
    width = item_factors.shape[1]
    cell = start
    while cell + 4 <= end:
        i0, i1 = item[cell], item[cell + 1]
        i2, i3 = item[cell + 2], item[cell + 3]
        r0, r1 = item_factors[i0], item_factors[i1]
        r2, r3 = item_factors[i2], item_factors[i3]
        for a in range(width):
            s0, s1 = precision[i0] * r0[a], precision[i1] * r1[a]
            s2, s3 = precision[i2] * r2[a], precision[i3] * r3[a]
            right[a] = (
                ((right[a] + s0 * residual[cell]) + s1 * residual[cell + 1])
                + s2 * residual[cell + 2]
            ) + s3 * residual[cell + 3]
            line = system[a]
            for b in range(a, width):
                line[b] = (((line[b] + s0 * r0[b]) + s1 * r1[b]) + s2 * r2[b]) + s3 * r3[b]
        cell += 4
    while cell < end:
        row = item_factors[item[cell]]
        weight = precision[item[cell]]
        for a in range(width):
            scaled = weight * row[a]
            right[a] += scaled * residual[cell]
            line = system[a]
            for b in range(a, width):
                line[b] += scaled * row[b]
        cell += 1


@njit(cache=True, nogil=True)
def solve_person(
    start: int,
    end: int,
    item: Any,
    residual: Any,
    item_factors: Any,
    precision: Any,
    axes: Any,
    system: Any,
    right: Any,
    turned: Any,
    projection: Any,
) -> None:
    """One person's solve: U in `system`, U'^-1 (right side) in `right`, U'^-1 axes in
    `turned`, axes'z in `projection`."""
    width, columns = item_factors.shape[1], axes.shape[1]
    system[:] = 0.0
    right[:] = 0.0
    for a in range(width):
        system[a, a] = 1.0
    _gather(start, end, item, residual, item_factors, precision, system, right)
    _solve_upper(system, right)
    for k in range(width):  # turned = U'^-1 axes
        line = system[k]
        for j in range(columns):
            turned[k, j] = axes[k, j]
        for m in range(k):
            factor = system[m, k]
            for j in range(columns):
                turned[k, j] -= factor * turned[m, j]
        for j in range(columns):
            turned[k, j] /= line[k]
    for j in range(columns):
        projection[j] = 0.0
    for k in range(width):
        for j in range(columns):
            projection[j] += turned[k, j] * right[k]


@njit(cache=True, nogil=True)
def left_out_user_factors(
    ptr: Any,
    item: Any,
    residual: Any,
    item_factors: Any,
    precision: Any,
    axes: Any,
    error: Any,
    taste: Any,
    skip: int,
) -> None:
    """For each cell: `error`, its residual less the prediction from the person's others; in
    `taste`, from column `skip` on, axes'E[z | others].

    With C the posterior covariance and h_i = precision_i x_i'Cx_i: e_-i = (y_i - x_i'z)/(1
    - h_i) and z_-i = z - C x_i precision_i e_-i. `axes` has one column a coordinate of
    taste.
    """
    width, columns = item_factors.shape[1], axes.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    turned = np.empty((width, columns))
    projection = np.empty(columns)
    # Not a constant for the compiler: it would unroll every loop over lanes, and vectorise none.
    lanes = max(TILE, skip)
    work = np.empty((width, lanes))
    held = np.empty(lanes)
    errors, weight = np.empty(lanes), np.empty(lanes)
    centre, spread = np.empty(lanes), np.empty(lanes)
    for person in range(ptr.size - 1):
        begin, end = ptr[person], ptr[person + 1]
        if begin == end:
            continue
        solve_person(
            begin,
            end,
            item,
            residual,
            item_factors,
            precision,
            axes,
            system,
            right,
            turned,
            projection,
        )
        for start in range(begin, end, lanes):
            size = min(lanes, end - start)
            for t in range(size):
                weight[t] = precision[item[start + t]]
            weight[size:] = 0.0  # empty lanes stay zero
            errors[size:] = 0.0
            centre[:] = 0.0
            spread[:] = 0.0
            for k in range(width):  # work = U'^-1 loadings
                line = work[k]
                for t in range(size):
                    line[t] = item_factors[item[start + t], k]
                line[size:] = 0.0
                _less(line, work, k, system, k)
                pivot, along = system[k, k], right[k]
                for t in range(lanes):
                    value = line[t] / pivot
                    line[t] = value
                    centre[t] += value * along
                    spread[t] += value * value
            for t in range(size):
                # 1/(1 + weight x variance without it) > 0
                errors[t] = (residual[start + t] - centre[t]) / (1.0 - weight[t] * spread[t])
                error[start + t] = errors[t]
            for k in range(width):
                line = work[k]
                for t in range(lanes):
                    line[t] = line[t] * weight[t] * errors[t]
            if size < columns:  # lanes of axes, where those of cells would be empty
                for t in range(size):
                    cell = start + t
                    for j in range(columns):
                        taste[cell, skip + j] = projection[j]
                    for k in range(width):
                        for j in range(columns):
                            taste[cell, skip + j] -= work[k, t] * turned[k, j]
                continue
            for j in range(columns):
                held[:] = projection[j]
                _less(held, work, width, turned, j)
                for t in range(size):
                    taste[start + t, skip + j] = held[t]


@njit(cache=True, nogil=True)
def _less(out: Any, rows: Any, count: int, factors: Any, column: int) -> None:
    """Lane by lane: take `count` rows, each times its factor, from `out`, one after the other."""
    for k in range(count):
        row = rows[k]
        factor = factors[k, column]
        for t in range(out.size):
            out[t] -= row[t] * factor


@njit(cache=True, nogil=True)
def weigh_user_factors(level: Any, weight: Any, factors: Any, values: Any) -> None:
    """Each cell's row (level, weight x factor x taste ...), in the place of its tastes, which
    stand in `values` from column 1 on."""
    for cell in range(weight.size):
        line = values[cell]
        line[0] = level[cell]
        for j in range(factors.size):
            line[1 + j] *= weight[cell] * factors[j]


@njit(cache=True, nogil=True)
def user_factor_moments(
    ptr: Any, item: Any, residual: Any, item_factors: Any, precision: Any, axes: Any, out: Any
) -> None:
    """Each person's E[tt' | her ratings] - I for t = axes'z, packed. Orthonormal axes, or
    columns of zeros.

    The packing is the upper triangle by rows with off-diagonal entries times sqrt 2, so
    that the row's L2 norm is the matrix's Frobenius norm. A person without ratings gives
    zeros.
    """
    width, columns = item_factors.shape[1], axes.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    turned = np.empty((width, columns))
    projection = np.empty(columns)
    root = np.sqrt(2.0)
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        out[person] = 0.0
        if start == end:
            continue
        solve_person(
            start,
            end,
            item,
            residual,
            item_factors,
            precision,
            axes,
            system,
            right,
            turned,
            projection,
        )
        entry = 0
        for j in range(columns):
            for k in range(j, columns):
                total = projection[j] * projection[k]
                for a in range(width):
                    total += turned[a, j] * turned[a, k]
                out[person, entry] = total - 1.0 if j == k else root * total
                entry += 1
