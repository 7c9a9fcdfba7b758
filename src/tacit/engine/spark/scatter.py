"""On executors: rows on their way to where people are brought together, many in one piece.

Spark moves, encrypts and sorts a table row by row. Here a task codes its rows, puts those of
one partition side by side, and hands them on as one row of bytes; where they arrive they are
sorted by person once.

Guarantee: where a row goes is a function of its person's id, the same on every machine and in
every attempt of a task. Who is in two partitions would be bounded twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from tacit.engine.spark.code import Code
from tacit.engine.spark.wire import CODED, WireRow, batches_of, guarded, raise_fault, rows_of
from tacit.repr import shapes

HELD = 1 << 20
"""Rows that a task holds before it hands them on: about 20 MB."""
ROUND = 1 << 17
"""Rows of sorted people in one batch: half of a block."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number near 2^64 divided by the golden ratio: its products with ids that follow each
other have upper bits that do not."""
UPPER = np.uint64(40)
"""Bits that are dropped of such a product."""
VALUE_BITS = 8
"""Of a word that holds a whole rating: such words are sorted at once and half as long as rows."""
ITEM_BITS = 20
"""Of its item's place."""
USER_BITS = 36
"""Of its person's id."""
TABLE, WORDS = 0, 1
"""What the bytes of a coded row are: an Arrow table, or such words."""
HASH_SEED = 42
"""Of Spark's own hash."""
WORD = 0xFFFFFFFF
PARTS = 4
"""Of a point."""
MOST = 255
"""Quarters in a byte."""


@dataclass(frozen=True)
class Scatter:
    """Rows as they were read; out come rows of bytes, each with the place that Spark's hash
    sends to its partition."""

    __repr__ = shapes

    code: Code
    places: tuple[int, ...]
    """One for each partition."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Send each cell to the partition of its person; yields rows of `wire.ROW`."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        held: list[Any] = []
        count = 0
        for batch in self.code(batches):
            held.append(batch)
            count += batch.num_rows
            if count >= HELD:
                yield from self._rows_by_partition(held)
                held, count = [], 0
        if held:
            yield from self._rows_by_partition(held)

    def _rows_by_partition(self, held: list[Any]) -> Iterator[WireRow]:
        import pyarrow as pa

        table = pa.Table.from_batches(held).combine_chunks()
        to = partition_of(table.column("user"), len(self.places))
        order = np.argsort(to, kind="stable")
        words = None if self.code.timed else words_of(table)
        if words is not None:
            words = words[order]
        else:
            table = table.take(pa.array(order))
        ends = np.bincount(to, minlength=len(self.places)).cumsum()
        start = 0
        for partition_key, end in zip(self.places, ends.tolist(), strict=True):
            if end == start:
                continue
            if words is not None:
                data = words[start:end].tobytes()
                yield WireRow(CODED, WORDS, partition_key, data)
            else:
                piece = _bytes_of(table.slice(start, end - start))
                yield WireRow(CODED, TABLE, partition_key, piece)
            start = end


def partition_of(users: Any, partitions: int) -> NDArray[Any]:
    """Where the rows of each person go; rows that stand for a fault go to the first."""
    import pyarrow as pa

    if pa.types.is_integer(users.type):
        ids = users.fill_null(0).to_numpy().astype(np.uint64)
        mixed = (ids * MIX) >> UPPER
    else:
        # Python's own hash differs between processes, Arrow's between machines.
        encoded = users.combine_chunks().dictionary_encode()
        names = encoded.dictionary.to_pylist()
        hashes = np.array([crc32(name.encode()) for name in names], np.uint64)
        hashes = np.append(hashes, np.uint64(0))
        mixed = hashes[encoded.indices.fill_null(len(names)).to_numpy()]
    # Short numbers are sorted by counting.
    small = np.uint16 if partitions < 1 << 16 else np.uint32
    partition: NDArray[Any] = (mixed % np.uint64(partitions)).astype(small)
    return partition


def words_of(table: Any) -> NDArray[np.uint64] | None:
    """Each rating in one word: who, what, how much, from the upper bits down. None where they
    do not fit: ids that are text or large, faults, values between quarters."""
    import pyarrow as pa

    users = table.column("user")
    if not pa.types.is_integer(users.type) or users.null_count:
        return None
    user = users.to_numpy()
    item = table.column("item").to_numpy()
    value = in_quarters(table.column("value").to_numpy())
    if value is None:
        return None
    if not (_within(user, USER_BITS) and _within(item, ITEM_BITS)):
        return None
    word: NDArray[np.uint64] = user.astype(np.uint64) << np.uint64(ITEM_BITS)
    word |= item.astype(np.uint64)
    word <<= np.uint64(VALUE_BITS)
    word |= value
    return word


def _within(numbers: NDArray[Any], bits: int) -> bool:
    return bool(numbers.min() >= 0 and int(numbers.max()) < 1 << bits)


def table_of(words: NDArray[np.uint64]) -> Any:
    """Inverse of `words_of`: a table of cells."""
    import pyarrow as pa

    rated = words >> np.uint64(VALUE_BITS)
    item = rated & np.uint64((1 << ITEM_BITS) - 1)
    user = rated >> np.uint64(ITEM_BITS)
    return pa.table(
        {
            "user": pa.array(user.astype(np.int64)),
            "item": pa.array(item.astype(np.int32)),
            "value": pa.array(of_quarters(words.astype(np.uint8))),
            "time": pa.array(np.zeros(len(words), np.int64)),
        }
    )


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """All coded rows of a partition, in the order of people."""
    import pyarrow as pa

    words: list[NDArray[np.uint64]] = []
    tables: list[Any] = []
    for row in rows_of(batches):
        raise_fault(row)
        if row.part == WORDS:
            words.append(np.frombuffer(row.data, np.uint64))
        else:
            tables.append(pa.ipc.open_stream(row.data).read_all())
    if words:
        all_words = np.concatenate(words)
        words.clear()
        all_words.sort()
        if not tables:
            for start in range(0, len(all_words), ROUND):
                table = table_of(all_words[start : start + ROUND])
                yield from table.to_batches()
            return
        tables.append(table_of(all_words))
    if tables:
        yield from _sorted(pa.concat_tables(tables))


def _sorted(table: Any) -> Iterator[Any]:
    import pyarrow.compute as pc

    order = pc.sort_indices(table.column("user"))
    sorted_table = table.take(order).combine_chunks()
    yield from sorted_table.to_batches(max_chunksize=ROUND)


def places_for(partitions: int) -> tuple[int, ...]:
    """For each partition a number that Spark's hash sends there, so that all are as full."""
    keys: dict[int, int] = {}
    number = 0
    while len(keys) < partitions:
        keys.setdefault(_murmur(number) % partitions, number)
        number += 1
    return tuple(keys[partition] for partition in range(partitions))


def _bytes_of(table: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _murmur(number: int) -> int:
    """Spark's hash of a long: Murmur3 of its two halves, as a signed number."""
    state = HASH_SEED
    for half in (number & WORD, number >> 32 & WORD):
        mixed = half * 0xCC9E2D51 & WORD
        mixed = _turned(mixed, 15) * 0x1B873593 & WORD
        state = (_turned(state ^ mixed, 13) * 5 + 0xE6546B64) & WORD
    state ^= 8  # bytes
    state = (state ^ state >> 16) * 0x85EBCA6B & WORD
    state = (state ^ state >> 13) * 0xC2B2AE35 & WORD
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & WORD


# Ratings coded in one byte as quarters of a point, which fits nearly all scales.


def in_quarters(value: NDArray[np.float32]) -> NDArray[np.uint8] | None:
    """The ratings as counted quarters; None where one of them is none, or too large."""
    scaled = value * np.float32(PARTS)
    if not len(scaled):
        return scaled.astype(np.uint8)
    if not (scaled.min() >= 0 and scaled.max() <= MOST):
        return None
    quarters = scaled.astype(np.uint8)
    return quarters if np.array_equal(quarters, scaled) else None


def of_quarters(quarters: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The ratings that were counted so, exactly."""
    return quarters.astype(np.float32) / np.float32(PARTS)
