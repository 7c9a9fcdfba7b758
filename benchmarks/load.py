"""What a driver and a network carry when people, items and executors grow: a simulation.

    python benchmarks/load.py            # prints the table of docs/scale.md

Executors finish blocks of people one after the other, each in the time that a rating costs
(measured: docs/results/scale.md) with a seeded spread. Each adds its own blocks up and, when all
are done, sends one partial sum; links are shared, and the driver adds what arrives, one partial sum
after the other. What is printed: how long executors compute, and how long after the last of
them the sum is there.
"""

from __future__ import annotations

import argparse
import heapq
from typing import NamedTuple

import numpy as np

RATING = 260e-9
"""Processor seconds of one sweep of `bayes` for one rating, with all that belongs to it."""
LINK = 1.25e9 * 0.8
"""Bytes a second of ten gigabits, as far as they are used."""
ADDED = 1.5e9
"""Bytes a second that a driver adds to 64-bit sums."""
SPREAD = 0.15
"""Of the time of one executor: machines are not alike."""


class Load(NamedTuple):
    """One round."""

    computed: float
    """Seconds until the last executor is done."""
    waited: float
    """Seconds from then until the sum is there."""
    held: float
    """Gigabytes of the largest queue before the driver."""


def round_of(ratings: float, numbers: float, executors: int, cores: int, seed: int = 0) -> Load:
    """A round that sums so many numbers over these executors."""
    rng = np.random.default_rng(seed)
    mean = ratings * RATING / (executors * cores)
    done = mean * np.exp(SPREAD * rng.standard_normal(executors))
    size = 8 * numbers
    arrivals: list[float] = []
    free = 0.0
    for finished in np.sort(done):  # one link into the driver
        free = max(free, finished) + size / LINK
        arrivals.append(free)
    queue: list[float] = []
    clock = 0.0
    most = 0
    for arrived in arrivals:
        while queue and queue[0] <= arrived:
            heapq.heappop(queue)
        clock = max(clock, arrived) + size / ADDED
        heapq.heappush(queue, clock)
        most = max(most, len(queue))
    last = float(done.max())
    return Load(last, clock - last, most * size / 1e9)


CASES = (
    ("100M ratings, 17,770 items, sweep", 1e8, 17_770 * 11, 2, 8),
    ("1B ratings, 50,000 items, sweep", 1e9, 50_000 * 11, 10, 8),
    ("20B ratings, 1M items, sweep", 2e10, 1e6 * 11, 100, 8),
    ("20B ratings, 10M items, sweep", 2e10, 1e7 * 11, 100, 8),
    ("20B ratings, 10M items, effects", 2e10, 1e7, 100, 8),
    ("20B ratings, covariance of 4,000", 2e10, 4000 * 4001 / 2, 100, 8),
)


def table() -> str:
    """The table of docs/scale.md."""
    lines = [
        "| round | executors x cores | partial sum, GB | computing, s | then, s | queue, GB |",
        "|---|---|---|---|---|---|",
    ]
    for words, ratings, numbers, executors, cores in CASES:
        found = round_of(ratings, numbers, executors, cores)
        lines.append(
            f"| {words} | {executors} x {cores} | {8 * numbers / 1e9:.3f} | "
            f"{found.computed:.0f} | {found.waited:.1f} | {found.held:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command line."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(table(), end="")


if __name__ == "__main__":
    main()
