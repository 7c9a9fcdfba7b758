"""The simplest personal model: one's own mean, shrunk toward everybody's. Lists are by
popularity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from tacit.model.person.base import Floats, Needed, Number, Own, PersonalModel, Reason

PEOPLE_VARIANCE = 0.2
"""Between people's means, on the inner scale of width 4: a public rule, not fitted."""
NOISE_VARIANCE = 1.1
"""Of a rating around its person's mean: likewise."""


class OwnMean(PersonalModel):
    """Needs `weight` (item popularity) and the number `mean`."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {"weight": Needed(("items",))}
    numbers_needed: ClassVar[Mapping[str, Number]] = {"mean": Number(-1e6, 1e6)}

    ranks_by = "popularity"

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """The person's shrunk mean, for every item."""
        mean = self.numbers["mean"]
        precision = 1 / PEOPLE_VARIANCE + len(user_ratings.values) / NOISE_VARIANCE
        centre = mean + float(np.sum(user_ratings.values - mean)) / NOISE_VARIANCE / precision
        items = len(self.arrays["weight"])
        sd = np.sqrt(NOISE_VARIANCE + 1 / precision)
        return np.full(items, np.clip(centre, -2, 2)), np.full(items, sd)

    def scores(self, user_ratings: Own) -> Floats:
        """Popularity: the mean does not order items."""
        return np.asarray(self.arrays["weight"], np.float64)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """Every own rating pulls the mean alike."""
        mean = self.numbers["mean"]
        precision = 1 / PEOPLE_VARIANCE + len(user_ratings.values) / NOISE_VARIANCE
        return Reason(mean, (user_ratings.values - mean) / NOISE_VARIANCE / precision)
