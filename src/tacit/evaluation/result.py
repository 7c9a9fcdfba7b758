"""What an evaluation gives back: a typed result that is a table, a picture, a page and files.
NOT PRIVATE: every form of it says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.atomic_write import open_atomic
from tacit.errors import SettingError
from tacit.evaluation.measured import STEPS
from tacit.evaluation.sweep import SweptCells
from tacit.evaluation.tables import EVERY, Line, line, twin_of
from tacit.exports import write_csv, write_parquet
from tacit.repr import shapes
from tacit.validation import Suggesting, by_name
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from tacit.evaluation.arms import Arm
    from tacit.evaluation.measured import Measured

NOTE = "NOT PRIVATE: for the owner only"
PAGES = (".html", ".htm")
"""How files end that a report is written to."""
HEAD = ("method", "unit", "calibration", "epsilon", "delta")
KEPT = ("rmse", "mae", "recall@10", "ndcg@10", "recall@20", "ndcg@20")
"""Metrics that are written for each person."""


@dataclass(frozen=True, eq=False)
class Evaluation(Suggesting):
    """Accuracy of methods against raw held-back ratings. NOT PRIVATE: for the owner only.

    `cells` has one line for each method, unit, calibration, epsilon and swept setting;
    `baselines` what anybody could say; `reference` the best non-private line that was run.
    """

    cells: Sequence[Line]
    baselines: Sequence[Line]
    reference: Line | None
    about: Mapping[str, Any]
    """Split, seeds, users, version."""
    swept: SweptCells
    left_out: Sequence[str] = ()
    """Combinations that a method does not have, in words."""

    __repr__ = shapes

    def __str__(self) -> str:
        """The table that a notebook shows, in plain characters."""
        from tacit.evaluation.report.story import plain_table

        return f"{NOTE}\n{plain_table(self)}"

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """All that the numbers depend on: a digest of the data too, which takes a moment."""
        return dict(self.about) | {"data_digest": self.swept.task.digest}

    def to_json(self) -> dict[str, Any]:
        """For another program: today's keys and what is told beside them."""
        return {
            "note": NOTE,
            **self.facts,
            "left_out": list(self.left_out),
            "cells": list(self.cells),
            "baselines": list(self.baselines),
            "reference": self.reference,
        }

    def frame(self) -> pl.DataFrame:
        """One row a cell or baseline; one column a metric, its spread and its interval, and
        what it is over the twin's."""
        import polars as pl

        rows = [_flat(cell) for cell in (*self.cells, *self.baselines)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def people(self) -> pl.DataFrame:
        """Person by person: personal values, for the owner alone."""
        import polars as pl

        return pl.DataFrame(person_rows(self.swept))

    def plot(self, metric: str | None = None) -> Figure:
        """Accuracy against epsilon, as a matplotlib figure."""
        from tacit.evaluation.report.charts import render
        from tacit.evaluation.report.pictures import curve

        return render(curve(self, metric or self.metric))

    @property
    def metric(self) -> str:
        """What a reader is told first: the error of ratings, or what lists find."""
        predicts_ratings = any(cell["rmse"] is not None for cell in self.cells)
        return "rmse" if predicts_ratings else "recall@20"

    def report(self, command: str = "") -> str:
        """A page that stands alone; `command` repeats the evaluation."""
        from tacit.evaluation.report.report import report

        return report(self, command)

    @by_name
    def write_csv(self, path: str | Path) -> None:
        """The frame as text."""
        with open_atomic(path, private=True) as file:
            write_csv(self.frame(), file)

    @by_name
    def write_people(self, path: str | Path) -> None:
        """The people as parquet, readable by its owner alone."""
        with open_atomic(path, private=True) as file:
            write_parquet(self.people(), file)

    @by_name
    def write_report(self, path: str | Path, command: str = "") -> None:
        """The report as one file, a page of HTML."""
        if asked_path("path", path).suffix.lower() not in PAGES:
            raise SettingError(
                f"{path} does not end in .html, and a report is a page",
                remedy="name it report.html; a browser prints it as a PDF",
            )
        _write(path, self.report(command).encode())

    def _repr_html_(self) -> str:
        from tacit.evaluation.report.story import small_table
        from tacit.page import escaped

        return f"<p><b>{escaped(NOTE)}</b></p>{small_table(self)}"


def conclude(
    swept: SweptCells,
    facts: Mapping[str, Any],
    references: Sequence[Arm] = (),
    left_out: Sequence[str] = (),
) -> Evaluation:
    """The result from all cells. `references` were run to be compared with and are no cells
    of the table."""
    runs = list(swept.arms())
    arms = [arm for arm, _ in runs]
    by_arm = {id(arm): measurements for arm, measurements in runs}
    only_beside = {id(arm) for arm in references}
    cells: list[Line] = []
    reference_lines: list[Line] = []
    for arm, measurements in runs:
        twin = twin_of(arm, arms)
        twin_runs: Sequence[Measured] | None = None
        if twin is not None:
            twin_runs = by_arm[id(twin)]
        row = line(_head(arm), measurements, twin_runs)
        (reference_lines if id(arm) in only_beside else cells).append(row)
    baselines = [line({"baseline": name}, measurements) for name, measurements in swept.baselines()]
    reference = _best([cell for cell in (*cells, *reference_lines) if _twin(cell)])
    extra_facts = {"error_at": [step / STEPS for step in range(STEPS + 1)]}
    return Evaluation(cells, baselines, reference, dict(facts) | extra_facts, swept, left_out)


def _twin(cell: Line) -> bool:
    return bool(cell["calibration"] == "none")


def _best(twins: Sequence[Line]) -> Line | None:
    """The most accurate of all twins that were run."""
    rated = [cell for cell in twins if cell["rmse"] is not None]
    if rated:
        return min(rated, key=lambda cell: float(cell["rmse"]))
    listed = [cell for cell in twins if cell["recall@20"] is not None]
    return max(listed, key=lambda cell: float(cell["recall@20"]), default=None)


def _head(arm: Arm) -> dict[str, Any]:
    return {
        "method": arm.method,
        "unit": arm.unit,
        "calibration": arm.calibration,
        "epsilon": arm.epsilon if arm.is_private else None,
        "delta": arm.delta if arm.is_private else None,
        "settings": arm.swept_settings,
    }


def _flat(cell: Line) -> dict[str, Any]:
    """One row of the frame."""
    row = {name: cell.get(name) for name in HEAD}
    row["method"] = cell.get("method") or cell["baseline"]
    row["calibration"] = cell.get("calibration") or "baseline"
    settings = cell.get("settings") or {}
    row |= {f"set_{name}": str(value) for name, value in settings.items()}
    row["runs"] = cell["runs"]
    for name in EVERY:
        for end in ("", "_sd", "_low", "_high"):
            row[name + end] = cell[name + end]
    for name in EVERY:
        over = cell.get("over_twin", {}).get(name, {})
        for end in ("mean", "low", "high"):
            row[f"{name}_over_twin_{end}"] = over.get(end)
    return row


def _write(path: str | Path, data: bytes) -> None:
    """Whole or not at all, and readable by its owner alone."""
    with open_atomic(path, private=True) as file:
        file.write(data)


def writable(path: str | Path | None, ending: str) -> None:
    """Refuse, before anything is computed, a file that could not be written afterwards."""
    if path is None:
        return
    target = Path(path)
    if target.suffix != ending:
        raise SettingError(f"{path} does not end in {ending}", remedy=f"name it …{ending}")
    if not target.absolute().parent.is_dir() or target.is_dir():
        raise SettingError(
            f"{path} cannot be written: there is no such folder", remedy="make the folder first"
        )


# Person by person: the columns of the parquet file. Personal values: for the owner alone.


def person_rows(swept: SweptCells) -> dict[str, list[Any]]:
    """One row for each person, arm and run."""
    out: dict[str, list[Any]] = {
        name: []
        for name in (
            "person",
            "method",
            "unit",
            "calibration",
            "epsilon",
            "settings",
            "run",
            "ratings_given",
            "ratings_asked",
            *KEPT,
        )
    }
    users = swept.task.ratings.users
    for arm, runs in swept.arms():
        for number, run in enumerate(runs):
            columns = _columns(run.arrays, run.sums)
            user_rows = columns.pop("row")
            count = len(user_rows)
            out["person"] += [users[int(row)] for row in user_rows]
            out["method"] += [arm.method] * count
            out["unit"] += [arm.unit] * count
            out["calibration"] += [arm.calibration] * count
            budget = arm.epsilon if arm.is_private else None
            out["epsilon"] += [budget] * count
            out["settings"] += [_format_settings(arm.swept_settings)] * count
            out["run"] += [number] * count
            for name, values in columns.items():
                out[name] += [None if np.isnan(x) else float(x) for x in values]
    return out


def _columns(arrays: Any, sums: Any) -> dict[str, Any]:
    """All columns over the people of one run who were asked or listed."""
    parts = [arrays[name] for name in ("row", "listed") if name in arrays]
    user_rows = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int32)
    empty = np.full(len(user_rows), np.nan)
    out = {"row": user_rows}
    for name, source, row in (("ratings_given", "given", "row"), ("ratings_asked", "asked", "row")):
        out[name] = empty.copy()
        if source in arrays:
            out[name][np.searchsorted(user_rows, arrays[row])] = arrays[source]
    for name in KEPT:
        out[name] = empty.copy()
        if name in sums:
            metric_sums = sums[name]
            value = metric_sums.total / np.maximum(metric_sums.count, 1e-12)
            value = np.sqrt(value) if metric_sums.root else value
            out[name][np.searchsorted(user_rows, metric_sums.row)] = value
    return out


def _format_settings(settings: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())
