"""At most k ratings of a person: neighbours differ by one swap of one person, and by
nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound import limit_ratings
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.noise import bits

PEOPLE = 40
ITEMS = 50
MOST = 7


def made(rows: list[set[int]], value: float = 3.0) -> Ratings:
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    item = np.concatenate([sorted(row) for row in rows]).astype(np.uint32)
    names = [str(i) for i in range(ITEMS)]
    return Ratings(
        Schema(1, 5),
        [str(i) for i in range(len(rows))],
        names,
        ptr,
        item,
        np.full(len(item), value, "f4"),
    )


def kept(
    rows: list[set[int]], words: dict[tuple[str, int], int], who: list[str]
) -> dict[str, set[int]]:
    """What is kept of people with these names, each cell having the word that belongs to it."""
    own = np.array(
        [words[name, item] for name, row in zip(who, rows, strict=True) for item in sorted(row)],
        np.uint64,
    )
    found = limit_ratings(made(rows), MOST, lambda count: own[:count])
    return {name: set(found.item[found.row(i)].tolist()) for i, name in enumerate(who)}


@pytest.fixture
def people() -> tuple[list[set[int]], dict[tuple[str, int], int], list[str]]:
    rng = np.random.default_rng(3)
    rows = [set(rng.permutation(ITEMS)[: rng.integers(1, 30)].tolist()) for _ in range(PEOPLE)]
    who = [f"p{i}" for i in range(PEOPLE)]
    return (
        rows,
        {(name, item): int(rng.integers(0, 2**62)) for name in who for item in range(ITEMS)},
        who,
    )


def test_nobody_keeps_more_and_nobody_loses_for_nothing(people):
    rows, words, who = people
    for row, left in zip(rows, kept(rows, words, who).values(), strict=True):
        assert left <= row
        assert len(left) == min(MOST, len(row))


def test_a_cell_added_evicts_at_most_one_other_of_the_same_person(people):
    rows, words, who = people
    before = kept(rows, words, who)
    for person in range(PEOPLE):
        new = next(item for item in range(ITEMS) if item not in rows[person])
        after = kept(
            [row | {new} if i == person else row for i, row in enumerate(rows)], words, who
        )
        assert len(before[who[person]] - after[who[person]]) <= 1
        assert all(after[name] == before[name] for name in who if name != who[person])


def test_a_person_less_changes_nobody_else(people):
    """A hash of row numbers would fail here: everybody behind her has another number."""
    rows, words, who = people
    before = kept(rows, words, who)
    assert kept(rows[1:], words, who[1:]) == {name: before[name] for name in who[1:]}


def test_values_play_no_part(people):
    rows, _, _ = people
    own = np.arange(sum(map(len, rows)), dtype=np.uint64)[::-1].copy()
    low, high = (
        limit_ratings(made(rows, value), MOST, lambda count: own[:count]) for value in (1.0, 5.0)
    )
    assert np.array_equal(low.item, high.item)


def test_every_cell_has_the_same_chance():
    rows = [set(range(20))] * 2000
    found = limit_ratings(made(rows), 5, bits.fresh().words)
    shares = np.bincount(found.item, minlength=20)[:20] / 2000
    assert np.abs(shares - 0.25).max() < 10 * (0.25 * 0.75 / 2000) ** 0.5
