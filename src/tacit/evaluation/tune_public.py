"""Tuning on public ratings: every candidate is fitted and compared as it is, for nothing.

That the ratings are public is the owner's word, which is stated. Nothing of a population's
book is touched: what is learned are settings, and they depend on nobody private.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.data.catalogue import Catalogue
from tacit.data.held_out import keep_apart
from tacit.data.ratings import aligned
from tacit.evaluation.summed import COUNTED, MeasuredMethod
from tacit.evaluation.tune import SCORED, Contestant
from tacit.fitting.run import _Run, trial
from tacit.noise.release import NoNoise

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.model.model import Model

PUBLIC = (
    "chosen on ratings that their owner says are public: nothing was charged, and nothing is "
    "promised to the people who gave them"
)
ALL = {"most": 1000, "worst": 16.0}
"""Nothing is cut: public errors need no bound."""


@dataclass(frozen=True)
class Compared:
    """One candidate and its figures, one for each split."""

    candidate: Contestant
    metric: str
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the splits."""
        return float(np.mean(self.scores))

    @property
    def error(self) -> float | None:
        """Standard error of the mean; None for one split."""
        if len(self.scores) < 2:
            return None
        return float(np.std(self.scores, ddof=1)) / sqrt(len(self.scores))


def tune_public(
    ratings: Ratings,
    grid: tuple[Contestant, ...],
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    seeds: int = 3,
    **options: Any,
) -> list[Compared]:
    """Every candidate over the same splits, best first. The noise is that of the budget for
    which settings are chosen."""
    candidate_scores: list[list[float]] = [[] for _ in grid]
    likes = ratings.schema.positive is not None
    for _ in range(seeds):
        rule = keep_apart(SCORED)
        train = rule.training_ratings(ratings)
        for index, candidate in enumerate(grid):
            method = candidate.make(**options)
            model = trial(method, train, items=items, users=users)
            over = aligned(ratings, Catalogue(list(model.shared.catalogue.ids)))
            candidate_scores[index].append(_exact(model, rule.doubled(over), likes))
    metric = "recall@20" if likes else "rmse"
    compared = [
        Compared(candidate, metric, tuple(scores))
        for candidate, scores in zip(grid, candidate_scores, strict=True)
    ]
    return sorted(compared, key=lambda entry: -entry.mean if likes else entry.mean)


def _exact(model: Model, twice: Ratings, likes: bool) -> float:
    """The figure itself, without noise."""
    part = "hits" if likes else "errors"
    score_options = {"parts": (part,), "liked": -2.0} if likes else {"parts": (part,)}
    method = MeasuredMethod(model, epsilon=1.0, unit="user", **ALL, **score_options)
    run = _Run(method, twice, None, None, None)
    round_ = run.settled.plan.rounds[0]
    count, summed = run.engine.run(round_, run.first_state(), NoNoise())[part].value[0].tolist()
    ratio = summed * COUNTED[part][0] / max(count, 1e-9)
    width = model.shared.schema.unit_width
    return ratio if likes else width * sqrt(ALL["worst"] * ratio)
