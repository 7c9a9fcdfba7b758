"""Item-item sums of more people than fit into memory.

Everyone's bounded integer rows go to a scratch file block by block. Then the matrix is summed in
passes, each of as many of its rows as memory allows: a pass reads the file in chunks of people,
puts each chunk into item order and adds it with the same kernel as in memory. Integers, so the
chunks and passes change nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.bound.gram import index_type
from tacit.engine.gram import BAND, Bounded, Factors, each_of
from tacit.engine.scratch import Scratch
from tacit.noise.release import Charge, GramRelease
from tacit.rounds.round import Part, Released

if TYPE_CHECKING:
    from tacit.engine.kernels import IntegerRows

CHUNK = 1 << 22
"""Cells that are put into item order at a time: about 100 megabytes."""
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
        size = len(block.value) * (
            block.columns.itemsize + block.value.itemsize
        )
        with self._lock:
            start, self._end = self._end, self._end + size
        self._scratch.write(block.columns, start)
        self._scratch.write(block.value, start + block.columns.nbytes)
        counts = block.counts.astype(np.uint32)
        empty = block.value[:0]
        kept = Bounded(counts, block.columns[:0], empty, block.weight)  # type: ignore[arg-type]
        with self._lock:
            self._places[position] = (start, kept)

    def release(self, name: str, charge: Charge, threads: int) -> Released:
        """Sum the products in passes, and noise each as it is done."""
        from tacit.engine.kernels import bands, mirror

        size = self.part.size
        bound = self.bound
        opened = GramRelease(name, size, bound.diagonal, bound.steps, charge)
        out = np.zeros((size, size), np.float32)
        rows = max(BAND, self.room // (8 * size) // BAND * BAND)
        for first in range(0, size, rows):
            last = min(first + rows, size)
            sums = np.zeros((last - first, size), np.int64)
            parts = [
                (a + first, b + first) for a, b in bands(last - first, BAND)
            ]
            self._sum(sums, first, parts, threads)

            def noise(
                part: tuple[int, int],
                sums: NDArray[np.int64] = sums,
                first: int = first,
            ) -> None:
                a, b = part
                opened.band(a, sums[a - first : b - first], out[a:b])

            each_of(noise, parts, threads)
        self._scratch.close()
        mirror(out)
        return Released(out, opened.sd, opened.private)

    def _sum(
        self,
        sums: NDArray[np.int64],
        top: int,
        parts: list[tuple[int, int]],
        threads: int,
    ) -> None:
        """Add everybody to the rows of one pass."""
        from tacit.engine.kernels import arrange, entry_band, factor_band

        size = self.part.size
        with ThreadPoolExecutor(threads + 1) as pool:
            chunks = self._chunks()
            ahead = pool.submit(self._read, next(chunks, []))
            while True:
                blocks = ahead.result()
                if blocks is None:
                    return
                ahead = pool.submit(self._read, next(chunks, []))
                ptr = np.concatenate(
                    [[0], *(each.counts.astype(np.int64) for each in blocks)]
                ).cumsum()
                index = np.concatenate([each.columns for each in blocks])
                value = np.concatenate([each.value for each in blocks])
                weight = np.concatenate([each.weight for each in blocks])
                cells = arrange(ptr, index, value, size)

                def work(
                    part: tuple[int, int],
                    cells: IntegerRows = cells,
                    weight: NDArray[np.int64] = weight,
                ) -> None:
                    a, b = part
                    band = sums[a - top : b - top]
                    if self._weighted:
                        entry_band(cells, weight, a, b, band, add=True)
                    else:
                        factor_band(cells, a, b, band, add=True)

                list(pool.map(work, parts))

    def _chunks(self) -> Iterator[list[Place]]:
        """Runs of blocks with about CHUNK cells."""
        found: list[Place] = []
        cells = 0
        for position in sorted(self._places):
            place = self._places[position]
            found.append(place)
            cells += int(place[1].counts.sum())
            if cells >= CHUNK:
                yield found
                found, cells = [], 0
        if found:
            yield found

    def _read(self, places: list[Place]) -> list[Bounded] | None:
        """Blocks of the file; None after the last."""
        if not places:
            return None
        kind = index_type(self.part.size)
        made = []
        for start, kept in places:
            cells = int(kept.counts.sum())
            columns = np.empty(cells, kind)
            value = np.empty(cells, np.int16)
            self._scratch.read(columns, start)
            self._scratch.read(value, start + columns.nbytes)
            made.append(kept._replace(columns=columns, value=value))
        return made
