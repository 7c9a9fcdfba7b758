"""What anybody could say without a recommender: the simple answers that every table stands
beside. NOT PRIVATE: they look at the ratings as they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.prepared import Prepared
from tacit.model.person.base import Cells, Own, PersonalModel, Reason

Floats = NDArray[np.float64]

BASELINES = {
    "global mean": "every rating is the mean of all",
    "own mean": "a person's own mean, shrunk to the mean of all",
    "item mean": "an item's mean, shrunk to the mean of all",
    "popularity": "what most people rated",
}
"""Their names, and what they say."""
SHRINK = 5.0
"""Ratings at the mean of all that are added to a person's or an item's: the usual choice."""


class Simple(PersonalModel):
    """A level for each item, and a pull towards the person's own mean or none."""

    lists: bool
    """Whether it can order items at all."""

    def __init__(
        self, level: Floats, score: Floats | None, *, user_shift: bool, rates: bool
    ) -> None:
        self.level = level
        self.score = score
        """What lists are ordered by; None where there is nothing to order by."""
        self.own = user_shift
        self.lists = score is not None
        self.ranks_by = "rating" if rates else "score"

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """The levels, shifted by what the person's own ratings say; how sure that is, is not
        known."""
        shift = 0.0
        if self.own:
            residuals = user_ratings.values - self.level[user_ratings.items]
            shift = float(residuals.sum()) / (len(residuals) + SHRINK)
        return self.level + shift, np.full(len(self.level), np.nan)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        """Nobody asks."""
        return Reason(float(self.level[item]), np.zeros(len(user_ratings.items)))

    def predict_cells(self, cells: Cells) -> Floats:
        """All questions at once."""
        predictions = self.level[cells.ask_item]
        if not self.own:
            return predictions
        from tacit.kernels.rows import shrunk_means

        level = self.level
        # Mostly everybody's level is one number.
        flat = bool(np.all(level == level[:1]))
        residuals = cells.value - (level[:1] if flat else level[cells.item])
        shift = np.empty(len(cells.ptr) - 1)
        shrunk_means(cells.ptr, residuals, SHRINK, np.inf, shift)
        return predictions + np.repeat(shift, np.diff(cells.ask_ptr))

    def predict_cells_error(self, cells: Cells) -> tuple[Floats, Floats | None]:
        """All questions at once; how sure an answer is, is not known."""
        return self.predict_cells(cells), np.full(len(cells.ask_item), np.nan)

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """The same list for everybody."""
        assert self.score is not None
        return np.tile(self.score, (len(ptr) - 1, 1))


def baseline(name: str, on: Prepared) -> Simple:
    """The simple answer of this name, learned from what is trained on."""
    train = on.split.train
    sums = on.sums
    mean = float(sums.sum()) / max(len(train), 1)
    flat = np.full(train.n_items, mean)
    shrunk = mean + (sums - mean * on.counts) / (on.counts + SHRINK)
    if name == "popularity":
        return Simple(flat, on.counts.astype(np.float64), user_shift=False, rates=False)
    if name == "item mean":
        return Simple(shrunk, shrunk, user_shift=False, rates=True)
    return Simple(flat, None, user_shift=name == "own mean", rates=True)
