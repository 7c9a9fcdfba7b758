"""Fits the model of forecasts to kept runs.

    python benchmarks/forecast_fit.py fit RUNS OUT.json [--only 'bias user,bias rating']

RUNS is the folder of `benchmarks/forecast.py`; OUT.json holds the runs and what was fitted. The
six invented shapes are never fitted to. `forecast_check.py` says how well it keeps its word.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from forecast import CODE, DELTA, EPSILONS, LIKE_BAYES, TWIN_CODE, UNITS
from forecast_lists import over_all
from scipy.optimize import minimize

from tacit.evaluation.excess import Loud, LoudLists
from tacit.evaluation.forecast_model import (
    LISTS,
    CostLaw,
    Kind,
    TabulatedCost,
    closed,
    points_of,
    tabulated_cost,
)
from tacit.evaluation.kriging import Scales, fit_scales
from tacit.ledger.account.calibrate import gaussian_mu

MUS = [gaussian_mu(epsilon, DELTA) for epsilon in EPSILONS]
KINDS: tuple[Kind, ...] = ("cost", "known", "error", "plain")
EARLIER = 2
"""The code of twins of `bayes`, `als` and `covariance-svd` that may stand in."""
ROBUST = 0.3
"""About how far the closed form is off: what is farther counts less than its square."""
SHORTER, NEAR_STEPS = 0.3, 60
"""First steps, and how many, where constants are looked for near those of more runs."""
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
            elif method != "ease" and key["code"] == EARLIER:
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
        if beside not in twins and beside not in earlier:
            continue
        # Where the present twin was not run an earlier one stands in: on large sets they
        # differ by less than .002.
        twin = float(twins.get(beside, earlier.get(beside))["measured"][0])
        if method == "ease":
            surest = private[name, method, "rating", False][1]
            seen = twins[beside]["over_splits"][0]
            twin = over_all(seen, surest["over_splits"][-1])
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
            | _floor(answer, twin)
        )
    return runs


def _floor(answer: dict[str, Any], twin: float) -> dict[str, float]:
    """Of lists: what popularity finds without noise, as a share of what the twin finds."""
    if "popular" not in answer:
        return {}
    return {"floor": round(float(np.mean(answer["popular"])) / twin, 5)}


def _spread_out(epsilons: list[float], measured: list[float]) -> list[float | None]:
    """A place for every epsilon, empty where it was not run."""
    found = dict(zip(epsilons, measured, strict=True))
    return [round(found[one], 5) if one in found else None for one in EPSILONS]


def loud_of(
    name: str, kind: Kind, runs: list[dict[str, Any]], near: Loud | LoudLists | None = None
) -> Loud | LoudLists:
    """The constants of the closed form that leave least of the costs; of lists others where
    what popularity finds is known. From scratch, or in a few steps from those of more runs."""
    method, unit = name.split()
    kind = "known" if kind == "known" else "cost"
    points = points_of(method, unit, kind, runs, MUS)
    made, start, steps = _begin(method)

    def left(logs: Any) -> float:
        found = points.values - closed(CostLaw(kind, made(*logs)), points)
        far = float(((logs - start) ** 2).sum())
        return float(np.sqrt(found**2 + ROBUST**2).sum() + 0.1 * far)

    begin, shorter = start, 1.0
    if near is not None:
        begin, shorter = np.array(astuple(near)[: len(start)]), SHORTER
    best = minimize(
        left,
        begin,
        method="Nelder-Mead",
        options={
            "initial_simplex": np.vstack([begin, begin + shorter * np.diag(steps)]),
            "xatol": 0.02,
            "fatol": 0.02,
            "maxiter": None if near is None else NEAR_STEPS,
        },
    )
    return made(*(round(float(one), 3) for one in best.x))


def _begin(method: str) -> tuple[Any, Any, Any]:
    """The form of the constants, where they are looked for, and first steps."""
    if method in LISTS:
        start = np.array([0.5, 1.8, 1.3, 0.1, -0.3, 1.0])
        return LoudLists, start, [0.5, 0.3, 0.3, 0.2, 0.2, 0.3]
    if method == "bias":
        return Loud, np.array([0.3]), [0.5]
    return Loud, np.array([0.3, 3.0, -0.1]), [0.5, 1.0, 0.2]


def told_of(
    name: str,
    kind: Kind,
    runs: list[dict[str, Any]],
    loud: Loud | LoudLists,
    start: Scales | None = None,
) -> TabulatedCost:
    """Fitted from scratch, or in a few steps from the scales of more runs."""
    method, unit = name.split()
    points = points_of(method, unit, kind, runs, MUS)
    left = points.values - closed(CostLaw(kind, loud), points)
    steps = 60 if start is None else 15
    scales = fit_scales(points.places, left, points.groups, start=start, steps=steps)
    return tabulated_cost(points, method, kind, scales, loud)


def names() -> list[str]:
    return [f"{method} {unit}" for method, units in UNITS.items() for unit in units]


def kinds(name: str) -> tuple[Kind, ...]:
    if name.split()[0] in LISTS:
        return ("cost", "known", "plain")
    return ("cost", "error", "plain")


def fitted_to(name: str, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs of a method but those of the six."""
    return [run for run in runs if run["of"] == name and not run["set"].startswith("six")]


def clock(runs: list[dict[str, Any]]) -> list[float]:
    """Seconds of a fit as a power of ratings and items, by least squares of logs."""
    rows = [[1.0, np.log10(run["ratings"]), np.log10(run["items"])] for run in runs]
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
        mine = fitted_to(name, runs)
        if timed:
            stored["seconds"][name] = clock(mine)
        surfaces[name] = {}
        for kind in kinds(name):
            loud = loud_of(name, kind, mine)
            label = f"{name} known" if kind == "known" else name
            stored["loud"][label] = list(astuple(loud))
            scales = told_of(name, kind, mine, loud).surface.scales
            sizes = (scales.departure, scales.peculiar, scales.turn, scales.noise)
            surfaces[name][kind] = {
                "lengths": [round(one, 4) for one in scales.lengths],
                "sizes": [round(one, 5) for one in sizes],
            }
            print(name, kind, len(mine), surfaces[name][kind], flush=True)
        kept += [{key: value for key, value in run.items() if key not in DROPPED} for run in mine]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["fit"])
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default=",".join(names()))
    parser.add_argument("--timed", action="store_true")
    args = parser.parse_args()
    fit(args.runs, args.out, args.only.split(","), timed=args.timed)


if __name__ == "__main__":
    main()
