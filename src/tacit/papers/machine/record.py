"""The raw numbers of a reproduction as JSON, with the command, version, commit and date that
made them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.ledger.software import software

if TYPE_CHECKING:
    from tacit.papers.machine.experiment import Paper
    from tacit.papers.machine.run import Done

NOTICE = "NOT PRIVATE: compared with raw held-back ratings, for the owner only"
DIGITS = 6
"""Of a number in a record: far below what seeds differ by."""


@cache
def made_by() -> dict[str, str]:
    """Version and, where Tacit runs from its repository, commit."""
    return {"version": software(), "commit": _commit()}


def _commit() -> str:
    """Of the source tree; `+` where it was changed since; empty for an installed package."""
    source_folder = Path(__file__).parents[2]
    commit = _git(source_folder, "rev-parse", "--short=10", "HEAD")
    if not commit:
        return ""
    changed = _git(source_folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return commit + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    try:
        process = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""


def record(
    paper: Paper,
    figures: Sequence[Done],
    command: str,
    date: str | None = None,
    runs: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Everything that a page or a table is made of. `runs` made the numbers where this
    command only judged them again."""
    return {
        "note": NOTICE,
        "paper": paper.name,
        "title": paper.title,
        "command": command,
        **made_by(),
        "date": date or today(),
        **({"runs": [dict(run) for run in runs]} if runs else {}),
        "readings": list(paper.readings),
        "figures": [_figure(figure) for figure in figures],
    }


def origin(run_record: Mapping[str, Any], mark: str = "") -> str:
    """Which command made the numbers, with which version, commit and date; and which judged
    them again, if one did."""
    this_run = _run(run_record, mark)
    if not run_record.get("runs"):
        return f"Made by {this_run}"
    runs = "; ".join(_run(run, mark) for run in run_record["runs"])
    return f"Numbers by {runs}. Drawn and judged again by {this_run}"


def _run(run: Mapping[str, Any], mark: str) -> str:
    commit = f" (commit {run['commit']})" if run["commit"] else ""
    return f"{mark}{run['command']}{mark}, tacit {run['version']}{commit}, {run['date']}"


def today() -> str:
    """The date of this run."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _figure(figure: Done) -> dict[str, Any]:
    experiment = figure.experiment
    cells = (*figure.results.rows, *figure.results.failed)
    return {
        "figure": experiment.figure,
        "title": experiment.title,
        "data": list(figure.results.asked.data),
        "missing": list(figure.missing),
        "split": experiment.split,
        "parameters": experiment.parameters,
        "seeds": len(figure.results.asked.splits),
        **({"seeds by data": dict(figure.seeds)} if figure.seeds else {}),
        "quick": figure.results.asked.quick,
        "seconds": round(sum(row.values["seconds"] for row in cells), 1),
        "cells": [{"key": row.key, "values": _short(row.values)} for row in cells],
        "verdicts": [
            {
                "finding": finding.name,
                "words": finding.words,
                "where": finding.where,
                **_short(asdict(verdict)),
            }
            for finding, verdict in figure.verdicts
        ],
    }


def _short(value: Any) -> Any:
    """Floats to a few digits, so that records are small and read well."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: _short(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_short(entry) for entry in value]
    return value


def text(run_record: dict[str, Any]) -> str:
    """As a file: one line a cell, so that two runs can be compared by lines."""
    head = {k: v for k, v in run_record.items() if k != "figures"}
    lines = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    figures = ",\n".join(_figure_text(figure) for figure in run_record["figures"])
    return f'{lines},\n "figures": [\n{figures}\n ]\n}}\n'


def _figure_text(figure: dict[str, Any]) -> str:
    head = {k: v for k, v in figure.items() if k != "cells"}
    lines = json.dumps(head, indent=3, ensure_ascii=False)[:-2]
    cells = ",\n".join("    " + json.dumps(cell, ensure_ascii=False) for cell in figure["cells"])
    return f'{lines},\n   "cells": [\n{cells}\n   ]\n  }}'
