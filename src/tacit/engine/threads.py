"""One machine, one trusted curator: blocks of people over threads, exact integer sums,
noise after the sum.

Sums are integers, so they depend neither on the number of threads nor on the cut into blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.bound.personal import Whole, lessened
from tacit.data.memory import memory_size
from tacit.data.packed import Packed
from tacit.data.ratings import Ratings
from tacit.engine.gram import Factors
from tacit.engine.memory import InMemory
from tacit.errors import SettingError
from tacit.ledger.account.personal import WHOLE
from tacit.noise.release import Charge, release
from tacit.rounds.options import How
from tacit.rounds.plan import Budget
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import State


class Threads(InMemory):
    """Rounds over blocks of people on the cores of this machine."""

    name = "threads"
    trust = "a trusted curator holds the ratings on one machine and adds the noise after the sum"
    _asked: Mapping[str, int] | None = None
    _weights: Whole | None = None

    @classmethod
    def over(cls, ratings: Ratings, how: How, budget: Budget | None = None) -> Self:
        """An engine over these ratings; where they are in a file, one that streams them."""
        if cls is Threads and isinstance(ratings, Packed):
            from tacit.engine.streaming import Streaming

            memory = memory_size(how.memory)
            engine = Streaming(ratings, how.threads, how.progress, memory)
            return cast("Self", engine)
        return super().over(ratings, how, budget)

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """Sum over blocks of people, then noise and release part by part."""
        self._check_round(round_)
        self._make_room(round_)
        factors = self._factors(round_)
        sums = self._sum(round_, state, factors)
        released_parts: dict[str, Released] = {}
        for part in round_.parts:
            path = f"{round_.name}/{part.name}"
            if part.name in factors:
                released_parts[part.name] = factors[part.name].release(path, charge, self.threads)
            else:
                integer_sums = sums[part.name].whole
                released_parts[part.name] = release(path, integer_sums, part.bound.steps, charge)
        return released_parts

    def _factors(self, round_: Round) -> dict[str, Factors]:
        """Where the rows of each Gram part are gathered."""
        return factors_of(round_)

    def lessen(self, weights: Mapping[str, int]) -> None:
        """Give some people, by id, a weight below `WHOLE` (`tacit.bound.personal`)."""
        self._asked = dict(weights)

    def _weights_of(self, people: Whole) -> Whole | None:
        """The weights of these rows; None where nobody asked for less."""
        if self._asked is None:
            return None
        if self._weights is None:
            weights = (self._asked.get(user, WHOLE) for user in self.ratings.users)
            self._weights = np.array(list(weights), np.int64)
        return self._weights[people]

    def _check_round(self, round_: Round) -> None:
        super()._check_round(round_)
        if any(part.kind is Kind.REPORT for part in round_.parts):
            # A sum of n bits is odd if n is: exact about who takes part, which here is private.
            raise SettingError(
                "randomized reports show who takes part", remedy="use --engine local or simulate"
            )

    def _sum(
        self, round_: Round, state: State, factors: Mapping[str, Factors]
    ) -> dict[str, RunningSum]:
        """The exact sums of all parts but Gram ones, whose rows go to `factors`."""
        width = max(part.width for part in round_.parts)
        pieces = list(self._cut(self._participants(round_.takes_part), width))
        workers = max(1, min(self.threads, len(pieces)))
        summed = [part for part in round_.parts if part.name not in factors]
        totals = [{part.name: RunningSum(part) for part in summed} for _ in range(workers)]

        witness = self._witness(round_, state)

        def work(worker: int, position: int, block: Block) -> None:
            contribution = witness.contribute(position, block)
            self._keep(block, round_)
            people = len(block.people)
            user_weights = self._weights_of(block.people)
            for name, total in totals[worker].items():
                total.add(contribution[name], people, user_weights)
            for name, matrix in factors.items():
                matrix.add(position, contribution[name], people, user_weights)

        self._run_pieces(pieces, workers, witness, round_.name, work)
        merged = totals[0]
        for worker_totals in totals[1:]:
            for name, total in worker_totals.items():
                merged[name].merge(total)
        return merged


def factors_of(round_: Round) -> dict[str, Factors]:
    """Where the rows of each Gram part are gathered."""
    return {part.name: Factors(part) for part in round_.parts if part.form == "gram"}


class RunningSum:
    """The running sum of one part in one thread."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.whole = np.zeros((part.size, part.width), np.int64)

    def add(self, rows: Rows, people: int, user_weights: Whole | None = None) -> None:
        """What some people contribute, bounded and on the grid, times their `user_weights`
        weights."""
        from tacit.bound.base import add_bounded, bounded
        from tacit.kernels.rows import add_rows

        part = self.part
        if user_weights is None:
            add_bounded(part.bound, rows, self.whole, name=part.name, people=people)
            return
        integers = bounded(
            part.bound, rows, name=part.name, people=people, size=part.size, width=part.width
        )
        add_rows(rows.index, lessened(integers, rows.ptr, user_weights), self.whole)

    def merge(self, other: RunningSum) -> None:
        """Add the sum of another thread; integer addition, so the order does not matter."""
        self.whole += other.whole


# The exact sums of a round, for a calendar: the curator keeps them, and adds noise to what
# they are mixed to.


class ExactSums(Threads):
    """Threads that stop before the noise. What they give is private, and its owner's alone."""

    def sums(self, round_: Round, state: State) -> dict[str, NDArray[np.int64]]:
        """By part: integers of the part's shape; of a Gram part one column, the upper
        triangle row by row."""
        self._check_round(round_)
        self._make_room(round_)
        factors = factors_of(round_)
        added = self._sum(round_, state, factors)
        return {
            part.name: factors[part.name].packed()
            if part.name in factors
            else added[part.name].whole
            for part in round_.parts
        }
