"""Each rating's error when it is predicted from the person's other ratings, and her taste
as those others show it.

One small Cholesky solve a person, then one triangular solve a cell; inner loops run along
rows, so they vectorise. Plain loops over one person at a time: a block's size never changes
a contribution. `tacit.model.person.gaussian` is the numpy twin and test oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _solve_upper(system: Any, right: Any) -> None:
    """In place: the upper triangle of `system` becomes U with U'U = system, and `right`
    becomes U'^-1 right."""
    width = right.size
    for k in range(width):
        pivot = np.sqrt(
            system[k, k]
        )  # the prior's identity keeps every pivot at 1 or more
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


@njit(cache=True, nogil=True)
def _person(
    first: int,
    last: int,
    item: Any,
    residual: Any,
    loadings: Any,
    precision: Any,
    axes: Any,
    system: Any,
    right: Any,
    turned: Any,
    own: Any,
) -> None:
    """One person's solve: U in `system`, U'^-1 (right side) in `right`, U'^-1 axes in
    `turned`, axes'z in `own`."""
    width, kept = loadings.shape[1], axes.shape[1]
    system[:] = 0.0
    right[:] = 0.0
    for a in range(width):
        system[a, a] = 1.0
    for cell in range(first, last):
        row = loadings[item[cell]]
        weight = precision[item[cell]]
        for a in range(width):
            scaled = weight * row[a]
            right[a] += scaled * residual[cell]
            line = system[a]
            for b in range(a, width):
                line[b] += scaled * row[b]
    _solve_upper(system, right)
    for k in range(width):  # turned = U'^-1 axes
        line = system[k]
        for j in range(kept):
            turned[k, j] = axes[k, j]
        for m in range(k):
            factor = system[m, k]
            for j in range(kept):
                turned[k, j] -= factor * turned[m, j]
        for j in range(kept):
            turned[k, j] /= line[k]
    for j in range(kept):
        own[j] = 0.0
    for k in range(width):
        for j in range(kept):
            own[j] += turned[k, j] * right[k]


@njit(cache=True, nogil=True)
def left_out_tastes(
    ptr: Any,
    item: Any,
    residual: Any,
    loadings: Any,
    precision: Any,
    axes: Any,
    error: Any,
    taste: Any,
) -> None:
    """For each cell: `error`, its residual less the prediction from the person's others;
    `taste`, axes'E[z | others].

    With C the posterior covariance and h_i = precision_i x_i'Cx_i: e_-i = (y_i - x_i'z)/(1
    - h_i) and z_-i = z - C x_i precision_i e_-i. `axes` has one column a coordinate of
    taste.
    """
    width, kept = loadings.shape[1], axes.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    work = np.empty(width)
    turned = np.empty((width, kept))
    own = np.empty(kept)
    for person in range(ptr.size - 1):
        first, last = ptr[person], ptr[person + 1]
        if first == last:
            continue
        _person(
            first,
            last,
            item,
            residual,
            loadings,
            precision,
            axes,
            system,
            right,
            turned,
            own,
        )
        for cell in range(first, last):
            row = loadings[item[cell]]
            weight = precision[item[cell]]
            for a in range(width):
                work[a] = row[a]
            centre, spread = 0.0, 0.0
            for k in range(width):
                line = system[k]
                value = work[k] / line[k]
                work[k] = value
                centre += value * right[k]
                spread += value * value
                for b in range(k + 1, width):
                    work[b] -= line[b] * value
            left = (residual[cell] - centre) / (
                1.0 - weight * spread
            )  # 1/(1 + weight x variance without it) > 0
            error[cell] = left
            line = taste[cell]
            for j in range(kept):
                line[j] = own[j]
            for k in range(width):
                factor = work[k] * weight * left
                for j in range(kept):
                    line[j] -= factor * turned[k, j]


@njit(cache=True, nogil=True)
def taste_moments(
    ptr: Any,
    item: Any,
    residual: Any,
    loadings: Any,
    precision: Any,
    axes: Any,
    out: Any,
) -> None:
    """Each person's E[tt' | her ratings] - I for t = axes'z, packed. Orthonormal axes, or
    columns of zeros.

    The packing is the upper triangle by rows with off-diagonal entries times sqrt 2, so
    that the row's L2 norm is the matrix's Frobenius norm. A person without ratings gives
    zeros.
    """
    width, kept = loadings.shape[1], axes.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    turned = np.empty((width, kept))
    own = np.empty(kept)
    root = np.sqrt(2.0)
    for person in range(ptr.size - 1):
        first, last = ptr[person], ptr[person + 1]
        out[person] = 0.0
        if first == last:
            continue
        _person(
            first,
            last,
            item,
            residual,
            loadings,
            precision,
            axes,
            system,
            right,
            turned,
            own,
        )
        place = 0
        for j in range(kept):
            for k in range(j, kept):
                total = own[j] * own[k]
                for a in range(width):
                    total += turned[a, j] * turned[a, k]
                out[person, place] = total - 1.0 if j == k else root * total
                place += 1
