"""Which law should a scalar report follow: one bit, piecewise, or hybrid? Run, not only
computed. NOT PRIVATE.

    python benchmarks/one_bit_scalar.py ../data/ml-1m --seeds 2

A number t in [-1, 1] is told by one bit (Duchi et al.), by the piecewise mechanism, or by
their mixture, the hybrid (Wang et al. 2019). All are epsilon-private; the last two send a
real number. Two places where a device tells a number:

- `descent`: one coordinate of the gradient, as the paper has it. Most people have not rated
  the item asked about, so most numbers are 0, where the piecewise law is most exact and the
  bit least.
- `effects`: the inner product of a person's unit vector with one random direction; beside
  them the default, which tells the nearest of many directions
  (`tacit.methods.refine.reports`).

The laws are drawn here in floats with a seed: enough to see whether one is worth being
sampled exactly.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.bound import RowClip, Rows
from tacit.data import splits
from tacit.data.splits import Split
from tacit.engine import answers
from tacit.engine.simulate import Simulate
from tacit.evaluation.sweep import measure
from tacit.fitting.run import trial
from tacit.methods.base import Public
from tacit.methods.one_bit.one_bit import Absorb, Carrier, Vectors
from tacit.methods.one_bit.plan import AnswersState, item_bias_plan, item_bias_shared
from tacit.methods.refine.reports import best_report
from tacit.model.model import Model
from tacit.noise.device import log_ratio
from tacit.noise.release import NoNoise
from tacit.rounds.people import Participation
from tacit.rounds.plan import Budget
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
LAWS = ("bit", "piecewise", "hybrid")
FIRST_SPLIT = 100
"""Splits that no table of accuracy uses."""
REACHES = np.geomspace(0.2, 5.0, 25)


def tell(law: str, epsilon: float, number: Floats, rng: np.random.Generator) -> Floats:
    """An unbiased report of each number in [-1, 1]."""
    if law == "bit":
        most = (exp(epsilon) + 1) / (exp(epsilon) - 1)
        return np.where(rng.random(len(number)) < (1 + number / most) / 2, most, -most)
    if law == "hybrid":  # below .61 the bit alone is best
        piece = 1 - exp(-epsilon / 2) if epsilon > 0.61 else 0.0
        kinds = rng.random(len(number)) < piece
        return np.where(
            kinds, tell("piecewise", epsilon, number, rng), tell("bit", epsilon, number, rng)
        )
    half = exp(epsilon / 2)
    most = (half + 1) / (half - 1)
    low = (most + 1) / 2 * number - (most - 1) / 2
    near = low + (most - 1) * rng.random(len(number))
    far = -most + (most + 1) * rng.random(len(number))  # uniform over what the middle piece leaves
    far = np.where(far > low, far + most - 1, far)
    return np.where(rng.random(len(number)) < half / (half + 1), near, far)


@cache
def best_reach(law: str, epsilon: float) -> tuple[float, float, float]:
    """(reach, gain, mean square of a report) that tell a standard normal best;
    gain^2/square is worth in people."""
    rng = np.random.default_rng(1)
    normal = rng.standard_normal(200_000)
    found = []
    for reach in REACHES:
        number = np.clip(normal / reach, -1, 1)
        gain, square = (
            reach * float(np.mean(number * normal)),
            float(np.mean(tell(law, epsilon, number, rng) ** 2)),
        )
        found.append((float(reach), gain, reach**2 * square))
    return max(found, key=lambda one: one[1] ** 2 / one[2])


@dataclass(frozen=True)
class ScalarCarrier(Carrier):
    """Every person tells one inner product with a direction of her own; the server adds up
    told x direction."""

    law: str = "bit"
    epsilon: float = 1.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(2))

    def round(
        self, name: str, size: int, takes_part: Participation, vectors: Vectors, absorb: Absorb
    ) -> Round:
        reach, gain, square = best_reach(self.law, self.epsilon)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            rows, people = vectors(block, state), len(block.people)
            direction = 1.0 - 2.0 * self.rng.integers(0, 2, (people, size + 1))
            person = np.repeat(np.arange(people), np.diff(rows.ptr))
            product = np.bincount(person, rows.values[:, 0] * direction[person, rows.index], people)
            told = reach * tell(self.law, self.epsilon, np.clip(product / reach, -1, 1), self.rng)
            cells = (told[:, None] * direction).ravel()[:, None]
            index = np.tile(np.arange(size + 1, dtype=np.uint32), people)
            return {"report": Rows(np.arange(people + 1) * (size + 1), index, cells)}

        def take(state: State, released: Mapping[str, Released]) -> State:
            got = released["report"]
            return absorb(
                state,
                got.value[:size, 0] / gain,
                sqrt(max(got.reports, 1) * square) / gain,
                got.reports,
            )

        return Round(
            name,
            (Part("report", size + 1, RowClip(1e4, "l2", 1 << 12)),),
            contribute,
            take,
            takes_part,
        )


def by_effects(part: Split, items: tacit.Catalogue, law: str, epsilon: float) -> Model:
    public = Public(part.train.schema, items, "user", "sound", Budget(epsilon, 1e-6))
    plan = item_bias_plan(public, ScalarCarrier(None, 0, law=law, epsilon=epsilon))
    engine = Simulate(part.train, 1)
    state = AnswersState(people=float(part.train.n_users))
    for round_ in plan.rounds:
        state = round_.absorb(state, engine.run(round_, state, NoNoise()))
    return Model(item_bias_shared("scalar", public, state, {}), "")


def by_descent(part: Split, name: str, law: str, epsilon: float) -> Model:
    """The printed descent with another law in place of the bit."""
    rng, kept = np.random.default_rng(3), (answers.respond, answers.unbiased)

    def drawn(event: Any, values: Floats) -> Floats:
        return tell(law, log_ratio(event), values, rng)

    try:
        answers.respond, answers.unbiased = drawn, lambda event: 1.0  # type: ignore[assignment]
        return trial(getattr(tacit, name)(epsilon=epsilon, form="descent", threads=1), part.train)
    finally:
        answers.respond, answers.unbiased = kept


def mean_error(parts: list[Split], models: list[Model]) -> float:
    return float(
        np.mean(
            [measure(m, part, lists=False)["rmse"] for m, part in zip(models, parts, strict=True)]
        )
    )


def line(name: str, values: list[float]) -> None:
    print(f"  {name:44s}" + " ".join(f"{value:8.4f}" for value in values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data")
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    print("epsilon " + " ".join(f"{epsilon:g}" for epsilon in EPSILONS))
    print("what an answer about one direction is worth, in people")
    for law in LAWS:
        line(law, [best_reach(law, e)[1] ** 2 / best_reach(law, e)[2] for e in EPSILONS])
    line("nearest of many directions (default)", [best_report(e, 7).gain ** 2 for e in EPSILONS])
    items, seeds = (tacit.read_items(given.data), range(FIRST_SPLIT, FIRST_SPLIT + given.seeds))
    parts = [splits.make(tacit.read(given.data, items=items), "90/10", seed=seed) for seed in seeds]
    print("RMSE, effects with features")
    for law in LAWS:
        line(
            law,
            [
                mean_error(parts, [by_effects(part, items, law, e) for part in parts])
                for e in EPSILONS
            ],
        )
    made = [
        [
            trial(tacit.ProjectedOneBitMF(epsilon=e, threads=1), part.train, items=items)
            for part in parts
        ]
        for e in EPSILONS
    ]
    line("nearest of many directions (default)", [mean_error(parts, models) for models in made])
    print("RMSE, descent (no features; 10 rounds, each person in one)")
    bare = [splits.make(tacit.read(given.data), "90/10", seed=seed) for seed in seeds]
    for name in ("OneBitMF", "ProjectedOneBitMF"):
        for law in LAWS:
            models = [[by_descent(part, name, law, e) for part in bare] for e in EPSILONS]
            line(f"{name}, {law}", [mean_error(bare, each) for each in models])


if __name__ == "__main__":
    main()
