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
    finished,
    learn_items,
    level_first,
    mean_of,
    random_start,
    settle,
    start_posterior,
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
    residuals = np.ascontiguousarray(value - level, np.float64)
    count = np.bincount(item, minlength=items).astype(np.float64)
    posterior = start_posterior(item, residuals, count, features, random_start(items, width, seed))
    noise = NOISE
    implicit_factors = np.zeros((implicit.shape[1], width))
    if len(residuals):
        people = People(ptr, item, residuals, threads)
        for _ in range(passes):
            reports = people.report(posterior, noise, np.asarray(implicit @ implicit_factors))
            noise = learn_items(posterior, reports, noise, len(residuals))
            implicit_factors = _regressed(implicit, reports.tastes, implicit_factors)
            turned = settle(posterior, reports.moment)
            implicit_factors = np.linalg.solve(turned, implicit_factors.T).T
    turned = level_first(posterior, count)
    posterior.rotate(turned)
    return finished(posterior, count, level, noise), implicit_factors @ turned


def _regressed(implicit: Any, user_factors: Floats, implicit_factors: Floats) -> Floats:
    """A few steps towards the ridge regression of tastes on what is implicit."""
    implicit_factors = implicit_factors.copy()
    residual = implicit.T @ (user_factors - implicit @ implicit_factors) - RIDGE * implicit_factors
    direction = residual.copy()
    size = np.sum(residual**2, axis=0)
    for _ in range(STEPS):
        bent = implicit.T @ (implicit @ direction) + RIDGE * direction
        step = size / np.maximum(np.sum(direction * bent, axis=0), 1e-30)
        implicit_factors += step * direction
        residual -= step * bent
        next_size = np.sum(residual**2, axis=0)
        direction = residual + direction * (next_size / np.maximum(size, 1e-30))
        size = next_size
    return implicit_factors
