"""Two threads beside one, kernel by kernel, in one process: best of some turns that alternate.

python benchmarks/beside/threads.py DATA.npz OUT.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import ours

KERNELS = ("gram", "als", "implicit-als", "top-n")
TURNS = 5


def user_factors(data: ours.Data, threads: int) -> ours.Run:
    """The solves of a sweep of `bayes`: 13 loadings, 10 axes."""
    from tacit.kernels.left_out import left_out_user_factors

    items = int(data["items"])
    rng = np.random.default_rng(0)
    item_factors = 0.2 * rng.standard_normal((items, 13))
    axes = np.linalg.qr(rng.standard_normal((13, 10)))[0].copy()
    rest = data["value"] - 3.5
    error, out = np.empty(len(rest)), np.empty((len(rest), 11))
    ptr, precision = data["ptr"], np.ones(items)

    def work(a: int, b: int) -> None:
        cells = slice(int(ptr[a]), int(ptr[b]))
        left_out_user_factors(
            ptr[a : b + 1] - ptr[a],
            data["item"][cells],
            rest[cells],
            item_factors,
            precision,
            axes,
            error[cells],
            out[cells],
            1,
        )

    return lambda: ours.shared_out(len(ptr) - 1, threads, work)


def bounded(data: ours.Data, threads: int) -> ours.Run:
    """Rows of 11 columns clipped, put on the grid and added up, each thread its own sum."""
    from tacit.kernels.rows import add_rows, grid_squared

    ptr = data["ptr"]
    rows = np.random.default_rng(0).standard_normal((len(data["item"]), 11))
    out = np.empty(rows.shape, np.int64)

    def work(a: int, b: int) -> None:
        cells = slice(int(ptr[a]), int(ptr[b]))
        sums = np.zeros((int(data["items"]), 11), np.int64)
        grid_squared(ptr[a : b + 1] - ptr[a], rows[cells], 1.0, 65536, out[cells])
        add_rows(data["item"][cells], out[cells], sums)

    return lambda: ours.shared_out(len(ptr) - 1, threads, work)


def main() -> None:
    """All of them."""
    from threadpoolctl import threadpool_limits

    with np.load(sys.argv[1]) as found:
        data = dict(found)
    jobs = {name: ours.JOBS[name] for name in KERNELS}
    jobs |= {"left-out tastes": user_factors, "bounded sums": bounded}
    told: dict[str, list[float]] = {}
    out = Path(sys.argv[2])
    for name, job in jobs.items():
        runs = {threads: job(data, threads) for threads in (1, 2)}
        times: dict[int, list[float]] = {1: [], 2: []}
        for run in runs.values():
            run()
        for _ in range(TURNS):
            for threads, run in runs.items():
                with threadpool_limits(1):
                    start = time.perf_counter()
                    run()
                    times[threads].append(time.perf_counter() - start)
        told[name] = [round(min(times[threads]), 4) for threads in (1, 2)]
        print(name, told[name], flush=True)
        out.write_text(json.dumps(told))


if __name__ == "__main__":
    main()
