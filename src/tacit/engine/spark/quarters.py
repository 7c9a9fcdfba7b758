"""Ratings in quarters of a point, a byte each: stars, half stars and quarters, as nearly all
ratings are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PARTS = 4
"""Of a point."""
MOST = 255
"""Quarters in a byte."""


def in_quarters(value: NDArray[np.float32]) -> NDArray[np.uint8] | None:
    """The ratings as counted quarters; None where one of them is none, or too large."""
    scaled = value * np.float32(PARTS)
    if not len(scaled):
        return scaled.astype(np.uint8)
    if not (scaled.min() >= 0 and scaled.max() <= MOST):
        return None
    quarters = scaled.astype(np.uint8)
    return quarters if np.array_equal(quarters, scaled) else None


def of_quarters(quarters: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The ratings that were counted so, exactly."""
    return quarters.astype(np.float32) / np.float32(PARTS)
