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
from tacit.evaluation.reproduce.experiment import Experiment, Paper, Results, Row, Wanted
from tacit.evaluation.reproduce.run import Done, verdict_on

Record = dict[str, Any]
MADE = ("command", "version", "commit", "date")
"""What names a run."""


def read(file: Path, paper: Paper) -> Record:
    """The numbers of a run of this paper."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise DataError(
            f"{file} is not readable as the numbers of a reproduction: {fault}",
            remedy="name a numbers.json that `tacit reproduce` wrote",
        ) from None
    if not isinstance(found, dict) or found.get("paper") != paper.name:
        raise DataError(
            f"{file} holds no numbers of {paper.name}",
            remedy=f"name a numbers.json that `tacit reproduce {paper.name}` wrote",
        )
    return found


def judge_again(paper: Paper, records: Sequence[Record], figures: Sequence[str] = ()) -> list[Done]:
    """Every figure that some record holds; of a data set that several hold, the last one's
    cells."""
    found = (
        _merged(each, [_figure(record, each) for record in records])
        for each in paper.chosen(list(figures))
    )
    return [each for each in found if each is not None]


def runs_of(records: Sequence[Record]) -> list[dict[str, str]]:
    """The runs that numbers are from, each once."""
    found: list[dict[str, str]] = []
    for record in records:
        for run in record.get("runs") or [record]:
            named = {name: str(run[name]) for name in MADE}
            if named not in found:
                found.append(named)
    return found


def _figure(record: Record, experiment: Experiment) -> Record | None:
    named = experiment.figure
    return next((each for each in record["figures"] if each["figure"] == named), None)


def _merged(experiment: Experiment, told: Sequence[Record | None]) -> Done | None:
    found = [each for each in told if each is not None]
    if not found:
        return None
    rows: list[Row] = []
    seeds: dict[str, int] = {}
    for each in found:
        again = {cell["key"].get("data") for cell in each["cells"]}
        rows = [row for row in rows if row.key.get("data") not in again]
        rows += [Row(cell["key"], cell["values"]) for cell in each["cells"]]
        seeds |= each.get("seeds by data") or dict.fromkeys(each["data"], each["seeds"])
    data = tuple(each for each in experiment.data if each in seeds)
    data += tuple(each for each in seeds if each not in data)
    most = max(each["seeds"] for each in found)
    quick = any(each["quick"] for each in found)
    results = Results.of(rows, Wanted(data, most, quick))
    verdicts = tuple(
        (finding, verdict_on(finding, results, experiment)) for finding in experiment.findings
    )
    missing = tuple(each for each in experiment.data if each not in seeds)
    uneven = seeds if len(set(seeds.values())) > 1 else {}
    return Done(experiment, results, verdicts, missing, 0.0, uneven)
