"""What devices say and the server hears: the one place where answers are randomized and added up.

Guarantee: an answer is a draw from its part's event, made for each person alone
(`tacit.noise.device`); the server keeps nothing else. A cheat's answer stands for a
dishonest device in a simulation and promises that person nothing.
"""

from __future__ import annotations

from math import ceil, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, check_rows
from tacit.errors import Failure
from tacit.ledger.account.event import Event, RandomizedChoice
from tacit.noise import bits
from tacit.noise.device import choose, own_noise, respond, unbiased
from tacit.rounds.round import Block, Kind, Part, Released

HUGE = 1e6
"""What a cheat asks for: far beyond any bound."""
WORD = 64
"""Bits of a number that a device sends whole."""
Cheats = NDArray[np.bool_] | None
"""Which people of a block cheat; None if nobody does."""


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
        """Whether devices choose among answers, and the server keeps each device's answer."""
        return self.part.kind is Kind.REPORT and self.part.choices > 0

    def hear(self, block: Block, rows: Rows, cheats: Cheats = None) -> None:
        """Randomize what the people of a block contribute, each for herself, and add the
        answers up."""
        count = len(block.people)
        self.count += count
        check_rows(rows, name=self.part.name, people=count, size=self.part.size)
        if self.part.kind is Kind.REPORT and (np.diff(rows.ptr) != 1).any():
            raise Failure(f"a device gives one report to {self.part.name}, no more and no fewer")
        if self.is_choice:
            self._hear_choices(block, rows, cheats)
        elif self.part.kind is Kind.REPORT:
            self._hear_bits(rows, cheats)
        else:
            self._hear_vectors(block, _greedy(rows, cheats))

    def _hear_choices(self, block: Block, rows: Rows, cheats: Cheats) -> None:
        answer = rows.values[:, 0].astype(np.int64)
        if isinstance(self.event, RandomizedChoice):
            answer = choose(self.event, rows.values)
        if cheats is not None:
            answer = np.where(cheats, 0, answer)
        self.who.append(block.people)
        self.said.append(answer)

    def _hear_bits(self, rows: Rows, cheats: Cheats) -> None:
        bit = np.clip(np.nan_to_num(rows.values[:, 0]), -1, 1)
        if self.event is not None:
            bit = respond(self.event, bit).astype(np.float64)
        if cheats is not None:
            bit = np.where(cheats, 1.0, bit)
        summed = np.bincount(rows.index, bit, self.total.size)
        self.total += summed.reshape(self.total.shape)

    def _hear_vectors(self, block: Block, rows: Rows) -> None:
        """Whole vectors, bounded, each with all the noise that covers it."""
        from tacit.kernels.rows import add_rows

        exact = np.zeros((self.part.size, self.part.width), np.int64)
        add_rows(rows.index, self.part.bound.apply(rows), exact)
        if self.event is not None:
            noise = own_noise(self.event, len(block.people), exact.size)
            exact += noise.steps.reshape(exact.shape)
        self.total += exact

    def merge(self, other: Answers) -> None:
        """Add the answers that another thread has collected."""
        self.count += other.count
        self.total += other.total
        self.who += other.who
        self.said += other.said

    def released(self) -> Released:
        """All answers as rounds use them: unbiased sums, or who answered what."""
        private = self.event is not None and not bits.injected()
        if self.is_choice:
            respondents = np.concatenate(self.who) if self.who else np.zeros(0, np.int64)
            answers = np.concatenate(self.said) if self.said else np.zeros(0, np.int64)
            table = np.column_stack([respondents, answers]).astype(np.float64)
            return Released(table, 0.0, private, self.count)
        if self.part.kind is Kind.REPORT:
            if self.event is None:
                return Released(self.total * 1.0, 0.0, private, self.count)
            factor = unbiased(self.event)
            sd = factor * sqrt(self.count / max(self.total.size, 1))
            return Released(self.total * factor, sd, private, self.count)
        steps = self.part.bound.steps
        return Released(self.total / steps, self._sd() / steps, private, self.count)

    def _sd(self) -> float:
        """Of the noise of all vectors together, in steps."""
        if self.event is None:
            return 0.0
        return own_noise(self.event, 1, 1).sd * sqrt(self.count)

    @property
    def bits_up(self) -> int:
        """Bits that one device sends."""
        if self.part.kind is Kind.REPORT:
            return ceil(log2(max(self.part.choices, 2)))
        return WORD * self.part.size * self.part.width


def _greedy(rows: Rows, cheats: Cheats) -> Rows:
    """Cheats ask for all they can; the bound holds for them too."""
    if cheats is None:
        return rows
    theirs = np.repeat(cheats, np.diff(rows.ptr))[:, None]
    return Rows(rows.ptr, rows.index, np.where(theirs, HUGE, rows.values))
