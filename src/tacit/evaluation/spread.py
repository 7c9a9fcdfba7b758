"""Person by person: the columns of the parquet file. Personal values: for the owner alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.evaluation.sweep import SweptCells

KEPT = ("rmse", "mae", "recall@10", "ndcg@10", "recall@20", "ndcg@20")
"""Metrics that are written for each person."""


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
