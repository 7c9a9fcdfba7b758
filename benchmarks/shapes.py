"""`bayes` beside its rivals, and its intervals, on sets of other shapes than MovieLens'.

    python benchmarks/shapes.py run DATA --out CELLS [--sets 0,1] [--methods a,b] [--seeds 100,101]
        [--draws 2] [--normal]
    python benchmarks/shapes.py table CELLS
    python benchmarks/shapes.py keep CELLS --commit HASH --date DAY

Parts of public sets, thinned ones, and invented people on other scales. A line of CELLS is one
fit: RMSE on a scale of width 4, and the share of held-back ratings in the 80 % intervals. Cells
that are there already are not run again. `--draws` fits each split so many times, with other
noise; a difference of methods is then a mean over splits and draws, with its standard error, and
the best of several others is no longer the luckiest. `table` prints the tables, `keep` also writes
docs/results/shapes.json.

`--normal` draws noise from numpy's normal generator, rounded and with a seed, and leaves out the
rehearsal: a fifth of the time, and the same noise before and after a change. NOT PRIVATE, as
everything here: for the owner of the ratings.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from math import sqrt
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np

import tacit
from tacit.data import splits
from tacit.data.ratings import Ratings
from tacit.evaluation.invent import Nature, Shape, invent
from tacit.evaluation.measured import measured
from tacit.evaluation.prepared import prepare
from tacit.fitting.run import trial

EPSILONS = (0.5, 1.0, 5.0, 20.0)
UNITS = ("user", "rating")
METHODS = {
    "bayes": tacit.Bayes,
    "bias": tacit.Bias,
    "covariance-svd": tacit.CovarianceSVD,
    "covariance-knn": tacit.CovarianceKNN,
    "knn-pearson": tacit.PearsonKNN,
    "als": tacit.ALS,
}
WHOLE_PEOPLE = {"als"}
"""Methods of the unit `user` alone."""
NEAR = 0.002
"""How far `bayes` may be behind."""
INSIDE = (0.77, 0.83)
NUMBERS = Path(__file__).parents[1] / "docs" / "results" / "shapes.json"


def some(ratings: Ratings, people: int) -> Ratings:
    """So many people, by a fixed draw."""
    kept = np.zeros(ratings.n_users, np.bool_)
    order = np.random.default_rng(7).permutation(ratings.n_users)
    kept[order[:people]] = True
    return ratings.take(kept[ratings.user])


def cut(ratings: Ratings, each: int, people: int) -> Ratings:
    """People of `each` ratings: everybody's are dealt into as many as they fill."""
    rng = np.random.default_rng(7)
    ptr, item, value = [0], [], []
    for row in rng.permutation(ratings.n_users):
        first, last = ratings.ptr[row : row + 2]
        order = first + rng.permutation(last - first)
        for start in range(0, len(order) - each + 1, each):
            cells = np.sort(order[start : start + each])
            item.append(ratings.item[cells])
            value.append(ratings.value[cells])
            ptr.append(ptr[-1] + each)
        if len(ptr) > people:
            break
    return Ratings(
        ratings.schema,
        [str(person) for person in range(len(ptr) - 1)],
        ratings.items,
        np.asarray(ptr, np.int64),
        np.concatenate(item).astype(np.uint32),
        np.concatenate(value).astype(np.float32),
    )


def invented(shape: Shape, nature: Nature) -> Callable[[Path], Ratings]:
    """A set that needs no file."""
    return lambda data: invent(shape, nature, 7)[0]


SETS: dict[str, Callable[[Path], Ratings]] = {
    "600 people of ML-1M": lambda data: some(tacit.read(data / "ml-1m"), 600),
    "ML-1M cut into 8,000 people of 6": lambda data: cut(tacit.read(data / "ml-1m"), 6, 8000),
    "500 people of ML-100K": lambda data: some(tacit.read(data / "ml-100k"), 500),
    "20,000 people of 100 Netflix films": lambda data: some(
        tacit.read(data / "netflix-100"), 20_000
    ),
    "invented, half stars .5-5": invented(Shape(1500, 1500, 23, 0.5, 5.0, 0.5), Nature()),
    "invented, .5-4": invented(
        Shape(1500, 1200, 24, 0.5, 4.0, 0.5), Nature(skew=1.1, activity=1.0)
    ),
    "invented, sparse 0-10": invented(
        Shape(5000, 2500, 8, 0.0, 10.0, 1.0), Nature(skew=0.6, level=0.55, effect=0.4, noise=0.7)
    ),
    "invented, calm 0-10": invented(
        Shape(5000, 2000, 8, 0.0, 10.0, 1.0), Nature(level=0.3, effect=0.25, taste=0.25, noise=0.45)
    ),
    "invented, jokes -10..10": invented(
        Shape(2000, 100, 30, -10.0, 10.0, 0.01),
        Nature(skew=0.3, tail=0.5, taste=0.6, effect=0.35, noise=1.0),
    ),
}


def about(people: int) -> int:
    """A declared number of people: two digits of it."""
    digits = 10 ** max(len(str(people)) - 2, 0)
    return round(people / digits) * digits


def cells(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every cell that is asked for."""
    for seed in map(int, given.seeds):
        for name in given.sets:
            for unit in given.units:
                for method in given.methods:
                    if unit == "rating" and method in WHOLE_PEOPLE:
                        continue
                    for epsilon in given.epsilons:
                        for draw in range(given.draws):
                            yield {
                                "set": name,
                                "unit": unit,
                                "method": method,
                                "epsilon": epsilon,
                                "seed": seed,
                                "draw": draw,
                            }


def run(given: argparse.Namespace) -> None:
    """Fit and judge what is not there yet, a line each."""
    done = set()
    if given.out.is_file():
        for line in given.out.read_text("utf-8").splitlines():
            done.add(key(json.loads(line)))
    loaded: dict[str, Ratings] = {}
    made: dict[tuple[str, int], Any] = {}
    for cell in cells(given):
        if key(cell) in done:
            continue
        name, seed = cell["set"], cell["seed"]
        if name not in loaded:
            loaded[name] = SETS[name](given.data)
        if (name, seed) not in made:
            part = splits.per_rating(loaded[name], 0.1, seed)
            rows = np.arange(part.test.n_users, dtype=np.int32)
            made[name, seed] = prepare(part, rows, seed=seed, listed=0, all_relevant=False)
        with normal_noise(cell) if given.normal else ExitStack():
            found = judged(cell, made[name, seed], about(loaded[name].n_users))
        with given.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(cell | found) + "\n")


def normal_noise(cell: dict[str, Any]) -> AbstractContextManager[object]:
    """Rounded normal noise with a seed that all methods and versions share, no rehearsal."""
    seed = [
        crc32(cell["set"].encode()),
        cell["seed"],
        int(1000 * cell["epsilon"]),
        int(cell["unit"] == "user"),
        cell["draw"],
    ]
    rng = np.random.default_rng(seed)

    def draw(size: int, sd: float, bits: object = None) -> np.ndarray:
        return np.rint(rng.standard_normal(size) * float(sd)).astype(np.int64)

    stack = ExitStack()
    stack.enter_context(patch("tacit.noise.gaussian.discrete_gaussian", draw))
    stack.enter_context(patch("tacit.fitting.run._Run.rehearse", lambda self, once=False: None))
    return stack


def key(cell: dict[str, Any]) -> tuple[Any, ...]:
    """What a cell is known by."""
    names = ("set", "unit", "method", "epsilon", "seed")
    return (*(cell[name] for name in names), cell.get("draw", 0))


def judged(cell: dict[str, Any], on: Any, users: int) -> dict[str, Any]:
    """One fit, on the scale of width 4."""
    method = METHODS[cell["method"]](epsilon=cell["epsilon"], unit=cell["unit"], threads=1)
    model = trial(method, on.split.train, users=users)
    found = measured(model.personal, on, lists=False).arrays
    asked = found["asked"].sum()
    width = on.split.train.schema.unit_width
    out = {"rmse": float(np.sqrt(found["squared"].sum() / asked)) / width}
    if "inside80" in found:
        out["inside"] = float(found["inside80"].sum() / found["tried"].sum())
    return {name: round(value, 5) for name, value in out.items()}


def means(path: Path) -> list[dict[str, Any]]:
    """By set, unit, epsilon and method, over splits and draws."""
    every = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        cell = json.loads(line)
        place = (cell["set"], cell["unit"], cell["epsilon"], cell["method"])
        every[place].append(cell)
    rows = []
    for place, found in every.items():
        row = dict(zip(("set", "unit", "epsilon", "method"), place, strict=True))
        for name in ("rmse", "inside"):
            if name in found[0]:
                row[name] = round(float(np.mean([each[name] for each in found])), 5)
        row["each"] = {f"{each['seed']:g}/{each.get('draw', 0)}": each["rmse"] for each in found}
        rows.append(row | {"runs": len(found)})
    return rows


def section(told: dict[str, Any]) -> str:
    """Both tables, as Markdown: a row a set and unit, a column an epsilon."""
    found = {(row["set"], row["unit"], row["epsilon"], row["method"]): row for row in told["rows"]}
    names = [name for name in SETS if any(place[0] == name for place in found)]
    places = [(name, unit) for name in names for unit in UNITS]
    titles = " | ".join(f"eps {epsilon:g}" for epsilon in EPSILONS)
    top = f"| set, unit | {titles} |\n|---|{'---|' * len(EPSILONS)}\n"
    ahead, inside = top, top
    behind = surely = outside = cells = judged_cells = 0
    for name, unit in places:
        gains, shares = [], []
        for epsilon in EPSILONS:
            own = found.get((name, unit, epsilon, "bayes"))
            if own is None:
                gains.append("")
                shares.append("")
                continue
            best, gain, error = rival(found, (name, unit, epsilon), own)
            off = not INSIDE[0] <= own["inside"] <= INSIDE[1]
            cells += 1
            outside += off
            shares.append(bold(off, f"{own['inside']:.3f}"))
            judged_cells += best is not None
            behind += best is not None and gain < -NEAR
            surely += best is not None and gain + 2 * error < -NEAR
            about = f" ({error:.4f})" if error else ""
            text = "" if best is None else f"{gain:+.4f}{about} {best}"
            gains.append(bold(gain < -NEAR, text))
        ahead += f"| {name}, {unit} | {' | '.join(gains)} |\n"
        inside += f"| {name}, {unit} | {' | '.join(shares)} |\n"
    return (
        f"How far `bayes` is ahead of the best of the others, RMSE on a scale of width 4 "
        f"({behind} of {judged_cells} cells behind by more than {NEAR:g}, in bold; {surely} by two "
        f"standard errors more than that):\n\n{ahead}\n"
        f"Share of held-back ratings in its 80 % intervals ({cells - outside} of {cells} cells "
        f"within {INSIDE[0]:g} to {INSIDE[1]:g}):\n\n{inside}"
    )


def rival(
    found: dict[tuple[Any, ...], dict[str, Any]], place: tuple[Any, ...], own: dict[str, Any]
) -> tuple[str | None, float, float]:
    """The best other method of a cell on the runs that both have, how far `bayes` is ahead of
    it, and the standard error of that."""
    gains = {}
    for name in METHODS:
        other = found.get((*place, name))
        if name == "bayes" or other is None:
            continue
        runs = own["each"].keys() & other["each"].keys()
        if runs:
            gains[name] = [other["each"][run] - own["each"][run] for run in runs]
    if not gains:
        return None, 0.0, 0.0
    best = min(gains, key=lambda name: float(np.mean(gains[name])))
    apart = gains[best]
    several = len(apart) > 1
    error = float(np.std(apart, ddof=1)) / sqrt(len(apart)) if several else 0.0
    return best, float(np.mean(apart)), error


def bold(wanted: bool, text: str) -> str:
    """Marked, if wanted."""
    return f"**{text}**" if wanted else text


def table(given: argparse.Namespace) -> None:
    """Print the tables of some cells."""
    print(section({"rows": means(given.cells)}))


def keep(given: argparse.Namespace) -> None:
    """Write the numbers of the page, and print its tables."""
    told = {
        "note": "NOT PRIVATE: for the owner only",
        "command": "python benchmarks/shapes.py run DATA --out CELLS",
        "commit": given.commit,
        "date": given.date,
        "rows": means(given.cells),
    }
    NUMBERS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(section(told))


def numbers(text: str) -> list[float]:
    """`1,5`."""
    return [float(part) for part in text.split(",")]


def words(text: str) -> list[str]:
    """`a,b`."""
    return text.split(",")


def places(text: str) -> list[str]:
    """Sets by their place in `SETS`."""
    return [list(SETS)[int(part)] for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser()
    tasks = parser.add_subparsers(required=True)
    runs = tasks.add_parser("run")
    runs.add_argument("data", type=Path)
    runs.add_argument("--out", type=Path, required=True)
    runs.add_argument("--sets", type=places, default=list(SETS))
    runs.add_argument("--methods", type=words, default=list(METHODS))
    runs.add_argument("--units", type=words, default=list(UNITS))
    runs.add_argument("--epsilons", type=numbers, default=list(EPSILONS))
    runs.add_argument("--seeds", type=numbers, default=[100])
    runs.add_argument("--draws", type=int, default=1)
    runs.add_argument("--normal", action="store_true")
    runs.set_defaults(task=run)
    shown = tasks.add_parser("table")
    shown.add_argument("cells", type=Path)
    shown.set_defaults(task=table)
    kept = tasks.add_parser("keep")
    kept.add_argument("cells", type=Path)
    kept.add_argument("--commit", required=True)
    kept.add_argument("--date", required=True)
    kept.set_defaults(task=keep)
    given = parser.parse_args()
    given.task(given)


if __name__ == "__main__":
    main()
