"""What devices' answers tell, typed: the three groups of `effects`, and the path of the descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.weights import Weights
from tacit.rounds.state import State, later

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AnswersState(State):
    """What the three groups of people have told, in the order in which they are asked."""

    weights: Weights = later()
    told: float = later()
    """How many people told what they rated."""
    loadings: Floats = later()
    """Items x columns: level, popularity and public features."""
    baseline: Floats = later()
    """What is expected of each item so far."""
    variance: Floats = later()
    """What the answers leave unknown of it."""


@dataclass(frozen=True)
class DescentState(State):
    """Where the descent of Shin et al. has come to."""

    gradient: NDArray[np.float32] = later()
    """Of the last step, from all answers together."""
    path: NDArray[np.float32] = later(derived=True)
    """Item factors before the first step and after each: everybody adds up the gradients."""
