"""From a noisy Gram of likes to weights between items: what its spectrum still says beside
popularity, and a ridge of every item on all others in low rank. Post-processing only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.first_order.rounds import TINY
from tacit.methods.refine.neighbour import Array, LowRankEase, ease
from tacit.methods.refine.spectrum_full import shrink_whole_spectrum

Floats = NDArray[np.float64]

OFFSET = 0.5
"""In the length of a person's row: keeps the weight of people with few likes finite."""
MARGIN = 0.3
"""How far above the noise edge the largest eigenvalue must lie, in widths of the edge, if
the Gram says anything: lists forgive noise more than ratings do."""
CHANCE = 0.7
"""Beside the privacy noise: which likes fall together by chance. Rows of length 1 over M items
that have nothing to do with each other move an entry of their Gram by sqrt(people)/M; so much of
it counts as noise (seen: 0, .7, 1, 1.4; without it lists on 400 items fell from epsilon 5 to
20; at the unit `rating` 0, .2, .35, .7)."""
BUSY = 1.5
"""Those who like an item like so many times more than the average person."""
OWN_RIDGE, MEAN_RIDGE = 0.5, 0.6
"""The ridge of an item, in units of its own diagonal entry and of the mean entry."""
CENTRED_OWN, CENTRED_MEAN = 0.35, 0.2
"""The same for a Gram without what popularity says; found on splits that are not reported."""
TEMPERED = 0.15
"""There, scores are divided by this power of popularity: a ridge leaves too much of it."""
LEAST_WEIGHT = 1e-3


def cleaned(matrix: Array, sd: float, rank: int) -> Floats:
    """Loadings of what a noisy Gram still says."""
    spectrum = shrink_whole_spectrum(matrix, sd, rank, margin=MARGIN)
    return np.asarray(spectrum.loadings, np.float64)


def by_chance(lengths: float, size: int) -> float:
    """How far likes that fall together by chance move an entry of a Gram of so many rows, from
    the sum over people of their squared row's length, squared: 1 each at the unit `user`; n of n
    likes at `rating`."""
    return CHANCE * float(np.sqrt(max(lengths, 0.0))) / size


def beside_popularity(matrix: Array, sd: float, weight: Floats, rank: int) -> Floats:
    """Loadings of a noisy Gram of whole rows: popularity, which is released before and known
    better than the Gram's own leading direction, and what the rest of the Gram still says; none
    where it says nothing."""
    common = weight / max(float(np.sqrt((weight**2).sum())), TINY)
    # The diagonal was never released: the slope of all other entries on those of p p'.
    inside = float(common @ matrix @ common)
    inside -= float((matrix.diagonal() * common**2).sum())
    along = max(inside / max(1 - float((common**4).sum()), TINY), 0.0)
    popular_part = (along * np.outer(common, common)).astype(matrix.dtype)
    remaining = cleaned(matrix - popular_part, sd, rank - 1)
    if not remaining.shape[1]:
        return remaining
    return np.column_stack([np.sqrt(along) * common, remaining])


def tempered(item_factors: Floats, item_diagonal: Floats, weight: Floats) -> LowRankEase:
    """Weights between items from a Gram without what popularity says."""
    between = ease(item_factors, CENTRED_OWN * item_diagonal + CENTRED_MEAN * item_diagonal.mean())
    weight = np.maximum(weight, LEAST_WEIGHT)
    less = (weight / weight.mean()) ** -TEMPERED
    return LowRankEase(between.left, np.asarray(between.right * less[:, None], np.float32))


def diagonal(weight: Floats, people: float, whole_person: bool) -> Floats:
    """What the diagonal would be, from popularity alone."""
    weight = np.maximum(weight, LEAST_WEIGHT)
    likes = float(weight.sum()) / people
    likes = max(likes**2 if whole_person else likes, 1.0)
    return np.asarray(weight / np.sqrt(BUSY * likes + OFFSET))
