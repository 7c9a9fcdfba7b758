"""Threads over ratings that stay in their packed file: the same blocks, kernels and integer
sums, with only the blocks that threads work on in memory.

What grows with people goes to disk where it would not fit: personal state and the bounded rows
of item-item sums, in scratch files beside the pack.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.bound.limit import limit_ratings
from tacit.data.aligned import aligned
from tacit.data.catalogue import Catalogue
from tacit.data.packed import Packed, rewritten
from tacit.engine.gram import Factors
from tacit.engine.kernels import bytes_needed
from tacit.engine.scratch import RetainedRows
from tacit.engine.spilled import SpilledFactors
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.noise import bits
from tacit.rounds.options import Progress
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round

BASE = 350_000_000
"""Bytes of an interpreter with compiled kernels and a model."""
BLOCKS = 100_000_000
"""Bytes that one thread works on."""
PERSON = 48
"""Bytes for each person: where her ratings begin, her id, coins and places."""
STATE_SHARE = 0.25
"""Of the memory that is left: personal state beyond it goes to disk."""


class Streaming(Threads):
    """See the module."""

    def __init__(
        self, ratings: Packed, threads: int | None, progress: Progress | None, memory: int
    ) -> None:
        super().__init__(ratings, threads, progress)
        self.memory = memory

    @property
    def packed(self) -> Packed:
        """The ratings, in their file."""
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
