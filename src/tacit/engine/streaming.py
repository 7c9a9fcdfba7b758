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

from tacit.bound.gram import index_type
from tacit.bound.limit import limit_ratings
from tacit.data.aligned import aligned
from tacit.data.catalogue import Catalogue
from tacit.data.packed import Packed, rewritten
from tacit.engine.chunked import Blocks, in_chunks
from tacit.engine.gram import BAND, Bounded, Factors
from tacit.engine.scratch import RetainedRows, Scratch
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.kernels.gram import bytes_needed
from tacit.noise import bits
from tacit.noise.release import Charge
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
