"""Item effects and personal tastes for what is known of items, fitted to all ratings at once.

The personal Gaussian model whose loadings are given: a level, popularity, agreement with
effects that are known, public features. Effects are normal
around a regression on the same; how widely people differ along the loadings, and the noise,
are those that are most probable. With a level alone it is the ridge of user and item biases
whose two ridges are estimated.

NOT PRIVATE: no number of it is bounded or noised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.noiseless.variational import (
    ITEM_BIAS_SPREAD,
    LEAST_NOISE,
    NOISE,
    Fitted,
    Floats,
    Items,
    People,
    mean_of,
    start_posterior,
)

PASSES = 15
"""Over all ratings: nothing moves by .0002 afterwards on ML-100K."""
ENOUGH, MOST = 20.0, 10.0
"""Ratings a person for which so many passes are enough. Where people have fewer, most of what
is believed of a person is what was believed before, and so many times more passes are
needed; at most so many times (100 Netflix films, 2 ratings each: .9778 after 15 passes,
.9757 after 200)."""
PRIOR_PEOPLE = 20.0
"""Fictitious people who differ as widely as was believed before: so that few people do not
decide how widely all differ."""


def fit_item_biases(
    ptr: NDArray[np.int64],
    item: NDArray[np.uint32],
    value: Floats,
    item_factors: Floats,
    features: Floats | None,
    *,
    threads: int = 1,
) -> Fitted:
    """From ratings of one row a person (inner scale) and the items' loadings, of which only
    the turn in the space of tastes is changed."""
    items = len(item_factors)
    level = mean_of(value)
    residuals = np.ascontiguousarray(value - level, np.float64)
    count = np.bincount(item, minlength=items).astype(np.float64)
    posterior = start_posterior(item, residuals, count, features, item_factors)
    posterior.covariance[:] = 0.0
    posterior.covariance[:, 0, 0] = ITEM_BIAS_SPREAD / (1 + count)
    noise = NOISE
    if len(residuals):
        people = People(ptr, item, residuals, threads)
        for _ in range(round(PASSES * patience(people))):
            noise = _pass(posterior, people, noise)
    return Fitted(
        level + posterior.mean[:, 0],
        posterior.covariance[:, 0, 0].copy(),
        np.ascontiguousarray(posterior.mean[:, 1:]),
        np.zeros(item_factors.shape[1]),
        noise,
    )


def patience(people: People) -> float:
    """How many times more passes where people have few ratings."""
    mean_count = len(people.value) / people.there
    return min(max(ENOUGH / mean_count, 1.0), MOST)


def _pass(posterior: Items, people: People, noise: float) -> float:
    """People, then effects, then how widely either differ; returned is the noise."""
    reports = people.told(posterior, noise)
    count = reports.grams[:, 0, 0]
    prior = posterior.design @ posterior.slopes[:, 0]
    user_factors = np.sum(reports.grams[:, 0, 1:] * posterior.mean[:, 1:], axis=1)
    unknown = 1 / (count / noise + 1 / posterior.spread[0])
    residuals = reports.rights[:, 0] - user_factors - count * prior
    posterior.mean[:, 0] = prior + unknown * residuals / noise
    posterior.covariance[:, 0, 0] = unknown
    noise = max(reports.error(posterior) / len(people.value), LEAST_NOISE)
    raters = people.there
    item_factors = posterior.mean[:, 1:].copy()
    # What people have in common belongs to the items: somebody without a rating has taste 0.
    common = reports.tastes.sum(axis=0) / raters
    posterior.mean[:, 0] += item_factors @ common
    moment = (reports.moment - np.outer(common, common)) * raters
    moment += PRIOR_PEOPLE * np.eye(len(moment))
    values, vectors = np.linalg.eigh(moment / (raters + PRIOR_PEOPLE))
    posterior.spread = posterior.regress().diagonal().copy()
    posterior.mean[:, 1:] = item_factors @ (vectors * np.sqrt(values)) @ vectors.T
    return noise
