"""Gradient search among pairs of neighbours: slopes by finite differences, then steps along
them that stay on the scale.

Contributions are rounded to a grid and clipped, so no formula of a slope holds everywhere;
differences over a twentieth of the scale see past the grid. Many pairs are nudged at once,
because contributions of many pairs cost little more than those of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.pairs import Pair
from tacit.data.ratings import Ratings

Floats = NDArray[np.float64]
NUDGE = 0.05
"""Of the scale: far enough to leave the grid, near enough for a slope."""
STEPS = (0.02, 0.1, 0.3, 1.0)
"""Of the scale, that the coordinate of the largest slope moves by: the last one moves every
coordinate that matters to its end."""
COORDINATES = 24
"""Values of a long record that are nudged, drawn anew in each step."""


@dataclass(frozen=True)
class Nudged:
    """A pair, and the same pair with one coordinate moved, for each coordinate chosen."""

    pair: Pair
    places: NDArray[np.int64]
    moves: Floats
    pairs: list[Pair]

    def slope(self, base_worth: float, nudged_worth: Floats) -> Floats:
        """By each coordinate that was nudged."""
        return np.asarray((nudged_worth - base_worth) / self.moves, np.float64)

    def along(self, slope: Floats, like: Ratings) -> Iterator[Pair]:
        """The pair after steps of several lengths, back on the scale where they leave it."""
        steepest = float(np.abs(slope).max(initial=0.0))
        if steepest == 0:
            return
        low, high = like.schema.low, like.schema.high
        for length in STEPS:
            value = self.pair.value.copy()
            value[self.places] += slope / steepest * length * (high - low)
            yield replace(self.pair, value=np.clip(value, low, high))


def nudged(pair: Pair, like: Ratings, rng: np.random.Generator) -> Nudged:
    """Every coordinate by itself, away from the nearer end of the scale."""
    schema = like.schema
    coordinates = np.arange(len(pair.value))
    if len(coordinates) > COORDINATES:
        coordinates = np.sort(rng.permutation(coordinates)[:COORDINATES])
    up = pair.value[coordinates] <= schema.middle
    moves = np.where(up, NUDGE, -NUDGE) * (schema.high - schema.low)
    pairs = []
    for coordinate, move in zip(coordinates.tolist(), moves.tolist(), strict=True):
        value = pair.value.copy()
        value[coordinate] += move
        pairs.append(replace(pair, value=value))
    return Nudged(pair, coordinates.astype(np.int64), moves, pairs)


def flat(all_nudged: Sequence[Nudged]) -> list[Pair]:
    """All of them, each pair before its nudges, to be tried at once."""
    return [p for nudges in all_nudged for p in (nudges.pair, *nudges.pairs)]


def uphill(
    all_nudged: Sequence[Nudged], plan_report: Sequence[Floats], like: Ratings
) -> list[Pair]:
    """Steps up every slope. `plan_report` has, for each, the worth of `flat`'s pairs of its own."""
    return [
        pair
        for nudges, pair_worth in zip(all_nudged, plan_report, strict=True)
        for pair in nudges.along(nudges.slope(float(pair_worth[0]), pair_worth[1:]), like)
    ]
