"""Personal models of factorizations: implicit ratings, ridges that grow with the ratings,
and likes.

A rating is r_ui = baseline_i + x_i'(m_u + z_u) + e. m_u is what *having rated* items says,
whatever the ratings: n^-1/2 times the sum of `implicit` over a person's items, or (as Xian
et al. print it) n^1/2/(n + shrink) times `lift`. z_u is a ridge solution: prior N(0, I),
and `per_rating` more in its precision for each rating: one number for all columns but the
level, or an array of one a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import inverse, product, solve, spread
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
from tacit.repr import shapes


class Solved(NamedTuple):
    """Posterior of one person's user factors, with the parts that explain it."""

    start: Floats
    """Prior mean of the user factors."""
    covariance: Floats
    """Of z_u, given her ratings."""
    parts: Floats
    """One column for each own rating; their sum is E[z_u]."""

    def __repr__(self) -> str:
        return shapes(self)


class FactorPersonal(PersonalModel):
    """Ridge regression of a person's ratings on item factors.

    Arrays `baseline`, `variance`, `loadings` (the item factors; column 0 is the user bias), and
    `implicit` or `lift` if any."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        "baseline": Needed(("items",)),
        "variance": Needed(("items",), low=0.0),
        "loadings": Needed(("items", "width")),
        "implicit": Needed(("items", "width"), optional=True),
        "lift": Needed(("width",), optional=True),
        "weight": Needed(("items",), optional=True),
        "per_rating": Needed(("width",), low=0.0, optional=True),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {
        "noise": Number(low=LEAST_NOISE),
        "per_rating": Number(low=0.0, optional=True),
        "lift_shrink": Number(low=0.0, optional=True),
    }

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """Raise if `lift` comes without the number `lift_shrink`."""
        if "lift" in arrays and "lift_shrink" not in numbers:
            raise Unfit("the number lift_shrink is missing")

    def _array(self, name: str) -> Floats:
        return np.ascontiguousarray(self.arrays[name], np.float64)

    @cached_property
    def loadings(self) -> Floats:
        """Item factors x_i, scaled so that the prior of z_u is N(0, I)."""
        return self._array("loadings")

    @cached_property
    def baseline(self) -> Floats:
        """What is expected of each item before anything is known about a person."""
        return self._array("baseline")

    @cached_property
    def precision(self) -> Floats:
        """Of a rating around the personal model, by item."""
        return 1.0 / (self.numbers["noise"] + self._array("variance"))

    @cached_property
    def implicit(self) -> Floats:
        """Factors of having rated an item; no rows where there are none."""
        if "implicit" in self.arrays:
            return self._array("implicit")
        return np.zeros((0, self.loadings.shape[1]))

    @cached_property
    def per_rating(self) -> Floats:
        """Precision that each rating adds to the prior of each column: an array, or one number for
        all columns but the user bias."""
        if "per_rating" in self.arrays:
            return self._array("per_rating")
        precision = np.full(self.loadings.shape[1], self.numbers.get("per_rating", 0.0))
        precision[0] = 0.0
        return precision

    def start(self, items: NDArray[np.int64]) -> Floats:
        """Prior mean of the user factors, from which items were rated (implicit feedback)."""
        count = len(items)
        if count and "lift" in self.arrays:
            part: Floats = (
                self._array("lift") * np.sqrt(count) / (count + self.numbers["lift_shrink"])
            )
            return part
        if count and len(self.implicit):
            total: Floats = self.implicit[items].sum(axis=0) / np.sqrt(count)
            return total
        return np.zeros(self.loadings.shape[1])

    def _solve(self, user_ratings: Own) -> Solved:
        rows, start = self.loadings[user_ratings.items], self.start(user_ratings.items)
        weighted = rows * self.precision[user_ratings.items][:, None]
        diagonal = 1.0 + self.per_rating * len(user_ratings.items)
        covariance = inverse(np.diag(diagonal) + product(rows.T, weighted))
        residuals = user_ratings.values - self.baseline[user_ratings.items] - product(rows, start)
        parts = product(covariance, (weighted * residuals[:, None]).T)
        return Solved(start, covariance, parts)

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Baseline plus item factors times user factors, and standard deviations."""
        solution = self._solve(user_ratings)
        vector = solution.start + solution.parts.sum(axis=1)
        mean = self.baseline + product(self.loadings, vector)
        unknown = spread(self.loadings, solution.covariance)
        return mean, np.sqrt(unknown + 1.0 / self.precision)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """Points of each rating; those of implicit feedback are shared evenly among the rated
        items."""
        solution = self._solve(user_ratings)
        row = self.loadings[item]
        shared = product(row, solution.start) / max(len(user_ratings.items), 1)
        influences = product(row, solution.parts) + (shared if len(user_ratings.items) else 0.0)
        return Reason(float(self.baseline[item]), influences)

    def similar(self, item: int) -> Floats:
        """Cosine of the item factors without the user bias, which all items share."""
        rows = self.loadings[:, 1:]
        length = np.sqrt((rows**2).sum(axis=1))
        closeness: Floats = product(rows, rows[item]) / np.maximum(length * length[item], 1e-12)
        return closeness

    def _vectors(self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats) -> Floats:
        """m_u + E[z_u] of many people, one row each."""
        from tacit.kernels.factors import fold_in_rows

        people, width = len(ptr) - 1, self.loadings.shape[1]
        start = np.zeros((people, width))
        if "lift" in self.arrays:
            count = np.diff(ptr)[:, None]
            start = self._array("lift") * np.sqrt(count) / (count + self.numbers["lift_shrink"])
        out = np.empty((people, width))
        residual = value - self.baseline[item]
        fold_in_rows(
            ptr,
            item,
            residual,
            self.loadings,
            self.precision,
            self.implicit,
            start,
            self.per_rating,
            out,
        )
        return out

    def predict_cells(self, cells: Cells) -> Floats:
        from tacit.kernels.factors import predict_rows

        vectors = self._vectors(cells.ptr, cells.item, cells.value)
        out = np.empty(len(cells.ask_item))
        predict_rows(cells.ask_ptr, cells.ask_item, self.baseline, self.loadings, vectors, out)
        return out

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, a row for each person."""
        scores: Floats = self.baseline + self._vectors(ptr, item, value) @ self.loadings.T
        return scores


class LikedFactors(PersonalModel):
    """Likes: a person's vector solves weighted least squares over *all* items, 1 for liked
    and 0 for the rest.

    Arrays `factors`; numbers `weight` (extra weight of a like) and `ridge`. Scores rank
    items; they are no ratings.
    """

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        "factors": Needed(("items", "width")),
        "weight": Needed(("items",)),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {
        "weight": Number(low=0.0),
        "ridge": Number(low=LEAST_NOISE),
    }

    @cached_property
    def factors(self) -> Floats:
        """Item factors (items x factors)."""
        return np.ascontiguousarray(self.arrays["factors"], np.float64)

    @cached_property
    def everywhere(self) -> Floats:
        """The sum of all items' products: what unliked ones add to every solve."""
        return product(self.factors.T, self.factors)

    def _parts(self, user_ratings: Own) -> Floats:
        """One column for each like; their sum is the person's vector."""
        rows, weight = self.factors[user_ratings.items], self.numbers["weight"]
        ridge = self.numbers["ridge"] * np.eye(rows.shape[1])
        system = self.everywhere + weight * product(rows.T, rows) + ridge
        return solve(system, (1 + weight) * rows.T)

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Scores, which rank items; their error is not known."""
        scores = product(self.factors, self._parts(user_ratings).sum(axis=1)) + self._popular()
        return scores, np.ones(len(scores))

    def _popular(self) -> Floats:
        """Where nobody's likes are known, or the factors are nothing, popularity decides."""
        weight = np.asarray(self.arrays["weight"], np.float64)
        popular: Floats = 1e-3 * weight / max(float(np.abs(weight).max()), 1e-12)
        return popular

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """What each like adds to the score, beyond popularity."""
        return Reason(
            float(self._popular()[item]), product(self.factors[item], self._parts(user_ratings))
        )

    def similar(self, item: int) -> Floats:
        """Cosine of the item factors."""
        length = np.sqrt((self.factors**2).sum(axis=1))
        closeness: Floats = product(self.factors, self.factors[item]) / np.maximum(
            length * length[item], 1e-12
        )
        return closeness

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `predict`, compiled, one row a person."""
        from tacit.kernels.als import half_step_likes

        vectors = np.zeros((len(ptr) - 1, self.factors.shape[1]))
        half_step_likes(
            ptr,
            item,
            self.factors,
            self.everywhere,
            self.numbers["weight"],
            self.numbers["ridge"],
            0,
            len(ptr) - 1,
            vectors,
        )
        scores: Floats = vectors @ self.factors.T + self._popular()
        return scores
