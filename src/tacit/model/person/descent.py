"""The personal model of the printed descent: a person repeats her own steps along the
published item factors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product, solve
from tacit.model.person.base import (
    LEAST_NOISE,
    Cells,
    Floats,
    Needed,
    Number,
    Own,
    PersonalModel,
    Reason,
    Unfit,
)

SPREAD = 1.1
"""Standard error where a person has no ratings of her own to judge by."""
STEPS = 200
"""Steps of the recovery of sparse scores."""
WEIGHT = 0.02
"""Of the largest entry of Phi'z: below it an entry is taken as 0."""
STEADY = 1e-10
"""Added to the diagonal, as a share of it: rows of a small projection may be the same."""
PEOPLE = 64
"""Solved side by side where many are asked for."""


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
        """Raise if `path` is empty: predictions need the factors after the last step."""
        if not len(arrays["path"]):
            raise Unfit("the array path has no step")

    @cached_property
    def path(self) -> NDArray[np.float32]:
        """The published item factors after each step."""
        return np.ascontiguousarray(self.arrays["path"], np.float32)

    @cached_property
    def last_factors(self) -> Floats:
        """Item factors after the last step (items x factors)."""
        factors: Floats = self.path[-1].astype(np.float64)
        return factors

    def _user_factors(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
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
        factors = self._user_factors(
            ends, user_ratings.items.astype(np.uint32), user_ratings.values
        )[0]
        mean = self._normalized(product(self.last_factors, factors))
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
        nobody = float(product(self.last_factors[item], factors) - n["middle"]) / n["unit_width"]
        return Reason(nobody, product(self.last_factors[item], slope) * user_ratings.values)

    def similar(self, item: int) -> Floats:
        """Cosine of the last item factors."""
        length = np.sqrt((self.last_factors**2).sum(axis=1))
        along = product(self.last_factors, self.last_factors[item])
        return np.asarray(along / np.maximum(length * length[item], 1e-12))

    def predict_cells(self, cells: Cells) -> Floats:
        """As `predict`, for many people; each person's own steps are replayed once."""
        user_factors = self._user_factors(cells.ptr, cells.item, cells.value)
        users = np.repeat(np.arange(len(user_factors)), np.diff(cells.ask_ptr))
        return self._normalized(
            np.einsum("ij,ij->i", user_factors[users], self.last_factors[cells.ask_item])
        )

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, a row for each person."""
        return self._normalized(self._user_factors(ptr, item, value) @ self.last_factors.T)


# A person's scores recovered from a projection (Shin et al. 2018, equation 10): the sparsest vector
# that projects to B u.
#
# The paper tries this and drops it. It is here to be measured: minimise |x|_1 subject to Phi
# x = B u, on the device, by accelerated proximal steps on |Phi x - B u|^2/2 + weight |x|_1
# with a small weight. The steps amplify rounding some hundred times, so they are taken in double
# precision, and every sum in a fixed order.


class SparseDescent(Descent):
    """Needs `projection` (q x items) beside the arrays of the descent. An item of which
    nothing is recovered is 0."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        **Descent.arrays_needed,
        "projection": Needed(("rows", "items")),
    }

    @cached_property
    def projection(self) -> Floats:
        """The public projection Phi (reduced x factors)."""
        return np.ascontiguousarray(self.arrays["projection"], np.float64)

    @cached_property
    def _across(self) -> Floats:
        return np.ascontiguousarray(self.projection.T)

    @cached_property
    def reduced(self) -> Floats:
        """B with Phi'B = the last factors, by least squares."""
        gram = _product(self.projection, self._across)
        gram[np.diag_indices_from(gram)] *= 1 + STEADY
        return solve(gram, _product(self.projection, self.last_factors))

    @cached_property
    def _size(self) -> float:
        """Largest squared singular value of the projection, by the power method."""
        vector = np.ones((self.projection.shape[1], 1))
        for _ in range(50):
            vector = _product(self._across, _product(self.projection, vector))
            vector /= np.sqrt((vector**2).sum())
        return float((_product(self.projection, vector) ** 2).sum()) * 1.01

    def _recover(self, user_factors: Floats) -> Floats:
        """One row of raw ratings a person, from rows of own factors."""
        target = _product(self.reduced, user_factors.T)
        phi, across, rate = self.projection, self._across, 1 / self._size
        threshold = rate * WEIGHT * np.abs(_product(across, target)).max(axis=0)
        recovered = np.zeros((phi.shape[1], user_factors.shape[0]))
        ahead, momentum = recovered, 1.0
        for _ in range(STEPS):
            gradient_step = ahead - rate * _product(across, _product(phi, ahead) - target)
            updated = np.sign(gradient_step) * np.maximum(np.abs(gradient_step) - threshold, 0)
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = updated + (momentum - 1) / grown * (updated - recovered)
            recovered, momentum = updated, grown
        return recovered.T

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """What is recovered of everything that a person would rate."""
        ends = np.array([0, len(user_ratings.items)])
        factors = self._user_factors(
            ends, user_ratings.items.astype(np.uint32), user_ratings.values
        )
        mean = self._normalized(self._recover(factors)[0])
        residuals = user_ratings.values - mean[user_ratings.items]
        spread = np.sqrt((1.0 + float(product(residuals, residuals))) / (1 + len(residuals)))
        return mean, np.full(len(mean), spread)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The recovery is not linear in the ratings: what they change together is shared
        out evenly."""
        nobody = Own(user_ratings.items[:0], user_ratings.values[:0])
        baseline, prediction = (
            float(self.predict(rater)[0][item]) for rater in (nobody, user_ratings)
        )
        share = (prediction - baseline) / max(len(user_ratings.items), 1)
        return Reason(baseline, np.full(len(user_ratings.items), share))

    def predict_cells(self, cells: Cells) -> Floats:
        """As `predict`, a few people at a time."""
        factors = self._user_factors(cells.ptr, cells.item, cells.value)
        out = np.empty(len(cells.ask_item))
        for start in range(0, len(factors), PEOPLE):
            ratings = self._normalized(self._recover(factors[start : start + PEOPLE]))
            begin = cells.ask_ptr[start]
            end = cells.ask_ptr[min(start + PEOPLE, len(factors))]
            counts = np.diff(cells.ask_ptr[start : start + PEOPLE + 1])
            out[begin:end] = ratings[
                np.repeat(np.arange(len(counts)), counts), cells.ask_item[begin:end]
            ]
        return out

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, a row for each person."""
        return self._normalized(self._recover(self._user_factors(ptr, item, value)))


def _product(left: Floats, right: Floats) -> Floats:
    """`left @ right` by a kernel of this package: the same bits on every machine."""
    from tacit.kernels.descent import add_product  # compiled on first use

    out = np.zeros((len(left), right.shape[1]))
    add_product(left, np.ascontiguousarray(right), out)
    return out
