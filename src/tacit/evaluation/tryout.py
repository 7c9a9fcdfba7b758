"""What a budget buys, tried on one invented population of the declared shape: for methods
and calibrations that the cost model was not fitted to. Touches no data, spends nothing.

Accuracy depends on the noise relative to the number of people. So a large population is
stood in for by a smaller one with proportionally less noise: mu' = mu * people / stand-ins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.evaluation.invent import Shape, invent
from tacit.evaluation.metrics import rmse

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.methods.base import Method

STAND_INS = 3000
MOST_ITEMS = 3000
RATINGS_EACH = 50
"""Assumed mean number of ratings of a person."""


@dataclass(frozen=True)
class TryOut:
    """Expected RMSE on a scale of width 4, on invented people."""

    private: float | None
    twin: float | None
    own_mean: float


def try_out(
    method: Method, people: int, items: int, *, max_ratings: int | None = None, seed: int = 0
) -> TryOut:
    """Run the method and its non-private twin on invented people of this shape, with the
    cap on ratings that a fit would have."""
    from tacit.data.splits import per_rating
    from tacit.evaluation.sweep import measure
    from tacit.fitting.check import usual_delta
    from tacit.fitting.run import trial
    from tacit.ledger.account.calibrate import gaussian_mu
    from tacit.ledger.account.gaussian import epsilon_at

    stand_ins = min(people, STAND_INS)
    split = per_rating(_invented(stand_ins, min(items, MOST_ITEMS), seed), 0.1, seed)
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
    user_mean_error = _own_mean(split.fold_in, split.test)
    schema = split.train.schema.declare(max_ratings=max_ratings)
    train = replace(split.train, schema=schema)

    def error(variant: Method) -> float | None:
        model = trial(variant, train, users=stand_ins)
        if model.personal.ranks_by == "score":  # likes say nothing about ratings
            return None
        return measure(model, split, lists=False)["rmse"]

    return TryOut(error(type(method)(**options)), error(twin), user_mean_error)


def _invented(people: int, items: int, seed: int) -> Ratings:
    return invent(Shape(people, items, RATINGS_EACH), seed=seed)[0]


def _own_mean(fold_in: Ratings, test: Ratings) -> float:
    """What each person could predict with no server at all: her own mean, shrunk to the
    middle of everybody's."""
    counts = np.diff(fold_in.ptr)
    sums = np.bincount(fold_in.user, fold_in.value, fold_in.n_users)
    centre = fold_in.value.mean()
    mean = (sums + 5 * centre) / (counts + 5)
    error = rmse(np.repeat(mean, np.diff(test.ptr)), test.value)
    assert error is not None
    return error
