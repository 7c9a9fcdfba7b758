"""What public people say of the items, as a prior of what is released about private ones.

Guarantee: the prior is public before any rating is read. How far it is believed is chosen by
the likelihood of released numbers, so everything here is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNLIKE = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0])
"""Shares of the variance of effects that public people may leave unexplained however many of
them rated an item; 1 where they say nothing. The likelihood chooses."""
SLOPE_SD = 1.0
"""Prior of the coefficient of public effects: 1 for people alike, -1 for inverted ones, 0 for
people who have nothing in common."""


@dataclass(frozen=True, eq=False)
class Known:
    """Prior from public people's ratings, a row for each item."""

    effect: Floats
    """How well they like it, shrunk, less their level."""
    doubt: Floats
    """Share of the variance of an effect that is left unknown: 1 for items nobody rated."""
    popularity: Floats
    """Logarithm of how many rated it, standardised."""
    tastes: Floats
    """Loadings, without the level."""
    words: str
    """Who they are, for the statement."""

    def first_items(self, items: int) -> Known:
        return Known(
            self.effect[:items],
            self.doubt[:items],
            self.popularity[:items],
            self.tastes[:items],
            self.words,
        )

    def between(self, unlike: float) -> Floats:
        """Variance of item biases around the public ones, as a share of their variance around
        zero."""
        return unlike + (1.0 - unlike) * self.doubt
