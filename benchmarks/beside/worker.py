"""One side of a comparison in a process of its own: it gets ready, and runs when it is told.

    python worker.py ours|theirs JOB DATA.npz THREADS

Every line on its standard input is one run; it answers with JSON: seconds by the clock and of
processors. A job that knows better (an epoch is the difference of two fits) says its own seconds.
Peers are run by their own interpreter, so nothing here needs Tacit.
"""

from __future__ import annotations

import json
import os
import sys
import time

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "LK_NUM_THREADS",
)


def main() -> None:
    """Get ready, then run as often as asked."""
    side, job = sys.argv[1:3]
    path, threads = sys.argv[3:5]
    for name in THREADS:
        os.environ[name] = threads
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    answers = sys.stdout
    sys.stdout = sys.stderr  # peers print what they like
    try:
        import numpy as np

        jobs = __import__(side).JOBS
        with np.load(path) as found:
            data = dict(found)
        run = jobs[job](data, int(threads))
        run()  # compiled and warm
    except BaseException as error:  # noqa: BLE001
        told = f"{type(error).__name__}: {str(error)[:80]}"
        print(json.dumps({"failed": told}), file=answers, flush=True)
        return
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for _ in sys.stdin:
        wall = time.perf_counter()
        cpu = time.process_time()
        known = run()
        said = {"s": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        if os.environ.get("BESIDE_PROCESSOR"):
            said["s"] = said["cpu"]
        if type(known).__name__ == "Seconds":
            said = {"s": known, "cpu": known}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main()
