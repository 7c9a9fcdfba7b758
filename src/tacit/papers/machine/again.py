"""Judge and draw finished numbers again: a record holds every cell, so a verdict whose words
were repaired, or runs of several data sets, need nothing run twice.

Where a record was made by another version, its numbers are still those of that version: the
page names the runs that they are from beside the version that judged them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.papers.machine.experiment import Experiment, Paper, Results, Row, Wanted
from tacit.papers.machine.run import Done, verdict_on

Record = dict[str, Any]
MADE = ("command", "version", "commit", "date")
"""What names a run."""


def read(file: Path, paper: Paper) -> Record:
    """The numbers of a run of this paper."""
    try:
        run_record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise DataError(
            f"{file} is not readable as the numbers of a reproduction: {fault}",
            remedy="name a numbers.json that `tacit reproduce` wrote",
        ) from None
    if not isinstance(run_record, dict) or run_record.get("paper") != paper.name:
        raise DataError(
            f"{file} holds no numbers of {paper.name}",
            remedy=f"name a numbers.json that `tacit reproduce {paper.name}` wrote",
        )
    return run_record


def judge_again(paper: Paper, records: Sequence[Record], figures: Sequence[str] = ()) -> list[Done]:
    """Every figure that some record holds; of a data set that several hold, the last one's
    cells."""
    merged = (
        _merged(figure, [_figure(record, figure) for record in records])
        for figure in paper.select_experiments(list(figures))
    )
    return [figure for figure in merged if figure is not None]


def runs_of(records: Sequence[Record]) -> list[dict[str, str]]:
    """The runs that numbers are from, each once."""
    runs: list[dict[str, str]] = []
    for record in records:
        for run in record.get("runs") or [record]:
            named = {name: str(run[name]) for name in MADE}
            if named not in runs:
                runs.append(named)
    return runs


def _figure(record: Record, experiment: Experiment) -> Record | None:
    named = experiment.figure
    return next((figure for figure in record["figures"] if figure["figure"] == named), None)


def _merged(experiment: Experiment, candidates: Sequence[Record | None]) -> Done | None:
    figures = [figure for figure in candidates if figure is not None]
    if not figures:
        return None
    rows: list[Row] = []
    seeds: dict[str, int] = {}
    for figure in figures:
        replaced = {cell["key"].get("data") for cell in figure["cells"]}
        rows = [row for row in rows if row.key.get("data") not in replaced]
        rows += [Row(cell["key"], cell["values"]) for cell in figure["cells"]]
        seeds |= figure.get("seeds by data") or dict.fromkeys(figure["data"], figure["seeds"])
    data = tuple(figure for figure in experiment.data if figure in seeds)
    data += tuple(figure for figure in seeds if figure not in data)
    seed_count = max(figure["seeds"] for figure in figures)
    quick = any(figure["quick"] for figure in figures)
    results = Results.of(rows, Wanted(data, seed_count, quick))
    verdicts = tuple(
        (finding, verdict_on(finding, results, experiment)) for finding in experiment.findings
    )
    missing = tuple(figure for figure in experiment.data if figure not in seeds)
    uneven = seeds if len(set(seeds.values())) > 1 else {}
    return Done(experiment, results, verdicts, missing, 0.0, uneven)
