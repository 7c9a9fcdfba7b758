"""Item factors that are known before any are learned: popularity, its slope, and public
features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.data.features import NUMBER, TAG, YEAR, Design

LEVEL = 0.17
"""Prior variance of a person's own level: with NOISE, a mean shrunk by five ratings where
nothing else is known."""
POPULARITY = 0.15
"""Prior standard deviation of a person's slope on standardised log popularity."""
POPULARITY_SLOPE = 0.35
"""Prior standard deviation of how much more, or less, than others a person goes with what all
think of an item: a slope on the items' effects. Flat from .25 to .5 on ML-1M (split 100)."""
FEATURES = {TAG: 0.07, YEAR: 0.03, NUMBER: 0.04}
"""Prior variance of a person's factor for an average item, shared by all columns of a kind."""

SMALL_POPULARITY, SMALL_POPULARITY_SLOPE = 0.1, 0.5
SMALL_YEAR = 0.05
"""The same three where items have features and budgets are small. Effects are then shrunk far, so
that slopes on them differ more; popularity hardly is known, so that slopes on it say little.
Chosen on splits 100 and up of ML-100K, 500 and 600 people: docs/results/bayes.md."""


def loadings(
    popularity: NDArray[np.float64],
    features: Design | None = None,
    *,
    item_biases: NDArray[np.float64] | None = None,
    level_variance: float = 0.0,
    learned: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The matrix [user bias | popularity | popularity slope | features | learned] and the group of
    each column (0 = user bias).

    The slope is on `item_biases`, where they are given: some people judge items as all do, only
    more so, and some do not care. `level_variance` is the posterior variance of the released global
    mean, which every user bias must be free to undo."""
    items = len(popularity)
    blocks = [
        np.full((items, 1), np.sqrt(LEVEL + level_variance)),
        POPULARITY * popularity[:, None],
    ]
    groups = [0, 1]
    if item_biases is not None:
        blocks.append(POPULARITY_SLOPE * item_biases[:, None])
        groups.append(1)
    if features is not None and features.width:
        total = features.matrix.var(axis=0)
        share = {
            kind: FEATURES[kind] / total[features.kind == kind].sum()
            for kind in np.unique(features.kind)
        }
        blocks.append(features.matrix * np.sqrt([share[kind] for kind in features.kind]))
        groups += [2 + int(kind) for kind in features.kind]
    if learned is not None:
        blocks.append(learned)
        groups += [2 + len(FEATURES)] * learned.shape[1]
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)), np.array(groups, dtype=np.int64)


def small_budget(matrix: NDArray[np.float64], features: Design) -> NDArray[np.float64]:
    """Item factors with biases and features, scaled for small budgets."""
    times = np.ones(matrix.shape[1])
    times[1] = SMALL_POPULARITY / POPULARITY
    times[2] = SMALL_POPULARITY_SLOPE / POPULARITY_SLOPE
    years = 3 + np.flatnonzero(features.kind == YEAR)
    times[years] = np.sqrt(SMALL_YEAR / FEATURES[YEAR])
    return np.ascontiguousarray(matrix * times)
