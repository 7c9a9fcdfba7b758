"""A small table of ratings with times, for evaluations that take no time."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.ratings import Ratings
from tacit.data.schema import Schema


@pytest.fixture(scope="session")
def small() -> Ratings:
    """80 people, 30 items, a level for each person and each item."""
    rng = np.random.default_rng(5)
    people, items = 80, 30
    chance = 0.25 + 0.6 * np.linspace(1, 0, items)
    rated = rng.random((people, items)) < chance
    rated[:, :2] = True
    level = rng.normal(0, 0.6, (people, 1)) + rng.normal(0, 0.6, items)
    value = np.clip(np.rint(3 + level + rng.normal(0, 0.7, rated.shape)), 1, 5)
    counts = rated.sum(axis=1)
    time = rng.integers(10**9, 10**9 + 10**7, int(counts.sum()))
    return Ratings(
        Schema(1, 5, users=people),
        [f"u{row}" for row in range(people)],
        [f"i{column}" for column in range(items)],
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.nonzero(rated)[1].astype(np.uint32),
        value[rated].astype(np.float32),
        time.astype(np.int64),
    )
