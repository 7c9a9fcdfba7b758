"""What the item-item methods release, typed: one class for each way to measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.first_order.state import FirstState
from tacit.methods.refine.neighbour import LowRankEase, Neighbours
from tacit.rounds.state import NOT_YET, State

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MatrixState(FirstState):
    """First-order numbers, and what the released matrix says of items together."""

    learned: Floats = NOT_YET
    """Items x columns: loadings whose products are the cleaned covariances."""
    near: Neighbours = NOT_YET
    """The strongest neighbours among the items that the matrix covers."""


@dataclass(frozen=True)
class EaseState(State):
    """Popularity, and the weights between the most liked items where they were measured."""

    weight: Floats = NOT_YET
    """How much each item is liked."""
    counted: Floats = NOT_YET
    """The same as released, before anything is known of items."""
    counted_sd: float = 0.0
    """Of its noise."""
    loadings: Floats = NOT_YET
    """Of what the Gram says beyond popularity."""
    head: NDArray[np.int64] = NOT_YET
    """The items that the Gram covers, ascending."""
    between: LowRankEase = NOT_YET


@dataclass(frozen=True)
class PrintedState(State):
    """What McSherry & Mironov measure as printed, on a scale of 1 to 5."""

    average: float = NOT_YET
    """Of all ratings."""
    item: Floats = NOT_YET
    """Average of each item."""
    count: Floats = NOT_YET
    """Noisy number of ratings of each item."""
    again: float = NOT_YET
    """Average of what item averages leave of the ratings."""
    covariance: NDArray[Any] = NOT_YET
    """Of centred, clamped ratings, over people's own lengths."""
    weights: NDArray[Any] = NOT_YET
    """The same of ones: how many pairs an entry of the covariance has."""
    parameters: Floats = NOT_YET
    """Shrinkage of the diagonal and of the rest, and ridge: fitted on the raw probe error."""


@dataclass(frozen=True)
class PlainState(State):
    """Raw item means and raw similarities of all pairs: PCC and COS of Wang & Tang."""

    baseline: Floats = NOT_YET
    similarity: Floats = NOT_YET
