"""How long reading takes and how much memory: seeded files of the judged sizes, each read
in a process of its own.

python benchmarks/read.py                  ML-1M-like, 20M rows of csv, 100M ratings in the
Netflix layout python benchmarks/read.py --scale 0.1      a tenth of each python
benchmarks/read.py --only csv --rows 5000000
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LIMITS = {"ml-1m": (1.0, 1.0), "csv": (8.0, 2.0), "text": (30.0, 2.0), "netflix": (60.0, 3.5)}
"""Seconds and GB to stay under; text ids have no judged limit."""

CHILD = """
import json, resource, sys, time
start = time.perf_counter()
from tacit.data.read import read
ratings = read(sys.argv[1])
taken = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
size = {"ratings": len(ratings), "people": ratings.n_users, "items": ratings.n_items}
cpu = used.ru_utime + used.ru_stime
print(json.dumps({**size, "s": taken, "cpu": cpu, "gb": used.ru_maxrss / 1e6}))
"""


def columns(rows: int, people: int, items: int) -> tuple[np.ndarray, ...]:
    """Sorted people, skewed items: the shape of the MovieLens files."""
    rng = np.random.default_rng(1)
    user = np.sort(rng.integers(1, people + 1, rows))
    item = (items * rng.random(rows) ** 2).astype(np.int64) + 1
    return user, item, rng.integers(1, 6, rows), rng.integers(8e8, 15e8, rows)


def make_ml_1m(folder: Path, rows: int) -> Path:
    import polars as pl

    user, item, rating, time = columns(rows, 6040, 3706)
    frame = pl.DataFrame({"u": user, "i": item, "r": rating, "t": time})
    path = folder / "ratings.dat"
    path.write_bytes(
        frame.write_csv(include_header=False, separator=",").replace(",", "::").encode()
    )
    return path


def make_csv(folder: Path, rows: int, prefix: str = "") -> Path:
    import polars as pl

    user, item, rating, time = columns(rows, 138_493, 26_744)
    frame = pl.DataFrame(
        {"userId": user, "movieId": item, "rating": rating / 1.0, "timestamp": time}
    )
    if prefix:
        named = [
            (pl.lit(prefix) + pl.col(name).cast(pl.String)).alias(name)
            for name in ("userId", "movieId")
        ]
        frame = frame.with_columns(named)
    path = folder / "ratings.csv"
    frame.write_csv(path)
    return path


def make_text(folder: Path, rows: int) -> Path:
    return make_csv(folder, rows, "id-number-")


def make_netflix(folder: Path, rows: int) -> Path:
    """17,770 files of one item each; a file's rows are a random stretch of one of eight
    shuffled lists of people."""
    rng = np.random.default_rng(2)
    share = rng.random(17_770) ** 4
    sizes = np.clip(share / share.sum() * rows, 1, 230_000).astype(int)
    people = rng.choice(2_649_429, 480_189, replace=False) + 1
    lists = [shuffled(rng, people) for _ in range(8)]
    training = folder / "training_set"
    training.mkdir()
    for k, size in enumerate(sizes, start=1):
        text, starts = lists[rng.integers(len(lists))]
        first = rng.integers(people.size - size)
        path = training / f"mv_{k:07d}.txt"
        path.write_bytes(b"%d:\n" % k + text[starts[first] : starts[first + size]])
    return training


def shuffled(rng: np.random.Generator, people: np.ndarray) -> tuple[bytes, np.ndarray]:
    """A line a person in random order, and where each line starts."""
    lines = [
        b"%d,%d,%d-%02d-%02d\n" % (person, rating, 2000 + day % 6, day % 12 + 1, day % 28 + 1)
        for person, rating, day in zip(
            rng.permutation(people).tolist(),
            rng.integers(1, 6, people.size).tolist(),
            rng.integers(0, 2000, people.size).tolist(),
            strict=True,
        )
    ]
    return b"".join(lines), np.concatenate([[0], np.cumsum([len(line) for line in lines])])


CASES = {
    "ml-1m": (make_ml_1m, 1_000_209),
    "csv": (make_csv, 20_000_263),
    "text": (make_text, 20_000_263),
    "netflix": (make_netflix, 100_480_507),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", choices=list(CASES), action="append", help="just this case (may be repeated)"
    )
    parser.add_argument("--rows", type=int, help="rows of each case, instead of the judged sizes")
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the judged sizes")
    parser.add_argument("--folder", help="where to make the files (a temporary folder otherwise)")
    parser.add_argument(
        "--repeat", type=int, default=2, help="reads of each file; the best is shown"
    )
    asked = parser.parse_args()
    print(
        f"{'case':10}{'ratings':>13}{'people':>9}{'items':>8}{'seconds':>9}{'limit':>7}{'cpu':>7}{'GB':>7}{'limit':>7}"
    )
    for name in asked.only or CASES:
        make, judged = CASES[name]
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            path = make(Path(folder), asked.rows or int(judged * asked.scale))
            runs = []
            for _ in range(asked.repeat):
                done = subprocess.run(
                    [sys.executable, "-c", CHILD, str(path)],
                    capture_output=True,
                    check=True,
                    text=True,
                )
                runs.append(json.loads(done.stdout))
        best = min(runs, key=lambda run: run["s"])
        seconds, memory = LIMITS[name]
        print(
            f"{name:10}{best['ratings']:13,}{best['people']:9,}{best['items']:8,}"
            f"{best['s']:9.2f}{seconds:7.0f}{best['cpu']:7.2f}{best['gb']:7.2f}{memory:7.1f}"
        )


if __name__ == "__main__":
    main()
