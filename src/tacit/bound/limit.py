"""At most k ratings of a person, chosen by a keyed hash of (person, item): never by value, time or order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings


def limit_ratings(ratings: Ratings, most: int, key: int) -> Ratings:
    """Keep each person's `most` cells of smallest hash.

    Guarantee: the hash is a function of the secret key, the person and the item alone, so one cell added can evict at
    most one other, and a changed value evicts none. The key is fresh for every fit.
    """
    counts = np.diff(ratings.ptr)
    if not len(counts) or counts.max() <= most:
        return ratings
    mixed = mix(mix(ratings.user.astype(np.uint64) ^ np.uint64(key & (2**64 - 1))) ^ ratings.item.astype(np.uint64))
    order = np.lexsort((mixed, ratings.user))  # inside each person by hash
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(ratings.ptr[:-1], counts)
    return ratings.take(rank < most)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The splitmix64 finaliser: a keyed permutation, uniform enough to choose by."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
