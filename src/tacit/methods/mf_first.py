"""What every private factorization starts from: the level, the items' weights and effects, released first.

At `user`: two rounds (level and weights; then sums of residuals), empirical Bayes on what they release. At `value` who
rated what is public, so counts are exact and one noisy sum for each item is enough.

Guarantee: a person's row of weights, and of residuals, is scaled to an L2 norm of at most 1 (`user`); each rating,
clipped to the scale, enters one sum (`value`: a changed value moves one sum by at most 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np

from tacit.bound import CellClip, RowClip, Rows
from tacit.methods.base import Public
from tacit.methods.first_order import cell_rows, person_weights
from tacit.refine import level as levels
from tacit.refine.effects import Evidence, ItemEffects, item_effects
from tacit.refine.weights import Weights, denoise_weights
from tacit.round import Block, Kind, Part, Released, Round, State

EVEN = 50
"""People with up to this many ratings count fully; a busier person's weight is spread over hers."""
RATING_VARIANCE = 0.85
"""Of a rating around its item's effect and its person's level, on the inner scale: a public rule."""
RESIDUAL_LIMIT = 3.0
TINY = 1e-9
"""Stands for no noise at all, where the formulas divide by it."""


def first_rounds(public: Public, share: float) -> tuple[Round, ...]:
    """Rounds worth `share` of the budget; the state then has level, baseline, variance, weight and popularity."""
    return _by_value(public, share) if public.unit == "value" else _by_user(public, share)


def _by_user(public: Public, share: float) -> tuple[Round, ...]:
    items = public.items

    def contribute_level(block: Block, state: State) -> Mapping[str, Rows]:
        counts = np.diff(block.ptr)
        mean = np.add.reduceat(np.append(block.value, 0.0), block.ptr[:-1]) / np.maximum(counts, 1)
        mean = np.where(counts > 0, mean, 0.0)
        log_count = np.minimum(np.log2(np.maximum(counts, 1)), 12.0) - levels.LOG_COUNT_MIDDLE
        row = np.column_stack(
            [levels.MEAN_WEIGHT * mean / 2, levels.COUNT_WEIGHT * log_count / levels.LOG_COUNT_MIDDLE]
        )
        return {"level": Rows.one_each(row), "weights": cell_rows(block, person_weights(block, EVEN))}

    def absorb_level(state: State, released: Mapping[str, Released]) -> State:
        people = float(state["people"][0])
        found = levels.level_of_users(released["level"].value[0], max(released["level"].sd, TINY), people)
        noisy = released["weights"]
        typical = found.count / sqrt(max(found.count, EVEN))
        weights = denoise_weights(
            noisy.value[:, 0], max(noisy.sd, TINY), low=0.5 / sqrt(EVEN), high=people / sqrt(EVEN),
            mean=people * typical / items,
        )  # fmt: skip
        return {
            **state, "level": np.array([found.mean, found.variance, found.count]), **_kept(weights),
        }  # fmt: skip

    def contribute_sums(block: Block, state: State) -> Mapping[str, Rows]:
        from tacit.kernels.rows import shrunk_means

        rest = np.clip(block.value - state["level"][0], -RESIDUAL_LIMIT, RESIDUAL_LIMIT)
        own = np.empty(len(block.people))
        shrunk_means(block.ptr, rest, levels.OWN_SHRINKAGE, 2.0, own)
        rest = rest - np.repeat(own, np.diff(block.ptr))
        return {"sums": cell_rows(block, rest * person_weights(block, EVEN))}

    def absorb_sums(state: State, released: Mapping[str, Released]) -> State:
        weights = kept_weights(state)
        sums = released["sums"]
        start = Evidence.none(items).add(sums.value[:, 0], max(sums.sd, TINY), 1.0, weights, np.zeros(items))
        sampling = RATING_VARIANCE / sqrt(max(float(state["level"][2]), EVEN))
        effects = item_effects(start, weights, sampling=sampling, level_variance=float(state["level"][1]))
        return {**state, **_settled(state, effects)}

    parts = (
        Part("level", 1, RowClip(1.0), width=2, share=0.03 * share),
        Part("weights", items, RowClip(1.0), share=0.22 * share),
    )
    sums = (Part("sums", items, RowClip(1.0), share=0.75 * share),)
    return (
        Round("level", parts, contribute_level, absorb_level),
        Round("effects", sums, contribute_sums, absorb_sums),
    )


def _by_value(public: Public, share: float) -> tuple[Round, ...]:
    items = public.items

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        return {"sums": cell_rows(block, block.value)}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        sums, sd = released["sums"].value[:, 0], max(released["sums"].sd, TINY)
        count = public.counts.astype(np.float64)
        total = max(float(count.sum()), 1.0)
        mean, variance = levels.shrink(float(sums.sum()) / total, sd * sqrt(items) / total, 0.0, levels.LEVEL_SD)
        logs = np.log(np.maximum(count, 0.5))
        centre = float(count @ logs / total)
        weights = Weights(count, count**2, logs, sqrt(float(count @ (logs - centre) ** 2) / total))
        start = Evidence.none(items).add(sums - count * mean, sd, 1.0, weights, np.zeros(items))
        effects = item_effects(start, weights, sampling=RATING_VARIANCE + 0.2, level_variance=variance)
        typical = total / max(1, len(public.pattern.ptr) - 1) if public.pattern is not None else 1.0
        state = {**state, "level": np.array([mean, variance, typical]), **_kept(weights)}
        return {**state, **_settled(state, effects)}

    part = Part("sums", items, CellClip(2.0), share=share, kind=Kind.OBJECTIVE)  # a pure event of width 1: Laplace
    return (Round("effects", (part,), contribute, absorb),)


def _kept(weights: Weights) -> State:
    return {
        "weight": weights.mean, "weight_square": weights.square, "weight_log": weights.log,
        "weight_spread": np.array([weights.log_spread]),
    }  # fmt: skip


def kept_weights(state: State) -> Weights:
    return Weights(state["weight"], state["weight_square"], state["weight_log"], float(state["weight_spread"][0]))


def _settled(state: State, effects: ItemEffects) -> State:
    return {"baseline": float(state["level"][0]) + effects.mean, "variance": effects.variance}
