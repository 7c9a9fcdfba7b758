"""Nobody is trusted: every device holds its ratings, its state and its own ledger, and sends randomized answers only.

The server holds the public state. It asks; a device checks its own book, computes its contribution from the public
state and its own ratings, randomizes it and answers with a message. The server sees messages, and who sent them.

Guarantee: what leaves a device is a draw from the event that the device itself has paid for, durably and under its own
cap (`tacit.engine.device`), so any two records of one person look alike over all her answers, whatever the server does.
Which coordinate or direction she is asked about comes from public randomness and says nothing about her.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.bound.check import check_rows
from tacit.bound.report import Replaced
from tacit.data.ratings import Ratings
from tacit.engine.base import Progress
from tacit.engine.device import DeviceBooks
from tacit.engine.threads import Threads
from tacit.errors import Failure, SettingError
from tacit.ledger.event import Choice, Event, Unbounded
from tacit.noise import bits
from tacit.noise.device import choose, masked, own_noise, respond, unbiased
from tacit.noise.release import Charge
from tacit.round import Block, Kind, Part, Released, Round, State


@dataclass(frozen=True)
class Traffic:
    """What one round sent."""

    round: str
    reports: int
    bits_up: int
    """From one device to the server, over all parts."""
    bytes_down: int
    """From the server to one device: the public arrays that changed; names with an underscore are derived there."""


class Answers:
    """What the server has received for one part: all it ever knows."""

    def __init__(self, part: Part, event: Event | None) -> None:
        self.part, self.event, self.count = part, event, 0
        self.total = np.zeros((part.size, part.width))
        self.who: list[NDArray[np.int64]] = []
        self.said: list[NDArray[np.int64]] = []

    @property
    def is_choice(self) -> bool:
        return self.part.kind is Kind.REPORT and self.part.choices > 0

    def hear(self, block: Block, rows: Rows, cheats: NDArray[np.bool_] | None = None) -> None:
        """Randomize what the people of a block contribute, each for herself, and add the answers up."""
        count = len(block.people)
        self.count += count
        check_rows(rows, name=self.part.name, people=count, size=self.part.size)
        if self.part.kind is Kind.REPORT and (np.diff(rows.ptr) != 1).any():
            raise Failure(f"a device gives one report to {self.part.name}, no more and no fewer")
        if self.is_choice:
            answer = rows.values[:, 0].astype(np.int64)
            if isinstance(self.event, Choice):
                answer = choose(self.event, rows.values)
            if cheats is not None:
                answer = np.where(cheats, 0, answer)
            self.who.append(block.people)
            self.said.append(answer)
        elif self.part.kind is Kind.REPORT:
            value = np.clip(np.nan_to_num(rows.values[:, 0]), -1, 1)
            bit = value if self.event is None else respond(self.event, value).astype(np.float64)
            if cheats is not None:
                bit = np.where(cheats, 1.0, bit)
            self.total += np.bincount(rows.index, bit, self.total.size).reshape(self.total.shape)
        else:
            self._add(block, rows, cheats)

    def _add(self, block: Block, rows: Rows, cheats: NDArray[np.bool_] | None) -> None:
        from tacit.kernels.rows import add_rows

        whole = self.part.bound.apply(rows)
        if cheats is not None:  # the largest vector that passes for an honest one
            whole[np.repeat(cheats, np.diff(rows.ptr))] = self.part.bound.steps
        if isinstance(self.event, Unbounded):
            index = np.asarray(rows.index, np.int64)
            self.total += masked(self.event, rows.ptr, index, whole, self.part.size)
            return
        exact = np.zeros((self.part.size, self.part.width), np.int64)
        add_rows(rows.index, whole, exact)
        if self.event is not None:
            exact += own_noise(self.event, len(block.people), exact.size)[0].reshape(exact.shape)
        self.total += exact

    def merge(self, other: Answers) -> None:
        self.count += other.count
        self.total += other.total
        self.who += other.who
        self.said += other.said

    def released(self) -> Released:
        private = self.event is not None and not bits.injected()
        if self.is_choice:
            who = np.concatenate(self.who) if self.who else np.zeros(0, np.int64)
            said = np.concatenate(self.said) if self.said else np.zeros(0, np.int64)
            return Released(np.column_stack([who, said]).astype(np.float64), 0.0, private, self.count)
        if self.part.kind is Kind.REPORT:
            factor = 1.0 if self.event is None else unbiased(self.event)
            sd = 0.0 if self.event is None else factor * sqrt(self.count / max(self.total.size, 1))
            return Released(self.total * factor, sd, private, self.count)
        steps = self.part.bound.steps
        sd = 0.0
        if self.event is not None and not isinstance(self.event, Unbounded):
            sd = own_noise(self.event, 1, 1)[1] * sqrt(self.count) / steps
        return Released(self.total / steps, sd, private, self.count)

    @property
    def bits_up(self) -> int:
        if self.part.kind is Kind.REPORT:
            return ceil(log2(max(self.part.choices, 2)))
        return 64 * self.part.size * self.part.width


class Local(Threads):
    """Devices one after another, each alone with its own block, book and fresh bits. See the module."""

    name = "local"
    trust = "nobody is trusted: every device adds enough noise for itself alone"

    def __init__(
        self,
        ratings: Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
        *,
        books: DeviceBooks | None = None,
    ) -> None:
        super().__init__(ratings, threads, progress)
        self.books = books
        self.traffic: list[Traffic] = []
        self._sent: dict[str, NDArray[np.float64]] = {}

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        answers = self._open(round_, charge)
        asked = self._who(round_.takes_part)
        rows = np.arange(self.ratings.n_users) if asked is None else asked
        for done, person in enumerate(rows.tolist()):
            self._device(round_, state, answers, np.array([person]))
            if self._progress and done % 256 == 0:
                self._progress(done, len(rows), round_.name)
        return self._close(round_, state, answers)

    def _device(self, round_: Round, state: State, answers: Mapping[str, Answers], person: NDArray[np.int64]) -> None:
        """One device: pay, compute, randomize, answer. Without room in its book it stays silent."""
        if not len(self._pay(answers, person)):
            return
        block = self._block(person, {})
        given = round_.contribute(block, state)
        self._keep(block, round_)
        for name, answer in answers.items():
            answer.hear(block, given[name])

    def _pay(self, answers: Mapping[str, Answers], people: NDArray[np.int64]) -> NDArray[np.int64]:
        for answer in answers.values():
            if self.books is not None and answer.event is not None:
                people = self.books.pay(answer.event, people)
        return people

    def _open(self, round_: Round, charge: Charge) -> dict[str, Answers]:
        opened = {}
        for part in round_.parts:
            event = charge.draw(f"{round_.name}/{part.name}")
            if part.kind not in (Kind.REPORT, Kind.SUM):
                raise SettingError(f"{part.kind.value} releases need a trusted party", remedy="use --engine threads")
            noised = part.kind is Kind.SUM and event is not None and part.claim is None
            if noised and not isinstance(part.bound, Replaced):
                raise Failure(f"the bound of {part.name} is for people who stay away, not for any two records of one")
            opened[part.name] = Answers(part, event)
        for kept in round_.personal:
            self._personal.setdefault(kept.name, np.zeros((self.ratings.n_users, kept.width)))
        return opened

    def _close(self, round_: Round, state: State, answers: Mapping[str, Answers]) -> dict[str, Released]:
        changed = {n: a for n, a in state.items() if not n.startswith("_") and self._sent.get(n) is not a}
        self._sent |= changed
        count = max((answer.count for answer in answers.values()), default=0)
        up, down = sum(a.bits_up for a in answers.values()), sum(a.nbytes for a in changed.values())
        self.traffic.append(Traffic(round_.name, count, up, down))
        return {name: answer.released() for name, answer in answers.items()}
