"""The personal Gaussian model over shared arrays: `baseline`, `variance`, `loadings` (item
factors), and the number `noise`; `per_rating` where the error of the item factors is known,
`implied` and `usual` where implicit feedback was learned."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.fixed_order import product
from tacit.model.person import gaussian
from tacit.model.person.base import Cells, Floats, Own, PersonalModel, Reason
from tacit.model.person.days import SECONDS, Daily, daily, day_of
from tacit.model.person.gaussian import IMPLICIT_MORE, GaussianModel
from tacit.model.person.needs import LEAST_NOISE, Needed, Number, Unfit

OTHERS = 0.6
"""Share of an item's own effect that the order of a list leaves out. With all of it in, the
same few best items are on top of every list. Both constants were chosen on splits of ML-1M and
ML-100K that are not reported: docs/results/bayes.md."""
KNOWN = 0.12
"""What one unit of the log of popularity adds, on the inner scale. Where noise has drowned
popularity its released estimates are near each other, and add little."""


class GaussianPersonal(PersonalModel):
    """One small ridge solve a person; see `tacit.model.person.gaussian`."""

    arrays_needed: ClassVar[Mapping[str, Needed]] = {
        "baseline": Needed(("items",)),
        "variance": Needed(("items",), low=0.0),
        "loadings": Needed(("items", "width")),
        "weight": Needed(("items",), optional=True),
        "kept": Needed(("kept", "known"), optional=True),
        "per_rating": Needed(("width",), low=0.0, optional=True),
        "implied": Needed(("width", "width"), optional=True),
        "usual": Needed(("width",), optional=True),
    }
    numbers_needed: ClassVar[Mapping[str, Number]] = {"noise": Number(low=LEAST_NOISE)}

    @classmethod
    def check_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], numbers: Mapping[str, float], items: int
    ) -> None:
        """Raise if only one of `implied` and `usual` is there: implicit feedback is measured
        against what is usual."""
        super().check_arrays(arrays, numbers, items)
        if ("implied" in arrays) != ("usual" in arrays):
            raise Unfit("one of the arrays implied and usual is missing")

    @cached_property
    def model(self) -> GaussianModel:
        """The shared arrays, in the precision in which a person computes."""
        return GaussianModel(
            np.ascontiguousarray(self.arrays["baseline"], np.float64),
            np.ascontiguousarray(self.arrays["variance"], np.float64),
            np.ascontiguousarray(self.arrays["loadings"], np.float64),
            self.numbers["noise"],
            self._per_rating(),
            self._implied(),
        )

    def _per_rating(self) -> Floats | None:
        if "per_rating" not in self.arrays:
            return None
        return np.ascontiguousarray(self.arrays["per_rating"], np.float64)

    def _implied(self) -> Floats | None:
        """(item factors - usual) x implied, a row for each item: an item that was added later gets
        its row from its item factors."""
        if type(self) is not GaussianPersonal or "implied" not in self.arrays:
            return None
        deviations = np.asarray(self.arrays["loadings"], np.float64)
        deviations = deviations - np.asarray(self.arrays["usual"], np.float64)
        hints = product(deviations, self.arrays["implied"])
        return np.ascontiguousarray(hints)

    def _daily(self, user_ratings: Own) -> Daily | None:
        """The model with day effects, where times are known; subclasses that add neighbours go
        without."""
        if (
            user_ratings.times is None
            or user_ratings.asked is None
            or not len(user_ratings.items)
            or type(self) is not GaussianPersonal
        ):
            return None
        residuals = user_ratings.values - self.model.baseline[user_ratings.items]
        return Daily(
            daily(self.model),
            user_ratings.items,
            residuals,
            day_of(user_ratings.times),
            user_ratings.asked // SECONDS,
        )

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation, with the day effect where times are known."""
        by_day = self._daily(user_ratings)
        if by_day is not None:
            return by_day.predict()
        return gaussian.predict(
            self.model, gaussian.fold_in(self.model, user_ratings.items, user_ratings.values)
        )

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """How far each own rating, and that it was given, moves the mean."""
        by_day = self._daily(user_ratings)
        if by_day is not None:
            influences = by_day.influence(item)
        else:
            influences = gaussian.influence(
                self.model, user_ratings.items, user_ratings.values, item
            )
        return Reason(float(self.model.baseline[item]), influences)

    def lean(self) -> Floats | None:
        """Less of what everybody thinks, more of what many know; see
        `tacit.model.person.gaussian_personal`. Models that add neighbours to this one, or have no
        popularity, go by the expected rating."""
        return self._lean

    @cached_property
    def _lean(self) -> Floats | None:
        if type(self) is not GaussianPersonal or "weight" not in self.arrays:
            return None
        return list_order_offset(self.model.baseline, self.arrays["weight"])

    def similar(self, item: int) -> Floats:
        """Cosine of the item factors without the user bias, which all items share."""
        rows = self.model.loadings[:, 1:]
        length = np.sqrt((rows**2).sum(axis=1))
        closeness: Floats = product(rows, rows[item]) / np.maximum(length * length[item], 1e-12)
        return closeness

    def predict_cells(self, cells: Cells) -> Floats:
        return self._answers(cells)[0]

    def predict_cells_error(self, cells: Cells) -> tuple[Floats, Floats | None]:
        """As `predict`, compiled; models that add neighbours to this one answer for
        themselves."""
        if type(self) is not GaussianPersonal:
            return super().predict_cells_error(cells)
        return self._answers(cells)

    def _answers(self, cells: Cells) -> tuple[Floats, Floats]:
        if cells.time is not None and cells.ask_time is not None:
            return gaussian.predict_cells_by_day(
                self.model,
                cells.ptr,
                cells.item,
                cells.value,
                cells.time,
                cells.ask_ptr,
                cells.ask_item,
                cells.ask_time,
            )
        return gaussian.predict_cells(
            self.model, cells.ptr, cells.item, cells.value, cells.ask_ptr, cells.ask_item
        )

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """As `scores` without times, one row a person."""
        from tacit.kernels.personal import posterior_means

        model = self.model
        means = np.empty((len(ptr) - 1, model.loadings.shape[1]))
        residual = value - model.baseline[item]
        posterior_means(
            ptr,
            item,
            residual,
            model.loadings,
            model.precision,
            model.per_rating_array,
            model.hints,
            IMPLICIT_MORE,
            means,
        )
        scores: Floats = means @ model.loadings.T
        lean = self.lean()
        # In place: rows are long.
        scores += model.baseline if lean is None else model.baseline + lean
        return scores

    def vectors(self) -> Mapping[str, NDArray[Any]]:
        """Without what is kept for a later `--start`: it serves no other system."""
        return {name: array for name, array in self.arrays.items() if name != "kept"}


# The default order of a list: not the highest expected rating alone.
#
# By expected rating everybody's list begins with the same few items that all people like, and
# many of them are items that hardly anybody looks for. So the order takes off a part of each
# item's effect, which leaves more of this person's own taste, and adds what many know.
# Expected ratings and their errors stay what they are.


def list_order_offset(baseline: Floats, weight: NDArray[Any]) -> Floats:
    """What the order of a list adds to the expected rating of each item, from released
    numbers."""
    familiarity = np.log1p(np.maximum(np.asarray(weight, np.float64), 0.0))
    return np.asarray(KNOWN * familiarity - OTHERS * baseline)
