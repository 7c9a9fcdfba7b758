"""The Gram of more people than are put into item order at once: chunk by chunk.

Item order takes 8 bytes a cell beside the 4 of the cell itself. Where the 64-bit matrix takes
less than that, or memory is short, people are summed in chunks: each chunk is put into item order,
added to the rows of the matrix, and let go. Integers, so chunks change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.engine.gram import Bounded
    from tacit.kernels.gram import IntegerRows

CHUNK = 1 << 22
"""Cells that are put into item order at a time: about 100 megabytes."""
SMALLER = 1.0
"""Chunks are taken from this many cells for each number of the matrix on: both have 8 bytes."""
Blocks = Callable[[], "list[Bounded]"]
"""Some people's rows, read when they are asked for."""


def add_chunks(
    sums: NDArray[np.int64],
    top: int,
    parts: list[tuple[int, int]],
    chunks: Iterable[Blocks],
    weighted: bool,
    threads: int,
) -> None:
    """Add everybody to rows `top`.. of the matrix. `parts` are bands of these rows."""
    from tacit.kernels.gram import arrange, entry_band, factor_band

    def add(part: tuple[int, int], cells: IntegerRows, weight: NDArray[np.int64]) -> None:
        first, last = part
        band = sums[first - top : last - top]
        if weighted:
            entry_band(cells, weight, first, last, band, add=True)
        else:
            factor_band(cells, first, last, band, add=True)

    size = sums.shape[1]
    # One more than works: it reads ahead.
    with ThreadPoolExecutor(threads + 1) as pool:
        for blocks in _ahead(pool, chunks):
            counts = (np.asarray(member.counts, np.int64) for member in blocks)
            ptr = np.concatenate([[0], *counts]).cumsum()
            index = np.concatenate([member.columns for member in blocks])
            value = np.concatenate([member.value for member in blocks])
            weight = np.concatenate([member.weight for member in blocks])
            cells = arrange(ptr, index, value, size)
            waiting = [pool.submit(add, part, cells, weight) for part in parts]
            for member in waiting:
                member.result()


def _ahead(pool: ThreadPoolExecutor, chunks: Iterable[Blocks]) -> Iterator[list[Bounded]]:
    """Each chunk, while the next is read."""
    coming = None
    for chunk in chunks:
        submitted = pool.submit(chunk)
        if coming is not None:
            yield coming.result()
        coming = submitted
    if coming is not None:
        yield coming.result()


def in_chunks(counts: Iterable[int]) -> Iterator[list[int]]:
    """Places of blocks with so many cells each, in runs of about CHUNK cells."""
    run: list[int] = []
    cells = 0
    for position, count in enumerate(counts):
        run.append(position)
        cells += count
        if cells >= CHUNK:
            yield run
            run, cells = [], 0
    if run:
        yield run
