"""What a published model alone says about each canary: a rule is learned from the coins of one
half of them and used on the other half.

Nothing is known of the method: the numbers that the model publishes about a canary's fresh
items are features, and a linear rule tells who is in from who is out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.canaries import Canaries
from tacit.model.shared import Shared

Floats = NDArray[np.float64]
COLUMNS = 3
"""Of each published array, so many numbers about an item."""
RIDGE = 1.0
"""For standardised features, in each canary that is learned from."""


def features(shared: Shared, canaries: Canaries) -> Floats:
    """One row a canary: the published numbers about her fresh items."""
    count = len(shared.catalogue)
    blocks = [np.zeros((canaries.people, 0))]
    for array in shared.arrays.values():
        if array.dtype.kind != "f" or array.ndim > 2 or len(array) != count:
            continue
        table = np.asarray(array, np.float64).reshape(count, -1)
        picked = table[canaries.fresh][:, :, :COLUMNS]
        blocks.append(picked.reshape(canaries.people, -1))
    return np.concatenate(blocks, axis=1)


def learned_scores(numbers: Floats, coins: NDArray[np.bool_], half: NDArray[np.bool_]) -> Floats:
    """Scores of those outside `half`, by a rule from the coins of `half` alone: above 0
    speaks for a coin that came up."""
    training = numbers[half]
    up, down = training[coins[half]], training[~coins[half]]
    if not len(up) or not len(down) or not numbers.shape[1]:
        return np.zeros(int((~half).sum()))
    middle = training.mean(axis=0)
    spread = training.std(axis=0)
    # What does not vary says nothing.
    scale = np.where(spread > 0, spread, np.inf)
    standard = (training - middle) / scale
    gap = (up.mean(axis=0) - down.mean(axis=0)) / scale
    gram = standard.T @ standard + RIDGE * len(training) * np.eye(len(gap))
    rule = np.linalg.solve(gram, gap)
    centre = ((up.mean(axis=0) + down.mean(axis=0)) / 2 - middle) / scale
    scores = ((numbers[~half] - middle) / scale - centre) @ rule
    return np.asarray(scores, np.float64)
