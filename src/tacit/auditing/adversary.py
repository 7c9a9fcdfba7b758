"""The optimising adversary: for every release of a plan, the pair of neighbours that moves it
most, and the pair that is told apart best by all of them together.

Random records first, then the best of them changed again and again, then each of their
coordinates by itself, and every record of a small case. Contributions are computed by the
plan itself, for many pairs at once, at the public states of one walk; what a pair costs
follows from the law of the noise, without statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.guesses import GaussianCurve, PureCurve
from tacit.auditing.pairs import (
    Pair,
    changed,
    every_small_pair,
    random_pair,
    records,
    turned,
)
from tacit.auditing.transcript import (
    Cells,
    contributed,
    is_readable,
    widened,
)
from tacit.auditing.walk import Walk, Walked
from tacit.data.ratings import Ratings
from tacit.ledger.account.event import Event, Gaussian
from tacit.noise.law import law_of
from tacit.rounds.round import Part
from tacit.units import Unit

Floats = NDArray[np.float64]
NEAR = 0.95
"""From this share on a bound counts as reached."""

REASONS = {
    "EntryGram": "its bound covers the worst rounding of every entry at once",
    "CountedGram": "its bound covers the worst rounding of every entry at once",
    "FactorGram": "a row stays below norm 1 by the offset in its own length",
    "OwnMeans": "a person's mean is shrunk, so only endless ratings reach the end",
    "CentredCells": "its bound adds what centring moves to the cell itself",
    "LevelCells": "its three numbers are not at their ends at once",
}
"""Why a bound may not be reached, by its class: the proofs say how much is given away."""


@dataclass(frozen=True)
class Effort:
    """How long is looked."""

    pairs: int = 160
    generations: int = 14
    kept: int = 6
    """Of each release, and of all together."""


QUICK_EFFORT = Effort(96, 6, 4)


@dataclass(frozen=True)
class Found:
    """What the adversary found."""

    reached: Mapping[str, float]
    """Of each release, the share of its bound."""
    epsilon: float
    """Of the pair that all releases together tell apart best, at the delta asked for."""
    pair: Pair
    witness: str
    slack: Mapping[str, str]
    """Of releases whose bound is not reached: why that may be."""


class Adversary:
    """One plan, walked once, and the pairs that are tried on it."""

    def __init__(
        self, walked: Walk, effort: Effort, rng: np.random.Generator
    ) -> None:
        self.like = walked.ratings
        self.unit: Unit = walked.run.order.unit
        self.effort = effort
        self.rng = rng
        events = {event.name: event for event in walked.run.events}
        self.releases = [
            _Release(step, part, events[f"{step.round.name}/{part.name}"])
            for step in walked.steps
            if step.released is not None and is_readable(step)
            for part in step.round.parts
        ]
        self.steps = [
            step
            for step in walked.steps
            if step.released is not None and is_readable(step)
        ]

    def search(self, delta: float) -> Found | None:
        """The worst pairs; None where nobody's sum is released."""
        if not self.releases:
            return None
        best = _Best(self.releases, self.effort.kept)
        best.take(self._tried(list(every_small_pair(self.like, self.unit))))
        fresh = [
            random_pair(self.rng, self.like) for _ in range(self.effort.pairs)
        ]
        best.take(self._tried(fresh))
        for _ in range(self.effort.generations):
            parents = best.pairs
            drawn = self.rng.integers(0, len(parents), self.effort.pairs)
            fresh = [
                changed(parents[k], self.rng, self.like) for k in drawn.tolist()
            ]
            best.take(self._tried(fresh))
        for pair in best.pairs[:: self.effort.kept]:
            best.take(self._tried(list(turned(pair, self.like))))
        return best.found(self.unit, delta)

    def _tried(self, pairs: list[Pair]) -> _Tried:
        if not pairs:
            return _Tried([], np.zeros((0, len(self.releases))))
        one, other = records(pairs, self.like, self.unit)
        columns = [
            release.shares(cells)
            for step in self.steps
            for release, cells in zip(
                (r for r in self.releases if r.step is step),
                _moves(step, one, other, self.like.n_users),
                strict=True,
            )
        ]
        return _Tried(pairs, np.stack(columns, axis=1))


@dataclass(frozen=True)
class _Tried:
    pairs: list[Pair]
    shares: Floats
    """One row a pair, one column a release: of its bound."""


@dataclass(frozen=True)
class _Release:
    step: Walked
    part: Part
    event: Event

    @property
    def name(self) -> str:
        return f"{self.step.round.name}/{self.part.name}"

    @property
    def cost(self) -> float:
        """What one whole bound costs: mu, or epsilon where noise is pure."""
        bound = float(getattr(self.event, "sensitivity", 0.0))
        return bound / law_of(self.event).spread

    @property
    def why(self) -> str:
        """Why no pair may come nearer to the bound."""
        name = type(self.part.bound).__name__
        return REASONS.get(name, "no pair that was tried came nearer")

    @property
    def gaussian(self) -> bool:
        return isinstance(self.event, Gaussian)

    def shares(self, move: Cells) -> Floats:
        """How much of the bound each pair moves, in the norm of the noise."""
        law = law_of(self.event).name
        if law == "gaussian":
            size = np.sqrt(move.multiply(move).sum(axis=1))
        elif law == "laplace":
            size = abs(move).sum(axis=1)
        else:
            size = self._by_rows(move)
        bound = float(getattr(self.event, "sensitivity", np.inf))
        return np.asarray(size, np.float64).ravel() / bound

    def _by_rows(self, move: Cells) -> Floats:
        """The lengths of all rows of the array, added up."""
        there = move.tocoo()
        person, column = there.coords
        squares = np.asarray(there.data, np.float64) ** 2
        rows = self.part.size
        line = person.astype(np.int64) * rows + column // self.part.width
        lines, place = np.unique(line, return_inverse=True)
        length = np.sqrt(np.bincount(place, squares, len(lines)))
        return np.asarray(
            np.bincount(lines // rows, length, move.shape[0]), np.float64
        )


def _moves(
    step: Walked, one: Ratings, other: Ratings, labels: int
) -> list[Cells]:
    """By how much each pair moves each part of a round."""
    moves = []
    for a, b in zip(
        contributed(step, one, labels),
        contributed(step, other, labels),
        strict=True,
    ):
        first, second = widened(a, b)
        gap = first.astype(np.float64) - second.astype(np.float64)
        moves.append(gap.tocsr())
    return moves


class _Best:
    """The best pairs of each release, and of all together."""

    def __init__(self, releases: Sequence[_Release], kept: int) -> None:
        self.releases = releases
        self.kept = kept
        self._pairs: list[Pair] = []
        self._shares = np.zeros((0, len(releases)))

    @property
    def pairs(self) -> list[Pair]:
        """Those that are worth changing: the best of all together first."""
        return self._pairs

    def take(self, tried: _Tried) -> None:
        """Keep what is better than before."""
        pairs = self._pairs + tried.pairs
        shares = np.concatenate([self._shares, tried.shares])
        totals = self._totals(shares)
        orders = [totals, *shares.T]
        kept = list(
            dict.fromkeys(
                int(k)
                for order in orders
                for k in np.argsort(-order, kind="stable")[: self.kept]
            )
        )
        self._pairs = [pairs[k] for k in kept]
        self._shares = shares[kept]

    def found(self, unit: Unit, delta: float) -> Found:
        """What was found, in words and numbers."""
        totals = self._totals(self._shares)
        first = int(np.argmax(totals))
        cost = float(totals[first])
        gaussian = all(release.gaussian for release in self.releases)
        curve = GaussianCurve(cost) if gaussian else PureCurve(cost)
        nearest = np.argmax(self._shares, axis=0)
        reached = {
            release.name: float(self._shares[nearest[k], k])
            for k, release in enumerate(self.releases)
        }
        slack = {
            release.name: release.why
            for k, release in enumerate(self.releases)
            if reached[release.name] < NEAR
        }
        pair = self._pairs[first]
        return Found(
            reached, curve.epsilon(delta), pair, pair.words(unit), slack
        )

    def _totals(self, shares: Floats) -> Floats:
        """Mu of each pair over all releases; epsilon where all noise is pure."""
        costs = np.array([release.cost for release in self.releases])
        if all(release.gaussian for release in self.releases):
            return np.asarray(np.sqrt(((shares * costs) ** 2).sum(axis=1)))
        return np.asarray((shares * costs).sum(axis=1))


def hunt_pairs(
    walked: Walk, delta: float, effort: Effort, seed: int = 0
) -> Found | None:
    """The worst pairs of neighbours for a walked plan."""
    return Adversary(walked, effort, np.random.default_rng(seed)).search(delta)
