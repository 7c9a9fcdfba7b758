"""What devices' answers tell, typed: the three groups of `effects`, and the path of the descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.weights import Weights
from tacit.rounds.state import NOT_YET, State, later

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AnswersState(State):
    """What the three groups of people have told, in the order in which they are asked."""

    weights: Weights = NOT_YET
    told: float = NOT_YET
    """How many people told what they rated."""
    loadings: Floats = NOT_YET
    """Items x columns: level, popularity and public features."""
    baseline: Floats = NOT_YET
    """What is expected of each item so far."""
    variance: Floats = NOT_YET
    """What the answers leave unknown of it."""


@dataclass(frozen=True)
class DescentState(State):
    """Where the descent of Shin et al. has come to."""

    gradients: NDArray[np.float32] = later(grows=True)
    """One a step, from all answers together."""
    path: NDArray[np.float32] = later(derived=True)
    """Item factors before the first step and after each: everybody takes the same steps."""
