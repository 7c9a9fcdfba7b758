"""What the item-item methods release, typed: a family of its own for each way to measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.first_order.state import FirstState
from tacit.methods.refine.neighbour import LowRankEase, Neighbours
from tacit.rounds.state import State, later

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MatrixState(FirstState):
    """First-order numbers, and what the released matrix says of items together."""

    learned: Floats = later()
    """Items x columns: loadings whose products are the cleaned covariances."""
    near: Neighbours = later()
    """The strongest neighbours among the items that the matrix covers."""


@dataclass(frozen=True)
class EaseState(State):
    """Popularity, and the weights between the most liked items where they were measured."""

    weight: Floats = later()
    """How much each item is liked."""
    head: NDArray[np.int64] = later()
    """The items that the Gram covers, ascending."""
    between: LowRankEase = later()


@dataclass(frozen=True)
class PrintedState(State):
    """What McSherry & Mironov measure as printed, on a scale of 1 to 5."""

    average: float = later()
    """Of all ratings."""
    item: Floats = later()
    """Average of each item."""
    count: Floats = later()
    """Noisy number of ratings of each item."""
    again: float = later()
    """Average of what item averages leave of the ratings."""
    covariance: NDArray[Any] = later()
    """Of centred, clamped ratings, over people's own lengths."""
    weights: NDArray[Any] = later()
    """The same of ones: how many pairs an entry of the covariance has."""
    parameters: Floats = later()
    """Shrinkage of the diagonal and of the rest, and ridge: fitted on the raw probe error."""
