"""Runs that forecasts are fitted to: many invented populations and parts of public sets, every
method at a row of epsilons, and its twin.

    python benchmarks/forecast.py run --data DATA --out RUNS [--twins] [--only TEXT]

DATA holds the folders ml-100k, ml-1m and netflix-100. Every run is kept in RUNS and never
repeated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from forecast_lists import LEAST_SPLITS, LIST_EPSILONS, MOST_SPLITS, lists
from forecast_people import LISTS_ALONE, everything, is_judged, made

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.splits import per_rating
from tacit.evaluation.cells import run_cells
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


def keys(told: list[dict[str, Any]], *, twins: bool) -> Iterator[dict[str, Any]]:
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
    judged = is_judged(told)
    if method == "ease":
        return [*EPSILONS[: int(judged)], *LIST_EPSILONS]
    if judged or told["name"].startswith("ml-100k"):
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
        few = key["epsilons"] is None and not is_judged(key["population"])
        most = LEAST_SPLITS if few else MOST_SPLITS
        found = lists(ratings, _methods(key), most)
    else:
        found = _errors(ratings, items if key["features"] else None, key)
    return facts | found | {"seconds": time.process_time() - began}


def top_share(ratings: Ratings) -> float:
    """Of all ratings, the share on the most rated tenth of the items."""
    rated = np.sort(np.bincount(ratings.item, minlength=ratings.n_items))
    return float(rated[-max(1, len(rated) // 10) :].sum() / rated.sum())


def _errors(ratings: Ratings, items: Catalogue | None, key: Any) -> dict[str, Any]:
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


def run(args: argparse.Namespace) -> None:
    chosen = [one for one in everything(args.data) if args.only in one["name"]]
    wanted = [
        key for key in keys(chosen, twins=args.twins) if key["method"] in args.methods.split(",")
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
