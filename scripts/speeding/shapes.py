"""Five shapes of tables, invented: what a fit spends its time on differs between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

TRAITS = 4
"""Hidden tastes of people and items."""
QUICK = 20
"""Times fewer people, and items, with `--quick`."""


@dataclass(frozen=True)
class Shape:
    """A table and the method that is fitted to it."""

    name: str
    people: int
    items: int
    each: float
    """Ratings of a person, on average."""
    method: str = "bayes"
    likes: bool = False

    def quick(self) -> Shape:
        """A small one of the same kind."""
        people, items = max(self.people // QUICK, 100), max(self.items // QUICK, 100)
        return Shape(self.name, people, items, min(self.each, 20), self.method, self.likes)

    def write(self, path: Path) -> None:
        """Invent the table: popular items, ratings by hidden tastes, nobody without a rating."""
        rng = np.random.default_rng(1)
        counts = 1 + rng.poisson(self.each * rng.gamma(2.0, 0.5, self.people))
        user = np.repeat(np.arange(self.people), counts)
        popular = np.arange(1, self.items + 1) ** -0.7
        chance = np.cumsum(popular) / popular.sum()
        item = np.searchsorted(chance, rng.random(len(user))).clip(max=self.items - 1)
        user, item = np.divmod(np.unique(user * self.items + item), self.items)
        rating = (
            3.5 + rng.normal(size=self.people)[user] / 3 + rng.normal(size=self.items)[item] / 3
        )
        for _ in range(TRAITS):
            theirs, its = rng.normal(size=self.people), rng.normal(size=self.items)
            rating += theirs[user] * its[item] / 4
        rating = np.clip(np.rint(rating + 0.8 * rng.normal(size=len(user))), 1, 5)
        pl.DataFrame({"user": user, "item": item, "rating": rating}).write_parquet(path)


SHAPES = (
    Shape("dense", 8_000, 2_000, 250),
    Shape("40 a person", 40_000, 5_000, 40),
    Shape("3 a person", 400_000, 5_000, 3),
    Shape("1M items", 40_000, 1_000_000, 25),
    Shape("likes", 20_000, 2_000, 50, "ease", likes=True),
)
