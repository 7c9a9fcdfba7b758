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
            who = columns.pop("row")
            many = len(who)
            out["person"] += [users[int(row)] for row in who]
            out["method"] += [arm.method] * many
            out["unit"] += [arm.unit] * many
            out["calibration"] += [arm.calibration] * many
            budget = arm.epsilon if arm.is_private else None
            out["epsilon"] += [budget] * many
            out["settings"] += [_told(arm.shown)] * many
            out["run"] += [number] * many
            for name, values in columns.items():
                out[name] += [None if np.isnan(x) else float(x) for x in values]
    return out


def _columns(arrays: Any, sums: Any) -> dict[str, Any]:
    """All columns over the people of one run who were asked or listed."""
    parts = [arrays[name] for name in ("row", "listed") if name in arrays]
    who = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int32)
    empty = np.full(len(who), np.nan)
    out = {"row": who}
    for name, source, row in (("ratings_given", "given", "row"), ("ratings_asked", "asked", "row")):
        out[name] = empty.copy()
        if source in arrays:
            out[name][np.searchsorted(who, arrays[row])] = arrays[source]
    for name in KEPT:
        out[name] = empty.copy()
        if name in sums:
            found = sums[name]
            value = found.total / np.maximum(found.count, 1e-12)
            value = np.sqrt(value) if found.root else value
            out[name][np.searchsorted(who, found.row)] = value
    return out


def _told(settings: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items())
