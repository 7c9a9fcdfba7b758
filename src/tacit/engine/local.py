"""Nobody is trusted: every device holds its ratings, its state and its own ledger, and
sends randomized answers only.

The server holds the public state. It asks; a device checks its own book, computes its
contribution from the public state and its own ratings, randomizes it and answers with a
message. The server sees messages, and who sent them.

Guarantee: what leaves a device is a draw from the event that the device itself has paid
for, durably and under its own cap (`tacit.ledger.book.devices`), so any two records of one
person look alike over all her answers, whatever the server does. Which coordinate or
direction she is asked about comes from public randomness and says nothing about her.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.bound.report import Replaced
from tacit.data.ratings import Ratings
from tacit.engine import blocks
from tacit.engine.answers import Answers
from tacit.engine.blocks import Piece
from tacit.engine.memory import InMemory
from tacit.engine.scenario import Scenario
from tacit.errors import Failure, SettingError
from tacit.ledger.account.event import Event
from tacit.ledger.book.devices import DeviceBooks
from tacit.noise.release import Charge
from tacit.rounds.options import How, Progress
from tacit.rounds.people import People
from tacit.rounds.plan import Budget
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import State


@dataclass(frozen=True)
class Traffic:
    """Bytes and answers of one round."""

    round: str
    reports: int
    bits_up: int
    """From one device to the server, over all parts."""
    bytes_down: int
    """From the server to one device: the public arrays that changed; what follows from
    others is derived there."""


class Local(InMemory):
    """Devices one after another, each alone with its own block, record and fresh bits. See
    the module."""

    name = "local"
    trust = "nobody is trusted: every device adds enough noise for itself alone"
    shows_people = True
    alone = True
    """Whether a device is a block of its own; in a simulation blocks of many share the threads."""

    def __init__(
        self,
        ratings: Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
        *,
        books: DeviceBooks | None = None,
    ) -> None:
        super().__init__(ratings, 1 if self.alone else threads, progress)
        self.books = books
        self.traffic: list[Traffic] = []
        self._cap: Budget | None = None
        self.scenario: Scenario | None = None
        """How the devices behave, where it was said."""
        self._sent: dict[str, NDArray[np.float64]] = {}

    @classmethod
    def over(cls, ratings: Ratings, how: How, budget: Budget | None = None) -> Self:
        """Devices whose own ledgers allow `budget` in all, unless they were given another cap."""
        engine = super().over(ratings, how)
        if how.devices:
            engine.scenario = Scenario.from_options(how.devices, cls.name)
        if budget is not None:
            cap_epsilon = engine.scenario.cap if engine.scenario else None
            engine._cap = Budget(
                budget.epsilon if cap_epsilon is None else cap_epsilon, budget.delta
            )
        return engine

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """Devices pay, all of them before any answers; then each computes, randomizes and
        answers."""
        answers = self._open(round_, charge)
        people = self._pay(answers, self._present(self._participants(round_.takes_part)))
        pieces = list(self._cut(people))
        workers = max(1, min(self.threads, len(pieces)))
        worker_answers = [
            {name: self._answers(a.part, a.event) for name, a in answers.items()}
            for _ in range(workers)
        ]

        witness = self._witness(round_, state)

        def work(worker: int, position: int, block: Block) -> None:
            contribution = witness.contribute(position, block)
            self._keep(block, round_)
            for name, answer in worker_answers[worker].items():
                answer.hear(block, contribution[name], self._cheats(block.people))

        self._run_pieces(pieces, workers, witness, round_.name, work)
        for part in worker_answers:
            for name, answer in part.items():
                answers[name].merge(answer)
        return self._close(round_, state, answers)

    def _check_round(self, round_: Round) -> None:
        super()._check_round(round_)
        for part in round_.parts:
            if part.kind not in (Kind.REPORT, Kind.SUM) or part.is_sequential:
                raise SettingError(
                    f"{part.release_kind} releases need a trusted party",
                    remedy="use --engine threads",
                )

    def _answers(self, part: Part, event: Event | None) -> Answers:
        return Answers(part, event)

    def _present(self, people: People) -> People:
        """Of the people who are asked, those whose device is there and answers."""
        return people

    def _cheats(self, people: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Which of these devices send the largest answer instead of theirs."""
        return None

    def _cut(self, people: People, width: int = 1) -> Iterator[Piece]:
        return blocks.singly(self.ratings, people) if self.alone else super()._cut(people, width)

    def _pay(self, answers: Mapping[str, Answers], people: People) -> People:
        """Who may answer, durably charged. A device without room in its book stays silent."""
        books = self._opened()
        if books is None:
            return people
        participants = payers = np.arange(self.people) if people is None else people
        for answer in answers.values():
            if answer.event is not None:
                payers = books.pay(answer.event, payers)
        self.refused += len(participants) - len(payers)
        return None if people is None and len(payers) == len(participants) else payers

    def _opened(self) -> DeviceBooks | None:
        """The devices' own ledgers, opened when the first of them is asked."""
        if self.books is None and self._cap is not None:
            cap = (self._cap.epsilon, self._cap.delta)
            book_path = self.scenario.book if self.scenario else None
            whose = "\n".join(self.ratings.users).encode()
            fleet = "" if book_path is None else sha256(whose).hexdigest()
            self.books = DeviceBooks(self.people, cap, book_path, fleet=fleet)
        return self.books

    def _open(self, round_: Round, charge: Charge) -> dict[str, Answers]:
        opened = {}
        self._check_round(round_)
        for part in round_.parts:
            event = charge.draw(f"{round_.name}/{part.name}")
            noised = part.kind is Kind.SUM and event is not None and part.printed is None
            if noised and not isinstance(part.bound, Replaced):
                raise Failure(
                    f"the bound of {part.name} is for people who stay away, not for any "
                    "two records of one"
                )
            opened[part.name] = self._answers(part, event)
        self._make_room(round_)
        return opened

    def _close(
        self, round_: Round, state: State, answers: Mapping[str, Answers]
    ) -> dict[str, Released]:
        changed = {
            n: a
            for n, a in state.packed().items()
            if self._sent.get(n) is not a and (a.ndim or self._sent.get(n) != a)
        }
        self._sent |= changed
        count = max((answer.count for answer in answers.values()), default=0)
        up = sum(a.bits_up for a in answers.values())
        down = sum(_news(a, n in state.growing()) for n, a in changed.items())
        self.traffic.append(Traffic(round_.name, count, up, down))
        return {name: answer.released() for name, answer in answers.items()}


def _news(array: NDArray[Any], grows: bool) -> int:
    """Bytes of what a device has not been sent before."""
    return array[-1].nbytes if grows else array.nbytes
