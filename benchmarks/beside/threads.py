"""Two threads beside one, kernel by kernel, in one process: best of some turns that alternate.

python benchmarks/beside/threads.py DATA.npz OUT.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import ours

KERNELS = ("gram", "als", "implicit-als", "top-n", "knn", "ease")
TURNS = 3


def fit(name: str) -> Any:
    """A whole fit, without its rehearsal."""

    def job(data: ours.Data, threads: int) -> ours.Run:
        from tacit.fitting.run import trial
        from tacit.methods import find

        ratings = ours.as_ratings(data)
        method = find(name)(epsilon=1.0, threads=threads)
        return lambda: trial(method, ratings, users=480_000)

    return job


def main() -> None:
    """All of them."""
    from threadpoolctl import threadpool_limits

    with np.load(sys.argv[1]) as found:
        data = dict(found)
    jobs = {name: ours.JOBS[name] for name in KERNELS}
    jobs |= {"bias, all rounds": fit("bias"), "bayes, all rounds": fit("bayes")}
    told: dict[str, list[float]] = {}
    out = Path(sys.argv[2])
    for name, job in jobs.items():
        runs = {threads: job(data, threads) for threads in (1, 2)}
        times: dict[int, list[float]] = {1: [], 2: []}
        for run in runs.values():
            run()
        for _ in range(TURNS):
            for threads, run in runs.items():
                with threadpool_limits(1 if name != "ease" else threads):
                    start = time.perf_counter()
                    run()
                    times[threads].append(time.perf_counter() - start)
        told[name] = [round(min(times[threads]), 4) for threads in (1, 2)]
        print(name, told[name], flush=True)
        out.write_text(json.dumps(told))


if __name__ == "__main__":
    main()
