"""What S1, S2 and S3 of Hua, Xia & Zhong 2015 have in common: ratings from 1 to 5, the two
halves of a step, and the fold-in of section 3.3."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Method, Public
from tacit.methods.factorization.publish import shared_model
from tacit.model.shared import Shared
from tacit.papers.factors.form import TrainedPeople

Floats = NDArray[np.float64]
Step = Literal["mean", "sum", "objective", "scaled", "solve"]
OFFSET = 3.0
"""The printed factorization is of ratings from 1 to 5; inside, mid-scale is 0."""
SPAN = 4.0
"""Delta: of the inner scale, whatever the data's is."""
FACTORS = 50
"""d."""
RATE = 2.0**-5
"""gamma."""
RIDGE = 0.001
"""lambda = mu."""
ROUNDS = 100
"""Of S1 and S2: what the baseline runs."""
NOISE = 0.8
"""Variance of a rating around the model: sets the scale of the published loadings, not the
predictions."""
LEAST_RIDGE = 1e-6
"""Of lambda: stands beside a ridge that is all for each rating."""
MOST_ENTRY = 1e6
"""What has diverged is cut at +-this."""


class StepWeights(NamedTuple):
    """Of a step over n gradients: it is divided by `each` n + `over`, and its ridge weighs
    `kept` n + `pull`."""

    each: float
    over: float
    kept: float
    pull: float

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """As a kernel takes them."""
        return self.each, self.over, self.kept, self.pull


def weights_of(step: Step, ridge: float, cells: float) -> StepWeights:
    """What the gain multiplies: the mean gradient; the sum (equations 2 to 5 to the letter);
    that of equation 1, which is over all `cells`; or that over its curvature."""
    if step == "mean":
        return StepWeights(1.0, 0.0, 1.0, 0.0)
    if step == "sum":
        return StepWeights(0.0, 1.0, 0.0, 1.0)
    if step == "objective":
        return StepWeights(0.0, cells, 0.0, cells)
    return StepWeights(1.0, ridge * cells, 0.0, cells)


def items_step(
    items: Floats, gradient: Floats, raters: Floats, weights: StepWeights, rate: float, ridge: float
) -> Floats:
    """Equation 3: items that somebody rated move against the sum of gradients (with its
    noise) and their ridge."""
    floored_raters = np.maximum(raters, 1)
    with np.errstate(all="ignore"):  # some readings run away
        pull = 2 * ridge * (weights.kept * floored_raters + weights.pull) * items
        change = (gradient + pull) / (weights.each * floored_raters + weights.over)
        return np.where(raters > 0, items - rate * change, items)


def published(
    method: Method, public: Public, items: Floats, weights: StepWeights, ridge: float
) -> Shared:
    """Item profiles for section 3.3's ridge regression: argmin |r - V u|^2 + ridge |u|^2 with
    lambda, weighed as the steps weigh it. There is no level: who has no ratings is at 0."""
    items = np.clip(np.nan_to_num(items), -MOST_ENTRY, MOST_ENTRY)
    per_rating = ridge * weights.kept
    fixed = max(ridge * weights.pull, LEAST_RIDGE * max(ridge, LEAST_RIDGE))
    level = np.zeros((len(items), 1))
    arrays = {
        "baseline": np.full(len(items), -OFFSET),
        "variance": np.zeros(len(items)),
        "loadings": np.hstack([level, items * np.sqrt(NOISE / fixed)]),
    }
    numbers = {"noise": NOISE, "per_rating": per_rating / fixed}
    return shared_model(method, public, "factors", arrays, numbers)


def trained_people(profiles: Floats, items: Floats) -> TrainedPeople:
    """Section 5's predictions: products of the profiles that the training left."""
    nobody = np.zeros(len(profiles))
    return TrainedPeople(
        np.full(len(items), -OFFSET), nobody, np.nan_to_num(profiles), np.nan_to_num(items)
    )
