"""Is any twin beaten by its own private cell? On the judged sets, each cell kept and never
repeated:

    python benchmarks/twins.py run --data DATA --out CELLS [--set ml-100k] [--method a,b]
    python benchmarks/twins.py table --out CELLS [--kept EARLIER.json] > docs/results/twins.json

DATA holds the folders ml-100k, ml-1m and netflix-100. For each method, unit and with and
without features: the error of the twin, that of each private cell, and the gap between the
twin and the best of them (above .001 a twin fails). `ease` and `popularity` are compared by
recall at 20 from ratings of 4 and more. Rows of an earlier table that were not run again stay,
with the commit that they come from. NOT PRIVATE: for the owner of the ratings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.catalogue import Catalogue
from tacit.data.splits import Split
from tacit.evaluation.cells import run_cells
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.methods import METHODS, find
from tacit.methods.noiseless import twin as gaussian

ALLOWED = 0.001
"""A private cell may be so much better, by its own luck."""
LIKES_ONLY = ("popularity", "ease")
"""Methods that say nothing about ratings."""
LIKED = 4.0
HELD = 600
FILES = {
    "ml-100k": ("u.data", "u.item"),
    "netflix-100": ("training_set", None),
    "ml-1m": ("ratings.dat", "movies.dat"),
}
NAME = ("set", "features", "method", "unit")
"""What a row is known by."""
CODE = 1
"""Raised where a change makes kept cells stale."""


def remembered(fit: Callable[..., Any]) -> Callable[..., Any]:
    """The same fit asked for again is not made again: most twins are one."""
    kept: dict[bytes, Any] = {}

    def asked(*arrays: Any, **options: Any) -> Any:
        options = {"after": None} | options
        told = hashlib.sha256()
        for array in arrays:
            told.update(np.ascontiguousarray(array).tobytes())
        plain = {key: options[key] for key in options if key != "after"}
        told.update(repr(sorted(plain.items())).encode())
        place = told.digest()
        if place not in kept:
            kept[place] = fit(*arrays, **options)
        return kept[place]

    return asked


@lru_cache(maxsize=2)
def split_of(data: str, place: str, features: bool, likes: bool) -> tuple[Split, Catalogue | None]:
    """The first split of a set, and its catalogue where features count."""
    ratings, catalogue = FILES[place]
    folder = Path(data) / place
    items = tacit.read_items(folder / catalogue) if catalogue else None
    known = items if features else None
    if likes:
        read = tacit.read(folder / ratings, items=known, positive=LIKED)
        return splits.make(read, "people", seed=0, hold=HELD), known
    read = tacit.read(folder / ratings, items=known)
    return splits.make(read, "90/10", seed=0), known


def work(data: str, key: Any) -> dict[str, Any]:
    """One fit and its error, or the recall of its lists."""
    method = key["method"]
    likes = method in LIKES_ONLY
    part, items = split_of(data, key["set"], key["features"], likes)
    how = {"calibration": "none"}
    if key["epsilon"] is not None:
        how = {"epsilon": key["epsilon"]}
    made = find(method)(unit=key["unit"], threads=1, **how)
    # In a federation who takes part is known.
    users = None if "threads" in made.engines else part.train.n_users
    model = trial(made, part.train, items=items, users=users)
    found = measure(model, part, lists=likes)
    return {"measured": found["recall@20" if likes else "rmse"]}


def keys(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for place in args.set.split(","):
        for features in (False, True) if FILES[place][1] else (False,):
            for method in args.method.split(","):
                if features and method in LIKES_ONLY:
                    continue
                for unit in find(method).units:
                    for epsilon in (None, *args.epsilon):
                        yield {
                            "set": place,
                            "features": features,
                            "method": method,
                            "unit": unit,
                            "epsilon": epsilon,
                            "code": CODE,
                        }


def run(args: argparse.Namespace) -> None:
    gaussian.fit_gaussian = remembered(gaussian.fit_gaussian)
    run_cells(keys(args), work, str(args.data), folder=args.out, progress=_tell)


def _tell(done: int, total: int, left: float | None) -> None:
    print(done, total, None if left is None else round(left), file=sys.stderr)


def table(folder: Path, commit: str, kept: dict[str, Any] | None = None) -> dict[str, Any]:
    """A row for each twin, with its best private cell; rows of before where none is new."""
    found: dict[Any, dict[float | None, float]] = {}
    for path in sorted(folder.glob("*.json")):
        cell = json.loads(path.read_text())
        key = cell["key"]
        if key["code"] == CODE:
            name = tuple(key[each] for each in NAME)
            value = cell["answer"]["measured"]
            found.setdefault(name, {})[key["epsilon"]] = value
    made = {name: _row(name, cells) for name, cells in found.items()}
    rows = {name: row | {"commit": commit} for name, row in made.items() if row is not None}
    for row in (kept or {"rows": []})["rows"]:
        rows.setdefault(tuple(row[key] for key in NAME), row)
    order = list(METHODS)
    shown = sorted(
        rows.values(),
        key=lambda row: (
            list(FILES).index(row["set"]),
            row["features"],
            order.index(row["method"]),
            row["unit"],
        ),
    )
    return {
        "note": "NOT PRIVATE: owner's evaluations of public data sets",
        "tables": [
            _shown(shown, place, features)
            for place, features in dict.fromkeys((row["set"], row["features"]) for row in shown)
        ],
        "rows": shown,
    }


def _row(name: Any, cells: dict[float | None, float]) -> dict[str, Any] | None:
    """One twin and its best private cell, where both were run."""
    private = {e: value for e, value in cells.items() if e is not None}
    if None not in cells or not private:
        return None
    sign = -1 if name[2] in LIKES_ONLY else 1
    best = min(private, key=lambda epsilon: sign * private[epsilon])
    return dict(zip(NAME, name, strict=True)) | {
        "twin": round(cells[None], 4),
        "best": round(private[best], 4),
        "at": best,
        "epsilons": sorted(private),
        "gap": round(sign * (cells[None] - private[best]), 4),
    }


def _shown(rows: list[dict[str, Any]], place: str, features: bool) -> dict[str, Any]:
    """One table of docs/results/twins.md."""
    mine = [r for r in rows if (r["set"], r["features"]) == (place, features)]
    words = "with features" if features else "without features"
    return {
        "title": f"{place}, {words}",
        "command": f"python benchmarks/twins.py run --set {place}",
        "commit": ", ".join(sorted({row.get("commit", "") for row in mine})),
        "date": datetime.now(UTC).date().isoformat(),
        "columns": ["method", "unit", "twin", "best private cell", "gap"],
        "rows": [
            [
                f"`{row['method']}`",
                row["unit"],
                _bare(row["twin"]),
                f"{_bare(row['best'])} at {row['at']:g}",
                f"{row['gap']:+.4f}".replace("0.", "."),
            ]
            for row in mine
        ],
    }


def _bare(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["run", "table"])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", default=",".join(FILES))
    parser.add_argument("--method", default=",".join(METHODS))
    parser.add_argument("--commit", default="")
    parser.add_argument("--kept", type=Path)
    parser.add_argument(
        "--epsilon",
        default=(20.0, 100.0),
        type=lambda text: tuple(float(one) for one in text.split(",")),
    )
    args = parser.parse_args()
    if args.verb == "run":
        run(args)
    else:
        kept = json.loads(args.kept.read_text()) if args.kept else None
        print(json.dumps(table(args.out, args.commit, kept), indent=1))


if __name__ == "__main__":
    main()
