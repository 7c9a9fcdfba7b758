"""Hua et al.'s S2 and S3, simulated: mean increase of |error| over plain factorization, and its distribution.

    python benchmarks/federated_accuracy.py DATA [--rounds 10000] [--cohort 100] [--epsilon 0.05,0.15,0.8]

Errors are on the training pairs with each person's own trained profile, as the paper does, and on a held-back tenth.
A run in which any profile runs away is reported as diverged, without a mean: clipped predictions would hide it.
NOT PRIVATE: for the owner of public research data only. One line of JSON for each cell.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.engine.federated.simulate import Federated
from tacit.methods.base import Public
from tacit.methods.mf_federated import OFFSET, FederatedMF
from tacit.noise.release import Charge, NoNoise
from tacit.round import Budget, State

LEVELS = (0.25, 0.5, 1.0, 1.5, 2.0)


def run(train: Ratings, epsilon: float | None, seed: int, **settings: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """(people's profiles, items' profiles) after all rounds."""
    calibration = "none" if epsilon is None else "paper"
    method = FederatedMF(calibration=calibration, epsilon=epsilon, seed=seed, **settings)  # type: ignore[arg-type]
    budget = None if epsilon is None else Budget(epsilon, 0.0)
    public = Public(train.schema.declare(train.n_users), Catalogue(train.items), "value", calibration, budget)  # type: ignore[arg-type]
    plan = method.plan(public)
    charge = NoNoise() if budget is None else Charge(plan.events(budget).values())
    engine = Federated(train, threads=1, seed=seed)
    state: State = {"people": np.array([float(train.n_users)]), **method.first_state(public)}
    for round_ in plan.rounds:
        state = round_.absorb(state, engine.run(round_, state, charge))
    return engine._personal["profile"], np.asarray(state["items"], np.float64)


DIVERGED = 1e3
"""A profile beyond this has run away: clipping its predictions to the scale would pass an overflow off as an error."""


def errors(data: Ratings, own: NDArray[Any], items: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.float64]:
    """|prediction - rating| of every pair in `data` of people who took part, predictions kept on the scale."""
    known = rows[data.user] >= 0
    user = np.where(known, rows[data.user], 0)
    dots = np.einsum("ij,ij->i", own[user], items[data.item])
    value = (data.value.astype(np.float64) - data.schema.middle) / data.schema.unit_width + OFFSET
    here = known & own[user].any(axis=1)
    return np.abs(np.clip(dots, 1, 5) - value)[here]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--cohort", type=int, default=100)
    parser.add_argument("--epsilon", default="0.05,0.15,0.8")
    parser.add_argument("--schemes", default="S2,S3")
    parser.add_argument("--join", default="0.005")
    parser.add_argument("--leave", default="0.01")
    parser.add_argument("--rate", type=float, default=2.0**-5, help="the gain; 2^-5 is the printed one")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    whole = tacit.read(o.data)
    keep = np.random.default_rng(o.seed).random(len(whole)) < 0.9
    train, test = whole.take(keep), whole.take(~keep)
    place = {name: row for row, name in enumerate(train.users)}
    test_rows = np.array([place.get(name, -1) for name in test.users])
    train_rows = np.arange(train.n_users)

    def show(name: str, epsilon: float | None, base: dict[str, float] | None, **settings: Any) -> dict[str, float]:
        began = time.perf_counter()
        with np.errstate(all="ignore"):  # divergence is an outcome here: counted below, never averaged over
            own, items = run(train, epsilon, o.seed, **settings)
        pairs = {"train": errors(train, own, items, train_rows), "held": errors(test, own, items, test_rows)}
        runaway = float((~(np.abs(own).max(axis=1) < DIVERGED)).mean())
        means = {k: float(e.mean()) for k, e in pairs.items()}
        line: dict[str, Any] = {
            "scheme": name,
            "epsilon": epsilon,
            **settings,
            "seconds": round(time.perf_counter() - began, 1),
        }
        line["people_diverged"] = round(runaway, 4)
        line["largest_item_number"] = float(f"{np.abs(items).max():.4g}")
        for k, e in pairs.items() if runaway == 0 else ():
            line[f"mean_{k}"] = round(means[k], 4)
            line[f"cdf_{k}"] = {str(level): round(float((e <= level).mean()), 3) for level in LEVELS}
            if base is not None:
                line[f"increase_{k}"] = round(means[k] - base[k], 4)
        print(json.dumps(line), flush=True)
        return means

    level = float(train.value.mean())
    constants = {
        "always_the_lowest": float(np.abs(train.value - train.schema.low).mean()),
        "always_the_mean": float(np.abs(train.value - level).mean()),
    }
    print(json.dumps({"reference": "mean |error| on the training pairs", **constants}), flush=True)
    base = show("plain", None, None, rounds=100)
    for scheme in o.schemes.split(","):
        for epsilon in [None, *(float(x) for x in o.epsilon.split(","))]:
            if scheme == "S2":
                show("S2", epsilon, base, rounds=100, scheme="S2", rate=o.rate)
                continue
            for join in o.join.split(","):
                for leave in o.leave.split(","):
                    show("S3", epsilon, base, rounds=o.rounds, cohort=o.cohort, scheme="S3", rate=o.rate,
                         join=float(join), leave=float(leave))  # fmt: skip


if __name__ == "__main__":
    main()
