"""One fit on Spark beside the same fit on threads, on one machine: seconds and their ratio.

    python benchmarks/spark.py --shape ml-1m --threads 2       # seeded ratings of its shape
    python benchmarks/spark.py --ratings ratings.parquet --scale 1,5 --threads 2
    python benchmarks/spark.py --shape netflix --threads 2     # 100 million, some GB

Both read the same parquet file, rows in random order, and fit with real noise in a process of
their own; the start of Spark's session is told apart. The owner's eyes only: no ledger.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write(shape: str, path: Path) -> None:
    """Seeded ratings of a shape (`benchmarks/gram.py`) as parquet, in random order."""
    import numpy as np
    import polars as pl
    from gram import shaped

    made = shaped(shape)
    user = np.repeat(np.arange(len(made.ptr) - 1, dtype=np.uint32), np.diff(made.ptr))
    order = np.random.default_rng(1).permutation(len(user))
    pl.DataFrame(
        {
            "user": user[order].astype(np.int64),
            "item": made.item[order].astype(np.int64),
            "rating": made.value[order].astype(np.float32) / 2,
        }
    ).write_parquet(path)


def one(engine: str, asked: argparse.Namespace) -> dict[str, float]:
    """A fit in this process."""
    from tacit.fitting.location import placed
    from tacit.fitting.run import trial
    from tacit.methods import find

    low, high = map(float, asked.scale.split(","))
    told = {}
    if engine == "spark":
        from tacit.engine.spark.session import session

        began = time.perf_counter()
        session(asked.threads)
        told["session"] = time.perf_counter() - began
    best = float("inf")
    for _ in range(asked.best):
        began = time.perf_counter()
        data = placed(asked.ratings, engine, threads=asked.threads, scale=(low, high))
        read = time.perf_counter()
        method = find(asked.method)(epsilon=1.0, engine=engine, threads=asked.threads)
        trial(method, data, users=asked.users)
        ended = time.perf_counter()
        best = min(best, ended - began)
        told |= {"read": read - began, "fit": ended - read, "best": best}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {**told, "gigabytes": peak}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="ml-1m")
    parser.add_argument("--ratings")
    parser.add_argument("--scale", default=".5,5")
    parser.add_argument("--method", default="bayes")
    parser.add_argument("--users", type=int, default=6_040)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--best", type=int, default=1)
    parser.add_argument("--engine", choices=["threads", "spark"])
    asked = parser.parse_args()
    if asked.engine:
        print(json.dumps(one(asked.engine, asked)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked.ratings is None:
            asked.ratings = str(Path(folder) / "ratings.parquet")
            write(asked.shape, Path(asked.ratings))
        found = {}
        for engine in ("threads", "spark"):
            command = [sys.executable, __file__, "--engine", engine]
            for name in ("ratings", "scale", "method", "users", "threads", "best"):
                command += [f"--{name}", str(getattr(asked, name))]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found[engine] = json.loads(done.stdout.splitlines()[-1])
            print(engine, {k: round(v, 2) for k, v in found[engine].items()})
        ratio = found["spark"]["best"] / found["threads"]["best"]
        print(f"spark takes {ratio:.2f} times as long, session start aside")


if __name__ == "__main__":
    main()
