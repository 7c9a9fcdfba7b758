"""`bayes` end to end, and one person's fold-in. `python benchmarks/bayes.py RATINGS [ITEMS]
--users 6000`

The fit is timed after a first one has compiled the kernels, on one thread, reading not counted.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import tacit
from tacit.fitting.run import trial
from tacit.model.person.gaussian import GaussianModel, fold_in


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("ratings")
    parser.add_argument("items", nargs="?")
    parser.add_argument("--users", type=int, default=6000)
    parser.add_argument("--epsilon", type=float, default=5.0)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    ratings = tacit.read(given.ratings)
    items = tacit.read_items(given.items) if given.items else None
    for unit in ("user", "rating"):
        method = tacit.Bayes(epsilon=given.epsilon, unit=unit, threads=given.threads)
        trial(method, ratings, items=items, users=given.users)
        start = time.perf_counter()
        trial(method, ratings, items=items, users=given.users)
        print(f"fit, unit {unit}, epsilon {given.epsilon:g}: {time.perf_counter() - start:.2f} s")
    rng = np.random.default_rng(0)
    model = GaussianModel(np.zeros(5000), np.full(5000, 0.1), rng.normal(0, 0.2, (5000, 60)))
    own, values = rng.permutation(5000)[:100], rng.normal(0, 1, 100)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        fold_in(model, own, values)
        times.append(time.perf_counter() - start)
    print(f"fold-in of 100 ratings, 60 dimensions: {1000 * np.median(times):.2f} ms")


if __name__ == "__main__":
    main()
