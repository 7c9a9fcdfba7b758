"""The personal Gaussian model where ratings of one day share a shift:
`tacit.model.person.days` is the numpy twin.

The shift of a day is N(0, day) and is integrated out. With P the sum of precisions over a
day's cells, s that of precision x loading, t that of precision x residual, and c = day / (1
+ day P), a person's system loses c s s' and its right-hand side c s t for each of her days.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.kernels.personal import add_hints, factorize, gather, misfit_of, project


@njit(cache=True, nogil=True)
def _sum_day(
    chosen: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    loadings: NDArray[np.float64],
    precision: NDArray[np.float64],
    shared: NDArray[np.float64],
) -> tuple[float, float]:
    """P and t of the cells `chosen`; s is written into `shared`."""
    whole, total = 0.0, 0.0
    shared[:] = 0.0
    for cell in chosen:
        weight = precision[item[cell]]
        whole += weight
        total += weight * residual[cell]
        for a in range(len(shared)):
            shared[a] += weight * loadings[item[cell], a]
    return whole, total


@njit(cache=True, nogil=True)
def predict_days(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    when: NDArray[np.int64],
    loadings: NDArray[np.float64],
    precision: NDArray[np.float64],
    per_rating: NDArray[np.float64],
    hints: NDArray[np.float64],
    more: float,
    day: float,
    typical: float,
    unsure: float,
    query_ptr: NDArray[np.int64],
    query_item: NDArray[np.uint32],
    query_when: NDArray[np.int64],
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> None:
    """As `predict_block`, each query on its own day `query_when`; the variance holds that
    of the day's shift, which is everybody's."""
    width = loadings.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    work = np.empty(width)
    row = np.empty(width)
    for person in range(len(ptr) - 1):
        if query_ptr[person] == query_ptr[person + 1]:
            continue
        first, last = ptr[person], ptr[person + 1]
        gather(first, last, item, residual, loadings, precision, system, right)
        order = first + np.argsort(when[first:last], kind="mergesort")
        starts = np.empty(last - first + 1, np.int64)
        days = 0
        for place in range(last - first):
            if place == 0 or when[order[place]] != when[order[place - 1]]:
                starts[days] = place
                days += 1
        starts[days] = last - first
        shared = np.empty((days, width))
        pull = np.empty(days)
        shift = np.empty(days)
        moment = np.empty(days, np.int64)
        shifted = 0.0
        for one in range(days):
            chosen = order[starts[one] : starts[one + 1]]
            whole, total = _sum_day(chosen, item, residual, loadings, precision, shared[one])
            pull[one] = day / (1.0 + day * whole)
            shift[one] = total
            shifted += pull[one] * total * total
            moment[one] = when[chosen[0]]
            for a in range(width):
                right[a] -= pull[one] * shared[one, a] * total
                for b in range(a + 1):
                    system[a, b] -= pull[one] * shared[one, a] * shared[one, b]
        implied = add_hints(first, last, item, hints, more, right)
        for a in range(width):
            system[a, a] += 1.0 + (last - first) * per_rating[a]
        factorize(system, right)
        misfit = misfit_of(first, last, item, residual, precision, right)
        over = misfit + implied + unsure - shifted - (last - first)
        scale = 1.0 + over / (typical + (last - first))
        for cell in range(query_ptr[person], query_ptr[person + 1]):
            one = np.searchsorted(moment, query_when[cell])
            row[:] = loadings[query_item[cell]]
            centre, spread = 0.0, day
            if one < days and moment[one] == query_when[cell]:
                centre, spread = pull[one] * shift[one], pull[one]
                for a in range(width):
                    row[a] -= pull[one] * shared[one, a]
            fitted, unknown = project(row, system, right, work)
            mean[cell] = centre + fitted
            around = scale / precision[query_item[cell]]
            variance[cell] = spread + unknown + around
