"""On executors: an item-item matrix band by band, so that nobody holds all of it in 64 bits.

First each task sums the products of its own people, one band of rows after the other; then
the bands of all tasks come together, and each is added up by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.engine.gram import BAND, Bounded, Factors
from tacit.engine.spark.wire import (
    FACTOR,
    FAULT,
    SUM,
    WireRow,
    batches_of,
    guarded,
    narrow,
    pack_arrays,
    rows_of,
    unpack_arrays,
)
from tacit.repr import shapes
from tacit.rounds.round import Part

BAND_BYTES = 1 << 24
"""Of a band in 64 bits, about: far below what a row of a table may have."""


def rows_of_band(size: int) -> int:
    """Rows of the matrix in one band: as many as the engine of one machine noises at a
    time, or some times as many."""
    return max(1, BAND_BYTES // (8 * size * BAND)) * BAND


def upper(sums: NDArray[np.int64], first_row: int) -> NDArray[np.int64]:
    """Rows `first_row`.. of a matrix without the columns that are all below the diagonal."""
    return sums[:, first_row:]


@dataclass(frozen=True)
class Products:
    """Bounded rows of one Gram part in; out come the bands of their sum of products."""

    __repr__ = shapes

    part: Part
    place: int
    """Of the part in its round."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows of `wire.ROW`; `place` is the first row of a band."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        factors = Factors(self.part)
        has_factors = False
        for row in rows_of(batches):
            if row.kind == FACTOR and row.part == self.place:
                factors.put(Bounded(**unpack_arrays(row.data)))
                has_factors = True
            elif row.kind == FAULT:
                yield row
        if not has_factors:
            return
        size = self.part.size
        band_sums = factors.bands()
        step = rows_of_band(size)
        for first_row in range(0, size, step):
            sums = band_sums(first_row, min(first_row + step, size))
            data = pack_arrays({"sums": narrow(upper(sums, first_row))})
            yield WireRow(SUM, self.place, first_row, data)


@dataclass(frozen=True)
class AddBands:
    """Bands of several tasks in; out comes each band once."""

    __repr__ = shapes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Sum the bands of each place; yields rows of `wire.ROW`."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        totals: dict[int, NDArray[np.int64]] = {}
        for row in rows_of(batches):
            if row.kind != SUM:
                yield row
                continue
            sums = unpack_arrays(row.data)["sums"]
            if row.place in totals:
                totals[row.place] += sums
            else:
                totals[row.place] = sums.astype(np.int64)
        for first_row, total in totals.items():
            yield WireRow(SUM, 0, first_row, pack_arrays({"sums": narrow(total)}))
