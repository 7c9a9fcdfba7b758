"""What a person's ratings say of her tastes, beside what her choice of items may say of them.

Plain loops over one person at a time, so a block changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit
from tacit.kernels.left_out import solve_person
from tacit.kernels.personal import add_hints, factorize, gather, project


@njit(cache=True, nogil=True)
def implicit_products(
    ptr: Any,
    item: Any,
    residual: Any,
    item_factors: Any,
    precision: Any,
    axes: Any,
    leaning: Any,
    size: float,
    shrink: float,
    squares: float,
    scale: float,
    out: Any,
) -> None:
    """Each person's h s', then `squares` times hh' packed, all times `scale`. s = axes'E[z | her
    ratings], h the sum of the rows `leaning` of her items, times `size`, over their number and
    `shrink`.

    The packing is the upper triangle by rows with off-diagonal entries times sqrt 2, so that
    its L2 norm is the matrix's Frobenius norm. A person without ratings gives zeros.
    """
    width, columns = item_factors.shape[1], axes.shape[1]
    directions = leaning.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    turned = np.empty((width, columns))
    projection = np.empty(columns)
    lean = np.empty(directions)
    root = np.sqrt(2.0)
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        if start == end:
            out[person] = 0.0
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
        lean[:] = 0.0
        for cell in range(start, end):
            row = leaning[item[cell]]
            for k in range(directions):
                lean[k] += row[k]
        share = size / (end - start + shrink)
        for k in range(directions):
            lean[k] *= share
        line = out[person]
        for k in range(directions):
            for j in range(columns):
                line[k * columns + j] = lean[k] * projection[j] * scale
        entry = directions * columns
        for j in range(directions):
            packed = line[entry : entry + directions - j]
            factor = squares * lean[j]
            packed[0] = factor * lean[j] * scale
            for k in range(1, directions - j):
                packed[k] = root * (factor * lean[j + k]) * scale
            entry += directions - j


@njit(cache=True, nogil=True)
def implicit_popularity_slope(
    ptr: Any,
    item: Any,
    residual: Any,
    item_factors: Any,
    precision: Any,
    hints: Any,
    shrink: float,
    limit: int,
    out: Any,
) -> None:
    """Each person's m'E[z | her ratings] and m'Rm: m is what her choice of items implies
    (`add_hints`), R how much of her taste her ratings show. Without ratings, zeros.

    For the first, no rating is held against its own item, whose effect it has moved: that
    would be believed where items and people have few ratings. At most `limit` of her ratings,
    evenly spaced, stand for all of them in what is taken off.
    """
    width = item_factors.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    work = np.empty(width)
    held = np.empty(width)
    mean = np.empty(width)
    for person in range(ptr.size - 1):
        start, end = ptr[person], ptr[person + 1]
        out[person] = 0.0
        if start == end:
            continue
        gather(start, end, item, residual, item_factors, precision, system, right)
        for a in range(width):
            system[a, a] += 1.0
        factorize(system, right)
        mean[:] = 0.0
        mean_square = add_hints(start, end, item, hints, shrink, mean)
        agreed, unknown = project(mean, system, right, work)
        # Less what a rating says through its own item alone.
        self_product = 0.0
        used = min(end - start, limit)
        for j in range(used):
            cell = start + (j * (end - start)) // used
            project(hints[item[cell]], system, right, work)
            held[:] = work
            project(item_factors[item[cell]], system, right, work)
            along = 0.0
            for a in range(width):
                along += held[a] * work[a]
            self_product += precision[item[cell]] * residual[cell] * along
        agreed -= self_product / used * (end - start) / (end - start + shrink)
        out[person, 0] = agreed
        out[person, 1] = mean_square - unknown
