"""The personal model of the printed descent: a person repeats her own steps along the
published item factors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product
from tacit.model.person.base import Cells, Floats, Own, PersonalModel, Reason
from tacit.model.person.needs import LEAST_NOISE, Needed, Number, Unfit

SPREAD = 1.1
"""Standard error where a person has no ratings of her own to judge by."""


class Descent(PersonalModel):
    """Needs `path` (steps x items x factors) and the numbers of the descent. Predictions
    are products of factors."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {"path": Needed(("steps", "items", "width"))}
    numbers_needed: ClassVar[Mapping[str, Number]] = {
        "start": Number(),
        "rate": Number(),
        "ridge": Number(),
        "middle": Number(),
        "unit_width": Number(low=LEAST_NOISE),
        "over": Number(low=0.0, optional=True),
    }

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """There is a last step."""
        if not len(arrays["path"]):
            raise Unfit("the array path has no step")

    @cached_property
    def path(self) -> NDArray[np.float32]:
        """The published item factors after each step."""
        return np.ascontiguousarray(self.arrays["path"], np.float32)

    @cached_property
    def last(self) -> Floats:
        """Those after the last step."""
        factors: Floats = self.path[-1].astype(np.float64)
        return factors

    def _own(self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats) -> Floats:
        from tacit.kernels.descent import advance  # compiled on first use

        n = self.numbers
        rating = n["middle"] + n["unit_width"] * value
        user_factors = np.zeros((len(ptr) - 1, self.path.shape[2] + 1))
        start = np.full(self.path.shape[2], n["start"])
        advance(
            ptr,
            item,
            rating,
            self.path,
            start,
            n["rate"],
            n["ridge"],
            n.get("over", 0.0),
            user_factors,
        )
        return np.nan_to_num(user_factors[:, :-1], nan=0.0, posinf=0.0, neginf=0.0)

    def _normalized(self, raw: Floats) -> Floats:
        return np.clip((raw - self.numbers["middle"]) / self.numbers["unit_width"], -2, 2)

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """The product of a person's last factors and an item's."""
        ends = np.array([0, len(user_ratings.items)])
        factors = self._own(ends, user_ratings.items.astype(np.uint32), user_ratings.values)[0]
        mean = self._normalized(product(self.last, factors))
        residuals = user_ratings.values - mean[user_ratings.items]
        spread = np.sqrt((SPREAD**2 + float(product(residuals, residuals))) / (1 + len(residuals)))
        return mean, np.full(len(mean), spread)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The steps are linear in the ratings, so each rating's share is exact (before the
        ends of the scale)."""
        n = self.numbers
        count = n.get("over", 0.0) or max(len(user_ratings.items), 1)
        width = self.path.shape[2]
        factors = np.full(width, n["start"])
        slope = np.zeros((width, len(user_ratings.items)))
        for step, table in enumerate(self.path):
            rows = table[user_ratings.items].astype(np.float64)
            rate = n["rate"] / (step + 1)
            keep = 1 - 2 * n["ridge"] * n["rate"] / (step + 1)
            residuals = n["middle"] - product(rows, factors)
            factors = keep * factors + 2 * rate / count * product(residuals, rows)
            moved = rows.T - product(product(rows.T, rows), slope)
            slope = keep * slope + 2 * rate / count * moved
        nobody = float(product(self.last[item], factors) - n["middle"]) / n["unit_width"]
        return Reason(nobody, product(self.last[item], slope) * user_ratings.values)

    def similar(self, item: int) -> Floats:
        """Cosine of the last factors."""
        length = np.sqrt((self.last**2).sum(axis=1))
        along = product(self.last, self.last[item])
        return np.asarray(along / np.maximum(length * length[item], 1e-12))

    def predict_cells(self, cells: Cells) -> Floats:
        """As `predict`, everybody's own steps first."""
        user_factors = self._own(cells.ptr, cells.item, cells.value)
        users = np.repeat(np.arange(len(user_factors)), np.diff(cells.ask_ptr))
        return self._normalized(
            np.einsum("ij,ij->i", user_factors[users], self.last[cells.ask_item])
        )

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, one row a person."""
        return self._normalized(self._own(ptr, item, value) @ self.last.T)
