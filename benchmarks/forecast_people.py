"""People that forecasts are fitted to and judged on: invented populations, and public sets and
parts of them. Part of `forecast.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.evaluation.invent import Nature, Shape, draw_nature, invent

INVENTED, MORE = 42, 18
"""Populations that all methods are fitted to, and for lists alone."""
MOST_RATINGS = {True: 3e5, False: 1.5e5}
"""Of an invented population: of the six, and of others."""
MOST_PEOPLE = 30_000
"""The same but for the six: the twins of more take minutes."""
SIX = 6
"""Invented populations that are only ever forecast, never fitted to."""
DENSE, SHOPS = 6, 6
MOST_DENSE = 8e5
"""Ratings of a population of many likes a person."""
LISTS_ALONE = ("more", "dense", "shop")
"""Names of populations on which `ease` alone is run."""
SCALES = ((1.0, 5.0, 1.0), (0.5, 5.0, 0.5), (1.0, 5.0, 0.5), (0.0, 10.0, 1.0))


def invented() -> Iterator[dict[str, Any]]:
    """Shapes and natures drawn at random; the first six are those that are kept apart."""
    for seed in range(SIX + INVENTED + MORE):
        rng = np.random.default_rng(1000 + seed)
        many = seed % 6 == 5  # many people, few items, few ratings each
        people = int(np.exp(rng.uniform(np.log(500), np.log(16_000))))
        items = int(np.exp(rng.uniform(np.log(200), np.log(5_000))))
        each = float(np.exp(rng.uniform(np.log(8), np.log(200))))
        if many:
            people = int(np.exp(rng.uniform(np.log(8e3), np.log(2.5e5))))
            people = people if seed < SIX else min(people, MOST_PEOPLE)
            items = int(np.exp(rng.uniform(np.log(50), np.log(600))))
            each = float(np.exp(rng.uniform(np.log(2), np.log(12))))
        each = min(each, items / 5, MOST_RATINGS[seed < SIX] / people)
        each = max(each, 2.0)
        low, high, step = SCALES[int(rng.integers(len(SCALES)))]
        tags = 18 if seed % 3 == 0 else 0
        shape = Shape(people, items, round(each, 1), low, high, step, tags)
        name = f"more-{seed}" if seed >= SIX + INVENTED else f"invented-{seed}"
        name = f"six-{seed}" if seed < SIX else name
        nature = draw_nature(rng)
        yield {
            "name": name,
            "set": name,
            "shape": asdict(shape),
            "nature": asdict(nature),
            "seed": seed,
        }


def of_lists() -> Iterator[dict[str, Any]]:
    """Further populations for lists alone, of two kinds that the others lack: many likes a
    person on thousands of items, and shops, where few likes each follow strong tastes."""
    for seed in range(DENSE + SHOPS):
        rng = np.random.default_rng(2000 + seed)
        nature = draw_nature(rng)
        if seed < DENSE:
            people = _between(rng, 1_500, 8_000)
            items = _between(rng, 2_500, 4_000)
            each = float(np.clip(_between(rng, 90, 240), 0, MOST_DENSE / people))
            tags = 0
        else:
            people = _between(rng, 2_000, 25_000)
            items = _between(rng, 150, 2_500)
            each = float(_between(rng, 5, 18))
            tags = 18
            nature = replace(
                nature,
                taste=float(rng.uniform(0.5, 0.8)),
                told=float(rng.uniform(0.5, 0.9)),
                choice=float(rng.uniform(0.7, 1.3)),
                interest=float(rng.uniform(2.2, 3.4)),
            )
        shape = Shape(people, items, round(each, 1), tags=tags)
        name = f"dense-{seed}" if seed < DENSE else f"shop-{seed - DENSE}"
        yield {
            "name": name,
            "set": name,
            "shape": asdict(shape),
            "nature": asdict(nature),
            "seed": 2000 + seed,
        }


def _between(rng: np.random.Generator, low: float, high: float) -> int:
    """Evenly on the scale of logs."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


PARTS: dict[str, list[dict[str, Any]]] = {
    "ml-100k": [
        {},
        {"people": 400},
        {"people": 700, "keep": 0.4},
        {"keep": 0.2},
        {"items": 400},
        {"items": 200, "people": 600},
    ],
    "netflix-100": [
        {},
        {"people": 8_000},
        {"people": 30_000},
        {"least": 4},
        {"least": 4, "people": 6_000},
    ],
    "ml-1m": [
        {},
        {"people": 1_500},
        {"keep": 0.06},
        {"items": 800, "people": 1_000},
        {"random": 2_000, "people": 2_000},
    ],
}
"""Parts of public sets: of the people, of the ratings, the most rated or random items, people
with at least so many ratings."""


def parts(data: Path) -> Iterator[dict[str, Any]]:
    for place, wanted in PARTS.items():
        for part in wanted:
            words = "".join(f" {key} {value}" for key, value in part.items())
            yield {"name": place + words, "set": place, "part": part, "folder": str(data / place)}


@lru_cache(maxsize=1)
def whole(folder: str) -> tuple[Ratings, Catalogue | None]:
    import tacit

    ratings = tacit.read(folder)
    film = [Path(folder) / name for name in ("u.item", "movies.dat")]
    found = [path for path in film if path.exists()]
    items = tacit.read_items(str(found[0])) if found else None
    return ratings, items


def population(told: dict[str, Any]) -> tuple[Ratings, Catalogue | None]:
    """The ratings of one population and a catalogue, with features if there are any."""
    if "shape" in told:
        return invent(Shape(**told["shape"]), Nature(**told["nature"]), told["seed"])
    ratings, items = whole(told["folder"])
    part = told["part"]
    rng = np.random.default_rng(7)
    keep = np.ones(len(ratings), dtype=np.bool_)
    if "least" in part:
        keep &= np.diff(ratings.ptr)[ratings.user] >= part["least"]
    if "people" in part:
        able = np.unique(ratings.user[keep])
        chosen = np.zeros(ratings.n_users, dtype=np.bool_)
        chosen[rng.choice(able, part["people"], replace=False)] = True
        keep &= chosen[ratings.user]
    if "keep" in part:
        keep &= rng.random(len(ratings)) < part["keep"]
    rated = np.bincount(ratings.item, minlength=ratings.n_items)
    order = np.argsort(-rated, kind="stable")
    if "random" in part:
        order = rng.permutation(ratings.n_items)
    count = part.get("items", part.get("random", ratings.n_items))
    kept = np.sort(order[:count])
    place = np.full(ratings.n_items, -1)
    place[kept] = np.arange(count)
    keep &= place[ratings.item] >= 0
    thin = ratings.take(keep)
    ids = [ratings.items[one] for one in kept]
    found = replace(thin, items=ids, item=place[thin.item].astype(np.uint32))
    if items is None:
        return found, None
    rows = [items.index[one] for one in ids]
    narrow = Catalogue(
        ids,
        years=None if items.years is None else items.years[rows],
        tags=items.tags,
        tagged=None if items.tagged is None else items.tagged[rows],
    )
    return found, narrow


_made: dict[str, Any] = {}


def made(told: dict[str, Any]) -> tuple[Ratings, Catalogue | None]:
    """The population of the last cell is kept."""
    if told["name"] not in _made:
        _made.clear()
        _made[told["name"]] = population(told)
    found: tuple[Ratings, Catalogue | None] = _made[told["name"]]
    return found


def everything(data: Path) -> list[dict[str, Any]]:
    return [*parts(data), *invented(), *of_lists()]


def is_judged(told: dict[str, Any]) -> bool:
    """Whether forecasts are judged on it: a whole public set, or one of the six."""
    name: str = told["name"]
    return name in PARTS or name.startswith("six")
