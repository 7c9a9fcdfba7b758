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
    LEAST_NOISE,
    LOADING_SPREAD,
    START_SD,
    UNSURE,
    Fitted,
    Floats,
    Items,
    People,
    typical_doubt,
)

LEAST_SPREAD = 1e-6
"""Variance of a factor that is not there."""


def fit_nonnegative(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    known: Fitted,
    factors: int,
    *,
    seed: int,
    threads: int,
    passes: int,
) -> Fitted:
    """The model `known` with factors beside its loadings; its effects are fitted anew."""
    items, fixed = known.loadings.shape
    rng = np.random.default_rng(seed)
    start = np.abs(START_SD * rng.standard_normal((items, factors)))
    mean = np.column_stack([np.zeros(items), known.loadings, start])
    wide = mean.shape[1]
    free = np.r_[0, 1 + fixed : wide]
    covariance = np.zeros((items, wide, wide))
    covariance[:, free, free] = UNSURE
    spread = np.full(wide, LOADING_SPREAD)
    spread[0] = max(float(known.variance.max(initial=0.0)), LOADING_SPREAD)
    whole = Items(mean, covariance, np.ones((items, 1)), np.zeros((1, wide)), spread)
    count = np.bincount(item, minlength=items).astype(np.float64)
    noise = known.noise
    if len(value):
        rest = np.ascontiguousarray(value - known.baseline[item], np.float64)
        people = People(ptr, item, rest, threads)
        for _ in range(passes):
            noise = _pass(whole, people, free, noise)
    unknown = np.einsum("ijj->ij", whole.covariance)
    return Fitted(
        known.baseline + whole.mean[:, 0],
        np.maximum(known.variance, unknown.sum(axis=1)),
        np.ascontiguousarray(whole.mean[:, 1:]),
        CAUTION * typical_doubt(whole, count).diagonal() / noise,
        noise,
    )


def _pass(whole: Items, people: People, free: NDArray[np.int64], noise: float) -> float:
    """People, then what is free of the items, then their spread; returned is the noise."""
    told = people.told(whole, noise)
    grams = told.grams[:, free]
    inner = grams[:, :, free]
    mean = np.array(whole.mean)
    mean[:, free] = 0.0
    rest = told.rights[:, free] - np.einsum("ijk,ik->ij", grams, mean)
    system = inner / noise + np.diag(1 / whole.spread[free])
    inverse = np.linalg.inv(system)
    found = np.einsum("ijk,ik->ij", inverse, rest / noise)
    found[:, 1:] = np.maximum(found[:, 1:], 0.0)
    whole.mean[:, free] = found
    whole.covariance[:, free[:, None], free] = inverse
    noise = max(told.error(whole) / len(people.value), LEAST_NOISE)
    stretch = np.ones(mean.shape[1])
    stretch[free[1:]] = np.sqrt(told.moment.diagonal()[free[1:] - 1])
    whole.mean *= stretch
    whole.covariance *= stretch[:, None] * stretch
    square = whole.mean[:, free] ** 2
    square += np.einsum("ijj->ij", whole.covariance)[:, free]
    whole.spread[free] = np.maximum(square.mean(axis=0), LEAST_SPREAD)
    return noise
