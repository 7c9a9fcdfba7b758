"""Lists from likes: each liked item speaks for others by its EASE weight; popularity orders
what they do not reach."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product
from tacit.model.person.base import Floats, Needed, Own, PersonalModel, Reason, Unfit

PRIOR_LIKES = 3.0
"""Weight of everybody's popularity, in likes of one's own: a person with few likes gets more of
what all like. Chosen on splits that are not reported: docs/results/covariance.md."""


class EasePersonal(PersonalModel):
    """Needs `weight`; and `left`, `right`, `head` where a Gram was released. Ratings are
    not predicted."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        "weight": Needed(("items",)),
        "left": Needed(("head", "width"), optional=True),
        "right": Needed(("head", "width"), optional=True),
        "head": Needed(("head",), whole=True, optional=True),
    }

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """The Gram is whole or absent, and over items, each once."""
        parts = {"left", "right", "head"} & set(arrays)
        if not parts:
            return
        if len(parts) != 3:
            raise Unfit("the arrays left, right and head go together")
        head = arrays["head"]
        if not len(head) or not (head.min() >= 0 and head.max() < items):
            raise Unfit("the array head names items that there are not")
        if len(np.unique(head)) != len(head):
            raise Unfit("the array head names an item twice")

    ranks_by = "score"

    @cached_property
    def _gram_rows(self) -> NDArray[np.int64]:
        gram_rows = np.full(len(self.arrays["weight"]), -1, np.int64)
        if "head" in self.arrays:
            gram_rows[self.arrays["head"]] = np.arange(len(self.arrays["head"]))
        return gram_rows

    @cached_property
    def _share(self) -> Floats:
        """Popularity of each item, scaled to [0, 1)."""
        weight: Floats = np.asarray(self.arrays["weight"], np.float64)
        return np.asarray(weight / (1 + weight.max(initial=0.0)))

    @cached_property
    def _start(self) -> Floats:
        """Prior from everybody's likes for the items in the Gram, in units of a person's own
        likes."""
        share = self._share[self.arrays["head"]]
        prior_likes = PRIOR_LIKES * share / (float(share.sum()) or 1.0)
        return product(self.arrays["right"], product(prior_likes, self.arrays["left"]))

    def scores(self, user_ratings: Own) -> Floats:
        """Scores of items in the Gram from the person's likes and the prior; all other items follow
        below the lowest of them, by popularity."""
        liked = self._gram_rows[user_ratings.items]
        liked = liked[liked >= 0]
        if not len(liked):
            return self._share.copy()
        left = self.arrays["left"]
        right = self.arrays["right"]
        head = self.arrays["head"]
        gram_scores = self._start + product(right, left[liked].sum(axis=0))
        gram_scores[liked] -= (left[liked] * right[liked]).sum(axis=1)
        out = self._share - 1 + gram_scores.min()
        out[head] = gram_scores
        return np.asarray(out)

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Mid-scale, give or take half the scale: a model of likes knows nothing of ratings."""
        items = len(self.arrays["weight"])
        return np.zeros(items), np.full(items, 2.0)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The weight of each liked item for this one, and of everybody's likes."""
        out = np.zeros(len(user_ratings.items))
        everybody = 0.0
        target, liked = self._gram_rows[item], self._gram_rows[user_ratings.items]
        if target >= 0:
            everybody = float(self._start[target])
            speaks = (liked >= 0) & (user_ratings.items != item)
            out[speaks] = product(self.arrays["left"][liked[speaks]], self.arrays["right"][target])
        return Reason(everybody, out)

    def similar(self, item: int) -> Floats:
        """Cosine of the factors by which items are spoken for."""
        out = np.full(len(self.arrays["weight"]), -1.0)
        if "head" not in self.arrays or self._gram_rows[item] < 0:
            return super().similar(item)
        right = np.asarray(self.arrays["right"], np.float64)
        length = np.sqrt((right**2).sum(axis=1)) + 1e-12
        out[self.arrays["head"]] = product(right, right[self._gram_rows[item]]) / (
            length * length[self._gram_rows[item]]
        )
        return out
