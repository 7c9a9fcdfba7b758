"""The optimising adversary: for every release of a plan, the pair of neighbours that moves it
most, and the pair that is told apart best by all of them together.

Every record of a small case first, then random records, the best of them changed again and
again, each of their coordinates by itself, and steps up the slope of real-valued ratings,
where a bound is not reached yet. Contributions are computed by the plan itself, for many
pairs at once, at the public states of one walk; what a pair costs follows from the law of
the noise, without statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.guesses import GaussianCurve, PureCurve
from tacit.auditing.transcript import Cells, contributed, is_readable, widened
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
    "CellVectors": "its coefficients were released before, and noise left them below length 1; "
    "or a ridge shares them with rows that are not orthogonal",
    "LevelCells": "its three numbers are not at their ends at once",
}
"""Why a bound may not be reached, by its class: the proofs say how much is given away."""
CLIMBED = 12
"""Releases at a time that are climbed: those furthest from their bound."""
NUDGE = 0.05
"""Of the scale: far enough to leave the grid, near enough for a slope."""
STEPS = (0.02, 0.1, 0.3, 1.0)
"""Of the scale, that the coordinate of the largest slope moves by: the last one moves every
coordinate that matters to its end."""
COORDINATES = 24
"""Values of a long record that are nudged, drawn anew in each step."""
SIZES = (1, 2, 3, 5, 8, 13, 30, 60, 150)
"""Ratings of a person, to begin with."""
SMALL = 3
"""Items of the small case that is tried out completely."""
PLACES = 1000
"""Items, and people, in whose place the best pair is tried."""


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
            ("coordinates", self._search_round),
            ("gradient", self._climb),
        ):
            search(best)
            stages[name] = best.epsilon(delta)
        return best.finding(self.unit, delta, stages)

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

    def _search_round(self, best: Best) -> None:
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


# Pairs of neighbouring records, as an optimising adversary tries them: many at once, each the
# only person who differs.


@dataclass(frozen=True)
class Pair:
    """A person's record, and which of her cells differs; at `user` she is there or not."""

    item: NDArray[np.int64]
    value: NDArray[np.float64]
    cell: int = 0
    other: float = 0.0
    """At `value`: what the cell holds in the other record."""
    who: int = 0
    """Of the people of the walk, in whose place she stands: what was released about them
    before is then what later rounds use of her."""

    def describe(self, unit: Unit) -> str:
        """For people: the record, and what differs."""
        cells = ", ".join(
            f"item {i}: {v:g}" for i, v in zip(self.item[:8], self.value[:8], strict=True)
        )
        remainder_note = f" and {len(self.item) - 8} more" if len(self.item) > 8 else ""
        record = f"{cells}{remainder_note}"
        if unit == "user":
            return f"a person with {record}; there or not"
        item = int(self.item[self.cell])
        if unit == "rating":
            return f"a person with {record}; with or without item {item}"
        return f"a person with {record}; item {item} at {self.other:g} instead"


# The best pairs so far: for each release and for the whole plan, how far a pair moves it, as a
# share of its bound.
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

    def __init__(self, releases: Sequence[ReachedRelease], retained: int) -> None:
        self.releases = releases
        self.kept = retained
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

    def finding(self, unit: Unit, delta: float, stages: Mapping[str, float]) -> Found:
        """What was found, in words and numbers."""
        nearest = self._shares.max(axis=0)
        reached = {release.name: float(nearest[k]) for k, release in enumerate(self.releases)}
        slack = {
            release.name: release.why for release in self.releases if reached[release.name] < NEAR
        }
        pair = self.best(TOGETHER)
        return Found(reached, self.epsilon(delta), pair, pair.describe(unit), slack, stages)

    def _totals(self, shares: Floats) -> Floats:
        """Mu of each pair over all releases; epsilon where all noise is pure."""
        costs = np.array([release.cost for release in self.releases])
        if all(release.gaussian for release in self.releases):
            return np.asarray(np.sqrt(((shares * costs) ** 2).sum(axis=1)))
        return np.asarray((shares * costs).sum(axis=1))


# Gradient search over pairs of neighbours: slopes by finite differences, then steps along them that
# stay on the scale.
#
# Contributions are rounded to a grid and clipped, so no formula of a slope holds everywhere;
# differences over a twentieth of the scale see past the grid. Many pairs are nudged at once,
# because contributions of many pairs cost little more than those of one.
@dataclass(frozen=True)
class Nudged:
    """A pair, and the same pair with one coordinate moved, for each coordinate chosen."""

    pair: Pair
    places: NDArray[np.int64]
    moves: Floats
    pairs: list[Pair]

    def slope(self, base_worth: float, nudged_worth: Floats) -> Floats:
        """By each coordinate that was nudged."""
        return np.asarray((nudged_worth - base_worth) / self.moves, np.float64)

    def along(self, slope: Floats, like: Ratings) -> Iterator[Pair]:
        """The pair after steps of several lengths, back on the scale where they leave it."""
        steepest = float(np.abs(slope).max(initial=0.0))
        if steepest == 0:
            return
        low, high = like.schema.low, like.schema.high
        for length in STEPS:
            value = self.pair.value.copy()
            value[self.places] += slope / steepest * length * (high - low)
            yield replace(self.pair, value=np.clip(value, low, high))


def nudged(pair: Pair, like: Ratings, rng: np.random.Generator) -> Nudged:
    """Every coordinate by itself, away from the nearer end of the scale."""
    schema = like.schema
    coordinates = np.arange(len(pair.value))
    if len(coordinates) > COORDINATES:
        coordinates = np.sort(rng.permutation(coordinates)[:COORDINATES])
    up = pair.value[coordinates] <= schema.middle
    moves = np.where(up, NUDGE, -NUDGE) * (schema.high - schema.low)
    pairs = []
    for coordinate, move in zip(coordinates.tolist(), moves.tolist(), strict=True):
        value = pair.value.copy()
        value[coordinate] += move
        pairs.append(replace(pair, value=value))
    return Nudged(pair, coordinates.astype(np.int64), moves, pairs)


def flat(all_nudged: Sequence[Nudged]) -> list[Pair]:
    """All of them, each pair before its nudges, to be tried at once."""
    return [p for nudges in all_nudged for p in (nudges.pair, *nudges.pairs)]


def uphill(
    all_nudged: Sequence[Nudged], plan_report: Sequence[Floats], like: Ratings
) -> list[Pair]:
    """Steps up every slope. `plan_report` has, for each, the worth of `flat`'s pairs of its own."""
    return [
        pair
        for nudges, pair_worth in zip(all_nudged, plan_report, strict=True)
        for pair in nudges.along(nudges.slope(float(pair_worth[0]), pair_worth[1:]), like)
    ]


def random_pair(rng: np.random.Generator, like: Ratings) -> Pair:
    """Of any size; values at the ends of the scale as often as not."""
    low, high = like.schema.low, like.schema.high
    size = min(int(rng.choice(SIZES)), like.n_items)
    item = rng.permutation(like.n_items)[:size]
    ends = rng.choice([low, high], size)
    pattern = rng.integers(5)
    value = np.full(size, high)
    if pattern == 1:
        value = np.full(size, low)
    elif pattern == 2:
        value = np.where(np.arange(size) % 2 == 0, high, low)
    elif pattern == 3:
        value = ends
    elif pattern == 4:
        value = rng.uniform(low, high, size)
    cell = int(rng.integers(size))
    value = value.astype(np.float64)
    if rng.random() < 0.5:
        value[cell] = low if value.mean() > like.schema.middle else high
    person = int(rng.integers(max(like.n_users, 1)))
    return _with_opposite(Pair(item.astype(np.int64), value, cell, who=person), like)


def changed(pair: Pair, rng: np.random.Generator, like: Ratings) -> Pair:
    """With some other values, another item, or one more or less."""
    low, high = like.schema.low, like.schema.high
    value, item = pair.value.copy(), pair.item.copy()
    cell = pair.cell
    kind = rng.integers(5)
    if kind <= 1:
        which = rng.integers(0, len(value), max(1, len(value) // 4))
        new_values = rng.choice([low, high, like.schema.middle], len(which))
        value[which] = new_values
    elif kind == 2:
        fresh = int(rng.integers(like.n_items))
        if fresh not in item:
            item[rng.integers(len(item))] = fresh
    elif kind == 3:
        cell = int(rng.integers(len(item)))
    elif rng.random() < 0.5 and len(item) > 1:
        gone = int(rng.integers(len(item)))
        if gone != cell:
            item, value = np.delete(item, gone), np.delete(value, gone)
            cell -= int(gone < cell)
    else:
        added_items = rng.permutation(like.n_items)[: max(1, len(item) // 2)]
        added_items = np.setdiff1d(added_items, item)
        item = np.concatenate([item, added_items])
        value = np.concatenate([value, rng.choice([low, high], len(added_items))])
    return _with_opposite(replace(pair, item=item, value=value, cell=cell), like)


def turned(pair: Pair, like: Ratings) -> Iterator[Pair]:
    """Each coordinate by itself, at either end or in the middle."""
    schema = like.schema
    for position in range(len(pair.value)):
        for end in (schema.low, schema.middle, schema.high):
            if pair.value[position] != end:
                value = pair.value.copy()
                value[position] = end
                yield replace(pair, value=value)


def elsewhere(pair: Pair, like: Ratings, rng: np.random.Generator) -> Iterator[Pair]:
    """The cell that differs at every other item, and the person in everybody's place; up to
    `PLACES` of each."""
    free = np.setdiff1d(np.arange(like.n_items), pair.item)
    for fresh in rng.permutation(free)[:PLACES].tolist():
        item = pair.item.copy()
        item[pair.cell] = fresh
        yield replace(pair, item=item)
    for person in rng.permutation(like.n_users)[:PLACES].tolist():
        yield replace(pair, who=int(person))


def every_small_pair(like: Ratings, unit: Unit) -> Iterator[Pair]:
    """Every record over a few items with ratings at the ends and in the middle, and every
    neighbour of it."""
    schema = like.schema
    order = np.argsort(-np.bincount(like.item, minlength=like.n_items))
    items = order[:SMALL].astype(np.int64)
    levels = (None, schema.low, schema.middle, schema.high)
    for record in product(levels, repeat=len(items)):
        rated = [position for position, v in enumerate(record) if v is not None]
        if not rated:
            continue
        value = np.array([record[position] for position in rated], np.float64)
        pair = Pair(items[rated], value)
        if unit == "user":
            yield pair
            continue
        for cell in range(len(rated)):
            for other in (schema.low, schema.high):
                if unit == "rating" or other != value[cell]:
                    yield replace(pair, cell=cell, other=other)


def records(pairs: Sequence[Pair], like: Ratings, unit: Unit) -> tuple[Ratings, Ratings]:
    """Both records of every pair, as people over these items."""
    sides: list[Ratings] = []
    for is_first in (True, False):
        item = []
        value = []
        counts = []
        for pair in pairs:
            present = np.ones(len(pair.item), np.bool_)
            cell_values = pair.value
            if not is_first and unit == "user":
                present[:] = False
            elif not is_first and unit == "rating":
                present[pair.cell] = False
            elif not is_first:
                cell_values = cell_values.copy()
                cell_values[pair.cell] = pair.other
            order = np.argsort(pair.item[present], kind="stable")
            item.append(pair.item[present][order])
            value.append(cell_values[present][order])
            counts.append(int(present.sum()))
        sides.append(_people(like, item, value, counts))
    return sides[0], sides[1]


def _people(
    like: Ratings,
    item: list[NDArray[np.int64]],
    value: list[NDArray[np.float64]],
    counts: list[int],
) -> Ratings:
    return replace(
        like,
        users=[f"pair {k}" for k in range(len(counts))],
        ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        item=np.concatenate(item).astype(np.uint32),
        value=np.concatenate(value).astype(np.float32),
        time=None,
    )


def _with_opposite(pair: Pair, like: Ratings) -> Pair:
    """With the other value of its cell at the other end of the scale."""
    schema = like.schema
    current = pair.value[pair.cell]
    other = schema.low if current > schema.middle else schema.high
    return replace(pair, other=float(other))
