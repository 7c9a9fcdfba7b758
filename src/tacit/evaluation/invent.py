"""Invented people of a declared shape, for forecasts: nobody's ratings are in them.

A *shape* is what is public of a data set. A *nature* is what a data set is like and nobody
knows beforehand: how strong tastes are, how skewed popularity is. Forecasts are fitted to many
natures, so that an interval says how much it matters that the nature is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema

Matrix = NDArray[np.float64]

BLOCK = 8_000_000
"""Person-item pairs looked at together: 64 MB."""
MEAN = 0.4
"""Of all ratings on the inner scale, -2 to 2: people rate what they hope to like."""


@dataclass(frozen=True)
class Shape:
    """What is public: how many people, items and ratings a person, the scale, features."""

    people: int
    items: int
    each: float
    """Mean number of ratings a person."""
    low: float = 1.0
    high: float = 5.0
    step: float = 1.0
    """Between two ratings that can be given."""
    tags: int = 0
    """Genres of the catalogue; 0 where nothing is known of the items."""


@dataclass(frozen=True)
class Nature:
    """What nobody knows beforehand, in points of a scale of width 4.

    The defaults are those of films: invented people of the shape of ML-100K, of 1,500 people of
    ML-1M and of 8,000 people of 100 Netflix films then give the errors, and pay the costs,
    that the real ones do.
    """

    skew: float = 0.8
    """Popularity falls as rank to this power."""
    tail: float = 3.0
    """From the first item to the last it falls by this much more, as a log."""
    activity: float = 0.9
    """Standard deviation of the log of a person's number of ratings."""
    level: float = 0.38
    """How far people's own means differ."""
    effect: float = 0.55
    """How far items differ."""
    fame: float = 0.5
    """How much of an item's effect goes with its popularity."""
    taste: float = 0.45
    """How far what a person likes differs from what others like."""
    tastes: int = 12
    decay: float = 0.75
    """Of one taste's strength to the one before it."""
    told: float = 0.3
    """Share of tastes that genres tell."""
    choice: float = 0.5
    """How much people choose by their tastes what to rate at all."""
    interest: float = 2.0
    """How much they choose by interests that say nothing of how they rate."""
    interests: int = 5
    noise: float = 0.84


def draw_nature(rng: np.random.Generator) -> Nature:
    """A nature from the range that public sets of ratings span, and somewhat beyond."""
    return Nature(
        skew=float(rng.uniform(0.5, 1.2)),
        tail=float(rng.uniform(1.0, 5.0)),
        activity=float(rng.uniform(0.65, 1.05)),
        level=float(rng.uniform(0.3, 0.45)),
        effect=float(rng.uniform(0.45, 0.65)),
        fame=float(rng.uniform(0.35, 0.65)),
        taste=float(rng.uniform(0.38, 0.52)),
        tastes=int(rng.integers(8, 18)),
        decay=float(rng.uniform(0.65, 0.85)),
        told=float(rng.uniform(0.15, 0.45)),
        choice=float(rng.uniform(0.3, 0.7)),
        interest=float(rng.uniform(1.5, 2.4)),
        interests=int(rng.integers(3, 8)),
        noise=float(rng.uniform(0.76, 0.92)),
    )


def invent(shape: Shape, nature: Nature | None = None, seed: int = 0) -> tuple[Ratings, Catalogue]:
    """People who rate, and the catalogue that they rate from."""
    nature = nature or Nature()
    rng = np.random.default_rng(seed)
    world = _World(shape, nature, rng)
    rows = list(world.rows(rng))
    counts = np.concatenate([block_counts for block_counts, _, _ in rows])
    ids = [str(item) for item in range(shape.items)]
    ratings = Ratings(
        Schema(shape.low, shape.high, source="invented"),
        [str(person) for person in range(shape.people)],
        ids,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([item for _, item, _ in rows]).astype(np.uint32),
        np.concatenate([value for _, _, value in rows]).astype(np.float32),
    )
    tags = [f"genre {genre}" for genre in range(shape.tags)]
    tagged = world.tagged.astype(np.uint8) if shape.tags else None
    return ratings, Catalogue(ids, tags=tags, tagged=tagged)


def popularity(items: int, nature: Nature) -> Matrix:
    """The chance that a rating is of each item, the most popular first."""
    rank = np.arange(items) + 0.003 * items + 2.0
    fall = nature.tail * np.arange(items) / items
    chance = rank**-nature.skew * np.exp(-fall)
    return np.asarray(chance / chance.sum())


class _World:
    """Items with their popularity, effects and loadings."""

    def __init__(self, shape: Shape, nature: Nature, rng: np.random.Generator) -> None:
        self.shape = shape
        self.nature = nature
        items = shape.items
        self.fame = np.log(popularity(items, nature))
        strength = nature.decay ** (np.arange(nature.tastes) / 2)
        strength *= nature.taste / np.sqrt((strength**2).sum())
        self.strength = strength
        self.tagged = rng.random((items, max(shape.tags, 1))) < 0.15
        tag_factors = _unit(self.tagged @ rng.normal(size=(max(shape.tags, 1), nature.tastes)))
        share = nature.told if shape.tags else 0.0
        untagged_factors = rng.normal(size=(items, nature.tastes))
        self.loading = np.sqrt(share) * tag_factors + np.sqrt(1 - share) * untagged_factors
        self.drawing = rng.normal(size=(items, nature.interests))
        self.drawing *= nature.interest / np.sqrt(nature.interests)
        fame = _unit(self.fame)
        self.effect = nature.effect * (
            nature.fame * fame + np.sqrt(1 - nature.fame**2) * rng.normal(size=items)
        )

    def rows(
        self, rng: np.random.Generator
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Matrix]]:
        """Counts, items and values of one block of people after another."""
        size = max(1, BLOCK // self.shape.items)
        for start in range(0, self.shape.people, size):
            people = min(size, self.shape.people - start)
            yield self._block(people, rng)

    def _block(
        self, people: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Matrix]:
        nature = self.nature
        taste = rng.normal(size=(people, nature.tastes))
        liking = (taste * self.strength) @ self.loading.T
        interest = rng.normal(size=(people, nature.interests))
        key = self.fame + nature.choice * liking / nature.taste
        key += interest @ self.drawing.T
        key += rng.gumbel(size=key.shape)
        counts = self._counts(people, rng)
        longest = int(counts.max())
        candidates = np.argpartition(-key, min(longest, key.shape[1] - 1), axis=1)
        candidates = candidates[:, :longest]
        candidate_keys = np.take_along_axis(key, candidates, axis=1)
        best = np.take_along_axis(candidates, np.argsort(-candidate_keys, axis=1), axis=1)
        best[np.arange(longest) >= counts[:, None]] = self.shape.items
        best.sort(axis=1)
        person, column = np.nonzero(best < self.shape.items)
        item = best[person, column]
        level = nature.level * rng.normal(size=people)
        score = MEAN + level[person] + self.effect[item]
        score += liking[person, item] - _choice_bias(nature)
        score += nature.noise * rng.normal(size=len(item))
        return counts, item, self._values(score)

    def _counts(self, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Log-normal, at least one and at most half of the items, with the declared mean."""
        limit = max(1, self.shape.items // 2)
        activity = rng.lognormal(0.0, self.nature.activity, people)
        target_mean = min(self.shape.each, 0.8 * limit)
        scale = target_mean / activity.mean()
        for _ in range(20):  # clipping moves the mean
            counts = np.clip(np.rint(scale * activity), 1, limit)
            scale *= target_mean / counts.mean()
        return np.asarray(counts, dtype=np.int64)

    def _values(self, score: Matrix) -> Matrix:
        """On the declared scale, on its steps."""
        shape = self.shape
        width = (shape.high - shape.low) / 4
        steps = np.rint((score + 2) * width / shape.step)
        value = shape.low + steps * shape.step
        return np.clip(value, shape.low, shape.high)


def _choice_bias(nature: Nature) -> float:
    """What choosing by taste adds to the mean rating, to first order."""
    return nature.choice * nature.taste


def _unit(values: Matrix) -> Matrix:
    spread = np.maximum(values.std(axis=0), 1e-9)
    return np.asarray((values - values.mean(axis=0)) / spread)
