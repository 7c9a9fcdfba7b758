"""Learned neighbourhoods on real data: speed, accuracy without noise, against epsilon, against neighbours. NOT PRIVATE.

python benchmarks/pnbm.py DATA speed                   seconds and memory of one epoch, 500 neighbours
python benchmarks/pnbm.py DATA folds                   5 folds: without noise, beside plain cosine and Pearson (eq. 2)
python benchmarks/pnbm.py DATA epsilon --people 6000   unit user, beside the other methods, 90/10
python benchmarks/pnbm.py DATA neighbours              10 to 1300 neighbours, without noise and at epsilon 5
python benchmarks/pnbm.py DATA paper                   Algorithms 1 and 2 as printed, and their start alone
"""

from __future__ import annotations

import argparse
import logging
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.splits import Split
from tacit.evaluate.sweep import measure
from tacit.fitting import trial
from tacit.methods import METHODS, find
from tacit.methods.pnbm_twin import Data, item_means, raw_similarities, square, train
from tacit.model.model import Model
from tacit.model.neighbours import compress
from tacit.model.shared import Shared
from tacit.round import Block

BESIDE = ("bias", "pnbm-sgd", "pnbm-langevin", "mf-sgd", "mf-langevin", "knn-pearson", "knn-cosine")


def line(name: str, values: list[float], seconds: float) -> None:
    spread = f" sd {np.std(values, ddof=1):.4f}" if len(values) > 1 else ""
    print(f"{name:34} {np.mean(values):.4f}{spread}  {seconds / len(values):.1f} s each", flush=True)


def scored(name: str, parts: list[Split], method: str, people: int | None = None, **options: Any) -> None:
    begin, found = time.perf_counter(), list[float]()
    for part in parts:
        found.append(error(trial(find(method)(**options), part.train, users=people), part))
    line(name, found, time.perf_counter() - begin)


def error(model: Model, part: Split) -> float:
    return float(measure(model, part, lists=False)["rmse"] or np.nan)


def inner(ratings: tacit.Ratings) -> Block:
    value = (ratings.value.astype(np.float64) - ratings.schema.middle) / ratings.schema.unit_width
    return Block(np.arange(ratings.n_users), ratings.ptr, ratings.item, value)


def plain(part: Split, neighbours: int, *, pearson: bool) -> Model:
    """Equation 2 with raw similarities: the baselines PCC and COS of the paper."""
    block, items = inner(part.train), part.train.n_items
    mean = item_means(block, items, levels=False, prior=0.0)
    index, value = raw_similarities(
        Data.of(block, mean), min(neighbours, items - 1), pearson=pearson, damp=0.0, levels=False, threads=None
    )
    flat = {"baseline": mean, "variance": np.zeros(items), "loadings": np.zeros((items, 1)), "doubt": np.zeros(items)}
    numbers = {"noise": 1.0, "around": 1.0, "floor": 1e-9}
    catalogue = tacit.Catalogue(part.train.items)
    arrays = {**flat, **compress(index.astype(np.int64), value)}
    return Model(Shared("knn", "neighbourhood", arrays, numbers, part.train.schema, catalogue), "")


def baselines(parts: list[Split], neighbours: int) -> None:
    for name in ("cosine", "pearson"):
        begin = time.perf_counter()
        found = [error(plain(part, neighbours, pearson=name == "pearson"), part) for part in parts]
        line(f"plain {name} N {neighbours}", found, time.perf_counter() - begin)


def speed(ratings: tacit.Ratings) -> None:
    block = inner(ratings)
    data = Data.of(block, item_means(block, ratings.n_items, levels=True, prior=5.0))
    for attempt in ("cold", "warm"):
        begin = time.perf_counter()
        index, value = raw_similarities(data, 500, pearson=False, damp=30.0, levels=True, threads=None)
        middle = time.perf_counter()
        train(data, index, square(value), 1, None)
        end = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{attempt}: similarities {middle - begin:.2f} s, epoch {end - middle:.2f} s, peak {peak:.2f} GB")


def tables(what: str, ratings: tacit.Ratings, people: int | None, seeds: int, epsilons: list[float]) -> None:
    cut = [splits.make(ratings, "90/10", seed=seed) for seed in range(seeds)]
    if what == "folds":
        folds = list(splits.k_fold(ratings, 5))
        for method in ("pnbm-sgd", "pnbm-langevin"):
            scored(f"{method} without noise", folds, method, calibration="none")
        baselines(folds, 1300 if len(ratings) > 500_000 else 900)
    elif what == "epsilon":
        for method in (m for m in BESIDE if m in METHODS):
            for epsilon in epsilons:
                scored(f"{method} epsilon {epsilon:g}", cut, method, people, epsilon=epsilon)
    elif what == "neighbours":
        for near in (10, 30, 100, 300, 500, 900, 1300):
            scored(f"pnbm-sgd N {near} without noise", cut, "pnbm-sgd", calibration="none", neighbours=near)
            scored(f"pnbm-sgd N {near} epsilon 5", cut, "pnbm-sgd", people, epsilon=5.0, neighbours=near)
            baselines(cut, near)
    else:
        for method in ("pnbm-sgd", "pnbm-langevin"):
            for epsilon in epsilons:
                scored(f"{method} printed {epsilon:g}", cut, method, calibration="paper", epsilon=epsilon)
        baselines(cut, 500)


def options() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "data", {"help": "a folder that tacit can read, such as ml-1m"}
    yield "what", {"choices": ["speed", "folds", "epsilon", "neighbours", "paper"]}
    yield "--people", {"type": int, "help": "the declared number of people"}
    yield "--seeds", {"type": int, "default": 1}
    yield "--epsilons", {"default": "1,5,20"}


def main() -> None:
    logging.getLogger("absl").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, how in options():
        parser.add_argument(name, **how)
    given = parser.parse_args()
    ratings = tacit.read(given.data)
    if given.what == "speed":
        speed(ratings)
    else:
        tables(given.what, ratings, given.people, given.seeds, [float(x) for x in given.epsilons.split(",")])


if __name__ == "__main__":
    main()
