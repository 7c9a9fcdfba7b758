"""The audience of the demonstration: real films, many invented people whose tastes make sense.

The sample of the tests (`tacit.data.sample`) has hidden traits that no genre explains, as real
ratings do, and few people. A demonstration has to convince a stranger instead: here everybody
leans towards one of seven kinds of film and a little towards a second one, and there are enough
people for a private fit to learn that at epsilon 1. No rating says anything about a person or
about the merit of a film.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Notes, Ratings
from tacit.data.sample import NOTICE, SOURCE, sample_catalogue
from tacit.data.schema import Schema
from tacit.errors import SettingError

PEOPLE = 20_000
"""Enough for learned tastes at epsilon 1; more would only take longer."""
EACH = 36
"""Ratings of one person, in the mean."""
_WORLD = 20_270_101
_BLOCK = 4_000
"""People made at once; bounds memory."""
_MOST = 160
"""The most that one person rates."""

LEANINGS: dict[str, dict[str, float]] = {
    "crime": {
        "Crime": 1.0,
        "Noir": 1.0,
        "Mystery": 0.7,
        "Thriller": 0.6,
        "Family": -0.9,
        "Animation": -0.8,
        "Musical": -0.9,
        "Romance": -0.6,
        "Fantasy": -0.4,
        "Horror": -0.5,
    },
    "other worlds": {
        "Science Fiction": 1.1,
        "Fantasy": 0.8,
        "Adventure": 0.6,
        "Action": 0.4,
        "Romance": -0.8,
        "Musical": -0.8,
        "Crime": -0.4,
        "Drama": -0.3,
    },
    "family": {
        "Animation": 1.1,
        "Family": 1.1,
        "Musical": 0.5,
        "Fantasy": 0.4,
        "Horror": -1.2,
        "Crime": -0.8,
        "Thriller": -0.8,
        "War": -0.7,
        "Noir": -0.5,
    },
    "love": {
        "Romance": 1.2,
        "Musical": 0.7,
        "Comedy": 0.3,
        "Action": -0.9,
        "Horror": -1.0,
        "Science Fiction": -0.8,
        "Crime": -0.4,
        "War": -0.2,
    },
    "fright": {
        "Horror": 1.2,
        "Thriller": 0.8,
        "Mystery": 0.7,
        "Family": -0.9,
        "Musical": -0.9,
        "Romance": -0.6,
        "Comedy": -0.3,
        "Crime": -0.4,
    },
    "history": {
        "War": 1.1,
        "Western": 0.9,
        "Documentary": 0.9,
        "Drama": 0.3,
        "Fantasy": -0.7,
        "Science Fiction": -0.6,
        "Horror": -0.7,
        "Animation": -0.6,
    },
    "laughter": {
        "Comedy": 1.1,
        "Family": 0.2,
        "Horror": -0.8,
        "War": -0.6,
        "Drama": -0.3,
        "Thriller": -0.4,
    },
}
"""What each kind of person likes and dislikes, in stars for a film that is nothing else."""


def audience(people: int = PEOPLE, seed: int = 0) -> Ratings:
    """`people` invented persons who rate the films of the sample, 1 to 5 stars."""
    if people < 1:
        raise SettingError(f"an audience of {people} is nobody", remedy="ask for 1 or more")
    catalogue = sample_catalogue()
    rng = np.random.default_rng([_WORLD, seed])
    spread = np.exp(0.6 * rng.standard_normal(people))
    counts = np.clip(EACH * spread / spread.mean(), 8, _MOST).astype(np.int64)
    parts = [_block(rng, counts[at : at + _BLOCK]) for at in range(0, people, _BLOCK)]
    width = len(str(people))
    return Ratings(
        schema=Schema(1, 5, source=SOURCE),
        users=[f"p{number:0{width}d}" for number in range(1, people + 1)],
        items=catalogue.ids,
        ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        item=np.concatenate([part[0] for part in parts]),
        value=np.concatenate([part[1] for part in parts]),
        time=None,
        notes=Notes(layout=SOURCE, messages=(NOTICE,)),
    )


@cache
def _films() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How often each film is met, as a log-weight, and how well it is liked by all."""
    rng = np.random.default_rng(_WORLD)
    films = len(sample_catalogue())
    fame = rng.standard_normal(films)
    liked = 0.12 * fame + 0.22 * rng.standard_normal(films)
    return fame.astype(np.float32), liked.astype(np.float32)


@cache
def _leanings() -> NDArray[np.float32]:
    """How much each kind of person likes each film: genres speak together, none alone."""
    catalogue = sample_catalogue()
    assert catalogue.tagged is not None
    table = np.array(
        [[leanings.get(name, 0.0) for name in catalogue.tags] for leanings in LEANINGS.values()]
    )
    flags = catalogue.tagged.astype(np.float64)
    flags /= flags.sum(axis=1, keepdims=True) ** 0.6
    return (table @ flags.T).astype(np.float32)


def _block(
    rng: np.random.Generator, counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """The ratings of some people, each person's films ascending."""
    fame, liked = _films()
    kinds = _leanings()
    people, films = len(counts), len(fame)
    everyone = np.arange(people)
    lean = (0.15 * rng.standard_normal((people, len(kinds)))).astype(np.float32)
    lean[everyone, rng.integers(len(kinds), size=people)] += 1.0
    lean[everyone, rng.integers(len(kinds), size=people)] += 0.35
    liking = lean @ kinds
    # A draw without replacement: the largest of log-weight plus Gumbel noise (Yellott 1977).
    luck = rng.standard_exponential((people, films), dtype=np.float32)
    luck += np.finfo(np.float32).tiny
    appeal = 0.8 * fame + 0.7 * liking - np.log(luck)
    best = np.argpartition(-appeal, _MOST, axis=1)[:, :_MOST]
    rank = np.argsort(-np.take_along_axis(appeal, best, axis=1), axis=1)
    best = np.take_along_axis(best, rank, axis=1)
    row = np.repeat(everyone, counts)
    position = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    item = best[row, position]
    item = item[np.lexsort((item, row))]
    middle = 3.1 + 0.3 * rng.standard_normal(people)
    opinion = middle[row] + liked[item] + liking[row, item]
    value = np.rint(opinion + 0.55 * rng.standard_normal(len(item)))
    return item.astype(np.uint32), np.clip(value, 1, 5).astype(np.float32)
