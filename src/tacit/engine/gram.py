"""Item-item sums on one machine: everyone's bounded integer factors, then the matrix row
band by row band.

Memory is the float32 output, the integer factors in both orders, and one 64-bit band for
each thread; where the 64-bit matrix is smaller than the second order, it is summed in chunks of
people instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import GramBound, Rows, check_rows
from tacit.bound.gram import Indices, index_type
from tacit.bound.personal import Whole, factor_weights, lessened
from tacit.errors import Failure, SettingError
from tacit.noise.release import Charge, GramRelease
from tacit.repr import shapes
from tacit.rounds.plan import Plan
from tacit.rounds.round import Part, Released

if TYPE_CHECKING:
    from tacit.kernels.gram import IntegerRows

BAND = 32
"""Rows of the matrix that a thread sums at a time."""
MOST_MEMORY = 0.8
"""Of this machine, for the matrices of one round."""
NO_WEIGHTS = np.zeros(0, np.int64)
CHUNK = 1 << 22
"""Cells that are put into item order at a time: about 100 megabytes."""
SMALLER = 1.0
"""Chunks are taken from this many cells for each number of the matrix on: both have 8 bytes."""
Blocks = Callable[[], "list[Bounded]"]
"""Some people's rows, read when they are asked for."""


class Bounded(NamedTuple):
    """One block's rows inside the matrix: cells of each person, their columns, their integers,
    and each person's weight."""

    counts: NDArray[np.int64]
    columns: Indices
    value: NDArray[np.int16]
    weight: NDArray[np.int64]

    def __repr__(self) -> str:
        return shapes(self)


NOBODY = Bounded(NO_WEIGHTS, np.zeros(0, np.uint16), np.zeros(0, np.int16), NO_WEIGHTS)


class Factors:
    """The bounded rows of one Gram part, gathered block by block in the order of the people."""

    def __init__(self, part: Part) -> None:
        if not isinstance(part.bound, GramBound):
            raise Failure(f"the part {part.name} has no bound for products")
        self.part, self.bound = part, part.bound
        self._blocks: dict[int, Bounded] = {}
        self._weighted = False

    def add(
        self, position: int, rows: Rows, people: int, user_weights: Whole | None = None
    ) -> None:
        """Bound one block, times its people's `user_weights` weights; cells outside the matrix are
        left out after they counted."""
        check_rows(rows, name=self.part.name, people=people, size=self.part.size + 1)
        q = self.bound.apply(rows)
        if user_weights is not None:
            q = lessened(q, rows.ptr, factor_weights(user_weights))
        weights = self.bound.weights(rows, q)
        inside = rows.index.astype(np.int64) < self.part.size
        inside_before = np.concatenate([[0], np.cumsum(inside)])
        counts = np.diff(inside_before[rows.ptr])
        index = rows.index[inside].astype(index_type(self.part.size))
        value = q[inside, 0].astype(np.int16)
        if len(index) > 1:
            same = np.repeat(np.arange(people), counts)
            if ((index[1:] <= index[:-1]) & (same[1:] == same[:-1])).any():
                order = np.lexsort((index, same))  # the kernel scans each row forward
                index, value = index[order], value[order]
                if ((index[1:] == index[:-1]) & (same[1:] == same[:-1])).any():
                    raise Failure(
                        f"a contribution to {self.part.name} names one row of the matrix twice"
                    )
        if weights is not None:
            self._weighted = True
        weight = NO_WEIGHTS if weights is None else weights
        self._store(position, Bounded(counts, index, value, weight))

    def _store(self, position: int, block: Bounded) -> None:
        """Keep one block's rows until all are there."""
        self._blocks[position] = block

    def take(self) -> list[Bounded]:
        """All that was added, in order, to be put into others like this one."""
        return [self._blocks.pop(position) for position in sorted(self._blocks)]

    def put(self, rows: Bounded) -> None:
        """Append rows that another process has bounded; the caller vouches that they are within the
        bound."""
        self._weighted |= len(rows.weight) > 0
        self._blocks[len(self._blocks)] = rows

    def release(self, name: str, charge: Charge, threads: int) -> Released:
        """Sum the products and noise them; each thread takes the next band."""
        from tacit.kernels.gram import bands, mirror

        size = self.part.size
        cells = sum(len(block.value) for block in self._blocks.values())
        if cells > max(SMALLER * size**2, CHUNK):
            return self._in_passes(name, charge, threads, size)
        band_sums = self.bands()
        opened = GramRelease(name, size, self.bound.diagonal, self.bound.steps, charge)
        out = np.zeros((size, size), np.float32)

        def work(band: tuple[int, int]) -> None:
            opened.band(band[0], band_sums(*band), out[band[0] : band[1]])

        each_of(work, bands(size, BAND), threads)
        mirror(out, threads)
        return Released(out, opened.sd, opened.private)

    def _in_passes(self, name: str, charge: Charge, threads: int, rows: int) -> Released:
        """The same, so many rows of the matrix at a time, people in chunks."""
        from tacit.kernels.gram import bands, mirror

        size = self.part.size
        bound = self.bound
        opened = GramRelease(name, size, bound.diagonal, bound.steps, charge)
        out = np.zeros((size, size), np.float32)
        for top in range(0, size, rows):
            end = min(top + rows, size)
            sums = np.zeros((end - top, size), np.int64)
            parts = [(a + top, b + top) for a, b in bands(end - top, BAND)]
            add_chunks(sums, top, parts, self._chunks(), self._weighted, threads)

            def noise(
                part: tuple[int, int], sums: NDArray[np.int64] = sums, top: int = top
            ) -> None:
                first, last = part
                rows = sums[first - top : last - top]
                opened.band(first, rows, out[first:last])

            each_of(noise, parts, threads)
        self._blocks.clear()
        mirror(out, threads)
        return Released(out, opened.sd, opened.private)

    def _chunks(self) -> Iterator[Blocks]:
        """Runs of blocks in the order of the people."""
        blocks = [self._blocks[position] for position in sorted(self._blocks)]
        for run in in_chunks(len(block.value) for block in blocks):
            members = [blocks[k] for k in run]
            yield partial(list, members)

    def packed(self) -> NDArray[np.int64]:
        """The exact sums as one column: the upper triangle row by row, each number once.
        What a device sends."""
        from tacit.kernels.gram import bands

        size = self.part.size
        band_sums = self.bands()
        rows = []
        for first, last in bands(size, BAND):
            sums = band_sums(first, last)
            skip = _skip(self.part)
            rows += [sums[r - first, r + skip :] for r in range(first, last)]
        return np.concatenate(rows)[:, None]

    def bands(self) -> Callable[[int, int], NDArray[np.int64]]:
        """Rows `first` to `last` of the sum of products, of all that was added."""
        from tacit.kernels.gram import arrange, entry_band, factor_band

        size = self.part.size
        blocks = self.take()
        if not blocks:
            blocks = [NOBODY]
        counts = (np.asarray(block.counts, np.int64) for block in blocks)
        ptr = np.concatenate([[0], *counts]).cumsum()
        index = np.concatenate([block.columns for block in blocks])
        value = np.concatenate([block.value for block in blocks])
        weight = np.concatenate([block.weight for block in blocks])
        del blocks
        cells = arrange(ptr, index, value, size)
        entries = self._weighted

        def sums_of(first: int, last: int) -> NDArray[np.int64]:
            sums = np.empty((last - first, size), np.int64)
            if entries:
                entry_band(cells, weight, first, last, sums)
            else:
                factor_band(cells, first, last, sums)
            return sums

        return sums_of


def square(part: Part, packed: NDArray[Any]) -> NDArray[np.float32]:
    """The symmetric matrix of a packed sum, off the grid: the very numbers that
    `Factors.release` gives."""
    from tacit.kernels.gram import mirror

    out = np.zeros((part.size, part.size), np.float32)
    out[np.triu_indices(part.size, _skip(part))] = packed[:, 0] / part.bound.steps
    mirror(out)
    return out


def off_grid(part: Part, integer_sums: NDArray[Any]) -> NDArray[Any]:
    """What a sum of devices' words stands for: an array of the part's shape, or its
    symmetric matrix."""
    return square(part, integer_sums) if part.form == "gram" else integer_sums / part.bound.steps


def _skip(part: Part) -> int:
    """0 where the diagonal is released too."""
    return 0 if part.diagonal else 1


def each_of(
    work: Callable[[tuple[int, int]], None], parts: list[tuple[int, int]], threads: int
) -> None:
    """Call `work` for every part; each thread takes the next one."""
    if threads == 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, parts))


def check_memory(plan: Plan) -> None:
    """Refuse a plan whose matrices would not fit this machine, before it is paid for, with
    the bytes they need."""
    from tacit.kernels.gram import bytes_needed

    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for round_ in plan.rounds:
        sizes = [part.size for part in round_.parts if part.form == "gram"]
        bytes_required = bytes_needed(max(sizes), len(sizes)) if sizes else 0
        if bytes_required > MOST_MEMORY * have:
            raise SettingError(
                f"{len(sizes)} matrices over {max(sizes):,} items need {bytes_required:,} bytes; "
                f"this machine has {have:,}",
                remedy="restrict the catalogue: --items FILE, or --set items=N",
            )


# The Gram of more people than are put into item order at once: chunk by chunk.
#
# Item order takes 8 bytes a cell beside the 4 of the cell itself. Where the 64-bit matrix takes
# less than that, or memory is short, people are summed in chunks: each chunk is put into item
# order, added to the rows of the matrix, and let go. Integers, so chunks change nothing.


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
