"""What devices say and the server hears: the one place where answers are randomized and added up.

Guarantee: an answer is a draw from its part's event, made for each person alone
(`tacit.noise.device`); the server keeps nothing else. A cheat's answer stands for a
dishonest device in a simulation and promises that person nothing.
"""

from __future__ import annotations

from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.bound.check import check_rows
from tacit.errors import Failure
from tacit.ledger.account.event import Choice, Event, Unbounded
from tacit.noise import bits
from tacit.noise.device import choose, masked, own_noise, respond, unbiased
from tacit.rounds.round import Block, Kind, Part, Released

HUGE = 1e6


class Answers:
    """What the server has received for one part: all it ever knows."""

    def __init__(self, part: Part, event: Event | None) -> None:
        self.part = part
        self.event = event
        self.count = 0
        self.total = np.zeros((part.size, part.width))
        self.who: list[NDArray[np.int64]] = []
        self.said: list[NDArray[np.int64]] = []

    @property
    def is_choice(self) -> bool:
        return self.part.kind is Kind.REPORT and self.part.choices > 0

    def hear(
        self, block: Block, rows: Rows, cheats: NDArray[np.bool_] | None = None
    ) -> None:
        """Randomize what the people of a block contribute, each for herself, and add the
        answers up."""
        count = len(block.people)
        self.count += count
        check_rows(rows, name=self.part.name, people=count, size=self.part.size)
        if self.part.kind is Kind.REPORT and (np.diff(rows.ptr) != 1).any():
            raise Failure(
                f"a device gives one report to {self.part.name}, no more and no fewer"
            )
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
            bit = (
                value
                if self.event is None
                else respond(self.event, value).astype(np.float64)
            )
            if cheats is not None:
                bit = np.where(cheats, 1.0, bit)
            self.total += np.bincount(rows.index, bit, self.total.size).reshape(
                self.total.shape
            )
        else:
            self._add(block, rows, cheats)

    def _add(self, block: Block, rows: Rows, cheats: NDArray[np.bool_] | None) -> None:
        from tacit.kernels.rows import add_rows

        if (
            cheats is not None
        ):  # they ask for all they can; the bound holds for them too
            asked = np.where(
                np.repeat(cheats, np.diff(rows.ptr))[:, None], HUGE, rows.values
            )
            rows = Rows(rows.ptr, rows.index, asked)
        whole = self.part.bound.apply(rows)
        if isinstance(self.event, Unbounded):
            index = np.asarray(rows.index, np.int64)
            self.total += masked(self.event, rows.ptr, index, whole, self.part.size)
            return
        exact = np.zeros((self.part.size, self.part.width), np.int64)
        add_rows(rows.index, whole, exact)
        if self.event is not None:
            exact += own_noise(self.event, len(block.people), exact.size)[0].reshape(
                exact.shape
            )
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
            return Released(
                np.column_stack([who, said]).astype(np.float64),
                0.0,
                private,
                self.count,
            )
        if self.part.kind is Kind.REPORT:
            factor = 1.0 if self.event is None else unbiased(self.event)
            sd = (
                0.0
                if self.event is None
                else factor * sqrt(self.count / max(self.total.size, 1))
            )
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
