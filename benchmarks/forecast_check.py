"""Says how well forecasts keep their word.

    python benchmarks/forecast_check.py check RUNS             every set left out in turn
    python benchmarks/forecast_check.py choices RUNS           the same for what `choose` names
    python benchmarks/forecast_check.py tables RUNS OUT.json   both of RMSE, for
                                                               docs/results/forecast.json
    python benchmarks/forecast_check.py lists RUNS OUT.json    both of lists

RUNS is the folder of `benchmarks/forecast.py`. Everything is fitted again without the set that
is left out, with all parts of it; the six invented shapes are never fitted to.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from forecast import DELTA, EPSILONS
from forecast_fit import KINDS, MUS, fitted_to, kinds, load, loud_of, names, told_of

from tacit.evaluation import cost
from tacit.evaluation.choose import expected, solve
from tacit.evaluation.cost import as_read
from tacit.evaluation.forecast import forecast
from tacit.evaluation.forecast_model import LISTS, Kind, TabulatedCost, points_of, shape_of

JUDGED = (0.5, 20.0)
PUBLIC = ("ml-100k", "ml-1m", "netflix-100")
WORDS = {"twin": "`--twin-reaches`", "spread": "`--spread`", "plain": "nothing but the shape"}
LIST_WORDS = {
    "twin": "`--twin-reaches`",
    "share": "`--twin-reaches` and `--popular-share`",
    "plain": "nothing but the shape",
}
"""Ways to ask `choose`, as pages name them."""
KNOWN_BY = {"cost": "from the shape alone", "known": "with `--popular-share`"}
STORED = ("of", "name", "features", "epsilon", "measured", "low", "high")


def check(folder: Path, only: str | None, chosen: list[str]) -> list[dict[str, Any]]:
    """Coverage and width on every set that is left out, of one kind or all."""
    runs = load(folder)
    rows: list[dict[str, Any]] = []
    for name in chosen:
        mine = [run for run in runs if run["of"] == name]
        for kind in kinds(name):
            if only in (None, kind):
                rows += _left(name, kind, mine)
    return rows


def _left(name: str, kind: Kind, mine: list[dict[str, Any]]) -> list[dict[str, Any]]:
    method, unit = name.split()
    fitted = fitted_to(name, mine)
    rows: list[dict[str, Any]] = []
    all_of_them = loud_of(name, kind, fitted)
    whole = told_of(name, kind, fitted, all_of_them)
    for left in (*PUBLIC, "six"):
        asked = [run for run in mine if run["set"].startswith(left)]
        if not asked:
            continue
        model = whole
        if left != "six":
            others = [run for run in fitted if run["set"] != left]
            start = whole.surface.scales
            loud = loud_of(name, kind, others, all_of_them)
            model = told_of(name, kind, others, loud, start)
        points = points_of(method, unit, kind, asked, MUS)
        for place, value in enumerate(points.values):
            run = asked[points.groups[place]]
            mu = float(points.budgets[place])
            epsilon = EPSILONS[MUS.index(mu)]
            if not JUDGED[0] <= epsilon <= JUDGED[1]:
                continue
            ends = model.ends(points.shapes[place], mu)
            found = as_read(method, kind, ends)
            level = run["own_mean"] if kind == "error" else 1.0
            got = _read(method, kind, value)
            rows.append(
                {
                    "of": name,
                    "kind": kind,
                    "left": left,
                    "whole": run["name"] == left or left == "six",
                    "name": run["name"],
                    "features": run["features"],
                    "epsilon": epsilon,
                    "measured": round(level * got, 4),
                    "low": round(level * found.low, 4),
                    "high": round(level * found.high, 4),
                    "inside": got in found,
                    "width": level * found.width,
                }
            )
    return rows


def lists(folder: Path, out: Path, commit: str) -> None:
    """The part of docs/results/forecast.json on lists: both ways to ask, and what `choose`
    names; all else stays."""
    chosen = [name for name in names() if name.split()[0] in LISTS]
    told = json.loads(out.read_text())
    rows = []
    with ProcessPoolExecutor(2) as pool:
        asked = [
            pool.submit(check, folder, kind, [name])
            for kind in ("cost", "known")
            for name in chosen
        ]
        for one in asked:
            rows += one.result()
    _tell(rows)
    named = choices(folder, chosen)
    tables = [
        _made("Lists, sets left out", "lists", commit)
        | {"columns": ["", "cells", *KNOWN_BY.values()]}
        | {"rows": list(_lists_by_set(rows))},
        _made("Lists, what `choose` names", "choices", commit)
        | {"columns": ["asked with", "cells", "inside"]}
        | {"rows": list(_asked(named, LIST_WORDS))},
    ]
    kept = [one for one in told["tables"] if "Lists" not in one["title"]]
    told["tables"] = [*kept, *tables]
    told["lists"] = _made("Lists, sets left out", "lists", commit) | {
        "cells": [{k: row[k] for k in ("kind", *STORED)} for row in rows if row["whole"]]
    }
    out.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def _lists_by_set(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    """Both ways to ask beside each other."""
    whole = [row for row in rows if row["whole"]]
    parts = [row for row in rows if not row["whole"]]
    lines = {
        f"unit {of.split()[1]}, {left}": [
            row for row in whole if (row["of"], row["left"]) == (of, left)
        ]
        for of in dict.fromkeys(row["of"] for row in whole)
        for left in (*PUBLIC, "six")
    }
    lines |= {"together": whole, "parts of public sets": parts}
    for label, mine in lines.items():
        by_kind = [[row for row in mine if row["kind"] == kind] for kind in KNOWN_BY]
        shares = [_share(found) for found in by_kind]
        yield [label, str(len(by_kind[0])), *shares]


def choices(folder: Path, chosen: list[str]) -> dict[str, list[bool]]:
    """What is measured at the epsilons that `choose` names, for sets left out: inside what it
    printed? Between the epsilons that were run the measured error is interpolated."""
    runs = load(folder)
    inside: dict[str, list[bool]] = {}
    for name in chosen:
        method, unit = name.split()
        mine = [run for run in runs if run["of"] == name]
        fitted = fitted_to(name, mine)
        kept = kinds(name)
        whole = {kind: told_of(name, kind, fitted, loud_of(name, kind, fitted)) for kind in kept}
        for run in mine:
            if run["name"] not in PUBLIC and run["set"][:3] != "six":
                continue
            models = whole
            if run["name"] in PUBLIC:
                others = [one for one in fitted if one["set"] != run["set"]]
                models = {
                    kind: told_of(
                        name, kind, others, loud_of(name, kind, others), one.surface.scales
                    )
                    for kind, one in whole.items()
                }
            for how, got in _named(method, unit, run, models):
                inside.setdefault(f"{name:22s} {how}", []).append(got)
                inside.setdefault(f"{'ALL':22s} {how}", []).append(got)
    return inside


def tables(folder: Path, out: Path, commit: str, chosen: list[str]) -> None:
    """The numbers of docs/results/forecast.md on RMSE; those on lists stay."""
    chosen = [name for name in chosen if name.split()[0] not in LISTS]
    stored = json.loads(out.read_text()) if out.exists() else {"tables": []}
    of_lists = [one for one in stored["tables"] if "Lists" in one["title"]]
    rows = check(folder, "cost", chosen)
    judged = [row for row in rows if row["whole"]]
    told = {
        "note": "NOT PRIVATE: runs on public research data and invented people",
        "tables": [
            _made("Sets left out", "check", commit)
            | {"columns": ["", *PUBLIC, "six", "wanted"]}
            | {"rows": [_by_set(name, judged) for name in chosen]},
            _made("All together", "check", commit)
            | {"columns": ["", "cells", "inside", "half of widths at most"]}
            | {"rows": list(_together(rows))},
            _made("What `choose` names", "choices", commit)
            | {"columns": ["asked with", "cells", "inside"]}
            | {"rows": list(_asked(choices(folder, chosen), WORDS))},
            *of_lists,
        ],
        "cells": [{k: row[k] for k in STORED} for row in judged],
        "lists": stored.get("lists"),
    }
    out.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def _made(title: str, verb: str, commit: str) -> dict[str, Any]:
    return {
        "title": title,
        "command": f"python benchmarks/forecast_check.py {verb} RUNS",
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
    }


def _by_set(name: str, rows: list[dict[str, Any]]) -> list[str]:
    cells = []
    for left in (*PUBLIC, "six"):
        mine = [r for r in rows if r["of"] == name and r["left"] == left]
        cells.append(_share(mine))
    return [f"`{name.split()[0]}` {name.split()[1]}", *cells, ".85 (.02)"]


def _share(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "–"
    inside = np.mean([row["inside"] for row in rows])
    width = np.median([row["width"] for row in rows])
    return f"{_bare(inside, 2)} ({_bare(width, 3)})"


def _bare(value: Any, digits: int) -> str:
    """Without the zero before the point."""
    return f"{float(value):.{digits}f}".removeprefix("0")


def _together(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    for whole, words in ((True, "whole sets"), (False, "and parts")):
        mine = [row for row in rows if row["whole"] >= whole]
        inside = np.mean([row["inside"] for row in mine])
        width = np.median([row["width"] for row in mine])
        shown = [str(len(mine)), _bare(inside, 3), _bare(width, 4)]
        yield [f"RMSE, {words}", *shown]


def _asked(inside: dict[str, list[bool]], words: dict[str, str]) -> Iterator[list[str]]:
    for how, shown in words.items():
        found = inside[f"{'ALL':22s} {how}"]
        yield [shown, str(len(found)), _bare(np.mean(found), 3)]


def _named(
    method: str, unit: str, run: dict[str, Any], models: dict[Any, TabulatedCost]
) -> Iterator[tuple[str, bool]]:
    """For goals that are within reach: every candidate, inside or not."""
    cost._cost_model = lambda method, unit, kind: models[kind]  # type: ignore[assignment]
    measured = {
        log(epsilon): value
        for epsilon, value in zip(EPSILONS, run["measured"], strict=True)
        if value is not None
    }
    for how in LIST_WORDS if method in LISTS else WORDS:
        asked = shape_of(method, unit, run)
        if how != "share":
            asked = replace(asked, floor=None)
        spread = run["own_mean"] if how == "spread" else None
        made = forecast(asked, delta=DELTA, per_user=run["each"], spread=spread)
        twin = run["twin"] if how in ("twin", "share") else None
        for epsilon in (1.0, 4.0):
            goal = expected(made, made.at(epsilon), twin).middle
            for one in solve(made, goal, twin=twin).candidates:
                at = log(one.epsilon)
                if at < min(measured):
                    continue  # nothing was run there
                got = np.interp(at, list(measured), list(measured.values()))
                yield how, float(got) in one.expected


def _read(method: str, kind: Kind, value: float) -> float:
    """A measured value as people read it."""
    return as_read(method, kind, np.full(3, value)).middle


def _tell(rows: list[dict[str, Any]]) -> None:
    for kind in KINDS:
        print(f"== {kind}: cells, share inside, half of widths at most")
        for name in names():
            for left in (*PUBLIC, "six"):
                for whole in (True, False):
                    found = [
                        row
                        for row in rows
                        if row["of"] == name
                        and row["kind"] == kind
                        and row["left"] == left
                        and row["whole"] == whole
                    ]
                    _line(f"{name:22s} {left:12s} {'whole' if whole else 'parts'}", found)
        for whole in (True, False):
            for lists in (False, True):
                found = [
                    row
                    for row in rows
                    if row["kind"] == kind
                    and row["whole"] >= whole
                    and (row["of"].split()[0] in LISTS) == lists
                ]
                _line(f"ALL lists={lists} whole={whole}", found)


def _line(label: str, found: list[dict[str, Any]]) -> None:
    if found:
        inside = np.mean([row["inside"] for row in found])
        width = np.median([row["width"] for row in found])
        print(f"{label} {len(found):4d} {inside:.3f} {width:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["check", "choices", "tables", "lists"])
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--kind", choices=KINDS, help="of a check")
    parser.add_argument("--only", default=",".join(names()))
    parser.add_argument("--commit", default="")
    args = parser.parse_args()
    chosen = args.only.split(",")
    if args.verb == "check":
        _tell(check(args.runs, args.kind, chosen))
    elif args.verb == "lists":
        lists(args.runs, args.out, args.commit)
    elif args.verb == "tables":
        tables(args.runs, args.out, args.commit, chosen)
    else:
        for label, found in sorted(choices(args.runs, chosen).items()):
            print(f"{label:40s} {len(found):4d} {np.mean(found):.3f}")


if __name__ == "__main__":
    main()
