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
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound.report import Replaced
from tacit.data.ratings import Ratings
from tacit.engine.answers import Answers
from tacit.engine.base import Progress
from tacit.engine.threads import Threads
from tacit.errors import Failure, SettingError
from tacit.ledger.book.devices import DeviceBooks
from tacit.noise.release import Charge
from tacit.rounds.round import Kind, Released, Round
from tacit.rounds.state import State


@dataclass(frozen=True)
class Traffic:
    """What one round sent."""

    round: str
    reports: int
    bits_up: int
    """From one device to the server, over all parts."""
    bytes_down: int
    """From the server to one device: the public arrays that changed, but for those
    that it derives itself."""


class Local(Threads):
    """Devices one after another, each alone with its own block, record and fresh bits. See
    the module."""

    name = "local"
    trust = "nobody is trusted: every device adds enough noise for itself alone"
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
        self.refused = 0
        """Answers that devices did not give because their own ledgers had no room."""
        self._sent: dict[str, NDArray[np.float64]] = {}

    def run(
        self, round_: Round, state: State, charge: Charge
    ) -> Mapping[str, Released]:
        """Devices pay, all of them before any answers; then each computes, randomizes and
        answers."""
        from threadpoolctl import threadpool_limits

        answers = self._open(round_, charge)
        people = self._pay(answers, self._present(self._who(round_.takes_part)))
        blocks = list(self._cut(people, whole=False))
        workers = max(1, min(self.threads, len(blocks)))
        heard = [
            {name: Answers(a.part, a.event) for name, a in answers.items()}
            for _ in range(workers)
        ]

        def work(worker: int) -> None:
            for position in range(worker, len(blocks), workers):
                block = self._block(blocks[position], {})
                given = round_.contribute(block, state)
                self._keep(block, round_)
                for name, answer in heard[worker].items():
                    answer.hear(block, given[name], self._cheats(block.people))
                if self._progress:
                    self._progress(position + 1, len(blocks), round_.name)

        with (
            threadpool_limits(1) if workers > 1 else nullcontext(),
            ThreadPoolExecutor(workers) as pool,
        ):
            list(pool.map(work, range(workers)))
        for part in heard:
            for name, answer in part.items():
                answers[name].merge(answer)
        return self._close(round_, state, answers)

    def _present(self, people: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """Of the people who are asked, those whose device is there and answers."""
        return people

    def _cheats(self, people: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Which of these devices send the largest answer instead of theirs."""
        return None

    def _cut(
        self, people: NDArray[np.int64] | None, whole: bool
    ) -> Iterator[NDArray[np.int64] | slice]:
        if not self.alone:
            return super()._cut(people, whole)
        rows = range(self.ratings.n_users) if people is None else people.tolist()
        return (slice(person, person + 1) for person in rows)

    def _pay(
        self, answers: Mapping[str, Answers], people: NDArray[np.int64] | None
    ) -> NDArray[np.int64] | None:
        """Who may answer, durably charged. A device without room in its book stays silent."""
        if self.books is None:
            return people
        asked = paid = np.arange(self.ratings.n_users) if people is None else people
        for answer in answers.values():
            if answer.event is not None:
                paid = self.books.pay(answer.event, paid)
        self.refused += len(asked) - len(paid)
        return None if people is None and len(paid) == len(asked) else paid

    def _open(self, round_: Round, charge: Charge) -> dict[str, Answers]:
        opened = {}
        for part in round_.parts:
            event = charge.draw(f"{round_.name}/{part.name}")
            if part.kind not in (Kind.REPORT, Kind.SUM) or part.is_sequential:
                raise SettingError(
                    f"{part.words} releases need a trusted party",
                    remedy="use --engine threads",
                )
            noised = (
                part.kind is Kind.SUM and event is not None and part.printed is None
            )
            if noised and not isinstance(part.bound, Replaced):
                raise Failure(
                    f"the bound of {part.name} is for people who stay away, not for any "
                    "two records of one"
                )
            opened[part.name] = Answers(part, event)
        for kept in round_.personal:
            self._personal.setdefault(
                kept.name, np.zeros((self.ratings.n_users, kept.width))
            )
        return opened

    def _close(
        self, round_: Round, state: State, answers: Mapping[str, Answers]
    ) -> dict[str, Released]:
        changed = {
            n: a
            for n, a in state.packed(derived=False).items()
            if self._sent.get(n) is not a and (a.ndim or self._sent.get(n) != a)
        }
        self._sent |= changed
        count = max((answer.count for answer in answers.values()), default=0)
        up, down = (
            sum(a.bits_up for a in answers.values()),
            sum(a.nbytes for a in changed.values()),
        )
        self.traffic.append(Traffic(round_.name, count, up, down))
        return {name: answer.released() for name, answer in answers.items()}
