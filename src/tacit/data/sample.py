"""The embedded sample: real films, invented people.

The catalogue (`films.csv`) holds public facts about well-known films. The people and every
rating are made up by the generator below, so nothing here says anything about a person or
about the merit of a film. What is fixed is the world: how well known and how liked each
film is among the invented people, and their taste groups. The seed draws other people from
the same world.

A rating is `style(quality of the film + the person's taste for its genres and era + hidden
traits + chance)`, and people mostly rate what is well known and what they expect to like:
the structure that recommenders have to find again.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Notes, Ratings
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.validation import by_name, count

SOURCE = "synthetic sample"
NOTICE = "synthetic sample: the films are real, the people and all ratings are invented"

_WORLD = 20_260_101  # never changes: the same films are liked whatever the seed
_GROUPS = 9
_TRAITS = 5  # hidden dimensions that no genre or year explains
_BLOCK = 2_000  # people generated at once; bounds memory, and is part of what a seed means
_OPENING, _CLOSING = (1_483_228_800, 1_767_225_600)  # 2017-01-01 to 2026-01-01, in seconds
_DAY = 86_400
_STYLES = np.array(  # share of people, where their middle lies, how much of the scale they use
    [(0.48, 3.55, 1.0), (0.20, 3.95, 0.85), (0.14, 3.05, 1.05), (0.18, 3.55, 0.55)]
)


MOST_SAMPLED = 10_000_000
"""People whom a machine can hold."""


@cache
def sample_catalogue() -> Catalogue:
    """The films: id, title, year and genres, all public facts."""
    text = files("tacit.data").joinpath("films.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    genres = [row["genres"].split("|") for row in rows]
    names = sorted({name for film_genres in genres for name in film_genres})
    return Catalogue(
        ids=[row["id"] for row in rows],
        titles=[row["title"] for row in rows],
        years=np.array([row["year"] for row in rows], dtype=np.int32),
        tags=names,
        tagged=np.array(
            [[name in film_genres for name in names] for film_genres in genres], dtype=np.uint8
        ),
    )


@by_name
def sample(people: int = 2_000, ratings: int | None = None, seed: int = 0) -> Ratings:
    """`people` invented persons with `ratings` ratings in all, 50 each unless said: 1 to 5
    stars, with times."""
    count("people", people)
    count("seed", seed, least=0)
    if people > MOST_SAMPLED:
        raise SettingError(
            f"the sample has at most {MOST_SAMPLED:,} people", remedy="ask for fewer"
        )
    catalogue, world = sample_catalogue(), _world()
    max_per_person = int(0.6 * len(catalogue))
    ratings = 50 * people if ratings is None else ratings
    if people < 1 or not people <= ratings <= people * max_per_person // 2:
        raise SettingError(
            f"the sample cannot have {ratings} ratings by {people} people",
            remedy=f"ask for 1 to {max_per_person // 2} ratings a person",
        )
    rng = np.random.default_rng([_WORLD, seed])
    counts = _counts(rng, people, ratings, max_per_person)
    parts = [_block(rng, world, counts[at : at + _BLOCK]) for at in range(0, people, _BLOCK)]
    columns = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    width = len(str(people))
    return Ratings(
        schema=Schema(1, 5, source=SOURCE),
        users=[f"p{number:0{width}d}" for number in range(1, people + 1)],
        items=catalogue.ids,
        ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        item=columns[0],
        value=columns[1],
        time=columns[2],
        notes=Notes(layout=SOURCE, messages=(NOTICE,)),
    )


@dataclass(frozen=True)
class _World:
    fame: NDArray[np.float64]
    """Log of how often a film is rated, standardised."""
    quality: NDArray[np.float64]
    genres: NDArray[np.float64]
    """Each film's genres, of unit length, with the era as the last two columns."""
    traits: NDArray[np.float64]
    groups: NDArray[np.float64]
    """Mean taste of each taste group over the columns of `genres`."""
    released: NDArray[np.int64]
    """When the film could first be rated, in seconds."""


@cache
def _world() -> _World:
    catalogue = sample_catalogue()
    assert catalogue.tagged is not None
    assert catalogue.years is not None
    rng = np.random.default_rng(_WORLD)
    films = len(catalogue)
    era = (catalogue.years - 1985) / 20.0
    flags = catalogue.tagged.astype(np.float64)
    crowd = {
        "Action": 0.5,
        "Adventure": 0.5,
        "Family": 0.3,
        "Science Fiction": 0.4,
        "Documentary": -0.9,
        "Noir": -0.4,
    }
    pull = flags @ np.array([crowd.get(name, 0.0) for name in catalogue.tags])
    fame = 0.45 * era + 0.8 * pull + rng.standard_normal(films)
    fame = (fame - fame.mean()) / fame.std()
    genres = flags / np.linalg.norm(flags, axis=1, keepdims=True)
    genres = np.column_stack([genres, 0.5 * era, 0.35 * (era**2 - 1)])
    return _World(
        fame=fame,
        quality=0.30 * fame
        + 0.46 * rng.standard_normal(films),  # the well known is liked a little better
        genres=genres,
        traits=rng.standard_normal((films, _TRAITS)) * np.array([0.5, 0.4, 0.32, 0.26, 0.2]),
        groups=0.5 * rng.standard_normal((_GROUPS, genres.shape[1])),
        released=((catalogue.years.astype(np.int64) - 1969) * 365.2425 * _DAY).astype(np.int64),
    )


def _counts(
    rng: np.random.Generator, people: int, ratings: int, max_per_person: int
) -> NDArray[np.int64]:
    """How many films each person rates: log-normal, at least one each, exactly `ratings` in all."""
    share = np.exp(0.75 * rng.standard_normal(people))
    floor = min(8, ratings // people)
    counts: NDArray[np.int64] = np.clip(
        (share * (ratings / share.sum())).astype(np.int64), floor, max_per_person
    )
    while gap := ratings - int(counts.sum()):  # settle the rest one rating at a time, by lot
        able = np.flatnonzero(counts < max_per_person if gap > 0 else counts > floor)
        adjusted = rng.choice(able, min(abs(gap), len(able)), replace=False)
        counts[adjusted] += 1 if gap > 0 else -1
    return counts


def _block(
    rng: np.random.Generator, world: _World, counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.int64]]:
    """The ratings of some people, each person's films ascending."""
    people, films = len(counts), len(world.fame)
    group = rng.integers(_GROUPS, size=people)
    taste = world.groups[group] + 0.3 * rng.standard_normal((people, world.genres.shape[1]))
    liking = taste @ world.genres.T + rng.standard_normal((people, _TRAITS)) @ world.traits.T
    # A draw without replacement: the largest of log-weight plus Gumbel noise (Yellott 1977).
    appeal = 1.15 * world.fame + 0.7 * liking - np.log(rng.standard_exponential((people, films)))
    order = np.argsort(-appeal, axis=1, kind="stable")
    row = np.repeat(np.arange(people), counts)
    start = np.cumsum(counts) - counts
    item = order[row, np.arange(len(row)) - start[row]]
    item = item[np.lexsort((item, row))]

    style = rng.choice(len(_STYLES), size=people, p=_STYLES[:, 0])
    middle = _STYLES[style, 1] + 0.12 * rng.standard_normal(people)
    spread = _STYLES[style, 2] * np.exp(0.1 * rng.standard_normal(people))
    opinion = world.quality[item] + liking[row, item] + 0.75 * rng.standard_normal(len(item))
    value = np.clip(np.rint(middle[row] + spread[row] * (opinion - 0.55)), 1, 5).astype(np.float32)

    joined = _OPENING + rng.random(people) * (_CLOSING - _OPENING - 400 * _DAY)
    time = joined[row] + rng.exponential(90 * _DAY, len(item)) * (rng.random(len(item)) < 0.7)
    time = np.maximum(time, world.released[item]) + rng.exponential(0.5 * _DAY, len(item))
    return (item.astype(np.uint32), value, np.minimum(time, _CLOSING - 1).astype(np.int64))
