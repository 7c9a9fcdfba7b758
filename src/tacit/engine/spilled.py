"""Item-item sums of more people than fit into memory.

Everyone's bounded integer rows go to a scratch file block by block. Then the matrix is summed in
passes, each of as many of its rows as memory allows: a pass reads the file in chunks of people,
puts each chunk into item order and adds it with the same kernel as in memory. Integers, so the
chunks and passes change nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from tacit.bound.gram import index_type
from tacit.engine.chunked import Blocks, in_chunks
from tacit.engine.gram import BAND, Bounded, Factors
from tacit.engine.scratch import Scratch
from tacit.noise.release import Charge
from tacit.rounds.round import Part, Released

Place = tuple[int, Bounded]
"""Where a block begins in the file, and its people's counts and weights, which stay in memory."""


class SpilledFactors(Factors):
    """The bounded rows of one Gram part in a scratch file."""

    def __init__(self, part: Part, folder: Path, room: int) -> None:
        super().__init__(part)
        self._scratch = Scratch(folder)
        self._lock = threading.Lock()
        self._end = 0
        self._places: dict[int, Place] = {}
        self.room = room
        """Bytes for the 64-bit rows of one pass."""

    def _store(self, position: int, block: Bounded) -> None:
        size = len(block.value) * (block.columns.itemsize + block.value.itemsize)
        with self._lock:
            start, self._end = self._end, self._end + size
        self._scratch.write(block.columns, start)
        self._scratch.write(block.value, start + block.columns.nbytes)
        counts = block.counts.astype(np.uint32)
        empty = block.value[:0]
        stub = Bounded(counts, block.columns[:0], empty, block.weight)  # type: ignore[arg-type]
        with self._lock:
            self._places[position] = (start, stub)

    def release(self, name: str, charge: Charge, threads: int) -> Released:
        """Sum the products in passes, and noise each as it is done."""
        rows = max(BAND, self.room // (8 * self.part.size) // BAND * BAND)
        released = self._in_passes(name, charge, threads, rows)
        self._scratch.close()
        return released

    def _chunks(self) -> Iterator[Blocks]:
        """Runs of blocks, each read when it is its turn."""
        stored = [self._places[position] for position in sorted(self._places)]
        counts = (int(stub.counts.sum()) for _, stub in stored)
        for run in in_chunks(counts):
            yield partial(self._read, [stored[k] for k in run])

    def _read(self, stored: list[Place]) -> list[Bounded]:
        """Blocks of the file."""
        kind = index_type(self.part.size)
        blocks = []
        for start, stub in stored:
            cells = int(stub.counts.sum())
            columns = np.empty(cells, kind)
            value = np.empty(cells, np.int16)
            self._scratch.read(columns, start)
            self._scratch.read(value, start + columns.nbytes)
            blocks.append(stub._replace(columns=columns, value=value))
        return blocks
