"""How good predictions and lists are, against raw held-back ratings: for the owner only,
never a release.

| case | result |
|---|---|
| no rating to predict, or nobody with a relevant item | None: unavailable, null in JSON |
| a prediction that is NaN or infinite | None: a method may not improve by staying silent |
| a person with no relevant item | left out of every ranking metric |
| a list shorter than k (places of -1) | the missing places are misses |
| fewer than k relevant items | recall divides by min(k, relevant), so a perfect list always
scores 1 |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import SettingError
from tacit.repr import shapes

Floats = NDArray[np.float64]

FORMS = {
    "recall": "recalls",
    "ndcg": "gains",
    "precision": "precisions",
    "hit": "any_hits",
    "f": "scores_f",
    "map": "average_precisions",
    "mrr": "reciprocal_ranks",
}
"""The name of a metric of lists, and who computes it for each person."""


def rmse(predicted: ArrayLike, actual: ArrayLike) -> float | None:
    """Root of the mean squared error."""
    mean = _mean(_errors(predicted, actual) ** 2)
    return None if mean is None else float(np.sqrt(mean))


def mae(predicted: ArrayLike, actual: ArrayLike) -> float | None:
    """Mean absolute error."""
    return _mean(np.abs(_errors(predicted, actual)))


@dataclass(frozen=True, eq=False)
class Ranking:
    """Lists beside what was relevant: row u of `lists` against `item[ptr[u]:ptr[u + 1]]`,
    ascending."""

    lists: NDArray[np.int32]
    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]

    __repr__ = shapes

    def __post_init__(self) -> None:
        if len(self.ptr) != len(self.lists) + 1:
            raise ValueError("a ranking needs one list for each person")

    @cached_property
    def relevant(self) -> NDArray[np.int64]:
        """How many items are relevant to each person."""
        return np.diff(self.ptr)

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """Whether each place of each list holds a relevant item."""
        rows = np.arange(len(self.lists), dtype=np.int64)
        width = 1 + max(int(self.lists.max(initial=0)), int(self.item.max(initial=0)))
        relevant_keys = (
            np.repeat(rows, self.relevant) * width + self.item
        )  # ascending, as the rows are
        listed = rows[:, None] * width + self.lists
        position = np.minimum(
            np.searchsorted(relevant_keys, listed), max(len(relevant_keys) - 1, 0)
        )
        matched = (
            relevant_keys[position] == listed
            if len(relevant_keys)
            else np.zeros(listed.shape, dtype=np.bool_)
        )
        return matched & (self.lists >= 0)

    def recalls(self, k: int) -> Floats:
        """Each person's relevant items among the first k, as a share of the most that could
        be there."""
        return self._hit_counts(k) / np.clip(self.relevant, 1, k)

    def precisions(self, k: int) -> Floats:
        """Each person's relevant items as a share of the first k places."""
        return self._hit_counts(k) / k

    def scores_f(self, k: int) -> Floats:
        """The harmonic mean of precision and recall (of all relevant items) for each
        person: twice the hits over k and the number of relevant items together."""
        return 2 * self._hit_counts(k) / (k + self.relevant)

    def gains(self, k: int) -> Floats:
        """Each person's hits discounted by the logarithm of their place, as a share of the
        best list's."""
        discount = 1 / np.log2(np.arange(2, k + 2))
        best = np.cumsum(discount)[np.clip(self.relevant, 1, k) - 1]
        return np.asarray(self._hits_at(k) @ discount / best, np.float64)

    def average_precisions(self, k: int) -> Floats:
        """The mean over each person's hits of the precision at that place, as a share of
        the best list's: MAP is their mean."""
        hits = self._hits_at(k)
        precision = np.cumsum(hits, axis=1) / np.arange(1, k + 1)
        total: Floats = (precision * hits).sum(axis=1)
        return total / np.clip(self.relevant, 1, k)

    def reciprocal_ranks(self, k: int) -> Floats:
        """One over the place of each person's first hit, 0 without one: MRR is their mean."""
        hits = self._hits_at(k)
        rank = np.argmax(hits, axis=1) + 1.0
        return np.where(hits.any(axis=1), 1 / rank, 0.0)

    def any_hits(self, k: int) -> Floats:
        """1 for each person with a relevant item among the first k, else 0."""
        return (self._hit_counts(k) > 0).astype(np.float64)

    def recall_at(self, k: int) -> float | None:
        """The mean of `recalls` over people with a relevant item."""
        return self._mean_over_people(self.recalls(k))

    def ndcg_at(self, k: int) -> float | None:
        """The mean of `gains`."""
        return self._mean_over_people(self.gains(k))

    def precision_at(self, k: int) -> float | None:
        """The mean of `precisions`."""
        return self._mean_over_people(self.precisions(k))

    def hit_at(self, k: int) -> float | None:
        """The share of people with at least one relevant item among the first k."""
        return self._mean_over_people(self.any_hits(k))

    def all_metrics(self, *lengths: int) -> dict[str, Floats]:
        """Every metric at every k, one number a person; NaN for a person with no relevant
        item."""
        able = np.where(self.relevant > 0, 1.0, np.nan)
        return {
            f"{name}@{k}": getattr(self, form)(k) * able
            for k in lengths
            for name, form in FORMS.items()
        }

    def table(self, *lengths: int) -> dict[str, float | None]:
        """`{"recall@20": …, "ndcg@20": …, "precision@20": …, …}` for each k: the means of
        `each`."""
        return {
            name: self._mean_over_people(values)
            for name, values in self.all_metrics(*lengths).items()
        }

    def _hit_counts(self, k: int) -> Floats:
        counts: NDArray[np.int64] = self._hits_at(k).sum(axis=1)
        return counts.astype(np.float64)

    def _hits_at(self, k: int) -> NDArray[np.bool_]:
        if not 1 <= k <= self.lists.shape[1]:
            raise SettingError(f"k is {k}; the lists have 1 to {self.lists.shape[1]} places")
        return self.hits[:, :k]

    def _mean_over_people(self, score: NDArray[np.float64] | NDArray[np.bool_]) -> float | None:
        return _mean(score[self.relevant > 0])


def _errors(predicted: ArrayLike, actual: ArrayLike) -> NDArray[np.float64]:
    left, right = (np.asarray(predicted, dtype=np.float64), np.asarray(actual, dtype=np.float64))
    if left.shape != right.shape:
        raise ValueError(f"{left.shape} predictions for {right.shape} ratings")
    return left - right


def _mean(values: NDArray[np.float64] | NDArray[np.bool_]) -> float | None:
    if not values.size or not np.isfinite(values).all():
        return None
    return float(values.mean())
