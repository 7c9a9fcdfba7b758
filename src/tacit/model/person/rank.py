"""From predictions to a list: how to order, what to leave out, ties by catalogue order."""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.model.person.base import Floats, Own, PersonalModel, answering, leaning, sensible
from tacit.repr import shapes

LIKED = 1.0
"""A rating of three quarters of the scale and more (4 on 1..5) is a like; on the inner
scale that is 1."""


SAME = 1e-9
"""Scores that differ by less order nothing."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """All items, with what they are ordered by."""

    scores: Floats
    mean: Floats
    """The expected rating of each, on the inner scale."""
    sd: Floats
    """Standard error of the mean."""

    __repr__ = shapes


def rates(model: PersonalModel, schema: Schema) -> bool:
    """Whether a model expects ratings. One of likes orders, and no more."""
    return schema.positive is None and model.ranks_by != "score"


def check_order(model: PersonalModel, schema: Schema, by: str | None) -> None:
    """Refuse, for a model of likes, an order by ratings, which it has none of."""
    if by in ("rating", "liked") and not rates(model, schema):
        raise SettingError(
            f"--by {by} is for models of ratings, and this one is of likes",
            remedy="leave --by out: it is ordered by what people like; or use --by explore",
        )


def points(model: PersonalModel, schema: Schema) -> float:
    """What a step of the inner scale is called: rating points, or for likes the score
    itself. What is popular is moved by nobody's likes."""
    if rates(model, schema):
        return schema.unit_width
    return 0.0 if model.ranks_by == "popularity" else 1.0


def order_scores(model: PersonalModel, user_ratings: Own, by: str | None) -> Ordered:
    """Scores to order by, and the expected rating with its standard error."""
    with answering():
        ordered = _ordered(model, user_ratings, by)
    sensible(ordered.scores, ordered.mean, ordered.sd)
    return ordered


def _ordered(model: PersonalModel, user_ratings: Own, by: str | None) -> Ordered:
    order = by or model.ranks_by
    mean, sd = model.predict(user_ratings)
    if by is None and order == "rating":
        return Ordered(leaning(mean, model.lean()), mean, sd)
    if order == "rating":
        return Ordered(mean, mean, sd)
    if order == "liked":
        return Ordered(chance_above(mean, sd, LIKED), mean, sd)
    # Optimism: what it might well be, where the model does not know yet.
    if order == "explore":
        hoped = mean + sd
        if not np.ptp(hoped) > SAME:
            hoped = _unfamiliar(model, user_ratings)
        return Ordered(hoped, mean, sd)
    if order == model.ranks_by:  # popularity, or a score of likes
        return Ordered(model.scores(user_ratings), mean, sd)
    raise SettingError(
        f"--by {order} is unknown for this model", remedy="use rating, liked or explore"
    )


def _unfamiliar(model: PersonalModel, user_ratings: Own) -> Floats:
    """Where nothing is known about ratings and their errors: what the model ranks high and
    few people know. Both are put on their own spread, so that neither drowns the other."""
    scores = _spread(model.scores(user_ratings))
    weight = model.arrays.get("weight")
    if weight is None:
        return scores
    familiarity = np.log1p(np.maximum(np.asarray(weight, np.float64), 0.0))
    if model.ranks_by == "popularity":  # the score is how well known an item is
        return -familiarity
    return scores - _spread(familiarity)


def _spread(values: Floats) -> Floats:
    deviation = float(values.std())
    centred: Floats = values - values.mean()
    return centred / deviation if deviation > 0 else centred


def chance_above(mean: Floats, sd: Floats, level: float) -> Floats:
    """Probability that a new rating is at least `level`, given mean and standard deviation."""
    reach = (level - mean) / np.maximum(sd, 1e-9)
    return np.array([0.5 * erfc(x / sqrt(2)) for x in reach])


def top(scores: Floats, n: int, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The n best allowed rows, best first; equal scores in catalogue order."""
    rows = np.flatnonzero(allowed)
    if n < len(rows):
        allowed_scores = scores[rows]
        edge = np.partition(allowed_scores, len(allowed_scores) - n)[len(allowed_scores) - n]
        rows = rows[allowed_scores >= edge]
    return rows[np.argsort(-scores[rows], kind="stable")][:n]
