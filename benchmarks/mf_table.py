"""A long table of all factorizations, by epsilon: python benchmarks/mf_table.py ROWS.jsonl DATA...
[--epsilon ...] [--seeds N].

DATA are folders that `tacit.read` knows. Every fit is one line of ROWS.jsonl, written when
it is done; fits that are there already are skipped, so a run can be stopped and taken up
again. `--print` makes the tables from the lines alone. NOT PRIVATE: the errors are over
held-back ratings.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any, ClassVar, NamedTuple

import numpy as np

import tacit
from tacit.data.splits import Split, per_rating
from tacit.evaluation.metrics import rmse
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.methods import find
from tacit.methods.base import Form, Public
from tacit.methods.factorization.base import Forms
from tacit.methods.factorization.publish import publish
from tacit.methods.factorization.state import ValueState
from tacit.methods.factorization.svd import GradientSVD
from tacit.methods.factorization.value import item_sums
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan

SVD = ("svd-gradient", "svdpp-gradient", "svd-objective", "svdpp-objective")
USER = ("bias", "als", "mf-objective", "mf-nonnegative", "mf-sgd", "mf-langevin", *SVD)
VALUE = (*SVD, "svd-output", "svdpp-output", "mf-input-sgd", "mf-input-als")
PAPER = ("mf-objective", "mf-sgd", "mf-langevin", *VALUE)
MEANS = "private item means"
FACTORS = (5, 10, 20, 30, 40, 50)


class Cell(NamedTuple):
    """One fit."""

    data: str
    table: str
    method: str
    epsilon: float | None
    seed: int
    factors: int | None = None


class Means(Form):
    """The whole budget on one sum for each item, whose count is public."""

    def plan(self, public: Public) -> Plan:
        """One round."""
        return Plan("value", (item_sums(public, 1.0),))

    def first_state(self, public: Public) -> ValueState:
        """Nothing is known yet."""
        return ValueState()

    def finish(self, public: Public, state: ValueState) -> Shared:
        """A model without factors."""
        return publish(self.method, public, state)


class ItemMeans(GradientSVD):
    """A method that releases item means alone."""

    forms: ClassVar[Forms] = {"sound": Means}


def cells(data: str, epsilons: list[float], seeds: int) -> Iterator[Cell]:
    """Everything that the tables hold, the most telling first."""
    for seed in range(seeds):
        for epsilon in epsilons:
            for table, methods in (
                ("user", (MEANS, *USER)),
                ("value", (MEANS, *VALUE)),
                ("paper", PAPER),
            ):
                for method in methods:
                    yield Cell(data, table, method, epsilon, seed)
        for method in dict.fromkeys((*USER, *VALUE)):
            yield Cell(data, "twin", method, None, seed)


def factor_cells(data: str, seeds: int) -> Iterator[Cell]:
    """Figure 4 of Xian et al.: accuracy by the number of factors, at epsilon 1."""
    for seed in range(seeds):
        for method in (*SVD, "svd-output", "svdpp-output"):
            for factors in FACTORS:
                yield Cell(data, "factors", method, 1.0, seed, factors)


@cache
def split_of(path: str, seed: int) -> Split:
    return per_rating(tacit.read(path), 0.1, seed)


def fit(cell: Cell, path: str) -> dict[str, float]:
    """RMSE on the held-back ratings and processor seconds of the fit."""
    part = split_of(path, cell.seed)
    options: dict[str, Any] = {"seed": cell.seed}
    if cell.table in ("user", "value"):
        options |= {"epsilon": cell.epsilon, "unit": cell.table}
    elif cell.table == "twin":
        options |= {"calibration": "none"}
    else:
        options |= {"epsilon": cell.epsilon, "calibration": "paper"}
    if cell.factors:
        options |= {"factors": cell.factors}
    means = cell.method == MEANS
    make: Any = (
        find(cell.method) if not means else find("bias") if cell.table == "user" else ItemMeans
    )
    start = time.process_time()
    model = trial(make(**options), part.train, users=part.train.n_users)
    spent = time.process_time() - start
    if not means:
        error = measure(model, part, lists=False)["rmse"]
    else:
        schema = part.train.schema
        told = schema.middle + schema.unit_width * model.shared.arrays["baseline"][
            part.test.item
        ].astype(np.float64)
        error = rmse(np.clip(told, schema.low, schema.high), part.test.value)
    assert error is not None
    return {"rmse": round(float(error), 5), "seconds": round(spent, 3)}


def load(path: Path) -> dict[Cell, dict[str, float]]:
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        row = json.loads(line)
        found[Cell(*row["cell"])] = {"rmse": row["rmse"], "seconds": row["seconds"]}
    return found


def run(rows: Path, path: str, todo: Iterator[Cell]) -> None:
    done = load(rows)
    with rows.open("a", encoding="utf-8") as out:
        for cell in todo:
            if cell not in done:
                out.write(json.dumps({"cell": list(cell), **fit(cell, path)}) + "\n")
                out.flush()


def tables(found: dict[Cell, dict[str, float]]) -> Iterator[str]:
    """Markdown: one table for each data set and kind, methods down, epsilons (or factors)
    across, means over splits."""
    whole: dict[tuple[str, str], dict[str, dict[float, list[float]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for cell, row in found.items():
        across = float(cell.factors or cell.epsilon or 0.0)
        whole[cell.data, cell.table][cell.method].setdefault(across, []).append(row["rmse"])
    for (data, table), methods in whole.items():
        columns = sorted({x for line in methods.values() for x in line})
        runs = max(len(v) for line in methods.values() for v in line.values())
        heads = ["non-private"] if table == "twin" else [f"{x:g}" for x in columns]
        yield f"\n{data}, `{table}`, {runs} split{'s' if runs > 1 else ''}:\n"
        yield f"| method | {' | '.join(heads)} |\n|---|{'---|' * len(columns)}"
        for method, line in methods.items():
            shown = (f"{mean(line[x]):.3f}" if x in line else "-" for x in columns)
            yield f"| {method if method == MEANS else f'`{method}`'} | {' | '.join(shown)} |"


def fits(found: dict[Cell, dict[str, float]]) -> Iterator[str]:
    """Markdown: processor seconds of a private fit at the largest epsilon beside those of
    its twin, each the least."""
    spent: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for cell, row in found.items():
        if cell.table in ("user", "value", "twin"):
            spent[cell.data, cell.method, cell.table].append(
                (-(cell.epsilon or 0.0), row["seconds"])
            )
    yield (
        "\n| data | method | unit | private, s | twin, s | private / twin "
        "|\n|---|---|---|---|---|---|"
    )
    for (data, method, table), times in spent.items():
        if table != "twin" and (data, method, "twin") in spent:
            mine, twin = min(times)[1], min(spent[data, method, "twin"])[1]
            yield f"| {data} | `{method}` | {table} | {mine:.2f} | {twin:.2f} | {mine / twin:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("data", nargs="*")
    parser.add_argument("--epsilon", default="1,20,.01,5,.1,.001")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="user,value,paper,twin", help="of these tables")
    parser.add_argument("--methods", default="", help="these methods only")
    parser.add_argument(
        "--factors", action="store_true", help="by the number of factors instead of epsilon"
    )
    parser.add_argument("--print", action="store_true", dest="show")
    options = parser.parse_args()
    kept = options.methods.split(",") if options.methods else None
    for path in options.data:
        name = Path(path).name
        epsilons = [float(x) for x in options.epsilon.split(",")]
        every = (
            factor_cells(name, options.seeds)
            if options.factors
            else cells(name, epsilons, options.seeds)
        )
        asked = (c for c in every if options.factors or c.table in options.only.split(","))
        run(options.rows, path, (c for c in asked if kept is None or c.method in kept))
    if options.show:
        found = load(options.rows)
        print("\n".join((*tables(found), *fits(found))))


if __name__ == "__main__":
    main()
