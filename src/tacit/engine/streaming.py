"""Threads over ratings that stay in their packed file: the same blocks, kernels and integer
sums, with only the blocks that threads work on in memory.

What grows with people goes to disk where it would not fit: personal state and the bounded rows
of item-item sums, in scratch files beside the pack.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.gram import index_type
from tacit.bound.limit import limit_ratings
from tacit.data.catalogue import Catalogue
from tacit.data.packed import Packed, rewritten
from tacit.data.packed.bare import BareFile
from tacit.data.ratings import aligned
from tacit.engine.gram import BAND, Blocks, Bounded, Factors, in_chunks
from tacit.engine.threads import Threads
from tacit.errors import SettingError, StorageError, reason
from tacit.kernels.gram import bytes_needed
from tacit.noise import bits
from tacit.noise.release import Charge
from tacit.repr import shapes
from tacit.rounds.options import Progress
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Plan
from tacit.rounds.round import Part, Released, Round

BASE = 350_000_000
"""Bytes of an interpreter with compiled kernels and a model."""
BLOCKS = 100_000_000
"""Bytes that one thread works on."""
PERSON = 48
"""Bytes for each person: where her ratings begin, her id, coins and places."""
STATE_SHARE = 0.25
"""Of the memory that is left: personal state beyond it goes to disk."""
Place = tuple[int, Bounded]
"""Where a block begins in the file, and its people's counts and weights, which stay in memory."""


class Streaming(Threads):
    """Rounds over a packed file, a block of people at a time; memory does not grow with people."""

    def __init__(
        self, ratings: Packed, threads: int | None, progress: Progress | None, memory: int
    ) -> None:
        super().__init__(ratings, threads, progress)
        self.memory = memory

    @property
    def packed(self) -> Packed:
        """The packed file of ratings."""
        assert isinstance(self.ratings, Packed)
        return self.ratings

    @property
    def folder(self) -> Path:
        """Where scratch files go: beside the pack, on its disk and as private."""
        return self.packed.file.path.parent

    @property
    def room(self) -> int:
        """Bytes for matrices and personal state, beside what is always there."""
        used = BASE + BLOCKS * self.threads + PERSON * self.people
        return self.memory - used

    def align(self, items: Catalogue) -> None:
        """Put the ratings over the rows of a public catalogue, in a scratch file if they are
        not."""
        if list(items.ids) != list(self.ratings.items):
            self.ratings = rewritten(self.packed, lambda part: aligned(part, items), self.folder)

    def limit(self, max_ratings: int) -> None:
        """Keep at most so many ratings of a person, chosen by fresh secret words."""
        words = bits.fresh().words
        self.ratings = rewritten(
            self.packed, lambda part: limit_ratings(part, max_ratings, words), self.folder
        )

    def pattern(self) -> Pattern:
        """Refused: it is all cells at once."""
        raise SettingError(
            "at the unit value who rated what is held in memory, and these ratings are larger",
            remedy="raise --memory, or use --unit user",
        )

    def check(self, plan: Plan) -> None:
        """Refuse a plan whose matrices would not fit the memory that may be used."""
        super().check(plan)
        for round_ in plan.rounds:
            sizes = [part.size for part in round_.parts if part.form == "gram"]
            bytes_required = bytes_needed(max(sizes), 1) if sizes else 0
            rows = sum(
                part.numbers * 8 * (self.threads + 1)
                for part in round_.parts
                if part.form == "rows"
            )
            bytes_required = max(bytes_required + 64 * max(sizes, default=0) * 8, rows)
            if bytes_required > self.room:
                raise SettingError(
                    f"the round {round_.name} needs about {bytes_required:,} bytes beside "
                    f"{self.memory - self.room:,} that a fit takes; it may use "
                    f"{self.memory:,}",
                    remedy="raise --memory, or restrict the catalogue: --items FILE",
                )

    def _factors(self, round_: Round) -> dict[str, Factors]:
        """Where the rows of each Gram part are gathered."""
        parts = [part for part in round_.parts if part.form == "gram"]
        remaining = self.room - sum(4 * part.size**2 for part in parts)
        return {part.name: SpilledFactors(part, self.folder, max(remaining, 0)) for part in parts}

    def _make_room(self, round_: Round) -> None:
        """For personal state that no earlier round has kept: in memory, or on disk."""
        allocated: Mapping[str, Any] = self._personal
        for member in round_.personal:
            size = 8 * member.width * self.people
            if member.name not in allocated and size > STATE_SHARE * self.room:
                rows: Any = RetainedRows(self.folder, member.width)
                self._personal[member.name] = rows
        super()._make_room(round_)


# Item-item sums over more people than fit into memory.
#
# Everyone's bounded integer rows go to a scratch file block by block. Then the matrix is summed in
# passes, each of as many of its rows as memory allows: a pass reads the file in chunks of people,
# puts each chunk into item order and adds it with the same kernel as in memory. Integers, so the
# chunks and passes change nothing.
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
            yield partial(self._read_blocks, [stored[k] for k in run])

    def _read_blocks(self, stored: list[Place]) -> list[Bounded]:
        """The bounded rows of these blocks, read back from the scratch file."""
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


# What does not fit into memory while a fit runs: a scratch file beside the packed ratings.
#
# It has no name and mode 0600: it is gone when the run ends, whatever ends it.


class Scratch:
    """A file of bytes that several threads write and read at their own places."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self._file = BareFile.scratch(folder)
        except OSError as error:
            raise self._full(error) from None

    __repr__ = shapes

    def _full(self, error: OSError) -> StorageError:
        return StorageError(
            f"what does not fit into memory cannot be written to {self.folder}: {reason(error)}",
            remedy="make room there, or raise --memory",
        )

    def write(self, data: NDArray[Any], offset: int) -> None:
        """Write an array at a byte offset; a full disk becomes an error with a remedy."""
        if not data.size:
            return
        try:
            self._file.write(np.ascontiguousarray(data).data, offset)
        except OSError as error:
            raise self._full(error) from None

    def read(self, out: NDArray[Any], offset: int) -> None:
        """Fill an array from somewhere; what was never written is zeros."""
        if out.size:
            flat = out.data.cast("B")
            bytes_read = self._file.read(flat, offset)
            flat[bytes_read:] = bytes(len(flat) - bytes_read)

    def close(self) -> None:
        """Close the file; it is unnamed, so its space is free again."""
        self._file.close()


class RetainedRows:
    """Personal state on disk: rows of people, read and written like those of an array."""

    def __init__(self, folder: Path, width: int) -> None:
        self._scratch = Scratch(folder)
        self.width = width

    __repr__ = shapes

    def __getitem__(self, people: Any) -> NDArray[np.float64]:
        """Rows of some people: a slice of them, or their places in ascending order."""
        if isinstance(people, slice):
            return self._run(people.start, people.stop)
        if not len(people):
            return np.empty((0, self.width))
        return np.concatenate([self._run(int(run[0]), int(run[-1]) + 1) for run in runs(people)])

    def __setitem__(self, people: Any, rows: NDArray[np.float64]) -> None:
        row = 0
        for run in runs(people):
            part = rows[row : row + len(run)]
            self._scratch.write(part, int(run[0]) * self.width * 8)
            row += len(run)

    def _run(self, first: int, last: int) -> NDArray[np.float64]:
        out = np.empty((last - first, self.width))
        self._scratch.read(out, first * self.width * 8)
        return out


def runs(people: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Ascending places, cut where one is left out."""
    if not len(people):
        return []
    if int(people[-1]) - int(people[0]) + 1 == len(people):
        return [people]
    return np.split(people, np.flatnonzero(np.diff(people) != 1) + 1)
