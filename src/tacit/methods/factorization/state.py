"""What the rounds of a factorization release, typed.

`FactorState` is that of the unit `user`, `ValueState` that of the unit `value`, `LikesState`
that of likes. Whatever is trained in one piece (twins, printed forms) leaves a `TableState`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.first_order.rounds import FirstState
from tacit.rounds.state import NOT_YET, State

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LangevinChain:
    """Right-hand sides of all rounds of a Langevin chain after its first, each with noise of
    its own."""

    mean: Floats
    steps: float
    """How many rounds the mean is over."""


@dataclass(frozen=True)
class FactorState(FirstState):
    """First-order numbers, and the factors that later rounds add to them."""

    factors: Floats = NOT_YET
    """Items x columns, for people whose own vectors have unit prior variance."""
    unknown: Floats = NOT_YET
    """Variance of an item's ratings that the error of its factors leaves unexplained."""
    implicit: Floats = NOT_YET
    """SVD++: what having rated an item says about a person's vector."""
    chain: LangevinChain = NOT_YET

    @property
    def doubt(self) -> Floats:
        """`unknown`, which is nothing where there are no factors."""
        if self.unknown is not NOT_YET:
            return self.unknown
        return np.zeros(len(self.weights.mean))


@dataclass(frozen=True)
class Values:
    """Every rating less what was known of it, clipped and noised once; in the order of the
    public pattern."""

    noisy: Floats
    sd: float


@dataclass(frozen=True)
class ValueState(FactorState):
    """The same where who rated what is public, so that numbers of single people and cells
    may be released.

    Which of them are filled depends on the plan: noisy ratings (`values`), or both sides of
    the factorization (`vectors`, `left`, `root`).
    """

    own: Floats = NOT_YET
    """Each person's mean rating, less the effects of her items."""
    values: Values = NOT_YET
    vectors: Floats = NOT_YET
    """Each person's vector, of length at most 1."""
    left: Floats = NOT_YET
    """Left-hand side of each item's regression on `vectors`: public, since they are."""
    root: Floats = NOT_YET
    """Cholesky root of the second moment of people's vectors over ratings."""
    lift: Floats = NOT_YET
    """SVD++ as printed: the direction in which a person's number of ratings moves her."""


@dataclass(frozen=True)
class LikesState(State):
    """What the implicit-feedback form releases."""

    weight: Floats = NOT_YET
    """How much each item is liked."""
    counted: Floats = NOT_YET
    """The same as released, before anything is known of items."""
    counted_sd: float = 0.0
    """Of its noise."""
    likes: float = 0.0
    """Of a typical person, as the first release tells."""
    factors: Floats = NOT_YET


@dataclass(frozen=True)
class TableState(State):
    """Item arrays side by side, as a training in one piece leaves them."""

    items: Floats = NOT_YET
    weight: Floats = NOT_YET
    """Ratings of each item (twins only)."""


@dataclass(frozen=True)
class ProfileState(State):
    """Item profiles that devices move in turns, as Hua et al. print it."""

    items: NDArray[np.float32] = NOT_YET
