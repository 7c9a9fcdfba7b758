"""The optimising adversary: for every release of a plan, the pair of neighbours that moves it
most, and the pair that is told apart best by all of them together.

Every record of a small case first, then random records, the best of them changed again and
again, each of their coordinates by itself, and steps up the slope of real-valued ratings,
where a bound is not reached yet. Contributions are computed by the plan itself, for many
pairs at once, at the public states of one walk; what a pair costs follows from the law of
the noise, without statistics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.ascent import flat, nudged, uphill
from tacit.auditing.pairs import (
    Pair,
    changed,
    elsewhere,
    every_small_pair,
    random_pair,
    records,
    turned,
)
from tacit.auditing.reach import Best, Found, ReachedRelease, TriedPair
from tacit.auditing.transcript import Cells, contributed, is_readable, widened
from tacit.auditing.walk import Walk, Walked
from tacit.data.ratings import Ratings
from tacit.units import Unit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How long is looked."""

    pairs: int = 160
    generations: int = 14
    kept: int = 6
    """Of each release, and of all together."""
    steps: int = 6
    """Up the slope."""


QUICK_EFFORT = Effort(96, 6, 4, 2)


SWEPT = 5
"""Goals that are tried at every item and in everybody's place: all together, and the releases
furthest from their bounds."""


class Adversary:
    """One plan, walked once, and the pairs that are tried on it."""

    def __init__(self, walked: Walk, effort: Effort, rng: np.random.Generator) -> None:
        self.like = walked.ratings
        self.unit: Unit = walked.run.order.unit
        self.effort = effort
        self.rng = rng
        events = {event.name: event for event in walked.run.events}
        self.releases = [
            ReachedRelease(step, part, events[f"{step.round.name}/{part.name}"])
            for step in walked.steps
            if step.released is not None and is_readable(step)
            for part in step.round.parts
        ]
        self.steps = [
            step for step in walked.steps if step.released is not None and is_readable(step)
        ]

    def search(self, delta: float) -> Found | None:
        """The worst pairs; None where nobody's sum is released."""
        if not self.releases:
            return None
        best = Best(self.releases, self.effort.kept)
        stages: dict[str, float] = {}
        for name, search in (
            ("all small records", self._all_small),
            ("random", self._random),
            ("changed", self._change),
            ("coordinates", self._turn),
            ("gradient", self._climb),
        ):
            search(best)
            stages[name] = best.epsilon(delta)
        return best.found(self.unit, delta, stages)

    def _all_small(self, best: Best) -> None:
        best.take(self._tried(list(every_small_pair(self.like, self.unit))))

    def _random(self, best: Best) -> None:
        attempts = range(self.effort.pairs)
        best.take(self._tried([random_pair(self.rng, self.like) for _ in attempts]))

    def _change(self, best: Best) -> None:
        for _ in range(self.effort.generations):
            parents = best.pairs
            parent_rows = self.rng.integers(0, len(parents), self.effort.pairs)
            fresh = [changed(parents[k], self.rng, self.like) for k in parent_rows.tolist()]
            best.take(self._tried(fresh))

    def _turn(self, best: Best) -> None:
        for pair in best.pairs[:: self.effort.kept]:
            best.take(self._tried(list(turned(pair, self.like))))
        for goal in best.open_goals()[:SWEPT]:
            swept = elsewhere(best.best(goal), self.like, self.rng)
            best.take(self._tried(list(swept)))

    def _climb(self, best: Best) -> None:
        """Up the slope of every release that is not reached, and of all together."""
        for _ in range(self.effort.steps):
            goals = best.open_goals()
            starts = [nudged(best.best(goal), self.like, self.rng) for goal in goals]
            tried_pairs = self._tried(flat(starts))
            ends = np.cumsum([1 + len(start.pairs) for start in starts])
            plan_report = [
                best.worth(shares, goal)
                for goal, shares in zip(goals, np.split(tried_pairs.shares, ends[:-1]), strict=True)
            ]
            best.take(self._tried(uphill(starts, plan_report, self.like)))

    def _tried(self, pairs: list[Pair]) -> TriedPair:
        if not pairs:
            return TriedPair([], np.zeros((0, len(self.releases))))
        one, other = records(pairs, self.like, self.unit)
        last_user = max(self.like.n_users, 1) - 1
        persons = np.array([min(pair.who, last_user) for pair in pairs], np.int64)
        columns = [
            release.shares(cells)
            for step in self.steps
            for release, cells in zip(
                (r for r in self.releases if r.step is step),
                _moves(step, one, other, persons),
                strict=True,
            )
        ]
        return TriedPair(pairs, np.stack(columns, axis=1))


def _moves(step: Walked, one: Ratings, other: Ratings, persons: NDArray[np.int64]) -> list[Cells]:
    """By how much each pair moves each part of a round."""
    moves = []
    for a, b in zip(
        contributed(step, one, persons), contributed(step, other, persons), strict=True
    ):
        first, second = widened(a, b)
        gap = first.astype(np.float64) - second.astype(np.float64)
        moves.append(gap.tocsr())
    return moves


def hunt_pairs(walked: Walk, delta: float, effort: Effort, seed: int = 0) -> Found | None:
    """The worst pairs of neighbours for a walked plan."""
    return Adversary(walked, effort, np.random.default_rng(seed)).search(delta)
