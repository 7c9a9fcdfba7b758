"""What a plan takes and what it can hear: rounds, rank, bytes, time, memory, and how many
items rise above the noise of each release. Estimates from public shape; reads no data."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.engine.blocks import most_people
from tacit.evaluation.cost import seconds
from tacit.evaluation.invent import Nature, Shape, popularity
from tacit.methods.item_item.plan import RANK

if TYPE_CHECKING:
    from tacit.methods.base import Method
    from tacit.rounds.plan import Plan
    from tacit.rounds.round import Part

WORD = 8
"""Bytes of a released number: a 64-bit integer."""
PROGRAM = 190_000_000
"""Bytes of Python with its compiled kernels, before any rating."""
RATING = 60
"""Bytes a rating takes at the peak of a fit: both orders, and its share of a block; rounds that
add several numbers a rating take a word for each."""
ENTRY = 28
"""Bytes an entry of a matrix of items by items takes at the peak: the integer sums, and what
cleaning them copies. These three were measured on 3,000 to 20,000 invented people, where the
estimate was within a quarter of the peak."""
LINE = 2 * WORD
"""Bytes of each number of a line that a person adds to a round: as it is made and as it is
bounded. One block of people at a time has them."""


@dataclass(frozen=True)
class Resources:
    """Of one fit on one machine."""

    rounds: int
    rank: int
    """Tastes that the model can tell apart; 0 where it knows levels and item effects only."""
    numbers: int
    released_bytes: int
    memory_bytes: int | None
    seconds: float | None
    """On one core of an ordinary machine; None where no run like it was timed."""

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return vars(self).copy()


def resources(
    method: Method, plan: Plan, people: int | None, items: int, per_user: float
) -> Resources:
    """Rounds that stand in for others are not counted: one of the two is made."""
    rounds = [round_ for round_ in plan.rounds if not round_.instead]
    parts = [part for round_ in rounds for part in round_.parts]
    numbers = sum(part.numbers for part in parts)
    grams = [part.size for part in parts if part.form == "gram"]
    memory = took = None
    if people is not None:
        entries = max((size * size for size in grams), default=0)
        rows = [part for part in parts if part.form == "rows"]
        lines = max((part.width for part in rows if part.size == 1), default=0)
        wide = max((part.width for part in rows if part.size > 1), default=1)
        rating_bytes = max(RATING, WORD * wide)
        memory = PROGRAM + round(rating_bytes * people * per_user) + ENTRY * entries
        memory += LINE * lines * min(people, most_people(max(lines, 1)))
        took = seconds(method.name, plan.unit, people * per_user, items)
    return Resources(
        rounds=len(rounds),
        rank=rank(method, plan),
        numbers=numbers,
        released_bytes=WORD * numbers,
        memory_bytes=memory,
        seconds=took,
    )


def rank(method: Method, plan: Plan) -> int:
    """How many tastes the plan pays for."""
    rank_limit = getattr(method.settings, "rank", None)
    if method.name.startswith("covariance"):
        rank_limit = rank_limit or RANK
    factors = 0
    for round_, part in plan.parts:
        if part.form == "gram":
            factors = max(factors, min(part.size, rank_limit or part.size))
        elif round_.name.startswith("factors"):
            # A symmetric matrix of factors and a vector: d(d+3)/2 numbers an item.
            factors = max(factors, round((sqrt(9 + 8 * part.width) - 3) / 2))
        elif round_.name.startswith("sweep"):
            return part.width - 1
    return factors


def items_above(part: Part, noise: float, unit: str, shape: Shape) -> int | None:
    """How many items would stand out of the noise of this release if popularity fell as it
    does for films; None where the release is not one number an item.

    A person's row of `each` numbers has a length of at most 1, so one number is about
    1/sqrt(each); at the other units each number has its own bound. Sums that are not counts
    of raters hold what differs between items, about .45 points.
    """
    if part.form != "rows" or part.size != shape.items:
        return None
    contribution = 1 / sqrt(shape.each) if unit == "user" else 1.0
    if part.name != "weights":
        contribution *= Nature().effect
    return int((raters(shape) * contribution > noise).sum())


def raters(shape: Shape) -> NDArray[np.float64]:
    """Expected number of raters of each item, the most popular first."""
    chance = popularity(shape.items, Nature())
    expected = shape.people * shape.each * chance
    return np.minimum(expected, shape.people)
