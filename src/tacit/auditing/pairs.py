"""Pairs of neighbouring records, as an optimising adversary tries them: many at once, each the
only person who differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.units import Unit

SIZES = (1, 2, 3, 5, 8, 13, 30, 60, 150)
"""Ratings of a person, to begin with."""
SMALL = 3
"""Items of the small case that is tried out completely."""

PLACES = 1000
"""Items, and people, in whose place the best pair is tried."""


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
