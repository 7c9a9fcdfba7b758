"""A fit that starts from an earlier model: its first rounds, and what a model keeps so that
another may start from it.

Guarantee: the earlier model is published, so whatever is computed from it is public before
any rating is read (`Public.start`). Rounds contribute, bound and release exactly as without
it; only `absorb`, which is post-processing, reads it, and the state that later rounds
subtract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.methods.base import Public
from tacit.methods.first_order.rounds import FirstOrder, FirstState, UserFactors
from tacit.methods.refine.earlier import Earlier, fewer_columns
from tacit.model.extend import regress
from tacit.model.person.gaussian import NOISE
from tacit.model.shared import Shared
from tacit.rounds.round import Released, Round
from tacit.rounds.state import NOT_YET

STARTS = {
    **dict.fromkeys(("bias", "bayes"), ("bias", "bayes")),
    **dict.fromkeys(("knn-pearson", "knn-cosine"), ("pnbm-sgd", "pnbm-langevin")),
}
"""Methods that can start from an earlier model, and of which methods: of their own kind, or
for learned neighbours."""
VERSION = 1
"""Of what a model keeps for a later start."""
KEPT_ROWS = (
    "total",
    "precision",
    "taken",
    "cross",
    "apart",
    "weight_square",
    "weight_log",
    "sampling",
    "doubt",
)
"""Arrays of every item that a start carries on: evidence, popularity, sampling noise, posterior
variance of its factors."""
MOST_USER_FACTORS = 40
"""Columns of factors that a start takes over; a refresh may add its own."""


def first_rounds(
    first_order: FirstOrder, level: float, weights: float, *, user_factors: bool
) -> list[Round]:
    """Rounds of global mean and popularity with these shares; where the plan has a start, its
    knowledge enters the state."""
    if first_order.public.start is None:
        return [first_order.people(level), first_order.weights(weights)]
    check_kept(first_order.public.start)
    earlier, previous = (
        _aligned(first_order.public, first_order.public.start),
        first_order.public.start,
    )
    people, weighing = first_order.people(level), first_order.weights(weights)

    def absorb_global_mean(state: FirstState, released: Mapping[str, Released]) -> FirstState:
        state = people.absorb(state, released)
        return replace(state, level=earlier.better_global_mean(state.level))

    def absorb_weights(state: FirstState, released: Mapping[str, Released]) -> FirstState:
        state, noisy = weighing.absorb(state, released), released["weights"]
        weights = earlier.better_weights(state.weights, noisy.value[:, 0], noisy.sd)
        state = replace(state, weights=weights)
        evidence, shared = earlier.evidence(
            state.weights, state.level.mean, first_order.sampling(state)
        )
        state = first_order.settle(replace(state, shared_sampling=shared), evidence)
        start_factors = _tastes(first_order, state, previous) if user_factors else None
        return state if start_factors is None else replace(state, tastes=start_factors)

    return [replace(people, absorb=absorb_global_mean), replace(weighing, absorb=absorb_weights)]


def check_kept(previous: Shared) -> None:
    """Refuse a model that does not keep all of its items for a start: one that was extended
    since, or made by hand."""
    shape = (len(KEPT_ROWS), len(previous.catalogue))
    kept_rows, weight = previous.arrays.get("kept"), previous.arrays.get("weight")
    numbers = ("level", "level_variance", "noise")
    if (
        kept_rows is None
        or kept_rows.shape != shape
        or weight is None
        or any(name not in previous.numbers for name in numbers)
    ):
        raise SettingError(
            "the model to start from does not keep all of its items for a start",
            remedy="start from the model as `tacit fit` wrote it, before items were added",
        )


def story(public: Public) -> tuple[str, ...]:
    """For `Plan.story`: that it starts from somewhere."""
    if public.start is None:
        return ()
    from_where = f"It starts from a released model of {public.start.method}, which is public: "
    return (
        from_where
        + "its level, weights, effects and tastes are this one's prior, and are not paid "
        "for again.",
    )


def _tastes(first_order: FirstOrder, state: FirstState, previous: Shared) -> UserFactors | None:
    """Item factors of the earlier model, at the default noise; new items get theirs from features.
    None where the earlier fit learned none: then this one begins as without a start."""
    item_factors = np.asarray(previous.arrays["loadings"], np.float64) * np.sqrt(
        NOISE / previous.numbers["noise"]
    )
    if item_factors.shape[1] < 2 or not np.abs(item_factors[:, 1:]).max(initial=0.0) > 0:
        return None
    item_factors, dropped = fewer_columns(
        item_factors, np.asarray(previous.arrays["weight"], np.float64), MOST_USER_FACTORS
    )
    rows = _rows(first_order.public, previous)
    present = rows >= 0
    factors, posterior_variance = np.empty((len(rows), item_factors.shape[1])), np.empty(len(rows))
    factors[present] = item_factors[rows[present]]
    posterior_variance[present] = (
        np.asarray(previous.arrays["kept"], np.float64)[-1][rows[present]] + dropped[rows[present]]
    )
    if not present.all():
        features = (
            np.zeros((len(rows), 0))
            if first_order.features is None
            else first_order.features.matrix
        )
        weight = np.maximum(state.weights.mean[present], 1e-9)
        factors[~present], unexplained = regress(
            features[present], factors[present], weight, features[~present]
        )
        posterior_variance[~present] = unexplained[1:].sum() + np.average(
            posterior_variance[present], weights=weight
        )
    return UserFactors(np.ascontiguousarray(factors), posterior_variance)


def _rows(public: Public, previous: Shared) -> NDArray[np.int64]:
    return np.array(
        [previous.catalogue.index.get(name, -1) for name in public.catalogue.ids], np.int64
    )


def _aligned(public: Public, previous: Shared) -> Earlier:
    rows = _rows(public, previous)
    present = rows >= 0
    stored = np.concatenate(
        [np.asarray(previous.arrays["kept"], np.float64)[:-1], [previous.arrays["weight"]]]
    )
    table = dict(
        zip((*KEPT_ROWS[:-1], "weight"), np.where(present, stored[:, rows], 0.0), strict=True)
    )
    numbers = previous.numbers
    return Earlier(
        known=present, level=numbers["level"], level_variance=numbers["level_variance"], **table
    )


def keep(
    first_order: FirstOrder, state: FirstState
) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    """What goes into a model for a later start: rows of `KEPT_ROWS`, and a few numbers."""
    items = len(state.weights.mean)
    posterior_variance = np.zeros(items)
    if state.tastes is not NOT_YET:
        posterior_variance = state.tastes.doubt
    sampling = np.full(items, first_order.sampling(state))
    if state.shared_sampling is not NOT_YET:
        sampling = state.shared_sampling
    evidence = [getattr(state.evidence, field.name) for field in fields(state.evidence)]
    weights = state.weights
    rows = np.stack([*evidence, weights.square, weights.log, sampling, posterior_variance])
    numbers = {
        "level": state.level.mean,
        "level_variance": state.level.variance,
        "kept": float(VERSION),
        # What `tacit synthesize` draws from: released, or declared.
        "count": state.level.count,
        "people": float(state.people),
    }
    return {"kept": rows.astype(np.float32)}, numbers
