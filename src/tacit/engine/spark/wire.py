"""Rows of the tables that go between executors and driver: a kind, a part, a place, and
arrays in one piece of bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import wraps
from traceback import extract_tb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, TacitError
from tacit.repr import shapes

ROW = "kind int, part int, place long, data binary"
"""The schema of every table that a task makes."""
BLOCK = 0
"""Some people and their ratings."""
FACTOR = 1
"""Bounded rows of a Gram part, of the people of one block."""
SUM = 2
"""A piece of an integer sum over one partition."""
TOLD = 3
"""What a partition tells the driver about itself."""
FAULT = 4
"""Why a task has nothing to give; without a value of a rating."""
CODED = 5
"""Coded rows of some people, on their way to where people are brought together."""


class WireRow(NamedTuple):
    """One row of the tables that partitions exchange; `place` is where its data belong in the
    part."""

    kind: int
    part: int
    place: int
    data: bytes | memoryview

    def __repr__(self) -> str:
        return shapes(self)


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays by name in one piece of bytes, each on a border of 8."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    head = json.dumps(
        {name: [array.dtype.str, array.shape] for name, array in contiguous.items()}
    ).encode()
    pieces = [len(head).to_bytes(8, "little"), _padded(head)]
    pieces += [_padded(array.tobytes()) for array in contiguous.values()]
    return b"".join(pieces)


def unpack_arrays(data: bytes | memoryview) -> dict[str, NDArray[Any]]:
    """The arrays of `pack_arrays`: views that cannot be written."""
    view = memoryview(data)
    length = int.from_bytes(view[:8], "little")
    at = 8 + _up(length)
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape) in json.loads(bytes(view[8 : 8 + length])).items():
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        arrays[name] = np.frombuffer(view[at : at + size], kind).reshape(shape)
        at += _up(size)
    return arrays


def narrow(sums: NDArray[np.int64]) -> NDArray[Any]:
    """The same integers in as few bytes as hold them."""
    if not sums.size:
        return sums.astype(np.int8)
    low, high = int(sums.min()), int(sums.max())
    for kind in (np.int8, np.int16, np.int32):
        fits = np.iinfo(kind)
        if fits.min <= low and high <= fits.max:
            return sums.astype(kind)
    return sums


def facts_row(facts: Mapping[str, Any]) -> WireRow:
    """Facts of a partition for the driver, as JSON."""
    return WireRow(TOLD, 0, 0, json.dumps(facts).encode())


def rows_of(batches: Iterable[Any]) -> Iterator[WireRow]:
    """The rows of Arrow batches; their bytes are not copied."""
    for batch in batches:
        kinds = batch.column("kind").to_pylist()
        parts = batch.column("part").to_pylist()
        places = batch.column("place").to_pylist()
        data = batch.column("data")
        for at, kind in enumerate(kinds):
            view = memoryview(data[at].as_buffer())
            yield WireRow(kind, parts[at], places[at], view)


def batches_of(rows: Iterable[WireRow]) -> Iterator[Any]:
    """Rows as Arrow batches, each as soon as it is there: a row may be large."""
    import pyarrow as pa

    for row in rows:
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([row.kind], pa.int32()),
                pa.array([row.part], pa.int32()),
                pa.array([row.place], pa.int64()),
                pa.array([bytes(row.data)], pa.binary()),
            ],
            ["kind", "part", "place", "data"],
        )


def guarded(task: Any) -> Any:
    """A task whose errors come back as a row of kind `FAULT`. An exception in a task is
    logged by Spark with its text, which may quote a rating; and it would be tried again."""

    @wraps(task)
    def run(self: Any, rows: Iterator[Any]) -> Iterator[WireRow]:
        try:
            yield from task(self, rows)
        except TacitError as error:
            fault = {"message": error.message, "remedy": error.remedy or ""}
            yield WireRow(FAULT, 0, 0, json.dumps(fault).encode())
        except Exception as error:  # noqa: BLE001
            frame = extract_tb(error.__traceback__)[-1]
            location = f"{frame.filename.rpartition('/')[2]}, line {frame.lineno}"
            fault = {
                "message": f"a task met a {type(error).__name__} ({location})",
                "remedy": "see docs/spark.md; if it is not there, tell us",
            }
            yield WireRow(FAULT, 0, 0, json.dumps(fault).encode())

    return run


def blocks_of(batches: Iterable[Any], faults: list[WireRow]) -> Iterator[WireRow]:
    """The blocks among the rows; faults of earlier tasks are handed on, since people would
    be missing without a word."""
    for row in rows_of(batches):
        if row.kind == BLOCK:
            yield row
        elif row.kind == FAULT:
            faults.append(row)


def raise_fault(row: WireRow) -> None:
    """On the driver: what a task could not do."""
    if row.kind == FAULT:
        fault = json.loads(bytes(row.data))
        raise Failure(fault["message"], remedy=fault["remedy"] or None)


def _up(size: int) -> int:
    return -(-size // 8) * 8


def _padded(data: bytes) -> bytes:
    return data + bytes(_up(len(data)) - len(data))
