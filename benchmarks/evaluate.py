"""What an evaluation adds to its fits. `python benchmarks/evaluate.py RATINGS [ITEMS]`

Fits `bayes` at a row of epsilons on each split, first bare and then inside of `tacit.evaluate`,
and compares the seconds: everything besides the bare fits (rehearsal, splits, predictions,
lists, intervals, tables) is what evaluation adds. With `--processes 2` the evaluation is run
once more, for how many times the cells an hour two processes give. `--processor` counts seconds
of processors and not of the clock, and so needs no idle machine. NOT PRIVATE.

Both are taken `--times` times, after one fit and with garbage collected before each; what is
printed is the first pair, which reads modules and kernels of the evaluation (those of a fit were
read before), and the smallest of each. `--cold` is another question: one process that fits and
one that evaluates, each of which reads all that it needs; the medians of `--times` of each.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

import tacit
from tacit.data import splits
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.fitting.rehearse import _PASSED
from tacit.fitting.run import trial

DELTA = 1e-6


def bare(ratings: Ratings, items: Catalogue | None, given: argparse.Namespace) -> float:
    """Seconds of the fits alone."""
    _PASSED.clear()  # what was rehearsed for the others
    total = 0.0
    clock = clock_of(given)
    for seed in range(given.seeds):
        train = splits.make(ratings, "90/10", seed=seed).train
        for epsilon in epsilons(given):
            for unit in given.unit.split(","):
                made = tacit.Bayes(epsilon=epsilon, delta=DELTA, unit=unit)
                gc.collect()
                began = clock()
                trial(made, train, items=items)
                total += clock() - began
    return total


def whole(
    ratings: Ratings, items: Catalogue | None, given: argparse.Namespace, processes: int
) -> float:
    """Seconds of the evaluation of the same fits."""
    _PASSED.clear()
    clock = clock_of(given)
    gc.collect()
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


def cold(part: str) -> list[float]:
    """Seconds of one part, each in a process of its own."""
    asked = [one for one in sys.argv[1:] if one != "--cold"]
    command = [sys.executable, __file__, *asked, "--part", part]
    return [
        float(subprocess.run(command, check=True, capture_output=True).stdout)
        for _ in range(parsed().times)
    ]


def told(words: str, fits: float, all_of_it: float) -> None:
    print(
        f"{words}: fits {fits:.2f} s, evaluation {all_of_it:.2f} s: adds {all_of_it / fits - 1:.1%}"
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings")
    parser.add_argument("items", nargs="?")
    parser.add_argument("--epsilon", default="0.1,1,10")
    parser.add_argument("--unit", default="user")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--part", choices=["fits", "evaluation"])
    given = parser.parse_args()
    if given.processor and given.processes > 1:
        parser.error("--processor knows nothing of other processes")
    return given


def main() -> None:
    given = parsed()
    if given.cold:
        parts = [cold(part) for part in ("fits", "evaluation")]
        told("cold", *(median(part) for part in parts))
        return
    items = tacit.read_items(given.items) if given.items else None
    ratings = tacit.read(given.ratings, items=items)
    with tempfile.TemporaryDirectory() as home:
        os.environ["TACIT_HOME"] = home
        if given.part is not None:
            print(
                bare(ratings, items, given)
                if given.part == "fits"
                else whole(ratings, items, given, 1)
            )
            return
        # Once for compiled kernels, which are read from their cache.
        trial(tacit.Bayes(epsilon=1.0, delta=DELTA), ratings, items=items)
        pairs = [
            (bare(ratings, items, given), whole(ratings, items, given, 1))
            for _ in range(given.times)
        ]
        told("first", *pairs[0])
        fits, one = (min(part) for part in zip(*pairs, strict=True))
        if given.times > 1:
            told(f"best of {given.times}", fits, one)
        if given.processes > 1:
            more = whole(ratings, items, given, given.processes)
            print(f"{given.processes} processes: {one / more:.2f} times as fast")


if __name__ == "__main__":
    main()
