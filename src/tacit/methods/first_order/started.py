"""A fit that starts from an earlier model: its first rounds, and what a model keeps so that
another may start from it.

Guarantee: the earlier model is published, so whatever is computed from it is public before
any rating is read (`Public.start`). Rounds contribute, bound and release exactly as without
it; only `absorb`, which is post-processing, reads it, and the state that later rounds
subtract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.first_order.rounds import FirstOrder, _kept, kept_weights
from tacit.methods.refine.earlier import Earlier, fewer_columns
from tacit.methods.refine.level import Level
from tacit.model.extend import regress
from tacit.model.person.gaussian import NOISE
from tacit.model.shared import Shared
from tacit.rounds.round import Released, Round, State

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
MOST_TASTES = 40
"""Columns of taste that a start takes over; a refresh may add some of its own."""


def first_rounds(
    first: FirstOrder, level: float, weights: float, *, tastes: bool
) -> list[Round]:
    """The level and the weights, with these shares; where the plan has a start, what it
    knows goes into the state."""
    if first.public.start is None:
        return [first.people(level), first.weights(weights)]
    earlier, old = _aligned(first.public, first.public.start), first.public.start
    people, weighing = first.people(level), first.weights(weights)

    def absorb_level(state: State, released: Mapping[str, Released]) -> State:
        state = people.absorb(state, released)
        found = earlier.better_level(Level(*(float(x) for x in state["level"])))
        return {**state, "level": np.array([found.mean, found.variance, found.count])}

    def absorb_weights(state: State, released: Mapping[str, Released]) -> State:
        state, noisy = weighing.absorb(state, released), released["weights"]
        state = {
            **state,
            **_kept(
                earlier.better_weights(kept_weights(state), noisy.value[:, 0], noisy.sd)
            ),
        }
        evidence, shared = earlier.evidence(
            kept_weights(state), float(state["level"][0]), first.sampling(state)
        )
        state = first.settle({**state, "shared_sampling": shared}, evidence)
        return {**state, **_tastes(first, state, old)} if tastes else state

    return [
        replace(people, absorb=absorb_level),
        replace(weighing, absorb=absorb_weights),
    ]


def story(public: Public) -> tuple[str, ...]:
    """For `Plan.story`: that it starts from somewhere."""
    if public.start is None:
        return ()
    from_where = (
        f"It starts from a released model of {public.start.method}, which is public: "
    )
    return (
        from_where
        + "its level, weights, effects and tastes are this one's prior, and are not paid "
        "for again.",
    )


def _tastes(first: FirstOrder, state: State, old: Shared) -> State:
    """The earlier loadings, at the default noise; new items by their features. None where
    the earlier fit found that tastes do not show: then they begin as they would without it."""
    loadings = np.asarray(old.arrays["loadings"], np.float64) * np.sqrt(
        NOISE / old.numbers["noise"]
    )
    if loadings.shape[1] < 2 or not np.abs(loadings[:, 1:]).max(initial=0.0) > 0:
        return {}
    loadings, dropped = fewer_columns(
        loadings, np.asarray(old.arrays["weight"], np.float64), MOST_TASTES
    )
    rows = _rows(first.public, old)
    known = rows >= 0
    made, doubt = np.empty((len(rows), loadings.shape[1])), np.empty(len(rows))
    made[known] = loadings[rows[known]]
    doubt[known] = (
        np.asarray(old.arrays["kept"], np.float64)[-1][rows[known]]
        + dropped[rows[known]]
    )
    if not known.all():
        features = (
            np.zeros((len(rows), 0))
            if first.features is None
            else first.features.matrix
        )
        weight = np.maximum(state["weight"][known], 1e-9)
        made[~known], left = regress(
            features[known], made[known], weight, features[~known]
        )
        doubt[~known] = left[1:].sum() + np.average(doubt[known], weights=weight)
    return {"loadings": np.ascontiguousarray(made), "doubt": doubt}


def _rows(public: Public, old: Shared) -> NDArray[np.int64]:
    return np.array(
        [old.catalogue.index.get(name, -1) for name in public.catalogue.ids], np.int64
    )


def _aligned(public: Public, old: Shared) -> Earlier:
    rows = _rows(public, old)
    known = rows >= 0
    stored = np.concatenate(
        [np.asarray(old.arrays["kept"], np.float64)[:-1], [old.arrays["weight"]]]
    )
    table = dict(
        zip(
            (*KEPT_ROWS[:-1], "weight"),
            np.where(known, stored[:, rows], 0.0),
            strict=True,
        )
    )
    numbers = old.numbers
    return Earlier(
        known=known,
        level=numbers["level"],
        level_variance=numbers["level_variance"],
        **table,
    )


def keep(
    first: FirstOrder, state: State
) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    """What goes into a model for a later start: rows of `KEPT_ROWS`, and a few numbers."""
    items = len(state["weight"])
    doubt = state.get("doubt", np.zeros(items))
    sampling = state.get("shared_sampling", np.full(items, first.sampling(state)))
    rows = np.stack(
        [
            *state["evidence"],
            state["weight_square"],
            state["weight_log"],
            sampling,
            doubt,
        ]
    )
    mean, variance, _ = (float(x) for x in state["level"])
    numbers = {"level": mean, "level_variance": variance, "kept": float(VERSION)}
    return {"kept": rows.astype(np.float32)}, numbers
