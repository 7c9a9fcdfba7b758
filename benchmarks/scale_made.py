"""Seeded ratings as skewed as those of the Netflix Prize, of any size, written as csv.

    python benchmarks/scale_made.py OUT.csv --ratings 1e9 --people 5e6 --items 50000
    python benchmarks/scale_made.py FOLDER --films --ratings 1e8 --people 480189 --items 17770

With `--films` a file for each item, in the layout of the Netflix Prize.

Ratings of a person: a lognormal whose mean is 2.2 times its median (Netflix: 209 and 96);
popularity of an item: a lognormal whose mean is ten times its median (5,655 and 561). Values are
those of a model with levels, effects and five tastes, rounded to 1..5. No pair is repeated. Rows
come in windows of some people each, shuffled: as in a log, one person's rows lie apart.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import log, sqrt
from pathlib import Path

import numpy as np
from numba import njit

PEOPLE_SKEW = sqrt(2 * log(209 / 96))
ITEM_SKEW = sqrt(2 * log(5655 / 561))
USER_FACTORS = 5
WINDOW = 12_000_000
"""Rows that are shuffled together."""
DAY = "2005-01-01"
"""Of every rating in the layout of the Netflix Prize: nothing that is measured here asks for it."""


def alias(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's table: one look draws an item by its weight."""
    size = len(weight)
    chance = weight * (size / weight.sum())
    other = np.zeros(size, np.int64)
    small = [k for k in range(size) if chance[k] < 1]
    large = [k for k in range(size) if chance[k] >= 1]
    while small and large:
        low, high = small.pop(), large.pop()
        other[low] = high
        chance[high] -= 1 - chance[low]
        (small if chance[high] < 1 else large).append(high)
    return chance, other


@njit(nogil=True)
def draw(seed, first, counts, chance, other, item_bias, loading, item, value):  # type: ignore[no-untyped-def]
    """Everybody's items and ratings, one person after the other, each from her own seed."""
    items = chance.size
    user_factors = loading.shape[1]
    seen = np.full(items, -1, np.int64)
    taste = np.empty(user_factors)
    at = 0
    for k in range(counts.size):
        np.random.seed((seed * 1_000_003 + first + k) & 0x7FFFFFFF)
        level = 0.45 * np.random.standard_normal()
        for j in range(user_factors):
            taste[j] = np.random.standard_normal()
        for _ in range(counts[k]):
            while True:
                place = np.random.random() * items
                found = int(place)
                if place - found > chance[found]:
                    found = other[found]
                if seen[found] != k:
                    break
            seen[found] = k
            mean = 3.6 + level + item_bias[found]
            for j in range(user_factors):
                mean += taste[j] * loading[found, j]
            rated = round(mean + 0.85 * np.random.standard_normal())
            item[at] = found
            value[at] = min(max(rated, 1), 5)
            at += 1


def windows(
    ratings: int, people: int, items: int, seed: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """User, item and value of some people at a time, shuffled."""
    rng = np.random.default_rng(seed)
    weight = np.exp(ITEM_SKEW * rng.standard_normal(items))
    chance, other = alias(weight)
    item_bias = 0.35 * rng.standard_normal(items)
    loading = 0.12 * rng.standard_normal((items, USER_FACTORS))
    counts = np.exp(PEOPLE_SKEW * rng.standard_normal(people))
    counts = np.minimum(counts * (ratings / counts.sum()), 0.2 * items)
    counts *= ratings / counts.sum()
    ends = np.round(np.cumsum(counts)).astype(np.int64)
    counts = np.maximum(np.diff(ends, prepend=0), 1)
    counts = np.minimum(counts, items // 3)
    # Ids say nothing about where a person stands in the file.
    ids = rng.permutation(people).astype(np.uint32) + 1
    cuts = np.searchsorted(np.cumsum(counts), np.arange(WINDOW, ratings, WINDOW))
    for run in np.split(np.arange(people), cuts):
        if not len(run):
            continue
        some = counts[run]
        rows = int(some.sum())
        item, value = np.empty(rows, np.uint32), np.empty(rows, np.uint8)
        draw(seed, int(run[0]), some, chance, other, item_bias, loading, item, value)
        user = np.repeat(ids[run], some)
        order = rng.permutation(rows)
        yield user[order], item[order] + 1, value[order]


def write(out: Path, ratings: int, people: int, items: int, seed: int) -> int:
    """A csv with a header; how many rows it has."""
    import polars as pl

    rows = 0
    with out.open("wb") as file:
        file.write(b"user,item,rating\n")
        for user, item, value in windows(ratings, people, items, seed):
            frame = pl.DataFrame({"user": user, "item": item, "rating": value})
            frame.write_csv(file, include_header=False)
            rows += len(user)
    return rows


def write_films(out: Path, ratings: int, people: int, items: int, seed: int) -> int:
    """A folder with a file for each item that was rated; how many ratings there are."""
    import polars as pl

    out.mkdir(parents=True)
    parts = [
        pl.DataFrame({"user": user, "item": item, "rating": value})
        for user, item, value in windows(ratings, people, items, seed)
    ]
    table = pl.concat(parts).sort("item")
    table = table.with_columns(day=pl.lit(DAY))
    for (item,), film in table.group_by("item", maintain_order=True):
        with (out / f"mv_{item:07d}.txt").open("wb") as file:
            file.write(f"{item}:\n".encode())
            film.drop("item").write_csv(file, include_header=False)
    return len(table)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--films", action="store_true")
    parser.add_argument("--ratings", type=float, default=1e9)
    parser.add_argument("--people", type=float, default=5e6)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rows = (write_films if asked.films else write)(
        asked.out, int(asked.ratings), int(asked.people), asked.items, asked.seed
    )
    print(f"{rows:,} rows written to {asked.out}")


if __name__ == "__main__":
    main()
