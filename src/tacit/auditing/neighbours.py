"""Whole plans on whole neighbours: two data sets that differ in one unit, through every round
of a method, with the noise off and the same public state. No sum over *all* people may move
by more than was charged, whoever else is there, in any blocks.

A hunt, not a sample: values start at the ends of the scale as often as not and climb toward
what moves a sum most. Crowds are small, and one of their people has rated much, because that
is where somebody who moves the others moves them most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.walk import Walked, walk
from tacit.bound.base import Sensitivity
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.engine.blocks import Piece
from tacit.engine.per_person import is_checked
from tacit.engine.threads import Threads, factors_of
from tacit.methods.base import Method
from tacit.rounds.people import Everyone, People
from tacit.rounds.round import Kind
from tacit.units import Unit

Sums = Mapping[str, NDArray[np.int64]]
ROUNDING = 1e-12
"""Of a claim, which is a float."""


@dataclass(frozen=True)
class CrowdShape:
    """Who is there: so many people, the first of whom has rated `much`, the others up to
    `little`; and so many to a block."""

    people: int
    much: int
    little: int
    block: int
    climbs: int


CROWDS = (
    CrowdShape(2, 20, 1, 9, 10),
    CrowdShape(9, 40, 3, 9, 10),
    CrowdShape(40, 60, 40, 7, 3),
    CrowdShape(150, 100, 20, 150, 3),
)
"""One other; a few; blocks that are cut elsewhere for each neighbour; one large block."""
AMONG = 120
"""Items that they have rated: few, so that people meet in an item."""


def broken(
    method: Method,
    items: Catalogue,
    ratings: Ratings,
    *,
    users: int,
    max_ratings: int | None = None,
    crowds: tuple[CrowdShape, ...] = CROWDS,
    seed: int = 7,
) -> list[str]:
    """Parts whose sum some neighbour moved by more than was charged, in words. The ratings
    give the scale; `users` are declared, and `max_ratings` caps what is used of a person."""
    violations: list[str] = []
    for crowd_index, crowd in enumerate(crowds):
        rng = np.random.default_rng([seed, crowd_index])
        data = invented(ratings, crowd, rng, max_ratings)
        data = replace(data, schema=data.schema.declare(users, max_ratings))
        walked = walk(method, data, items, users=users)
        plan = walked.run.settled.plan
        used = walked.ratings
        for k, step in enumerate(walked.steps):
            if not _is_summed(step):
                continue
            steps_so_far = walked.steps[: k + 1]
            claims = {
                part.name: part.bound.sensitivity(plan.unit, plan.limited)
                for part in step.round.parts
            }
            hunted = _hunt(steps_so_far, used, plan.unit, crowd, rng, claims)
            violations += [f"{step.round.name}/{name}" for name in hunted]
    return list(dict.fromkeys(violations))


def _is_summed(step: Walked) -> bool:
    """Randomized reports are not: their law, not a sum, covers whoever gives one."""
    reports = any(part.kind is Kind.REPORT for part in step.round.parts)
    return is_checked(step.round) and not reports


def _hunt(
    steps: tuple[Walked, ...],
    data: Ratings,
    unit: Unit,
    crowd: CrowdShape,
    rng: np.random.Generator,
    claims: Mapping[str, Sensitivity],
) -> Iterator[str]:
    """Parts of the last of these rounds that break their claim."""
    best = 0.0
    for _ in range(crowd.climbs):
        trial = _changed(data, rng)
        base_sums = _sums(steps, trial, crowd)
        neighbour_sums = _sums(steps, neighbour(trial, unit, rng), crowd)
        size = 0.0
        for name, claim in claims.items():
            move = (base_sums[name] - neighbour_sums[name]).astype(np.float64)
            l2 = float(np.sqrt((move**2).sum()))
            size = max(size, l2 / claim.l2 if claim.l2 < np.inf else 0.0)
            room = 1 + ROUNDING
            within = (
                np.abs(move).sum() <= claim.l1 * room
                and l2 <= claim.l2 * room
                and move.any(axis=1).sum() <= claim.rows
            )
            if not within:
                yield name
        if size >= best:
            best, data = size, trial


def _sums(steps: tuple[Walked, ...], data: Ratings, crowd: CrowdShape) -> Sums:
    """The exact sums of the last round. Earlier rounds are run first where people keep
    something between rounds."""
    engine = _Blocks(data, crowd.block)
    if not any(step.round.personal for step in steps):
        steps = steps[-1:]
    sums: Sums = {}
    for step in steps:
        if _is_summed(step):
            sums = engine.exact(step)
    return sums


class _Blocks(Threads):
    """One thread, blocks of so many people, and nobody who stops a leak."""

    watched = False

    def __init__(self, ratings: Ratings, block: int) -> None:
        super().__init__(ratings, 1)
        self.block = block

    def _cut(self, people: People, width: int = 1) -> Iterator[Piece]:
        starts = range(0, self.people, self.block)
        return (slice(k, min(k + self.block, self.people)) for k in starts)

    def exact(self, step: Walked) -> Sums:
        """Integer sums of every part, over everyone."""
        everyone = replace(step.round, takes_part=Everyone())
        self._make_room(everyone)
        factors = factors_of(everyone)
        totals = self._sum(everyone, step.state, factors)
        sums = {name: total.whole for name, total in totals.items()}
        return sums | {name: m.packed() for name, m in factors.items()}


def invented(
    ratings: Ratings, crowd: CrowdShape, rng: np.random.Generator, max_ratings: int | None = None
) -> Ratings:
    """A crowd over the items and the scale of these ratings."""
    among = min(AMONG, ratings.n_items)
    counts = rng.integers(1, crowd.little + 1, crowd.people)
    counts[0] = crowd.much
    counts = np.minimum(counts, min(among - 1, max_ratings or among))
    rows = [np.sort(rng.permutation(among)[:count]) for count in counts]
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    names = [f"invented {k}" for k in range(crowd.people)]
    empty = replace(
        ratings,
        users=names,
        ptr=ptr,
        item=np.concatenate(rows).astype(np.uint32),
        value=np.zeros(ptr[-1], np.float32),
        time=None,
    )
    return replace(empty, value=_draw_values(empty, int(ptr[-1]), rng))


def _draw_values(ratings: Ratings, count: int, rng: np.random.Generator) -> NDArray[np.float32]:
    low, high = ratings.schema.low, ratings.schema.high
    ends = rng.choice([low, high, high], count)
    between = rng.uniform(low, high, count)
    return np.where(rng.random(count) < 0.7, ends, between).astype(np.float32)


def _changed(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """With some other values."""
    value = ratings.value.copy()
    cells = rng.integers(0, len(value), max(1, len(value) // 4))
    value[cells] = _draw_values(ratings, len(cells), rng)
    return replace(ratings, value=value)


def neighbour(ratings: Ratings, unit: Unit, rng: np.random.Generator) -> Ratings:
    """One person less, one cell less, or one value at the other end of the scale. The first
    person, who has rated much, as often as not."""
    person = 0 if rng.random() < 0.5 else int(rng.integers(ratings.n_users))
    if unit == "user":
        return ratings.take(ratings.user != person)
    cell = int(rng.integers(ratings.ptr[person], ratings.ptr[person + 1]))
    if unit == "rating":
        return ratings.take(np.arange(len(ratings)) != cell)
    value = ratings.value.copy()
    low, high = ratings.schema.low, ratings.schema.high
    value[cell] = low if value[cell] > ratings.schema.middle else high
    return replace(ratings, value=value)
