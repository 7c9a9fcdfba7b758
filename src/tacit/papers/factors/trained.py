"""Predictions from both sides of a factorization as it was trained: what papers that publish
people's vectors report.

For the owner's evaluation alone. Nothing of it is part of a shared model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.model.person.base import Cells, Own, PersonalModel, Reason

Floats = NDArray[np.float64]


class TrainedPeople(PersonalModel):
    """Row u of the people who were trained on: baseline_i + own_u + p_u'q_i.

    It answers for whole blocks of the people it was trained on, by their rows; one person's
    ratings alone do not say who she is.
    """

    def __init__(
        self, baseline: Floats, user_bias: Floats, people: Floats, factors: Floats
    ) -> None:
        super().__init__({}, {})
        self.baseline = baseline
        self.own = user_bias
        self.people = people
        self.factors = factors

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """Nobody is known by her ratings."""
        raise Failure("trained people are known by their rows, not by ratings")

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """The same."""
        raise Failure("trained people are known by their rows, not by ratings")

    def predict_cells(self, cells: Cells) -> Floats:
        """Row by row; whoever has no ratings was not trained on and gets the baseline."""
        row = self.rows(cells.ptr)
        ask = np.repeat(row, np.diff(cells.ask_ptr))
        item = cells.ask_item
        out: Floats = self.baseline[item].copy()
        trained = ask >= 0
        person = ask[trained]
        out[trained] += self.own[person] + np.einsum(
            "nd,nd->n", self.people[person], self.factors[item[trained]]
        )
        return out

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """All items for everybody."""
        row = self.rows(ptr)
        scores = np.tile(self.baseline, (len(row), 1))
        trained = row >= 0
        person = row[trained]
        scores[trained] += self.own[person, None] + self.people[person] @ self.factors.T
        return scores

    def rows(self, ptr: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which trained person each row is: those who have ratings, in order; -1 else."""
        has_ratings = np.diff(ptr) > 0
        return np.where(has_ratings, np.cumsum(has_ratings) - 1, -1)
