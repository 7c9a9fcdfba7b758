"""What printed factorizations subtract first: raw biases (Xian et al. 2017) or noisy averages
(Berlioz et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.papers.factors.form import PaperConstants, lifts
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
SPAN = 4.0
"""Width of the inner scale: how far one rating moves a sum."""
LEAST = 1e-300
"""Stands for a count of 0 that nothing shrinks."""


@dataclass(frozen=True)
class Biases:
    """What was subtracted, and what is left of each rating."""

    mean: float
    item: Floats
    rest: Floats
    lift: Floats
    """n^-1/2 n/(n + lambda_3) for each person; 0 without the implicit term."""
    own: Floats
    """Each person's bias."""


def raw_biases(block: Block, items: int, printed: PaperConstants) -> Biases:
    """Formula 4 of Xian et al.: mean, shrunk item biases, then shrunk person biases, straight
    from the ratings and without noise."""
    mean = float(block.value.mean()) if len(block.value) else 0.0
    count = np.bincount(block.item, minlength=items)
    bias = np.bincount(block.item, block.value - mean, items) / np.maximum(
        printed.item_shrink + count, LEAST
    )
    residuals = block.value - mean - bias[block.item]
    counts = np.diff(block.ptr)
    user_bias = _person_sums(block.ptr, residuals) / np.maximum(printed.own_shrink + counts, LEAST)
    lift = np.zeros(len(counts))
    if printed.lift:
        lift = lifts(counts, printed.implicit_shrink)
    return Biases(mean, bias, residuals - np.repeat(user_bias, counts), lift, user_bias)


def averages_draws(items: int, people: int) -> int:
    """How many draws `noisy_averages` takes from the front."""
    return 1 + items + people


def noisy_averages(
    block: Block, items: int, epsilon: float, draws: Floats, printed: PaperConstants
) -> Biases:
    """Berlioz et al.: noisy global, item and person averages; ratings less both, clamped.

    Sums get the noise, and counts, which are public, divide them. Every average pulls the
    next: items to the global one, people to 0.
    """
    cells = len(block.value)
    people = len(block.ptr) - 1
    count = np.bincount(block.item, minlength=items)
    counts = np.diff(block.ptr)
    of_items = draws[1 : 1 + items]
    of_people = draws[1 + items : 1 + items + people]
    total = block.value.sum() + SPAN / (epsilon * printed.global_share) * draws[0]
    mean = total / max(cells, 1)
    sums = np.bincount(block.item, block.value, items)
    noisy = sums + SPAN / (epsilon * printed.item_share) * of_items
    shrink = printed.averages_shrink
    limit = printed.averages_most
    level = (noisy + shrink * mean) / np.maximum(count + shrink, LEAST)
    level = np.clip(level, -limit, limit)
    user_sums = _person_sums(block.ptr, block.value - level[block.item])
    user_sums = user_sums + SPAN / (epsilon * printed.own_share) * of_people
    offset = np.clip(user_sums / np.maximum(counts + shrink, LEAST), -limit, limit)
    residuals = block.value - level[block.item] - np.repeat(offset, counts)
    clamped = np.clip(residuals, -printed.residual, printed.residual)
    return Biases(0.0, level, clamped, np.zeros(people), offset)


def _person_sums(ptr: NDArray[np.int64], values: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    sums: Floats = total[ptr[1:]] - total[ptr[:-1]]
    return sums
