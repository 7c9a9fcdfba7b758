"""How far pairs of neighbours move the releases of a plan, as shares of their bounds; the best
pairs of each release, and of all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.guesses import GaussianCurve, PureCurve
from tacit.auditing.pairs import Pair
from tacit.auditing.transcript import Cells
from tacit.auditing.walk import Walked
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
    "CellVectors": "its coefficients were released before, and noise left them below length 1; "
    "or a ridge shares them with rows that are not orthogonal",
    "LevelCells": "its three numbers are not at their ends at once",
}
"""Why a bound may not be reached, by its class: the proofs say how much is given away."""
CLIMBED = 12
"""Releases at a time that are climbed: those furthest from their bound."""


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
    stages: Mapping[str, float]
    """Epsilon of the best pair after each kind of search."""


@dataclass(frozen=True)
class TriedPair:
    """Pairs of neighbours that were tried, and how far each went."""

    pairs: list[Pair]
    shares: Floats
    """One row a pair, one column a release: of its bound."""


@dataclass(frozen=True)
class ReachedRelease:
    """One release of the plan, as the search walks to it."""

    step: Walked
    part: Part
    event: Event

    @property
    def name(self) -> str:
        """Its round and part, as the plan names them."""
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
        """Whether its noise composes as a Gaussian."""
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
        entries = move.tocoo()
        person, column = entries.row, entries.col
        squares = np.asarray(entries.data, np.float64) ** 2
        rows = self.part.size
        line = person.astype(np.int64) * rows + column // self.part.width
        lines, line_index = np.unique(line, return_inverse=True)
        length = np.sqrt(np.bincount(line_index, squares, len(lines)))
        return np.asarray(np.bincount(lines // rows, length, move.shape[0]), np.float64)


TOGETHER = -1
"""A goal of the search: all releases at once."""


class Best:
    """The best pairs of each release, and of all together."""

    def __init__(self, releases: Sequence[ReachedRelease], kept: int) -> None:
        self.releases = releases
        self.kept = kept
        self._pairs: list[Pair] = []
        self._shares = np.zeros((0, len(releases)))

    @property
    def pairs(self) -> list[Pair]:
        """Those that are worth changing: the best of all together first."""
        return self._pairs

    def take(self, tried: TriedPair) -> None:
        """Keep what is better than before."""
        pairs = self._pairs + tried.pairs
        shares = np.concatenate([self._shares, tried.shares])
        totals = self._totals(shares)
        orders = [totals, *shares.T]
        retained = list(
            dict.fromkeys(
                int(k) for order in orders for k in np.argsort(-order, kind="stable")[: self.kept]
            )
        )
        self._pairs = [pairs[k] for k in retained]
        self._shares = shares[retained]

    def worth(self, shares: Floats, goal: int) -> Floats:
        """What a search climbs: the share of one release, or all together."""
        if goal == TOGETHER:
            return self._totals(shares)
        return np.asarray(shares[:, goal], np.float64)

    def best(self, goal: int) -> Pair:
        """The best pair so far."""
        return self._pairs[int(np.argmax(self.worth(self._shares, goal)))]

    def open_goals(self) -> list[int]:
        """All together, and the releases furthest from their bounds."""
        reached = self._shares.max(axis=0)
        furthest = np.argsort(reached, kind="stable")[:CLIMBED]
        return [TOGETHER, *(int(k) for k in furthest if reached[k] < NEAR)]

    def epsilon(self, delta: float) -> float:
        """Of the pair that all releases together tell apart best."""
        cost = float(self._totals(self._shares).max(initial=0.0))
        gaussian = all(release.gaussian for release in self.releases)
        curve = GaussianCurve(cost) if gaussian else PureCurve(cost)
        return curve.epsilon(delta)

    def found(self, unit: Unit, delta: float, stages: Mapping[str, float]) -> Found:
        """What was found, in words and numbers."""
        nearest = self._shares.max(axis=0)
        reached = {release.name: float(nearest[k]) for k, release in enumerate(self.releases)}
        slack = {
            release.name: release.why for release in self.releases if reached[release.name] < NEAR
        }
        pair = self.best(TOGETHER)
        return Found(reached, self.epsilon(delta), pair, pair.words(unit), slack, stages)

    def _totals(self, shares: Floats) -> Floats:
        """Mu of each pair over all releases; epsilon where all noise is pure."""
        costs = np.array([release.cost for release in self.releases])
        if all(release.gaussian for release in self.releases):
            return np.asarray(np.sqrt(((shares * costs) ** 2).sum(axis=1)))
        return np.asarray((shares * costs).sum(axis=1))
