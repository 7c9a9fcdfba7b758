"""One pass over people for `tacit.methods.noiseless.variational`: everybody's taste from the
items, and what the tastes say about the items.

Each person is one small Cholesky solve. Symmetric matrices are packed: the upper triangle,
row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit


@njit(cache=True, nogil=True)
def _invert(system: Any, work: Any) -> None:
    """In place: the whole inverse of a matrix that is given by its upper triangle."""
    width = len(system)
    for k in range(width):
        # The prior's identity keeps every pivot at 1 or more.
        pivot = np.sqrt(system[k, k])
        line = system[k]
        for b in range(k, width):
            line[b] /= pivot
        for a in range(k + 1, width):
            factor = line[a]
            below = system[a]
            for b in range(a, width):
                below[b] -= factor * line[b]
    work[:] = 0.0
    for a in range(width - 1, -1, -1):
        line = work[a]
        line[a] = 1.0
        for k in range(a + 1, width):
            factor = system[a, k]
            row = work[k]
            for b in range(k, width):
                line[b] -= factor * row[b]
        pivot = system[a, a]
        for b in range(a, width):
            line[b] /= pivot
    for a in range(width):
        for k in range(a, width):
            total = 0.0
            for b in range(k, width):
                total += work[a, b] * work[k, b]
            system[a, k] = total
            system[k, a] = total


@njit(cache=True, nogil=True)
def pass_people(
    ptr: Any,
    item: Any,
    value: Any,
    mean: Any,
    second: Any,
    precision: float,
    start: int,
    stop: int,
    prior_mean: Any,
    user_factors: Any,
    grams: Any,
    rights: Any,
    moment: Any,
) -> None:
    """For people `start` to `stop`: add E[tt'] and value x E[t] to the rows of their items,
    t = (1, taste), and E[dd'] of d = taste - `prior_mean` to `moment` (its upper triangle).

    `mean` has a row v_i = (effect, loadings) for each item and `second` the packed E[vv'].
    A rating is v_i't with noise of 1/`precision`; before any rating the taste of person u is
    N(begin_u, I). Her expected taste is written into `user_factors`.
    """
    wide = mean.shape[1]
    width = wide - 1
    size = second.shape[1]
    system = np.empty((width, width))
    work = np.empty((width, width))
    right = np.empty(width)
    total = np.empty(size)
    statistics = np.empty(size)
    for person in range(start, stop):
        begin, end = ptr[person], ptr[person + 1]
        if begin == end:
            continue
        total[:] = 0.0
        right[:] = 0.0
        for cell in range(begin, end):
            line = second[item[cell]]
            for j in range(size):
                total[j] += line[j]
            row = mean[item[cell]]
            for a in range(width):
                right[a] += value[cell] * row[a + 1]
        entry = wide
        for a in range(width):
            right[a] = precision * (right[a] - total[a + 1]) + prior_mean[person, a]
            for b in range(a, width):
                system[a, b] = precision * total[entry]
                entry += 1
            system[a, a] += 1.0
        _invert(system, work)
        statistics[0] = 1.0
        for a in range(width):
            taste = 0.0
            for b in range(width):
                taste += system[a, b] * right[b]
            statistics[a + 1] = taste
            user_factors[person, a] = taste
        entry = wide
        for a in range(width):
            for b in range(a, width):
                statistics[entry] = system[a, b] + statistics[a + 1] * statistics[b + 1]
                deviation = statistics[a + 1] - prior_mean[person, a]
                deviation *= statistics[b + 1] - prior_mean[person, b]
                moment[a, b] += system[a, b] + deviation
                entry += 1
        for cell in range(begin, end):
            line = grams[item[cell]]
            for j in range(size):
                line[j] += statistics[j]
            row = rights[item[cell]]
            for a in range(wide):
                row[a] += value[cell] * statistics[a]
