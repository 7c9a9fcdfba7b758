"""Tacit and a peer side by side on the same data: both get ready, then take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from beside.install import Installed, version_of

HERE = Path(__file__).parent
TURNS = 3
"""Of each side; the best counts, because what slows a run down comes from outside."""


ALONE = ("sgd", "svdpp", "noise", "fold-in", "one-bit")
"""Jobs that one or both sides do on one thread."""


class Job(NamedTuple):
    """One thing that both do."""

    ours: str
    theirs: str
    """As `theirs.JOBS` names it; empty where there is no peer."""
    words: str
    peer: str = ""
    wanted: float = 0.0
    """At most so much of the peer's seconds, where that is judged."""

    @property
    def environment(self) -> str:
        """The peer's."""
        return self.theirs.partition(":")[2]


TABLE = (
    Job("gram", "gram:frames", "item-item sums", "scipy"),
    Job("gram", "gram-blas:frames", "item-item sums", "dense BLAS"),
    Job("als", "als:lenskit", "explicit ALS, an epoch of 50", "LensKit", 0.4),
    Job("implicit-als", "implicit-als:implicit", "implicit ALS, an exact epoch of 50", "implicit"),
    Job("top-n", "top-n:implicit", "20 best for all", "implicit", 0.2),
    Job("sgd", "sgd:cornac", "gradient descent, an epoch of 50", "cornac", 0.6),
    Job("svdpp", "svdpp:surprise", "SVD++, an epoch of 20", "Surprise"),
    Job("knn", "knn:implicit", "20 nearest items of each", "implicit"),
    Job("knn", "knn:lenskit", "20 nearest items of each", "LensKit"),
    Job("ease", "ease:frames", "EASE, fit", "numpy"),
    Job("ease", "ease:rectools", "EASE, fit", "RecTools"),
    Job("noise", "noise:opendp", "a million exact Gaussians", "OpenDP"),
    Job("noise", "noise:tumult", "a million exact Gaussians", "Tumult Core"),
    Job("read", "read-polars:frames", "a csv in order by person", "polars"),
    Job("read", "read-pandas:frames", "a csv in order by person", "pandas"),
    Job("fold-in", "fold-in:implicit", "load a model, a new list", "implicit"),
    Job("one-bit", "", "the local model, a round"),
)


class Side:
    """A worker process that runs when it is told."""

    def __init__(
        self, python: str, side: str, job: str, path: Path, n: int, processor: bool = False
    ):
        words = [python, str(HERE / "worker.py"), side, job, str(path), str(n)]
        env = dict(os.environ)
        if processor:
            env["BESIDE_PROCESSOR"] = "1"
        self.process = subprocess.Popen(
            words,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        said = self._answer()
        self.failed = str(said.get("failed", ""))

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": "it ended"}

    def turn(self) -> float:
        """Seconds of one run: by the clock, or of processors."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self._answer().get("s", float("nan")))

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def compared(
    path: Path,
    peers: dict[str, Installed],
    counts: list[int],
    only: list[str],
    turns: int = TURNS,
    busy: bool = False,
) -> Iterator[dict[str, Any]]:
    """One row for each job, peer and number of threads. On a busy machine one thread is measured
    in processor seconds, because the clock tells what others do."""
    for job in TABLE:
        if only and job.ours not in only:
            continue
        for threads in counts[:1] if job.ours in ALONE else counts:
            row = _row(job, path, peers, threads, turns, busy and threads == 1)
            yield {**row, "busy": busy}


def _row(
    job: Job, path: Path, peers: dict[str, Installed], threads: int, turns: int, processor: bool
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "job": job.words,
        "threads": threads,
        "ours": None,
        "peer": job.peer,
        "theirs": None,
        "ratio": None,
        "wanted": job.wanted or None,
        "said": "",
    }
    found = peers.get(job.environment)
    with ExitStack() as open_:
        sides = {
            "ours": open_.enter_context(
                Side(sys.executable, "ours", job.ours, path, threads, processor)
            )
        }
        if found is not None and found.python:
            version = found.version
            if job.environment == "frames":
                package = job.peer.split()[-1].replace("BLAS", "numpy")
                version = version_of(found.python, package)
            row["peer"] = f"{job.peer} {version}"
            sides["theirs"] = open_.enter_context(
                Side(found.python, "theirs", job.theirs, path, threads, processor)
            )
        elif job.theirs:
            row["said"] = found.missing if found else "not installed"
        times: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(turns):
            for name, side in sides.items():
                if not side.failed:
                    times[name].append(side.turn())
        for name, side in sides.items():
            if side.failed:
                row["said"] = f"{name}: {side.failed}"
            elif times[name]:
                row[name] = round(min(times[name]), 4)
    if row["ours"] and row["theirs"]:
        row["ratio"] = float(f"{row['ours'] / row['theirs']:.3g}")
    return row
