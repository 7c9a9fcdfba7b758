"""What having rated says about a person, whatever her ratings are: the implicit side of SVD++.

Either one number that grows with how much she rated and is added to each of her factors, as
Xian et al. 2017 print it (`scalar`), or factors learned for each item, whose mean over what
she rated moves her vector (`learned`, Koren 2008).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.rounds.round import Block

Floats = NDArray[np.float64]
Implicit = Literal["nothing", "scalar", "learned"]
LIFT_SHRINK = 10.0
"""lambda_3 of Xian et al.: so many ratings halve what their number says."""


def scalar_lift(counts: NDArray[np.int64]) -> Floats:
    """SVD++'s implicit term as Xian et al. print it: one number a person, added to each of
    her factors."""
    lift: Floats = np.sqrt(counts) / (LIFT_SHRINK + counts)
    return lift


def lifted_values(block: Block, factors: Floats) -> Floats:
    """What the scalar says about each rating of a block: the same number in every factor, so
    it meets the sum of an item's factors."""
    counts = np.diff(block.ptr)
    lift = np.repeat(scalar_lift(counts), counts)
    offsets: Floats = lift * factors.sum(axis=1)[block.item]
    return offsets


def learned_values(block: Block, profiles: Floats, implicit: Floats) -> Floats:
    """What learned implicit factors, as wide as the profiles, say about each rating: those
    of everything a person rated, over the root of its number."""
    from tacit.kernels.factors import implicit_values

    offsets = np.empty(len(block.item))
    implicit_values(block.ptr, block.item, profiles, implicit, offsets)
    return offsets


def widened(implicit: Floats, settled: int) -> Floats:
    """Implicit factors beside `settled` columns, about which they say nothing."""
    return np.hstack([np.zeros((len(implicit), settled)), implicit])
