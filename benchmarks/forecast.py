"""Runs that forecasts are fitted to: many invented populations and parts of public sets, every
method at a row of epsilons, and its twin.

    python benchmarks/forecast.py run --data DATA --out RUNS [--twins] [--only TEXT]
    python benchmarks/forecast.py table --out RUNS > src/tacit/evaluation/runs.csv

DATA holds the folders ml-100k, ml-1m and netflix-100. Every run is kept in RUNS and never
repeated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from forecast_lists import LEAST_SPLITS, LIST_EPSILONS, MOST_SPLITS, lists

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.splits import per_rating
from tacit.evaluation.cells import run_cells
from tacit.evaluation.invent import Nature, Shape, draw_nature, invent
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.methods import find

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
DELTA = 1e-6
UNITS = {
    "bias": ("user", "rating"),
    "covariance-svd": ("user", "rating"),
    "als": ("user",),
    "bayes": ("user", "rating"),
    "ease": ("user", "rating"),
}
CODE = {"bias": 2, "covariance-svd": 2, "als": 2, "bayes": 2, "ease": 6}
"""Raised where a change to a method makes its kept runs stale."""
TWIN_CODE = {"bias": 3, "covariance-svd": 3, "als": 3, "bayes": 3, "ease": 10}
LIKE_BAYES = ("als", "covariance-svd")
"""Their twins are that of `bayes` without features, number by number; and no twin depends on
the unit."""
GRAM = ("covariance-svd", "ease")
MOST_GRAM = 4000
"""Items: the twin of a method with a matrix of items by items takes minutes above it."""
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
            each = float(
                np.clip(_between(rng, 90, 240), 0, MOST_DENSE / people)
            )
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
            yield {
                "name": place + words,
                "set": place,
                "part": part,
                "folder": str(data / place),
            }


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
        return invent(
            Shape(**told["shape"]), Nature(**told["nature"]), told["seed"]
        )
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


def keys(
    told: list[dict[str, Any]], *, twins: bool
) -> Iterator[dict[str, Any]]:
    for one in told:
        for method, units in UNITS.items():
            if method != "ease" and one["name"].startswith(LISTS_ALONE):
                continue
            for features in features_of(one, method):
                for unit in units[:1] if twins else units:
                    if twins and method in LIKE_BAYES:
                        continue
                    yield {
                        "population": one,
                        "method": method,
                        "unit": unit,
                        "features": features,
                        "epsilons": None if twins else epsilons_of(one, method),
                        "code": (TWIN_CODE if twins else CODE)[method],
                    }
        alone = one["name"].startswith(LISTS_ALONE)
        if twins and not alone and features_of(one, "bayes") == (True,):
            yield plain_twin(one)


def epsilons_of(told: dict[str, Any], method: str) -> list[float]:
    """All of them on sets that are judged and on parts of the smallest; every second one on
    the others, because what is peculiar to a population is so at all of them. Lists turn
    from popularity to pairs at once, and are quick: all that are judged, and on sets that
    are judged the smallest too, because `choose` may name one below."""
    name = told["name"]
    if method == "ease":
        judged = name in PARTS or name.startswith("six")
        return [*EPSILONS[: int(judged)], *LIST_EPSILONS]
    if name in PARTS or name.startswith(("six", "ml-100k")):
        return list(EPSILONS)
    return list(EPSILONS[told.get("seed", 1) % 2 :: 2])


def plain_twin(one: dict[str, Any]) -> dict[str, Any]:
    """The twin of `als` where no run of `bayes` without features gives it."""
    return {
        "population": one,
        "method": "als",
        "unit": "user",
        "features": False,
        "epsilons": None,
        "code": TWIN_CODE["als"],
    }


def features_of(told: dict[str, Any], method: str) -> tuple[bool, ...]:
    """Only `bayes` uses them."""
    if method != "bayes":
        return (False,)
    if "shape" in told:
        return (True,) if told["shape"]["tags"] else (False,)
    return (False,) if told["set"] == "netflix-100" else (False, True)


def work(common: Any, key: Any) -> dict[str, Any]:
    ratings, items = made(key["population"])
    method = key["method"]
    facts = {
        "people": ratings.n_users,
        "items": ratings.n_items,
        "ratings": len(ratings),
        "width": ratings.schema.high - ratings.schema.low,
        "top": top_share(ratings),
    }
    if method in GRAM and ratings.n_items > MOST_GRAM:
        return facts | {"measured": None, "seconds": None}
    began = time.process_time()
    if method == "ease":
        name = key["population"]["name"]
        judged = name in PARTS or name.startswith("six")
        few = key["epsilons"] is None and not judged
        most = LEAST_SPLITS if few else MOST_SPLITS
        found = lists(ratings, _methods(key), most)
    else:
        found = _errors(ratings, items if key["features"] else None, key)
    return facts | found | {"seconds": time.process_time() - began}


def top_share(ratings: Ratings) -> float:
    """Of all ratings, the share on the most rated tenth of the items."""
    rated = np.sort(np.bincount(ratings.item, minlength=ratings.n_items))
    return float(rated[-max(1, len(rated) // 10) :].sum() / rated.sum())


def _errors(
    ratings: Ratings, items: Catalogue | None, key: Any
) -> dict[str, Any]:
    split = per_rating(ratings, 0.1, 0)
    found = []
    for make in _methods(key):
        model = trial(make, split.train, items=items, users=ratings.n_users)
        error = measure(model, split, lists=False)["rmse"]
        assert error is not None
        found.append(error / ratings.schema.unit_width)
    own = own_mean(split.fold_in, split.test)
    return {"measured": found, "own_mean": own / ratings.schema.unit_width}


def own_mean(given: Ratings, asked: Ratings) -> float:
    """RMSE of each person's own mean, shrunk to everybody's by five ratings."""
    counts = np.diff(given.ptr)
    sums = np.bincount(given.user, given.value, given.n_users)
    mean = (sums + 5 * given.value.mean()) / (counts + 5)
    error = np.repeat(mean, np.diff(asked.ptr)) - asked.value
    return float(np.sqrt((error**2).mean()))


def _methods(key: Any) -> Iterator[Any]:
    cls = find(key["method"])
    if key["epsilons"] is None:
        yield cls(unit=key["unit"], calibration="none")
        return
    for epsilon in key["epsilons"]:
        yield cls(unit=key["unit"], epsilon=epsilon, delta=DELTA)


def everything(data: Path) -> list[dict[str, Any]]:
    return [*parts(data), *invented(), *of_lists()]


def run(args: argparse.Namespace) -> None:
    chosen = [one for one in everything(args.data) if args.only in one["name"]]
    wanted = [
        key
        for key in keys(chosen, twins=args.twins)
        if key["method"] in args.methods.split(",")
    ]
    run_cells(wanted, work, None, folder=args.out, progress=_tell)


def _tell(done: int, total: int, left: float | None) -> None:
    print(done, total, None if left is None else round(left), file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["run"])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--twins", action="store_true")
    parser.add_argument("--methods", default=",".join(UNITS))
    run(parser.parse_args())


if __name__ == "__main__":
    main()
