"""The personal Gaussian model where ratings of one day share a shift:
`tacit.model.person.gaussian` is the numpy twin.

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
    cells: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    shared: NDArray[np.float64],
) -> tuple[float, float]:
    """P and t of the cells `cells`; s is written into `shared`."""
    day_precision, total = 0.0, 0.0
    shared[:] = 0.0
    for cell in cells:
        weight = precision[item[cell]]
        day_precision += weight
        total += weight * residual[cell]
        for a in range(len(shared)):
            shared[a] += weight * item_factors[item[cell], a]
    return day_precision, total


@njit(cache=True, nogil=True)
def predict_days(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    residual: NDArray[np.float64],
    when: NDArray[np.int64],
    item_factors: NDArray[np.float64],
    precision: NDArray[np.float64],
    per_rating: NDArray[np.float64],
    hints: NDArray[np.float64],
    shrink: float,
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
    width = item_factors.shape[1]
    system = np.empty((width, width))
    right = np.empty(width)
    work = np.empty(width)
    row = np.empty(width)
    for person in range(len(ptr) - 1):
        if query_ptr[person] == query_ptr[person + 1]:
            continue
        start, end = ptr[person], ptr[person + 1]
        gather(start, end, item, residual, item_factors, precision, system, right)
        order = start + np.argsort(when[start:end], kind="mergesort")
        starts = np.empty(end - start + 1, np.int64)
        days = 0
        for position in range(end - start):
            if position == 0 or when[order[position]] != when[order[position - 1]]:
                starts[days] = position
                days += 1
        starts[days] = end - start
        shared = np.empty((days, width))
        pull = np.empty(days)
        shift = np.empty(days)
        moment = np.empty(days, np.int64)
        shifted = 0.0
        for day_index in range(days):
            cells = order[starts[day_index] : starts[day_index + 1]]
            day_precision, total = _sum_day(
                cells, item, residual, item_factors, precision, shared[day_index]
            )
            pull[day_index] = day / (1.0 + day * day_precision)
            shift[day_index] = total
            shifted += pull[day_index] * total * total
            moment[day_index] = when[cells[0]]
            for a in range(width):
                right[a] -= pull[day_index] * shared[day_index, a] * total
                for b in range(a + 1):
                    system[a, b] -= pull[day_index] * shared[day_index, a] * shared[day_index, b]
        implied = add_hints(start, end, item, hints, shrink, right)
        for a in range(width):
            system[a, a] += 1.0 + (end - start) * per_rating[a]
        factorize(system, right)
        misfit = misfit_of(start, end, item, residual, precision, right)
        over = misfit + implied + unsure - shifted - (end - start)
        scale = 1.0 + over / (typical + (end - start))
        for cell in range(query_ptr[person], query_ptr[person + 1]):
            day_index = np.searchsorted(moment, query_when[cell])
            row[:] = item_factors[query_item[cell]]
            centre, spread = 0.0, day
            if day_index < days and moment[day_index] == query_when[cell]:
                centre, spread = pull[day_index] * shift[day_index], pull[day_index]
                for a in range(width):
                    row[a] -= pull[day_index] * shared[day_index, a]
            fitted, unknown = project(row, system, right, work)
            mean[cell] = centre + fitted
            around = scale / precision[query_item[cell]]
            variance[cell] = spread + unknown + around
