"""What an evaluation adds to its fits. `python benchmarks/evaluate.py RATINGS [ITEMS]`

Fits `bayes` at a row of epsilons on each split, first bare and then inside of `tacit.evaluate`,
and compares the seconds: everything besides the bare fits (rehearsal, splits, predictions,
lists, intervals, tables) is what evaluation adds. With `--processes 2` the evaluation is run
once more, for how many times the cells an hour two processes give. `--processor` counts seconds
of processors and not of the clock, and so needs no idle machine. NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from time import perf_counter, process_time

import tacit
from tacit.data import splits
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.fitting.rehearse import _PASSED
from tacit.fitting.run import trial

DELTA = 1e-6


def bare(
    ratings: Ratings, items: Catalogue | None, given: argparse.Namespace
) -> float:
    """Seconds of the fits alone."""
    _PASSED.clear()  # what was rehearsed for the others
    total = 0.0
    clock = clock_of(given)
    for seed in range(given.seeds):
        train = splits.make(ratings, "90/10", seed=seed).train
        for epsilon in epsilons(given):
            for unit in given.unit.split(","):
                made = tacit.Bayes(epsilon=epsilon, delta=DELTA, unit=unit)
                began = clock()
                trial(made, train, items=items)
                total += clock() - began
    return total


def whole(
    ratings: Ratings,
    items: Catalogue | None,
    given: argparse.Namespace,
    processes: int,
) -> float:
    """Seconds of the evaluation of the same fits."""
    _PASSED.clear()
    clock = clock_of(given)
    began = clock()
    tacit.evaluate(
        ratings,
        "bayes",
        epsilons(given),
        items=items,
        units=given.unit.split(","),
        delta=DELTA,
        seeds=given.seeds,
        twin=False,
        reference=False,
        processes=processes,
    )
    return clock() - began


def clock_of(given: argparse.Namespace) -> Callable[[], float]:
    return process_time if given.processor else perf_counter


def epsilons(given: argparse.Namespace) -> tuple[float, ...]:
    return tuple(float(each) for each in given.epsilon.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("items", nargs="?")
    parser.add_argument("--epsilon", default="0.1,1,10")
    parser.add_argument("--unit", default="user")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--processor", action="store_true")
    given = parser.parse_args()
    if given.processor and given.processes > 1:
        parser.error("--processor knows nothing of other processes")
    items = tacit.read_items(given.items) if given.items else None
    ratings = tacit.read(given.ratings, items=items)
    with tempfile.TemporaryDirectory() as home:
        os.environ["TACIT_HOME"] = home
        # Once for compiled kernels, which are read from their cache.
        trial(tacit.Bayes(epsilon=1.0, delta=DELTA), ratings, items=items)
        fits = bare(ratings, items, given)
        one = whole(ratings, items, given, 1)
        print(
            f"fits {fits:.1f} s, evaluation {one:.1f} s: adds {one / fits - 1:.1%}"
        )
        if given.processes > 1:
            more = whole(ratings, items, given, given.processes)
            print(
                f"{given.processes} processes: {one / more:.2f} times as fast"
            )


if __name__ == "__main__":
    main()
