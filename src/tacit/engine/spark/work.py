"""On executors: one round over the blocks of a partition, by the kernels of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.schema import Schema
from tacit.engine.gram import BAND, Bounded, Factors
from tacit.engine.spark.keys import secret_words
from tacit.engine.spark.pack import Crowded
from tacit.engine.spark.wire import (
    BLOCK,
    FACTOR,
    FAULT,
    SUM,
    WireRow,
    batches_of,
    blocks_of,
    guarded,
    narrow,
    pack_arrays,
    rows_of,
    unpack_arrays,
)
from tacit.engine.threads import RunningSum, Threads, factors_of
from tacit.kernels.pools import one_blas_thread
from tacit.repr import shapes
from tacit.rounds.round import AnyState, Part, Round

NEEDED = ("pyarrow.compute", "tacit.engine.spark.pack", "tacit.kernels.rows")
"""Modules that take a worker a second or more to load."""
CHUNK = 1 << 19
"""Numbers of a sum in one row: 4 MB."""
BAND_BYTES = 1 << 24
"""Of a band in 64 bits, about: far below what a row of a table may have."""


@dataclass(frozen=True)
class Keys:
    """The secrets of one round: whose coin comes up, and who is in which slice."""

    __repr__ = shapes

    coin: bytes = field(repr=False)
    place: bytes = field(repr=False)


class Partition(Threads):
    """The people of one block, as the engine of one machine has them."""

    def __init__(self, block: Crowded, schema: Schema, keys: Keys) -> None:
        super().__init__(block.ratings(schema), 1)
        self._digests = block.who
        self._keys = keys
        self._personal = {name: state.copy() for name, state in block.personal.items()}

    def coins(self) -> NDArray[np.uint64]:
        """A secret word for each person and this round."""
        return secret_words(self._keys.coin, self._digests)

    def partition_words(self) -> NDArray[np.uint64]:
        """A secret word for each person, the same through the run."""
        return secret_words(self._keys.place, self._digests)

    def sums(
        self, round_: Round, state: AnyState, factors: Mapping[str, Factors]
    ) -> dict[str, RunningSum]:
        """The exact sums of these people; the rows of Gram parts go to `factors`."""
        self._make_room(round_)
        return self._sum(round_, state, factors)

    @property
    def personal_state(self) -> dict[str, NDArray[np.float64]]:
        """State of these people that is never sent to the driver."""
        return self._personal


@dataclass(frozen=True)
class PartitionWork:
    """Blocks in; out come sums over the partition, the bounded rows of Gram parts, and blocks
    whose people keep something new."""

    __repr__ = shapes

    round_: Round
    state: AnyState
    schema: Schema
    n_items: int
    keys: Keys

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Contribute, clip and sum the people of a partition; yields rows of `wire.ROW`."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        totals: dict[str, RunningSum] = {}
        faults: list[WireRow] = []
        # Each core of an executor has a task of its own.
        with one_blas_thread():
            for row in blocks_of(batches, faults):
                yield from self._block(Crowded.read(row.data), totals)
        yield from faults
        part_index = {part.name: at for at, part in enumerate(self.round_.parts)}
        for name, total in totals.items():
            yield from pieces(part_index[name], total.whole)

    def _block(self, block: Crowded, totals: dict[str, RunningSum]) -> Iterator[WireRow]:
        """One block: added to the sums of its partition."""
        people = Partition(block, self.schema, self.keys)
        # A few people of each partition are computed once more, alone.
        people.watched = not totals
        factors = factors_of(self.round_)
        for name, total in people.sums(self.round_, self.state, factors).items():
            if name in totals:
                totals[name].merge(total)
            else:
                totals[name] = total
        for at, part in enumerate(self.round_.parts):
            if part.name in factors:
                for rows in factors[part.name].take():
                    yield WireRow(FACTOR, at, 0, pack_arrays(rows._asdict()))
        if self.round_.personal:
            updated = replace(block, personal=people.personal_state)
            yield WireRow(BLOCK, 0, 0, updated.write(self.n_items))


@dataclass(frozen=True)
class InTurn:
    """Two tasks in one: what the first makes never leaves its worker."""

    __repr__ = shapes

    first: Any
    then: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Both steps, the second on the rows of the first."""
        rows: Iterator[Any] = self.then(self.first(batches))
        return rows


@dataclass(frozen=True)
class Awake:
    """Makes a worker load what it will need: part of the start of a session."""

    __repr__ = shapes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same rows, after the imports."""
        from importlib import import_module

        for name in NEEDED:
            import_module(name)
        return batches


@dataclass(frozen=True)
class Limit:
    """Blocks with at most so many ratings of a person."""

    __repr__ = shapes

    most: int
    key: bytes = field(repr=False)
    n_items: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Apply the rating limit to a partition; yields rows of `wire.ROW`."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        faults: list[WireRow] = []
        for row in blocks_of(batches, faults):
            block = Crowded.read(row.data).limited(self.most, self.key)
            yield WireRow(BLOCK, 0, 0, block.write(self.n_items))
        yield from faults


def pieces(part: int, sums: NDArray[np.int64]) -> Iterator[WireRow]:
    """A sum in rows of at most `CHUNK` numbers."""
    flat = sums.reshape(-1)
    for start in range(0, len(flat), CHUNK):
        piece = flat[start : start + CHUNK]
        yield WireRow(SUM, part, start, piece.tobytes())


# On executors: an item-item matrix band by band, so that nobody holds all of it in 64 bits.
#
# First each task sums the products of its own people, one band of rows after the other; then
# the bands of all tasks come together, and each is added up by itself.


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
