"""The game of one device that trusts nobody: what leaves it, for two records of its owner that
differ as much as they can, run after run.

The records are all-lowest and all-highest ratings of the same items. What is drawn is drawn
by the very function that a device calls, from the event that it pays for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.games import Won, gaussian_ratio, play
from tacit.auditing.guesses import GaussianCurve, guess, least_mu
from tacit.auditing.one_run import MOST_GUESSED
from tacit.auditing.walk import Walk, Walked
from tacit.bound.base import Rows, bounded
from tacit.data.ratings import Ratings
from tacit.engine.blocks import block_of
from tacit.ledger.account.event import Event, Gaussian, RandomizedChoice
from tacit.noise.device import choose, own_noise
from tacit.rounds.round import Kind, Part

Floats = NDArray[np.float64]
RATED = 30
"""Items of either record."""
ANSWERS, VECTORS = 20_000, 2000
"""Runs on either record: of one answer, and of a whole vector of numbers."""


@dataclass(frozen=True)
class LocalGame:
    """What one report of a device proves."""

    won: Won
    release: str
    witness: str


def play_devices(walked: Walk, *, delta: float, mistake: float, quick: bool) -> LocalGame | None:
    """The game of the first report of this plan that these records move; None where
    devices give none."""
    if not walked.run.method.local:
        return None
    events = {event.name: event for event in walked.run.events}
    sides = _extremes(walked.ratings)
    best: _Report | None = None
    for step in walked.steps:
        for part in step.round.parts:
            event = events.get(f"{step.round.name}/{part.name}")
            if event is None or step.released is None:
                continue
            rows = [_contribution(step, part, side) for side in sides]
            report = _Report(part, event, rows[0], rows[1])
            if best is None or report.relative_distance > best.relative_distance:
                best = report
    if best is None or best.relative_distance == 0:
        return None
    witness = f"{RATED} items at {sides[0].value[0]:g}, and the same at {sides[1].value[0]:g}"
    won = best.play(delta, mistake, 4 if quick else 1)
    return LocalGame(won, best.event.name, witness)


def _extremes(like: Ratings) -> tuple[Ratings, Ratings]:
    count = min(RATED, like.n_items)
    lowest = replace(
        like,
        users=["device"],
        ptr=np.array([0, count], np.int64),
        item=np.arange(count, dtype=np.uint32),
        value=np.full(count, like.schema.low, np.float32),
        time=None,
    )
    high = np.full(count, like.schema.high, np.float32)
    return lowest, replace(lowest, value=high)


def _contribution(step: Walked, part: Part, side: Ratings) -> Rows:
    block = block_of(side, slice(0, 1))
    personal = {member.name: np.zeros((1, member.width)) for member in step.round.personal}
    block = replace(block, personal=personal)
    return step.round.contribute(block, step.state)[part.name]


@dataclass(frozen=True)
class _Report:
    """What a device says about two records."""

    part: Part
    event: Event
    one: Rows
    other: Rows

    @property
    def relative_distance(self) -> float:
        """How far apart the records are, as a share of the bound; 0 where no game is known."""
        if isinstance(self.event, RandomizedChoice):
            return float(self._liked(self.one) != self._liked(self.other))
        if isinstance(self.event, Gaussian) and self.part.kind is Kind.SUM:
            gap = self._dense(self.one) - self._dense(self.other)
            return float(np.sqrt((gap**2).sum())) / self.event.sensitivity
        return 0.0

    def play(self, delta: float, mistake: float, fewer: int) -> Won:
        """Many runs on either record, and what they prove."""
        if isinstance(self.event, RandomizedChoice):
            runs = ANSWERS // fewer
            scores = [self._likelihood(self.event, side, runs) for side in (self.one, self.other)]
            return play(scores[0], scores[1], delta=delta, mistake=mistake)
        return self._vectors(VECTORS // fewer, delta, mistake)

    def _liked(self, rows: Rows) -> set[int]:
        return set(rows.values[0].astype(int).tolist())

    def _likelihood(self, event: RandomizedChoice, rows: Rows, runs: int) -> Floats:
        """The exact ratio: an answer that one record favours is likelier by e^epsilon."""
        answers = choose(event, np.repeat(rows.values[:1], runs, axis=0))
        first = np.isin(answers, list(self._liked(self.one))).astype(np.float64)
        second = np.isin(answers, list(self._liked(self.other))).astype(np.float64)
        return np.asarray(event.epsilon * (first - second), np.float64)

    def _dense(self, rows: Rows) -> Floats:
        part = self.part
        integers = bounded(
            part.bound, rows, name=part.name, people=1, size=part.size, width=part.width
        )
        dense = np.zeros((part.size, part.width))
        np.add.at(dense, rows.index.astype(np.int64), integers)
        return dense.ravel()

    def _vectors(self, runs: int, delta: float, mistake: float) -> Won:
        """Whole noised vectors, by the exact ratio over the numbers that the records move.
        Runs are independent, so the law of order statistics holds."""
        one, other = self._dense(self.one), self._dense(self.other)
        differs = one != other
        sides = one[differs], other[differs]
        spread = own_noise(self.event, 1, 1).sd
        scores = []
        for side in sides:
            noise = [own_noise(self.event, 1, len(side)).steps.ravel() for _ in range(runs)]
            noised = side + np.stack(noise)
            scores.append(gaussian_ratio(noised, sides[0], sides[1], spread))
        coins = np.repeat([True, False], runs)
        guess_count = round(MOST_GUESSED * len(coins))
        guessed = guess(np.concatenate(scores), coins, guess_count)
        epsilon = GaussianCurve(least_mu(guessed, mistake)).epsilon(delta)
        beyond = [int((ratios > 0).sum()) for ratios in scores]
        return Won(epsilon, 0.0, beyond[0], beyond[1], runs)
