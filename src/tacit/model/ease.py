"""Lists from likes: each liked item speaks for others by its EASE weight; popularity orders what they do not reach."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.model.personal import Floats, Own, PersonalModel, Reason

BELOW = -1e3
"""Items outside the Gram come after all others, by popularity."""


class EasePersonal(PersonalModel):
    """Needs `weight`; and `left`, `right`, `head` where a Gram was released. Ratings are not predicted."""

    ranks_by = "score"

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        place = np.full(len(self.arrays["weight"]), -1, np.int64)
        if "head" in self.arrays:
            place[self.arrays["head"]] = np.arange(len(self.arrays["head"]))
        return place

    @cached_property
    def _base(self) -> Floats:
        weight: Floats = np.asarray(self.arrays["weight"], np.float64)
        share: Floats = weight / (1 + weight.max(initial=0.0))
        return np.asarray(share if "head" not in self.arrays else BELOW + share)

    def scores(self, own: Own) -> Floats:
        out = self._base.copy()
        liked = self._place[own.items]
        liked = liked[liked >= 0]
        if "head" not in self.arrays or not len(liked):
            return out
        left, right, head = self.arrays["left"], self.arrays["right"], self.arrays["head"]
        out[head] = right @ left[liked].sum(axis=0)
        out[head[liked]] -= (left[liked] * right[liked]).sum(axis=1)
        return out

    def predict(self, own: Own) -> tuple[Floats, Floats]:
        items = len(self.arrays["weight"])
        return np.zeros(items), np.full(items, 2.0)  # likes say nothing about a rating

    def explain(self, own: Own, item: int) -> Reason:
        out = np.zeros(len(own.items))
        target, liked = self._place[item], self._place[own.items]
        if target >= 0:
            speaks = (liked >= 0) & (own.items != item)
            out[speaks] = self.arrays["left"][liked[speaks]] @ self.arrays["right"][target]
        return Reason(0.0, out)

    def similar(self, item: int) -> Floats:
        """Cosine of the factors by which items are spoken for."""
        out = np.full(len(self.arrays["weight"]), -1.0)
        if "head" not in self.arrays or self._place[item] < 0:
            return super().similar(item)
        right = np.asarray(self.arrays["right"], np.float64)
        length = np.sqrt((right**2).sum(axis=1)) + 1e-12
        out[self.arrays["head"]] = right @ right[self._place[item]] / (length * length[self._place[item]])
        return out
