"""Ratings that the kernels of factorizations are tried on."""

from __future__ import annotations

import numpy as np
import pytest

PEOPLE = 40


ITEMS = 25


WIDTH = 6


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.permutation(ITEMS)[: rng.integers(0, 15)]) for _ in range(PEOPLE)]
    ptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    item = np.concatenate(rows).astype(np.uint32)
    return (ptr, item, rng.normal(size=len(item)), rng.normal(size=(ITEMS, WIDTH)))
