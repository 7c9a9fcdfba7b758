"""Factors that are not negative, beside effects and loadings that are known, fitted to all
ratings at once.

As `tacit.methods.noiseless.variational`, but after every pass what is negative of an item's
factors becomes 0, so the space of tastes is only stretched and never turned.

NOT PRIVATE: no number of it is bounded or noised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.noiseless.variational import (
    CAUTION,
    ITEM_FACTOR_SPREAD,
    LEAST_NOISE,
    START_SD,
    UNSURE,
    Fitted,
    Floats,
    Items,
    People,
    typical_posterior_variance,
)

LEAST_SPREAD = 1e-6
"""Variance of a factor that is not there."""


def fit_nonnegative(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    fitted: Fitted,
    factors: int,
    *,
    seed: int,
    threads: int,
    passes: int,
) -> Fitted:
    """The model `fitted` with factors beside its loadings; its effects are fitted anew."""
    items, fixed = fitted.loadings.shape
    rng = np.random.default_rng(seed)
    start = np.abs(START_SD * rng.standard_normal((items, factors)))
    mean = np.column_stack([np.zeros(items), fitted.loadings, start])
    wide = mean.shape[1]
    free = np.r_[0, 1 + fixed : wide]
    covariance = np.zeros((items, wide, wide))
    covariance[:, free, free] = UNSURE
    spread = np.full(wide, ITEM_FACTOR_SPREAD)
    spread[0] = max(float(fitted.variance.max(initial=0.0)), ITEM_FACTOR_SPREAD)
    posterior = Items(mean, covariance, np.ones((items, 1)), np.zeros((1, wide)), spread)
    count = np.bincount(item, minlength=items).astype(np.float64)
    noise = fitted.noise
    if len(value):
        residuals = np.ascontiguousarray(value - fitted.baseline[item], np.float64)
        people = People(ptr, item, residuals, threads)
        for _ in range(passes):
            noise = _pass(posterior, people, free, noise)
    unknown = np.einsum("ijj->ij", posterior.covariance)
    return Fitted(
        fitted.baseline + posterior.mean[:, 0],
        np.maximum(fitted.variance, unknown.sum(axis=1)),
        np.ascontiguousarray(posterior.mean[:, 1:]),
        CAUTION * typical_posterior_variance(posterior, count).diagonal() / noise,
        noise,
    )


def _pass(posterior: Items, people: People, free: NDArray[np.int64], noise: float) -> float:
    """People, then what is free of the items, then their spread; returned is the noise."""
    reports = people.report(posterior, noise)
    grams = reports.grams[:, free]
    inner = grams[:, :, free]
    mean = np.array(posterior.mean)
    mean[:, free] = 0.0
    residuals = reports.rights[:, free] - np.einsum("ijk,ik->ij", grams, mean)
    system = inner / noise + np.diag(1 / posterior.spread[free])
    inverse = np.linalg.inv(system)
    solution = np.einsum("ijk,ik->ij", inverse, residuals / noise)
    solution[:, 1:] = np.maximum(solution[:, 1:], 0.0)
    posterior.mean[:, free] = solution
    posterior.covariance[:, free[:, None], free] = inverse
    noise = max(reports.error(posterior) / len(people.value), LEAST_NOISE)
    stretch = np.ones(mean.shape[1])
    stretch[free[1:]] = np.sqrt(reports.moment.diagonal()[free[1:] - 1])
    posterior.mean *= stretch
    posterior.covariance *= stretch[:, None] * stretch
    square = posterior.mean[:, free] ** 2
    square += np.einsum("ijj->ij", posterior.covariance)[:, free]
    posterior.spread[free] = np.maximum(square.mean(axis=0), LEAST_SPREAD)
    return noise
