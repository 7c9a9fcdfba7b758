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
from tacit.methods.first_order.rounds import FirstOrder
from tacit.methods.first_order.state import FirstState, Tastes
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
"""What is kept of every item: its evidence, its weight, people's own noise, what is unknown
of its tastes."""
MOST_TASTES = 40
"""Columns of taste that a start takes over; a refresh may add some of its own."""


def first_rounds(first: FirstOrder, level: float, weights: float, *, tastes: bool) -> list[Round]:
    """The level and the weights, with these shares; where the plan has a start, what it
    knows goes into the state."""
    if first.public.start is None:
        return [first.people(level), first.weights(weights)]
    check_kept(first.public.start)
    earlier, old = (_aligned(first.public, first.public.start), first.public.start)
    people, weighing = first.people(level), first.weights(weights)

    def absorb_level(state: FirstState, released: Mapping[str, Released]) -> FirstState:
        state = people.absorb(state, released)
        return replace(state, level=earlier.better_level(state.level))

    def absorb_weights(state: FirstState, released: Mapping[str, Released]) -> FirstState:
        state, noisy = weighing.absorb(state, released), released["weights"]
        weights = earlier.better_weights(state.weights, noisy.value[:, 0], noisy.sd)
        state = replace(state, weights=weights)
        evidence, shared = earlier.evidence(state.weights, state.level.mean, first.sampling(state))
        state = first.settle(replace(state, shared_sampling=shared), evidence)
        found = _tastes(first, state, old) if tastes else None
        return state if found is None else replace(state, tastes=found)

    return [replace(people, absorb=absorb_level), replace(weighing, absorb=absorb_weights)]


def check_kept(old: Shared) -> None:
    """Refuse a model that does not keep all of its items for a start: one that was extended
    since, or made by hand."""
    shape = (len(KEPT_ROWS), len(old.catalogue))
    kept, weight = old.arrays.get("kept"), old.arrays.get("weight")
    numbers = ("level", "level_variance", "noise")
    if (
        kept is None
        or kept.shape != shape
        or weight is None
        or any(name not in old.numbers for name in numbers)
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


def _tastes(first: FirstOrder, state: FirstState, old: Shared) -> Tastes | None:
    """The earlier loadings, at the default noise; new items by their features. None where
    the earlier fit found that tastes do not show: then they begin as they would without it."""
    loadings = np.asarray(old.arrays["loadings"], np.float64) * np.sqrt(
        NOISE / old.numbers["noise"]
    )
    if loadings.shape[1] < 2 or not np.abs(loadings[:, 1:]).max(initial=0.0) > 0:
        return None
    loadings, dropped = fewer_columns(
        loadings, np.asarray(old.arrays["weight"], np.float64), MOST_TASTES
    )
    rows = _rows(first.public, old)
    there = rows >= 0
    made, doubt = np.empty((len(rows), loadings.shape[1])), np.empty(len(rows))
    made[there] = loadings[rows[there]]
    doubt[there] = (
        np.asarray(old.arrays["kept"], np.float64)[-1][rows[there]] + dropped[rows[there]]
    )
    if not there.all():
        features = np.zeros((len(rows), 0)) if first.features is None else first.features.matrix
        weight = np.maximum(state.weights.mean[there], 1e-9)
        made[~there], left = regress(features[there], made[there], weight, features[~there])
        doubt[~there] = left[1:].sum() + np.average(doubt[there], weights=weight)
    return Tastes(np.ascontiguousarray(made), doubt)


def _rows(public: Public, old: Shared) -> NDArray[np.int64]:
    return np.array([old.catalogue.index.get(name, -1) for name in public.catalogue.ids], np.int64)


def _aligned(public: Public, old: Shared) -> Earlier:
    rows = _rows(public, old)
    there = rows >= 0
    stored = np.concatenate(
        [np.asarray(old.arrays["kept"], np.float64)[:-1], [old.arrays["weight"]]]
    )
    table = dict(
        zip((*KEPT_ROWS[:-1], "weight"), np.where(there, stored[:, rows], 0.0), strict=True)
    )
    numbers = old.numbers
    return Earlier(
        known=there, level=numbers["level"], level_variance=numbers["level_variance"], **table
    )


def keep(first: FirstOrder, state: FirstState) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    """What goes into a model for a later start: rows of `KEPT_ROWS`, and a few numbers."""
    items = len(state.weights.mean)
    doubt = np.zeros(items)
    if state.tastes is not NOT_YET:
        doubt = state.tastes.doubt
    sampling = np.full(items, first.sampling(state))
    if state.shared_sampling is not NOT_YET:
        sampling = state.shared_sampling
    evidence = [getattr(state.evidence, each.name) for each in fields(state.evidence)]
    weights = state.weights
    rows = np.stack([*evidence, weights.square, weights.log, sampling, doubt])
    numbers = {
        "level": state.level.mean,
        "level_variance": state.level.variance,
        "kept": float(VERSION),
        # What `tacit synthesize` draws from: released, or declared.
        "count": state.level.count,
        "people": float(state.people),
    }
    return {"kept": rows.astype(np.float32)}, numbers
