"""What all engines of one process share: the ratings in memory, threads over blocks of
people, and what is kept on the people's side."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tacit.bound.limit import limit_ratings
from tacit.data.catalogue import Catalogue
from tacit.data.packed import Packed
from tacit.data.packed.packed import too_large
from tacit.data.ratings import Ratings, aligned
from tacit.engine import blocks
from tacit.engine.blocks import NOTHING, Arrays, Piece
from tacit.engine.gram import check_memory
from tacit.engine.per_person import Witness
from tacit.errors import Failure, SettingError
from tacit.kernels.pools import pools
from tacit.noise import bits
from tacit.rounds.options import How, Progress
from tacit.rounds.pattern import Pattern
from tacit.rounds.people import EVERYONE, Participation, People, Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


class InMemory:
    """The ratings of one run and the people's side of it. `threads` defaults to the cores
    this process may use."""

    name: str
    like = ""
    printed: ClassVar[bool] = False
    """Whether it runs what papers print (`tacit.engine.printed`)."""
    shows_people = False
    """Whether servers see who takes part."""
    watched = True
    """Whether a few people of each round are computed once more, alone. Only an attack that
    must see what a leak would do says no (`tacit.auditing.walk`)."""

    def __init__(
        self, ratings: Ratings, threads: int | None = None, progress: Progress | None = None
    ) -> None:
        self.ratings = ratings
        self.threads = threads or len(os.sched_getaffinity(0))
        self.refused = 0
        self._progress = progress
        self._personal: dict[str, NDArray[np.float64]] = {}
        self._places: NDArray[np.uint64] | None = None
        self._known: tuple[int, ThreadpoolController] | None = None

    @classmethod
    def over(cls, ratings: Ratings, how: How, budget: Budget | None = None) -> Self:
        """An engine over these ratings, as it was asked for."""
        if isinstance(ratings, Packed):
            raise too_large()
        return cls(ratings, how.threads, how.progress)

    # ---------------------------------------------------- what the conductor asks

    @property
    def people(self) -> int:
        return self.ratings.n_users

    def align(self, items: Catalogue) -> None:
        """Put the ratings over the rows of a public catalogue.

        Where servers see who takes part, everybody in the table does: those whose items are all
        outside the catalogue contribute nothing. If they were missing, their absence would reveal
        what they rated."""
        over = aligned(self.ratings, items)
        self.ratings = over.with_everyone() if self.shows_people else over

    def limit(self, max_ratings: int) -> None:
        """Keep at most so many ratings of a person, chosen by fresh secret words."""
        self.ratings = limit_ratings(self.ratings, max_ratings, bits.fresh().words)

    def pattern(self) -> Pattern:
        """Who rated what, for a unit at which that is public."""
        return Pattern(self.ratings.ptr, self.ratings.item)

    def fingerprint(self) -> bytes:
        return blocks.fingerprint(self.ratings)

    def check(self, plan: Plan) -> None:
        """Refuse, before anything is paid, a plan that cannot be run here."""
        check_memory(plan)
        for round_ in plan.rounds:
            self._check_round(round_)

    def _check_round(self, round_: Round) -> None:
        papers = [round_.takes_part.printed, *(part.printed for part in round_.parts)]
        if any(papers) and not self.printed:
            raise SettingError(
                f"the round {round_.name} is as a paper prints it: nothing certifies it",
                remedy="use --calibration paper or none",
            )

    # ------------------------------------------ the crowd that a participation asks

    def coins(self) -> NDArray[np.uint64]:
        """A fresh secret word for each person."""
        return bits.fresh().words(self.people)

    def partition_words(self) -> NDArray[np.uint64]:
        """A word of one's own for the whole run: one person more or less moves nobody
        else."""
        if self._places is None:
            self._places = bits.fresh().words(self.people)
        return self._places

    def online_cohort(self, turns: Turns) -> People:
        """Always fails: people in memory have no devices that take turns."""
        raise Failure(f"the engine {self.name} has no devices that take turns")

    def _participants(self, takes_part: Participation) -> People:
        """The rows that take part; None for everyone."""
        return None if takes_part is EVERYONE else takes_part.among(self)

    # ------------------------------------------------------------- blocks of people

    def _cut(self, people: People, width: int = 1) -> Iterator[Piece]:
        return blocks.cut(self.ratings, people, width)

    def _block(self, piece: Piece, draws: Arrays = NOTHING) -> Block:
        return blocks.block_of(self.ratings, piece, self._personal, draws)

    def _make_room(self, round_: Round) -> None:
        """For personal state that no earlier round has kept."""
        for member in round_.personal:
            if member.name not in self._personal:
                self._personal[member.name] = np.zeros((self.people, member.width))

    def _keep(self, block: Block, round_: Round) -> None:
        """Personal state written by a kernel goes back to its people."""
        for member in round_.personal:
            self._personal[member.name][block.people] = block.personal[member.name]

    def _witness(self, round_: Round, state: State) -> Witness:
        """Who calls `contribute` in this round, and looks at what it gives."""
        return Witness(round_, state, looks=self.watched)

    def _pools(self) -> ThreadpoolController:
        """The pools of threads, looked for again once a module was loaded."""
        loaded = len(sys.modules)
        if self._known is None or self._known[0] != loaded:
            self._known = loaded, pools(loaded)
        return self._known[1]

    def _run_pieces(
        self,
        pieces: Sequence[Piece],
        workers: int,
        witness: Witness,
        label: str,
        work: Callable[[int, int, Block], None],
    ) -> None:
        """Call `work(worker, position, block)` for every piece, over threads; then the witness
        looks. BLAS keeps to one thread throughout: long products of public numbers have other
        last bits with two, and a contribution may depend on nothing that is not public."""

        def work_through(worker: int) -> None:
            for position in range(worker, len(pieces), workers):
                work(worker, position, self._block(pieces[position]))
                if self._progress:
                    self._progress(position + 1, len(pieces), label)

        with self._pools().limit(limits=1):
            if workers == 1:
                work_through(0)
            else:
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(work_through, range(workers)))
            witness.check()
