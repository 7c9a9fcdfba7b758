"""What the first-order rounds release, typed: the state that most methods build on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.choose import Choice
from tacit.methods.refine.global_mean import GlobalMean
from tacit.methods.refine.item_bias import Evidence
from tacit.methods.refine.weights import Weights
from tacit.rounds.state import NOT_YET, State

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ItemBiases:
    """Bias of each item, and its posterior variance."""

    mean: Floats
    variance: Floats
    gain: Floats
    """Change of the effect for a unit of its sum: how far one rating pulls its own item's."""


@dataclass(frozen=True)
class UserFactors:
    """What items have in common: columns of a person's unknown vector."""

    loadings: Floats = field(metadata={"free": 1})
    """Items x columns (the field says item factors)."""
    doubt: Floats
    """Posterior variance: of an item's ratings, by the error of its item factors."""


@dataclass(frozen=True)
class FirstState(State):
    """Global mean, popularity and item biases, in the order in which rounds release them."""

    level: GlobalMean = NOT_YET
    weights: Weights = NOT_YET
    evidence: Evidence = NOT_YET
    """All sums of effects so far, on a common footing."""
    effects: ItemBiases = NOT_YET
    shared_sampling: Floats = NOT_YET
    """After a start: what the sums of then and now have in common of people's own noise."""
    tastes: UserFactors = NOT_YET
    widths: Choice = NOT_YET
    """Scales of the factors of features, where they are chosen before other factors are learned."""
    choice: Choice = NOT_YET
    """Scales of all factors, and the noise of ratings."""

    @property
    def baseline(self) -> Floats:
        """What is expected of each item before anything is known about a person."""
        return self.level.mean + self.effects.mean
