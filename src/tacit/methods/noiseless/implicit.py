"""What having rated says of a person, whatever her ratings are, beside the personal Gaussian
model: SVD++ by variational Bayes.

The taste of a person is N(A_u y, I) before any rating. A_u is a row of public shape: with
`learned` implicit factors 1/sqrt n for each of the n items that she rated, with a `scalar`
lift the number sqrt n/(n + shrink). After every pass y is a ridge regression of everybody's
expected taste on A.

NOT PRIVATE: no number of it is bounded or noised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.noiseless.variational import (
    NOISE,
    PASSES,
    Fitted,
    Floats,
    People,
    begin,
    finished,
    learn_items,
    level_first,
    mean_of,
    random_start,
    settle,
)

RIDGE = 30.0
"""Of y: people's tastes vary by 1, and what is implicit of them by about 1/`RIDGE`."""
STEPS = 5
"""Of conjugate gradients in every pass; they go on from where the last ones stopped."""


def fit_implicit(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    items: int,
    features: Floats | None,
    implicit: Any,
    *,
    width: int,
    seed: int = 0,
    threads: int = 1,
    passes: int = PASSES,
) -> tuple[Fitted, Floats]:
    """The model and y, one row for each column of the sparse matrix `implicit` (A)."""
    level = mean_of(value)
    rest = np.ascontiguousarray(value - level, np.float64)
    count = np.bincount(item, minlength=items).astype(np.float64)
    known = begin(item, rest, count, features, random_start(items, width, seed))
    noise = NOISE
    said = np.zeros((implicit.shape[1], width))
    if len(rest):
        people = People(ptr, item, rest, threads)
        for _ in range(passes):
            told = people.told(known, noise, np.asarray(implicit @ said))
            noise = learn_items(known, told, noise, len(rest))
            said = _regressed(implicit, told.tastes, said)
            turned = settle(known, told.moment)
            said = np.linalg.solve(turned, said.T).T
    turned = level_first(known, count)
    known.turn(turned)
    return finished(known, count, level, noise), said @ turned


def _regressed(implicit: Any, tastes: Floats, said: Floats) -> Floats:
    """A few steps towards the ridge regression of tastes on what is implicit."""
    said = said.copy()
    left = implicit.T @ (tastes - implicit @ said) - RIDGE * said
    way = left.copy()
    size = np.sum(left**2, axis=0)
    for _ in range(STEPS):
        bent = implicit.T @ (implicit @ way) + RIDGE * way
        step = size / np.maximum(np.sum(way * bent, axis=0), 1e-30)
        said += step * way
        left -= step * bent
        now = np.sum(left**2, axis=0)
        way = left + way * (now / np.maximum(size, 1e-30))
        size = now
    return said
