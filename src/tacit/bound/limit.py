"""At most k ratings of a person, chosen by random words that know nothing of value, time or
order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings

Words = Callable[[int], NDArray[np.uint64]]
"""So many fresh, independent, uniform 64-bit words: `tacit.noise.bits.fresh().words`."""


def limit_ratings(ratings: Ratings, limit: int, draw_words: Words) -> Ratings:
    """Keep each person's `limit` cells with the smallest random word, one word a cell.

    Guarantee: let neighbours share the words of the cells that both have. Then one cell added
    evicts at most one other cell of the same person, a changed value evicts none, and a person
    added changes nobody else's cells; and what holds for any fixed words holds for secret random
    ones (a mixture is no easier to tell apart than its worst part). A hash of dense row numbers
    would not do: removing one person renumbers everybody after her."""
    counts = np.diff(ratings.ptr)
    if not len(counts) or counts.max() <= limit:
        return ratings
    # Inside each person by word; ties by item.
    order = np.lexsort((draw_words(len(ratings)), ratings.user))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(ratings.ptr[:-1], counts)
    # Nobody loses all: who has none had none, and takes part where that is seen.
    return ratings.take(rank < limit, drop_empty=False)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The splitmix64 finaliser: a keyed permutation, uniform enough to choose by."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
