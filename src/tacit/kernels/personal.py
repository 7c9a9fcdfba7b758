"""The personal Gaussian model for a block of people: one small Cholesky solve a person,
plain loops only.

A rating's residual is y_ui = x_i'z_u + e_ui with z_u ~ N(0, I) and e_ui ~ N(0,
1/precision_i). `tacit.model.person.gaussian` is the numpy twin of this kernel and its test
oracle. `gather`, `factorize` and `project` are the three steps of a solve, for kernels that
do something else between them. Under a model of absurd size a pivot or what is left of a cell
may round to nothing: then a person's numbers are infinite or NaN, and count as nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.als import Floats, column_space, products_of, whole_tiles
from tacit.kernels.compiled import njit

LANES = 32
"""Systems that are solved side by side."""


@njit(cache=True, nogil=True, inline="always")
def gather(
    start: int,
    end: int,
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    gram: NDArray[np.float64],
    right: NDArray[np.float64],
) -> None:
    """Lower triangle of sum x x'/variance, and sum x y/variance, over one person's cells."""
    width = item_factors.shape[1]
    for a in range(width):
        right[a] = 0.0
        for b in range(a + 1):
            gram[a, b] = 0.0
    for cell in range(start, end):
        row = item_factors[item[cell]]
        weight = precision[item[cell]]
        for a in range(width):
            scaled = weight * row[a]
            right[a] += scaled * residual[cell]
            for b in range(a + 1):
                gram[a, b] += scaled * row[b]


@njit(cache=True, nogil=True)
def add_hints(
    start: int,
    end: int,
    item: NDArray[np.uint32],
    hints: NDArray[np.float64],
    shrink: float,
    right: NDArray[np.float64],
) -> float:
    """Add what a person's choice of items implies, the sum of their rows of `hints` over their
    number and `shrink`, to her right side; its squared length. `hints` has no columns where
    nothing is implied."""
    if not hints.shape[1]:
        return 0.0
    mean = np.zeros(hints.shape[1])
    for cell in range(start, end):
        row = hints[item[cell]]
        for a in range(len(mean)):
            mean[a] += row[a]
    total = 0.0
    for a in range(len(mean)):
        value = mean[a] / (end - start + shrink)
        right[a] += value
        total += value * value
    return total


@njit(cache=True, nogil=True)
def gather_columns(
    start: int,
    end: int,
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    root: NDArray[np.float64],
    space: Floats,
    products: Floats,
    gram: NDArray[np.float64],
    right: NDArray[np.float64],
) -> None:
    """`gather` by products of columns, several times as fast: for answers to many people,
    whose sums need not have the bits of a fit's. `root` is the root of the precision."""
    width = item_factors.shape[1]
    count = end - start
    padded = products.shape[0]
    filled = whole_tiles(count)
    rows = space[: padded * filled].reshape((padded, filled))
    rows[width + 1 :] = 0.0
    rows[: width + 1, count:] = 0.0
    for cell in range(count):
        source = item_factors[item[start + cell]]
        scale = root[item[start + cell]]
        for a in range(width):
            rows[a, cell] = scale * source[a]
        rows[width, cell] = scale * residual[start + cell]
    products_of(rows, products)
    for a in range(width):
        right[a] = products[a, width]
        for b in range(a + 1):
            gram[a, b] = products[b, a]


@njit(cache=True, nogil=True, inline="always")
def factorize(system: NDArray[np.float64], right: NDArray[np.float64]) -> None:
    """In place: system = L L' (its lower triangle becomes L) and right becomes L^-1 right."""
    width = len(right)
    for a in range(width):
        for b in range(a + 1):
            total = system[a, b]
            for k in range(b):
                total -= system[a, k] * system[b, k]
            if a == b:
                # The prior's identity keeps every pivot at 1 or more.
                system[a, a] = np.sqrt(total)
            else:
                system[a, b] = total / system[b, b]
        total = right[a]
        for k in range(a):
            total -= system[a, k] * right[k]
        right[a] = total / system[a, a]


@njit(cache=True, nogil=True)
def solve_columns(
    start: int,
    end: int,
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    root: NDArray[np.float64],
    per_rating: NDArray[np.float64],
    hints: NDArray[np.float64],
    shrink: float,
    space: Floats,
    products: Floats,
    system: NDArray[np.float64],
    right: NDArray[np.float64],
) -> float:
    """`gather_columns`, the prior and `factorize` for one person; the squared length of what
    is implied. `per_rating` is precision that a rating adds to each column, telling nothing of
    it; `hints` and `shrink` as in `add_hints`."""
    gather_columns(start, end, item, residual, item_factors, root, space, products, system, right)
    implied: float = add_hints(start, end, item, hints, shrink, right)
    count = end - start
    for a in range(len(right)):
        system[a, a] += 1.0 + count * per_rating[a]
    factorize(system, right)
    return implied


@njit(cache=True, nogil=True, inline="always")
def project(
    row: NDArray[np.float64],
    factor: NDArray[np.float64],
    solved: NDArray[np.float64],
    work: NDArray[np.float64],
) -> tuple[float, float]:
    """Mean and variance of row'z: with v = L^-1 row they are v'(L^-1 right) and v'v,
    without back substitution."""
    centre, spread = 0.0, 0.0
    for a in range(len(row)):
        total = row[a]
        for k in range(a):
            total -= factor[a, k] * work[k]
        work[a] = total / factor[a, a]
        centre += work[a] * solved[a]
        spread += work[a] * work[a]
    return centre, spread


@njit(cache=True, nogil=True)
def misfit_of(
    start: int,
    end: int,
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    precision: NDArray[np.float64],
    solved: NDArray[np.float64],
) -> float:
    """y'V^-1 y of one person's residuals y, V their covariance with z integrated out: what
    `factorize` has solved is taken off the sum of precision x y^2."""
    total = 0.0
    for cell in range(start, end):
        total += precision[item[cell]] * residual[cell] ** 2
    for a in range(len(solved)):
        total -= solved[a] * solved[a]
    return total


@njit(cache=True, nogil=True)
def predict_block(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    per_rating: NDArray[np.float64],
    hints: NDArray[np.float64],
    shrink: float,
    query_ptr: NDArray[np.int64],
    query_item: NDArray[np.uint32],
    typical: float,
    unsure: float,
    start: int,
    stop: int,
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> None:
    """Write x_i'E[z_u] and the variance of a rating around it for the queries of people
    `start` to `stop`, each person alone. `typical`, `unsure`: `tacit.model.person.gaussian`."""
    width = item_factors.shape[1]
    root = np.sqrt(precision)
    space, products = column_space(ptr, start, stop, item_factors)
    system = np.empty((width, width))
    right = np.empty(width)
    work = np.empty(width)
    for person in range(start, stop):
        if query_ptr[person] == query_ptr[person + 1]:
            continue
        implied = solve_columns(
            ptr[person],
            ptr[person + 1],
            item,
            residual,
            item_factors,
            root,
            per_rating,
            hints,
            shrink,
            space,
            products,
            system,
            right,
        )
        begin, end = ptr[person], ptr[person + 1]
        # As `misfit_of`: the first sum stands among the products already.
        misfit = products[width, width] + implied
        for a in range(width):
            misfit -= right[a] * right[a]
        over = misfit + unsure - (end - begin)
        scale = 1.0 + over / (typical + (end - begin))
        for cell in range(query_ptr[person], query_ptr[person + 1]):
            target = query_item[cell]
            mean[cell], spread = project(item_factors[target], system, right, work)
            variance[cell] = spread + scale / precision[target]


@njit(cache=True, nogil=True)
def left_out_block(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    scales: NDArray[np.float64],
    pull: NDArray[np.float64],
    weight: NDArray[np.float64],
    limit: int,
    start: int,
    stop: int,
    loss: NDArray[np.float64],
    reach: float,
    covered: NDArray[np.float64],
) -> None:
    """Mean squared left-out error of each person under each row of `scales` (multipliers of
    the loadings' columns).

    Cell i is predicted from the person's other ratings by the leverage formula e_i / (1 -
    h_i), for at most `limit` cells, evenly spaced in the row. The rating has also moved its
    item's public effect, by about pull_i x weight_u of itself: that is taken back likewise.
    `covered` gets the share of these cells whose error under candidate 0 is below `reach`
    of its own standard deviations.

    Every candidate of a person has a lane of its own, and a few people are taken together, so
    that lanes vectorise. A lane has the operations of a lone one in their order.
    """
    width, candidates = item_factors.shape[1], scales.shape[0]
    together = max(1, LANES // candidates)
    lanes = max(LANES, candidates)
    scale = np.zeros((width, lanes))  # empty lanes have the prior alone
    for lane in range(together * candidates):
        for a in range(width):
            scale[a, lane] = scales[lane % candidates, a]
    gram = np.empty((width, width))
    total = np.empty(width)
    system = np.zeros((width * width, lanes))
    right = np.zeros((width, lanes))
    work = np.zeros((width, lanes))
    centre, spread = np.empty(lanes), np.empty(lanes)
    for group in range(start, stop, together):
        size = min(together, stop - group)
        most = 0
        for position in range(size):
            first, last = ptr[group + position], ptr[group + position + 1]
            most = max(most, min(last - first, limit))
            covered[group + position] = 0.0
            loss[group + position, :] = 0.0
            gather(first, last, item, residual, item_factors, precision, gram, total)
            begin = position * candidates
            for a in range(width):
                for lane in range(begin, begin + candidates):
                    right[a, lane] = scale[a, lane] * total[a]
                for b in range(a + 1):
                    for lane in range(begin, begin + candidates):
                        value = scale[a, lane] * scale[b, lane] * gram[a, b]
                        system[a * width + b, lane] = value
        _factorize_lanes(system, right)
        for j in range(most):
            for position in range(size):
                first = ptr[group + position]
                count = ptr[group + position + 1] - first
                used = min(count, limit)
                if j < used:
                    row = item_factors[item[first + (j * count) // used]]
                    begin = position * candidates
                    for a in range(width):
                        for lane in range(begin, begin + candidates):
                            work[a, lane] = scale[a, lane] * row[a]
            _project_lanes(system, right, work, centre, spread)
            for position in range(size):
                person = group + position
                first, count = ptr[person], ptr[person + 1] - ptr[person]
                used = min(count, limit)
                if j >= used:
                    continue
                cell = first + (j * count) // used
                certainty = precision[item[cell]]
                pulled = 1.0 - min(pull[item[cell]] * weight[person], 0.9)
                for candidate in range(candidates):
                    lane = position * candidates + candidate
                    # 1 / (1 + certainty x variance without this cell): never 0.
                    remaining = 1.0 - certainty * spread[lane]
                    error = (residual[cell] - centre[lane]) / (remaining * pulled)
                    loss[person, candidate] += error * error / used
                    if candidate == 0 and error * error * certainty * remaining < reach * reach:
                        covered[person] += 1.0 / used


@njit(cache=True, nogil=True)
def _factorize_lanes(system: NDArray[np.float64], right: NDArray[np.float64]) -> None:
    """`factorize` in every lane, of I + the matrix whose lower triangle `system` has, an entry a
    row."""
    width, lanes = right.shape
    for a in range(width):
        diagonal = a * width + a
        for lane in range(lanes):
            system[diagonal, lane] += 1.0
        for b in range(a):
            for k in range(b):
                _less_lanes(system, a * width + b, system, a * width + k, system, b * width + k)
            for lane in range(lanes):
                system[a * width + b, lane] /= system[b * width + b, lane]
        for k in range(a):
            _less_lanes(system, diagonal, system, a * width + k, system, a * width + k)
        for lane in range(lanes):
            # The prior's identity keeps every pivot at 1 or more.
            system[diagonal, lane] = np.sqrt(system[diagonal, lane])
        for k in range(a):
            _less_lanes(right, a, system, a * width + k, right, k)
        for lane in range(lanes):
            right[a, lane] /= system[diagonal, lane]


@njit(cache=True, nogil=True)
def _project_lanes(
    factor: NDArray[np.float64],
    solved: NDArray[np.float64],
    work: NDArray[np.float64],
    centre: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """`project` in every lane, of the rows in `work`, which are overwritten."""
    width, lanes = work.shape
    centre[:] = 0.0
    spread[:] = 0.0
    for a in range(width):
        for k in range(a):
            _less_lanes(work, a, factor, a * width + k, work, k)
        for lane in range(lanes):
            value = work[a, lane] / factor[a * width + a, lane]
            work[a, lane] = value
            centre[lane] += value * solved[a, lane]
            spread[lane] += value * value


@njit(cache=True, nogil=True)
def _less_lanes(
    out: NDArray[np.float64],
    row: int,
    one: NDArray[np.float64],
    i: int,
    other: NDArray[np.float64],
    j: int,
) -> None:
    """Take a product from a row, lane by lane."""
    for lane in range(out.shape[1]):
        out[row, lane] -= one[i, lane] * other[j, lane]


@njit(cache=True, nogil=True)
def posterior_means(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    per_rating: NDArray[np.float64],
    hints: NDArray[np.float64],
    shrink: float,
    means: NDArray[np.float64],
) -> None:
    """Write E[z_u] of every person of a block, each alone."""
    width = item_factors.shape[1]
    root = np.sqrt(precision)
    space, products = column_space(ptr, 0, len(ptr) - 1, item_factors)
    system = np.empty((width, width))
    right = np.empty(width)
    for person in range(len(ptr) - 1):
        solve_columns(
            ptr[person],
            ptr[person + 1],
            item,
            residual,
            item_factors,
            root,
            per_rating,
            hints,
            shrink,
            space,
            products,
            system,
            right,
        )
        mean = means[person]
        for a in range(width - 1, -1, -1):
            total = right[a]
            for k in range(a + 1, width):
                total -= system[k, a] * mean[k]
            mean[a] = total / system[a, a]
