"""What printed factorizations subtract first: raw biases (Xian et al. 2017) or noisy averages
(Berlioz et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.factorization.implicit import scalar_lift
from tacit.methods.factorization.printed.form import OWN_SHRINK, Printed
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
ITEM_SHRINK = 10.0
"""lambda_1 of Xian et al.: so many ratings halve what an item's mean says."""
GLOBAL_SHARE = 0.02
ITEM_SHARE = 0.14
OWN_SHARE = 0.14
"""Of epsilon, to the three averages (Berlioz et al., as far as it is known); the rest to
the factors."""
AVERAGES_SHARE = sum((GLOBAL_SHARE, ITEM_SHARE, OWN_SHARE))
AVERAGES_SHRINK = 5.0
"""Ratings at the mean, and at 0, in the averages of an item and of a person."""
AVERAGES_MOST = 2.0
"""They are clamped to +-this, after the noise."""
RESIDUAL = 1.0
"""What is left of a rating is clamped to +-this."""
SPAN = 4.0
"""Width of the inner scale: how far one rating moves a sum."""


@dataclass(frozen=True)
class Biases:
    """What was subtracted, and what is left of each rating."""

    mean: float
    item: Floats
    rest: Floats
    lift: Floats
    """n^-1/2 n/(n + lambda_3) for each person; 0 without the implicit term."""


def raw_biases(block: Block, items: int, printed: Printed) -> Biases:
    """Formula 4 of Xian et al.: straight from the ratings, without noise."""
    mean = float(block.value.mean()) if len(block.value) else 0.0
    count = np.bincount(block.item, minlength=items)
    bias = np.bincount(block.item, block.value - mean, items) / (
        ITEM_SHRINK + count
    )
    rest = block.value - mean - bias[block.item]
    counts = np.diff(block.ptr)
    own = _person_sums(block.ptr, rest) / (OWN_SHRINK + counts)
    lift = scalar_lift(counts) if printed.lift else np.zeros(len(counts))
    return Biases(mean, bias, rest - np.repeat(own, counts), lift)


def averages_draws(items: int, people: int) -> int:
    """How many draws `noisy_averages` takes from the front."""
    return 1 + items + people


def noisy_averages(
    block: Block, items: int, epsilon: float, draws: Floats
) -> Biases:
    """Berlioz et al.: noisy global, item and person averages; ratings less both, clamped.
    Inner scale."""
    cells = len(block.value)
    people = len(block.ptr) - 1
    count = np.bincount(block.item, minlength=items)
    counts = np.diff(block.ptr)
    of_items = draws[1 : 1 + items]
    of_people = draws[1 + items : 1 + items + people]
    total = block.value.sum() + SPAN / (epsilon * GLOBAL_SHARE) * draws[0]
    mean = total / max(cells, 1)
    sums = np.bincount(block.item, block.value, items)
    noisy = sums + SPAN / (epsilon * ITEM_SHARE) * of_items
    level = (noisy + AVERAGES_SHRINK * mean) / (count + AVERAGES_SHRINK)
    level = np.clip(level, -AVERAGES_MOST, AVERAGES_MOST)
    own = _person_sums(block.ptr, block.value - level[block.item])
    own = own + SPAN / (epsilon * OWN_SHARE) * of_people
    offset = np.clip(
        own / (counts + AVERAGES_SHRINK), -AVERAGES_MOST, AVERAGES_MOST
    )
    rest = block.value - level[block.item] - np.repeat(offset, counts)
    clamped = np.clip(rest, -RESIDUAL, RESIDUAL)
    return Biases(0.0, level, clamped, np.zeros(people))


def _person_sums(ptr: NDArray[np.int64], values: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    sums: Floats = total[ptr[1:]] - total[ptr[:-1]]
    return sums
