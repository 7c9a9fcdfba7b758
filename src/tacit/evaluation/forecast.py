"""What a budget buys, on a synthetic population of the declared shape: touches no data,
spends nothing.

Accuracy depends on the noise relative to the number of people. So a large population is
stood in for by a smaller one with proportionally less noise: mu' = mu * people / stand-ins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.evaluation.metrics import rmse

if TYPE_CHECKING:
    from tacit.methods.base import Method

STAND_INS = 3000
MOST_ITEMS = 3000
RATINGS_EACH = 50
"""Assumed mean number of ratings of a person."""


@dataclass(frozen=True)
class Forecast:
    """Expected RMSE on a scale of width 4, on synthetic people."""

    private: float | None
    twin: float | None
    own_mean: float


def forecast(
    method: Method,
    people: int,
    items: int,
    *,
    max_ratings: int | None = None,
    seed: int = 0,
) -> Forecast:
    """Run the method and its non-private twin on synthetic people of this shape, with the
    cap on ratings that a fit would have."""
    from tacit.data.splits import per_rating
    from tacit.evaluation.sweep import measure
    from tacit.fitting.check import usual_delta
    from tacit.fitting.run import trial
    from tacit.ledger.account.calibrate import gaussian_mu
    from tacit.ledger.account.gaussian import epsilon_at

    stand_ins = min(people, STAND_INS)
    split = per_rating(
        synthetic(stand_ins, min(items, MOST_ITEMS), seed), 0.1, seed
    )
    options = method.get_params()
    delta = usual_delta(people) if method.delta is None else method.delta
    options["delta"] = delta
    if method.epsilon is not None and people > stand_ins:
        factor = people / stand_ins
        if delta > 0:
            stronger = gaussian_mu(method.epsilon, delta) * factor
            options["epsilon"] = min(epsilon_at(stronger, delta), 1e4)
        else:
            options["epsilon"] = method.epsilon * factor
    twin = type(method)(**(options | {"calibration": "none", "epsilon": None}))
    own = _own_mean(split.fold_in, split.test)
    schema = split.train.schema.declare(max_ratings=max_ratings)
    train = replace(split.train, schema=schema)

    def error(each: Method) -> float | None:
        model = trial(each, train, users=stand_ins)
        if (
            model.personal.ranks_by == "score"
        ):  # likes say nothing about ratings
            return None
        return measure(model, split, lists=False)["rmse"]

    return Forecast(error(type(method)(**options)), error(twin), own)


def synthetic(people: int, items: int, seed: int = 0) -> Ratings:
    """Plausible ratings 1 to 5 of any shape: skewed popularity, item and person effects, a
    few tastes, noise."""
    rng = np.random.default_rng(seed)
    chance = 1 / (np.arange(items) + 10.0) ** 0.8
    chance /= chance.sum()
    most = max(1, items // 2)
    counts = np.clip(
        np.rint(rng.lognormal(np.log(RATINGS_EACH) - 0.4, 0.9, people)).astype(
            np.int64
        ),
        5,
        most,
    )
    keys = np.log(chance) + rng.gumbel(size=(people, items)).astype(np.float32)
    order = np.argpartition(-keys, np.minimum(counts.max(), items - 1), axis=1)
    tastes = 5
    effect = 0.3 * rng.normal(size=items) + 0.1 * np.log(chance / chance.mean())
    loading, taste = (
        0.25 * rng.normal(size=(items, tastes)),
        rng.normal(size=(people, tastes)),
    )
    person = 0.4 * rng.normal(size=people)
    rows, values = [], []
    for one in range(people):
        ranked = order[one, : counts.max() + 1]
        mine = np.sort(ranked[np.argsort(-keys[one, ranked])[: counts[one]]])
        score = (
            3.5
            + person[one]
            + effect[mine]
            + loading[mine] @ taste[one]
            + 0.85 * rng.normal(size=len(mine))
        )
        rows.append(mine.astype(np.uint32))
        values.append(np.clip(np.rint(score), 1, 5).astype(np.float32))
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(
        np.int64
    )
    return Ratings(
        Schema(1, 5, source="synthetic"),
        [str(i) for i in range(people)],
        [str(i) for i in range(items)],
        ptr,
        np.concatenate(rows),
        np.concatenate(values),
    )


def _own_mean(given: Ratings, asked: Ratings) -> float:
    """What each person could predict with no server at all: her own mean, shrunk to the
    middle of everybody's."""
    counts = np.diff(given.ptr)
    sums = np.bincount(given.user, given.value, given.n_users)
    centre = given.value.mean()
    mean = (sums + 5 * centre) / (counts + 5)
    error = rmse(np.repeat(mean, np.diff(asked.ptr)), asked.value)
    assert error is not None
    return error
