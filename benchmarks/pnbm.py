"""Learned neighbourhoods on real data: speed, accuracy without noise, against epsilon,
against neighbours. NOT PRIVATE.

python benchmarks/pnbm.py DATA speed                   seconds and memory of one epoch, 500
neighbours python benchmarks/pnbm.py DATA folds                   5 folds: without noise,
beside plain cosine and Pearson (eq. 2) python benchmarks/pnbm.py DATA epsilon --people 6000
unit user, beside the other methods, 90/10 python benchmarks/pnbm.py DATA units --people
6000     one rating against a whole person python benchmarks/pnbm.py DATA neighbours
10 to 1300 neighbours, without noise and at the first epsilon python benchmarks/pnbm.py DATA
learned --people 6000   learned similarities in plain neighbours
"""

from __future__ import annotations

import argparse
import logging
import resource
import time
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.splits import Split
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.ledger.account.gaussian import epsilon_at
from tacit.methods import find
from tacit.methods.neighbourhood.twin import Data, item_means, raw_similarities, square, train
from tacit.model.model import Model
from tacit.rounds.round import Block

BESIDE = ("bias", "pnbm-sgd", "pnbm-langevin", "mf-sgd", "mf-langevin", "knn-pearson", "knn-cosine")


def line(name: str, values: list[float], seconds: float) -> None:
    spread = f" sd {np.std(values, ddof=1):.4f}" if len(values) > 1 else ""
    print(
        f"{name:34} {np.mean(values):.4f}{spread}  {seconds / len(values):.1f} s each", flush=True
    )


def scored(
    name: str,
    parts: list[Split],
    method: str,
    people: int | None = None,
    starts: list[Model] | None = None,
    **options: Any,
) -> None:
    begin, found = time.perf_counter(), list[float]()
    for part, start in zip(parts, starts or [None] * len(parts), strict=True):
        found.append(
            error(trial(find(method)(**options), part.train, users=people, start=start), part)
        )
    line(name, found, time.perf_counter() - begin)


def error(model: Model, part: Split) -> float:
    return float(measure(model, part, lists=False)["rmse"] or np.nan)


def inner(ratings: tacit.Ratings) -> Block:
    value = (ratings.value.astype(np.float64) - ratings.schema.middle) / ratings.schema.unit_width
    return Block(np.arange(ratings.n_users), ratings.ptr, ratings.item, value)


def baselines(parts: list[Split], neighbours: int) -> None:
    for name in ("cosine", "pearson"):
        begin = time.perf_counter()
        method = find(f"knn-{name}")
        found = [
            error(trial(method(calibration="none", neighbours=neighbours), part.train), part)
            for part in parts
        ]
        line(f"plain {name} N {neighbours}", found, time.perf_counter() - begin)


def speed(ratings: tacit.Ratings) -> None:
    block = inner(ratings)
    data = Data.of(block, item_means(block, ratings.n_items, levels=True, prior=5.0))
    for attempt in ("cold", "warm"):
        begin = time.perf_counter()
        index, value = raw_similarities(
            data, 500, pearson=False, damp=30.0, levels=True, threads=None
        )
        middle, busy = time.perf_counter(), time.process_time()
        train(data, index, square(value), 1, None)
        end, busy = time.perf_counter(), time.process_time() - busy
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{attempt}: similarities {middle - begin:.2f} s, epoch {end - middle:.2f} s "
            f"({busy:.2f} of processors), "
            f"peak {peak:.2f} GB"
        )


Splits = list[Split]


def folds(given: argparse.Namespace, ratings: tacit.Ratings, cut: Splits) -> None:
    parts = list(splits.k_fold(ratings, 5))
    for method in ("pnbm-sgd", "pnbm-langevin"):
        scored(f"{method} without noise", parts, method, calibration="none")
    baselines(parts, 1300 if len(ratings) > 500_000 else 900)


def against_epsilon(given: argparse.Namespace, ratings: tacit.Ratings, cut: Splits) -> None:
    for method in given.methods.split(","):
        for epsilon in given.epsilons:
            scored(f"{method} epsilon {epsilon:g}", cut, method, given.people, epsilon=epsilon)


def units(given: argparse.Namespace, ratings: tacit.Ratings, cut: Splits) -> None:
    """One rating against a whole person, at equal epsilon."""
    for epsilon in given.epsilons:
        for method in ("knn-pearson", "knn-cosine"):
            for unit in ("rating", "user"):
                scored(
                    f"{method} {unit} epsilon {epsilon:g}",
                    cut,
                    method,
                    given.people,
                    epsilon=epsilon,
                    unit=unit,
                )
        scored(f"pnbm-sgd user epsilon {epsilon:g}", cut, "pnbm-sgd", given.people, epsilon=epsilon)


def against_neighbours(given: argparse.Namespace, ratings: tacit.Ratings, cut: Splits) -> None:
    """Of the private model fewer neighbours are post-processing: one fit serves all sizes."""
    private = [
        trial(
            find("pnbm-sgd")(epsilon=given.epsilons[0], neighbours=1300),
            s.train,
            users=given.people,
        )
        for s in cut
    ]
    for near in (10, 30, 100, 300, 500, 900, 1300):
        if not given.private:
            scored(
                f"pnbm-sgd N {near} without noise",
                cut,
                "pnbm-sgd",
                calibration="none",
                neighbours=near,
            )
            baselines(cut, near)
        found = [
            error(nearest(model, near), part) for model, part in zip(private, cut, strict=True)
        ]
        line(f"pnbm-sgd N {near} epsilon {given.epsilons[0]:g}", found, 0.0)


def nearest(model: Model, near: int) -> Model:
    """The same model with at most `near` neighbours an item, those of largest similarity."""
    shared, start = model.shared, model.shared.arrays["start"]
    value, counts = shared.arrays["similarity"], np.diff(start)
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-np.abs(value), owner))
    kept = np.sort(order[np.arange(len(order)) - np.repeat(start[:-1], counts) < near])
    arrays = {
        **shared.arrays,
        "start": np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(counts)))]),
        "neighbour": shared.arrays["neighbour"][kept],
        "similarity": value[kept],
    }
    return Model(replace(shared, arrays=arrays), "")


def learned(given: argparse.Namespace, ratings: tacit.Ratings, cut: Splits) -> None:
    """Learned similarities in plain neighbours: without noise, and with the budget divided
    between the two fits."""
    none = [trial(find("pnbm-sgd")(calibration="none"), part.train) for part in cut]
    for method in ("knn-pearson", "knn-cosine"):
        scored(f"{method} without noise", cut, method, calibration="none")
        scored(f"{method} without noise, learned", cut, method, starts=none, calibration="none")
    for epsilon in given.epsilons:
        for method in ("pnbm-sgd", "knn-pearson", "knn-cosine"):
            scored(f"{method} epsilon {epsilon:g}", cut, method, given.people, epsilon=epsilon)
        first, second = halves(epsilon)
        made = [
            trial(find("pnbm-sgd")(epsilon=first), part.train, users=given.people) for part in cut
        ]
        for method in ("knn-pearson", "knn-cosine"):
            name = f"{method} {second:.2f} on learned {first:.2f}"
            scored(name, cut, method, given.people, starts=made, epsilon=second)


def halves(epsilon: float) -> tuple[float, float]:
    """Two budgets that cost `epsilon` together: three quarters of mu^2 for the neighbours,
    a quarter for the means."""
    mu = gaussian_mu(epsilon, 1e-6)
    return epsilon_at(sqrt(0.75) * mu, 1e-6), epsilon_at(sqrt(0.25) * mu, 1e-6)


TABLES = {
    "folds": folds,
    "epsilon": against_epsilon,
    "units": units,
    "neighbours": against_neighbours,
    "learned": learned,
}


def main() -> None:
    logging.getLogger("absl").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="a folder that tacit can read, such as ml-1m")
    parser.add_argument("what", choices=["speed", *TABLES])
    parser.add_argument("--people", type=int, help="the declared number of people")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument(
        "--epsilons",
        type=lambda text: [float(x) for x in text.split(",")],
        default=[1.0, 5.0, 20.0],
    )
    parser.add_argument(
        "--private", action="store_true", help="with neighbours: the private model only"
    )
    parser.add_argument("--methods", default=",".join(BESIDE))
    given = parser.parse_args()
    ratings = tacit.read(given.data)
    if given.what == "speed":
        speed(ratings)
        return
    cut = [splits.make(ratings, "90/10", seed=given.first + seed) for seed in range(given.seeds)]
    TABLES[given.what](given, ratings, cut)


if __name__ == "__main__":
    main()
