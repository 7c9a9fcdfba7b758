"""Tacit and a peer side by side on the same data: both get ready, then take turns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from beside.install import Installed

HERE = Path(__file__).parent
TURNS = 3
"""Of each side; the best counts, because what slows a run down comes from outside."""


ALONE = ("sgd", "svdpp", "noise", "private-als", "fold-in", "one-bit")
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
    Job(
        "implicit-als",
        "implicit-als:implicit",
        "implicit ALS, an exact epoch of 50",
        "implicit",
    ),
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
    Job(
        "private-als",
        "private-als:frames",
        "private ALS, bounded sums of a round of 16",
        "DPALS in numpy",
    ),
    Job("fold-in", "fold-in:implicit", "load a model, a new list", "implicit"),
    Job("one-bit", "", "the local model, a round"),
)


class Side:
    """A worker process that runs when it is told."""

    def __init__(self, python: str, side: str, job: str, path: Path, n: int):
        words = [python, str(HERE / "worker.py"), side, job, str(path), str(n)]
        self.process = subprocess.Popen(
            words,
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
        """Seconds by the clock of one run."""
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
) -> Iterator[dict[str, Any]]:
    """One row for each job, peer and number of threads."""
    for job in TABLE:
        if only and job.ours not in only:
            continue
        for threads in counts[:1] if job.ours in ALONE else counts:
            yield _row(job, path, peers, threads, turns)


def _row(
    job: Job,
    path: Path,
    peers: dict[str, Installed],
    threads: int,
    turns: int,
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
                Side(sys.executable, "ours", job.ours, path, threads)
            )
        }
        if found is not None and found.python:
            row["peer"] = f"{job.peer} {found.version}"
            sides["theirs"] = open_.enter_context(
                Side(found.python, "theirs", job.theirs, path, threads)
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
        row["ratio"] = round(row["ours"] / row["theirs"], 3)
    return row
