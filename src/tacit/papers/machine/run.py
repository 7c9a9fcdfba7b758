"""Run a paper's experiments: every cell once, in parallel, and none again after a kill.

A cell's key holds all that its numbers depend on: paper and figure, its parameters, the
digest of its data set, the version of Tacit, and the source of what computes it: a cell is
never taken from other code. What draws and judges may change without running anything again.
A cell that fails costs its cell: the run goes on, and the next one tries it again.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import tacit
from tacit.errors import TacitError
from tacit.evaluation.cells import run_cells
from tacit.kernels.pools import one_blas_thread
from tacit.ledger.software import software
from tacit.papers.machine.experiment import (
    FAILED,
    Experiment,
    Finding,
    Key,
    Paper,
    Results,
    Row,
    Values,
    Verdict,
    Wanted,
)
from tacit.papers.machine.sources import SAMPLE, Sources, where_to_put
from tacit.redaction import one_line

Progress = Callable[[int, int, str], None]
CHUNK = 1 << 20
COMPUTING = (
    "bound",
    "data",
    "engine",
    "federation",
    "fitting",
    "kernels",
    "methods",
    "model",
    "noise",
    "rounds",
)
"""Rooms whose code the numbers of a cell come from."""


@dataclass(frozen=True)
class Done:
    """One experiment with its numbers and what they say."""

    experiment: Experiment
    results: Results
    verdicts: tuple[tuple[Finding, Verdict], ...]
    missing: tuple[str, ...]
    """Data sets that it also wants and that are not there."""
    seconds: float
    seeds: Mapping[str, int] = field(default_factory=dict)
    """Of each data set, where they were run with different numbers of seeds."""


@dataclass(frozen=True)
class Bench:
    """What all cells of an experiment share; sent to every process once."""

    sources: Sources
    work: Callable[[Sources, Key], Values]


def run_paper(
    paper: Paper,
    sources: Sources,
    *,
    figures: Iterable[str] = (),
    seeds: int = 3,
    quick: bool = False,
    folder: Path | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Done]:
    """All experiments of the named figures (of all, unless some are named). Finished cells
    are kept in `folder` and not run again."""
    marks = Marks(sources)
    return [
        _run(paper, experiment, marks, seeds, quick, folder, processes, progress)
        for experiment in paper.select_experiments(list(figures))
    ]


def _run(
    paper: Paper,
    experiment: Experiment,
    marks: Marks,
    seeds: int,
    quick: bool,
    folder: Path | None,
    processes: int,
    progress: Progress | None,
) -> Done:
    sources = marks.sources
    available = () if experiment.invented else sources.available(experiment.data)
    missing = () if experiment.invented else _missing(experiment, sources)
    request = Wanted(available, seeds, quick)
    run = available or experiment.invented
    keys = [dict(key) for key in experiment.keys(request)] if run else []
    identity = {
        "paper": paper.name,
        "figure": experiment.cells or experiment.figure,
        "version": software(),
        "source": source_of(experiment.work),
    }
    began = monotonic()

    def report_progress(finished: int, total: int, seconds_left: float | None) -> None:
        if progress is not None:
            remaining = "" if seconds_left is None else f", {seconds_left:.0f} s left"
            progress(finished, total, f"figure {experiment.figure}{remaining}")

    cell_values = run_cells(
        [{**identity, "digest": marks.of(key), "cell": key} for key in keys],
        one_cell,
        Bench(sources, experiment.work),
        folder=folder,
        processes=processes,
        progress=report_progress,
        finished=lambda answer: FAILED not in answer,
    )
    results = Results.of(map(Row, keys, cell_values), request)
    verdicts = tuple(
        (finding, verdict_on(finding, results, experiment)) for finding in experiment.findings
    )
    return Done(experiment, results, verdicts, missing, monotonic() - began)


def one_cell(bench: Bench, key: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of one cell, or why there are none, and how long it took."""
    began = monotonic()
    cell = key["cell"]
    # Data that cannot be read is no failure of a cell: it ends the run.
    if "data" in cell:
        bench.sources.ratings(cell["data"])
    try:
        with one_blas_thread():  # processes share the cores already
            values = bench.work(bench.sources, cell)
    except TacitError as fault:
        values = {FAILED: fault.message}
    except Exception as fault:  # noqa: BLE001 - whatever it is, the other cells are worth having
        values = {FAILED: one_line(f"{type(fault).__name__}: {fault}")}
    return {**values, "seconds": round(monotonic() - began, 3)}


def verdict_on(finding: Finding, results: Results, experiment: Experiment) -> Verdict:
    """Data that is not there is named with the place where it belongs."""
    if results:
        return finding.verdict(results)
    if results.failed:
        return Verdict("not run", "; ".join(results.failures()))
    return Verdict("not run", f"needs {where_to_put(experiment.data)} below the folder of --data")


def _missing(experiment: Experiment, sources: Sources) -> tuple[str, ...]:
    available = sources.available(experiment.data)
    return tuple(name for name in experiment.data if name not in available)


class Marks:
    """A digest of each data set: cells of other ratings are other cells."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._known: dict[str, str] = {}

    def of(self, key: Key) -> str:
        """Of the data set that the key names; empty where it names none."""
        name = key.get("data")
        if name is None:
            return ""
        if name == SAMPLE:
            return "{} people, {} ratings".format(*self.sources.sample)
        if name not in self._known:
            self._known[name] = digest(self.sources.folders[name])
        return self._known[name]


def digest(folder: Path) -> str:
    """Of the names and bytes of all files below a folder."""
    hasher = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        hasher.update(str(file.relative_to(folder)).encode() + b"\0")
        with file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                hasher.update(chunk)
    return hasher.hexdigest()[:16]


def source_of(work: Callable[[Sources, Key], Values]) -> str:
    """Of the code that computes: the rooms, and the module of this function."""
    module_path = Path(inspect.getfile(work))
    hasher = hashlib.sha256(module_path.read_bytes())
    hasher.update(_rooms().encode())
    return hasher.hexdigest()[:16]


@cache
def _rooms() -> str:
    root = Path(tacit.__file__).parent
    hasher = hashlib.sha256()
    for room in COMPUTING:
        for file in sorted((root / room).rglob("*.py")):
            hasher.update(file.relative_to(root).as_posix().encode() + b"\0")
            hasher.update(file.read_bytes())
    return hasher.hexdigest()
