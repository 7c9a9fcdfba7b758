"""Fits the model of forecasts to kept runs, and says how well it keeps its word.

    python benchmarks/forecast_fit.py fit RUNS OUT.json      the runs and the fitted scales
    python benchmarks/forecast_fit.py check RUNS             every set left out in turn
    python benchmarks/forecast_fit.py choices RUNS           the same for what `choose` names

RUNS is the folder of `benchmarks/forecast.py`. `check` fits scales and widening again without
the set that is left out, with all parts of it; the six invented shapes are never fitted to.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from forecast import CODE, DELTA, EPSILONS, LIKE_BAYES, TWIN_CODE, UNITS
from scipy.optimize import minimize

from tacit.evaluation import cost
from tacit.evaluation.choose import expected, solve
from tacit.evaluation.cost import as_read
from tacit.evaluation.excess import Loud
from tacit.evaluation.forecast import forecast
from tacit.evaluation.kriging import Scales, fit_scales
from tacit.evaluation.told import (
    LISTS,
    Kind,
    Law,
    ToldCost,
    closed,
    points_of,
    shape_of,
    told,
)
from tacit.ledger.account.calibrate import gaussian_mu

MUS = [gaussian_mu(epsilon, DELTA) for epsilon in EPSILONS]
KINDS: tuple[Kind, ...] = ("cost", "error", "plain")
JUDGED = (0.5, 20.0)
EARLIER = 2
"""The code of twins of `bayes`, `als` and `covariance-svd` that may stand in."""
ROBUST = 0.3
"""About how far the closed form is off: what is farther counts less than its square."""
PUBLIC = ("ml-100k", "ml-1m", "netflix-100")
DROPPED = ("seconds", "ratings", "name")
"""Not stored."""


def load(folder: Path) -> list[dict[str, Any]]:
    """Private cells beside their twins."""
    private: dict[Any, Any] = {}
    twins: dict[Any, Any] = {}
    earlier: dict[Any, Any] = {}
    for path in sorted(folder.glob("*.json")):
        kept = json.loads(path.read_text())
        key = kept["key"]
        method = key["method"]
        name = key["population"]["name"]
        found = (name, method, key["unit"], key["features"])
        if key["epsilons"] is None:
            if key["code"] == TWIN_CODE[method]:
                twins[found] = kept["answer"]
            elif method == "ease" or key["code"] == EARLIER:
                earlier[found] = kept["answer"]
        elif key["code"] == CODE[method]:
            private[found] = (key, kept["answer"])
    runs = []
    for found, (key, answer) in sorted(private.items(), key=lambda one: one[0]):
        place, epsilons = key["population"]["set"], key["epsilons"]
        name, method, unit, features = found
        beside = (name, method, "user", features)
        if method in LIKE_BAYES:
            beside = (name, "bayes", "user", False)
            if beside not in twins and beside not in earlier:
                beside = (name, "als", "user", False)
        if answer["measured"] is None:
            continue
        twin = _twin(beside, twins, earlier, answer["measured"])
        if twin is None:
            continue
        each = answer["ratings"] / answer["people"]
        runs.append(
            {
                "of": f"{method} {unit}",
                "name": name,
                "set": place,
                "people": answer["people"],
                "items": answer["items"],
                "each": round(answer.get("liked", each), 2),
                "features": features,
                "twin": round(twin, 5),
                "own_mean": round(answer.get("own_mean", 0.0), 5),
                "measured": _spread_out(epsilons, answer["measured"]),
                "seconds": answer["seconds"],
                "ratings": answer["ratings"],
            }
        )
    return runs


def _spread_out(
    epsilons: list[float], measured: list[float]
) -> list[float | None]:
    """A place for every epsilon, empty where it was not run."""
    found = dict(zip(epsilons, measured, strict=True))
    return [round(found[one], 5) if one in found else None for one in EPSILONS]


def _twin(
    beside: Any, twins: Any, earlier: Any, measured: list[float]
) -> float | None:
    """What the twin reached. Where the present one was not run an earlier one stands in: on
    large sets they differ by less than .002; for `ease` more, and there the best private
    cell stands in where that beat it."""
    if beside in twins:
        return float(twins[beside]["measured"][0])
    if beside not in earlier:
        return None
    found = float(earlier[beside]["measured"][0])
    return max(found, *measured) if beside[1] == "ease" else found


def loud_of(name: str, runs: list[dict[str, Any]]) -> Loud | None:
    """The constants of the closed form that leave least of the costs."""
    method, unit = name.split()
    if method in LISTS:
        return None
    points = points_of(method, unit, "cost", runs, MUS)

    def left(logs: Any) -> float:
        found = points.values - closed(Law("cost", Loud(*logs)), points)
        return float(np.sqrt(found**2 + ROBUST**2).sum() + 0.1 * logs @ logs)

    start = np.array([0.3] if method == "bias" else [0.3, 3.0, -0.1])
    corners = np.vstack([start, start + np.diag([0.5, 1.0, 0.2][: len(start)])])
    best = minimize(
        left,
        start,
        method="Nelder-Mead",
        options={"initial_simplex": corners, "xatol": 0.02, "fatol": 0.02},
    )
    return Loud(*(round(float(one), 3) for one in best.x))


def told_of(
    name: str,
    kind: Kind,
    runs: list[dict[str, Any]],
    loud: Loud | None,
    start: Scales | None = None,
) -> ToldCost:
    """Fitted from scratch, or in a few steps from the scales of more runs."""
    method, unit = name.split()
    points = points_of(method, unit, kind, runs, MUS)
    left = points.values - closed(Law(kind, loud), points)
    steps = 60 if start is None else 15
    scales = fit_scales(
        points.places, left, points.groups, start=start, steps=steps
    )
    return told(points, method, kind, scales, loud)


def names() -> list[str]:
    return [
        f"{method} {unit}" for method, units in UNITS.items() for unit in units
    ]


def kinds(name: str) -> tuple[Kind, ...]:
    return ("cost", "plain") if name.split()[0] in LISTS else KINDS


def clock(runs: list[dict[str, Any]]) -> list[float]:
    """Seconds of a fit as a power of ratings and items, by least squares of logs."""
    rows = [
        [1.0, np.log10(run["ratings"]), np.log10(run["items"])] for run in runs
    ]
    took = [np.log10(run["seconds"] / len(EPSILONS)) for run in runs]
    found = np.linalg.lstsq(np.array(rows), np.array(took), rcond=None)[0]
    return [round(float(value), 4) for value in found]


def fit(folder: Path, out: Path, chosen: list[str], *, timed: bool) -> None:
    """Fit some methods, or all; what is stored of the others stays, and so do the times of
    fits unless the runs are `timed`: made on an idle machine."""
    runs = load(folder)
    bare = {"seconds": {}, "surfaces": {}, "runs": [], "loud": {}}
    stored: dict[str, Any] = bare
    if out.exists():
        stored = bare | json.loads(out.read_text())
    surfaces: dict[str, Any] = stored["surfaces"]
    kept = [run for run in stored["runs"] if run["of"] not in chosen]
    for name in chosen:
        mine = [
            run
            for run in runs
            if run["of"] == name and not run["set"].startswith("six")
        ]
        if timed:
            stored["seconds"][name] = clock(mine)
        loud = loud_of(name, mine)
        if loud is not None:
            stored["loud"][name] = list(astuple(loud))
        surfaces[name] = {}
        for kind in kinds(name):
            scales = told_of(name, kind, mine, loud).surface.scales
            sizes = (
                scales.departure,
                scales.peculiar,
                scales.turn,
                scales.noise,
            )
            surfaces[name][kind] = {
                "lengths": [round(one, 4) for one in scales.lengths],
                "sizes": [round(one, 5) for one in sizes],
            }
            print(name, kind, len(mine), surfaces[name][kind], flush=True)
        kept += [
            {key: value for key, value in run.items() if key not in DROPPED}
            for run in mine
        ]
    head = {
        "epsilons": EPSILONS,
        "delta": DELTA,
        "mus": [round(mu, 6) for mu in MUS],
        "seconds": stored["seconds"],
        "loud": stored["loud"],
        "surfaces": surfaces,
    }
    lines = [json.dumps(one, separators=(",", ":")) for one in kept]
    text = json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n'
    out.write_text(text + ",\n".join(lines) + "\n]}\n")


def check(folder: Path, only: str | None, chosen: list[str]) -> None:
    """Coverage and width on every set that is left out, of one kind or all."""
    runs = load(folder)
    rows: list[dict[str, Any]] = []
    for name in chosen:
        mine = [run for run in runs if run["of"] == name]
        for kind in kinds(name):
            if only in (None, kind):
                rows += _left(name, kind, mine)
    _tell(rows)


def _left(
    name: str, kind: Kind, mine: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    method, unit = name.split()
    fitted = [run for run in mine if not run["set"].startswith("six")]
    rows: list[dict[str, Any]] = []
    whole = told_of(name, kind, fitted, loud_of(name, fitted))
    for left in (*PUBLIC, "six"):
        asked = [run for run in mine if run["set"].startswith(left)]
        if not asked:
            continue
        model = whole
        if left != "six":
            others = [run for run in fitted if run["set"] != left]
            start = whole.surface.scales
            model = told_of(name, kind, others, loud_of(name, others), start)
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


def choices(folder: Path) -> None:
    """What is measured at the epsilons that `choose` names, for sets left out: inside what it
    printed? Between the epsilons that were run the measured error is interpolated."""
    runs = load(folder)
    inside: dict[str, list[bool]] = {}
    for name in names():
        method, unit = name.split()
        mine = [run for run in runs if run["of"] == name]
        fitted = [run for run in mine if not run["set"].startswith("six")]
        kept = kinds(name)
        loud = loud_of(name, fitted)
        whole = {kind: told_of(name, kind, fitted, loud) for kind in kept}
        for run in mine:
            if run["name"] not in PUBLIC and run["set"][:3] != "six":
                continue
            models = whole
            if run["name"] in PUBLIC:
                others = [one for one in fitted if one["set"] != run["set"]]
                loud = loud_of(name, others)
                models = {
                    kind: told_of(name, kind, others, loud, one.surface.scales)
                    for kind, one in whole.items()
                }
            for how, got in _named(method, unit, run, models):
                inside.setdefault(f"{name:22s} {how}", []).append(got)
                inside.setdefault(f"{'ALL':22s} {how}", []).append(got)
    for label, found in sorted(inside.items()):
        print(f"{label:40s} {len(found):4d} {np.mean(found):.3f}")


def _named(
    method: str, unit: str, run: dict[str, Any], models: dict[Any, ToldCost]
) -> Iterator[tuple[str, bool]]:
    """For goals that are within reach: every candidate, inside or not."""
    lists = method in LISTS
    hows = ["twin", "plain"] if lists else ["twin", "spread", "plain"]
    cost._told = lambda method, unit, kind: models[kind]  # type: ignore[assignment]
    asked = shape_of(method, unit, run)
    measured = np.array(run["measured"])
    for how in hows:
        spread = run["own_mean"] if how == "spread" else None
        made = forecast(asked, delta=DELTA, each=run["each"], spread=spread)
        twin = run["twin"] if how == "twin" else None
        for epsilon in (1.0, 4.0):
            goal = expected(made, made.at(epsilon), twin).middle
            for one in solve(made, goal, twin=twin).candidates:
                at = np.interp(np.log(one.epsilon), np.log(EPSILONS), measured)
                yield how, float(at) in one.expected


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
                    _line(
                        f"{name:22s} {left:12s} {'whole' if whole else 'parts'}",
                        found,
                    )
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
    parser.add_argument("verb", choices=["fit", "check", "choices"])
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--kind", choices=KINDS, help="of a check")
    parser.add_argument("--only", default=",".join(names()))
    parser.add_argument("--timed", action="store_true")
    args = parser.parse_args()
    chosen = args.only.split(",")
    if args.verb == "fit":
        fit(args.runs, args.out, chosen, timed=args.timed)
    elif args.verb == "check":
        check(args.runs, args.kind, chosen)
    else:
        choices(args.runs)


if __name__ == "__main__":
    main()
