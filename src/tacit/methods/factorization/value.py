"""Releases at the unit `value`, where who rated what is public and the ratings' values are
not: a noisy sum of each item, of each person, and every rating by itself.

Any training on noisy ratings is post-processing (`factorization/noisy.py`).

Guarantee: a changed value moves one number of each release, by at most twice the clip.
Residuals are from numbers released before, which is composition (docs/proofs/mf.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

import numpy as np

from tacit.bound import CellClip, Rows
from tacit.methods.base import Public
from tacit.methods.factorization.state import Values, ValueState
from tacit.methods.first_order.rounds import LEVEL, TINY, ItemBiases, cell_rows
from tacit.methods.refine import global_mean as levels
from tacit.methods.refine.item_bias import Evidence, estimate_item_biases
from tacit.methods.refine.weights import Weights
from tacit.model.person.gaussian import NOISE
from tacit.rounds.pattern import Pattern
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import NOT_YET

MOST = 2.0
"""Ratings and residuals are cut at +-this: the half width of the scale."""
RATING_VARIANCE = 1.05
"""Of a rating around its item's effect, on the inner scale: a public rule."""
UNRATED = 0.5
"""Counts for an item without ratings: it weighs next to nothing, and has a logarithm."""


def pattern_of(public: Public) -> Pattern:
    """Who rated what, where it must be public."""
    assert public.pattern is not None
    return public.pattern


def cells_of(public: Public) -> int:
    """Number of ratings; 1 where a plan is only being priced."""
    return max(1, len(public.pattern.item)) if public.pattern is not None else 1


def people_of(public: Public) -> int:
    """Number of people; 1 where a plan is only being priced."""
    return max(1, len(public.pattern.ptr) - 1) if public.pattern is not None else 1


def item_sums(public: Public, share: float) -> Round:
    """One noisy sum for each item, whose count is public.

    It takes the place of all first-order rounds: level, weights and effects follow from the
    sums and from the public counts.
    """
    items = public.items

    def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
        return {"sums": cell_rows(block, block.value)}

    def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
        sums = released["sums"].value[:, 0]
        sd = max(released["sums"].sd, TINY)
        count = public.counts.astype(np.float64)
        total = max(float(count.sum()), 1.0)
        mean, variance = levels.shrink(
            float(sums.sum()) / total, sd * sqrt(items) / total, 0.0, levels.GLOBAL_MEAN_SD
        )
        # Effects as the first-order rounds find them, from one release.
        weights = _weights(public, total)
        start = Evidence.none(items).add(sums - count * mean, sd, 1.0, weights, np.zeros(items))
        estimate = estimate_item_biases(
            start, weights, sampling=RATING_VARIANCE, level_variance=variance
        )
        return replace(
            state,
            level=levels.GlobalMean(mean, variance, total / people_of(public)),
            weights=weights,
            effects=ItemBiases(estimate.mean, estimate.variance, estimate.gain),
        )

    # A pure event of width 1: Laplace noise.
    bound = CellClip(MOST)
    part = Part("sums", items, bound, share=share, kind=Kind.OBJECTIVE)
    return Round("effects", (part,), contribute, absorb)


def _weights(public: Public, total: float) -> Weights:
    """The items' counts, which are public, as if they had been released."""
    count = public.counts.astype(np.float64)
    floored_counts = np.maximum(count, UNRATED)
    logs = np.log(floored_counts)
    centre = float(count @ logs / total)
    spread = sqrt(float(count @ (logs - centre) ** 2) / total)
    return Weights(floored_counts, floored_counts**2, logs, spread)


def own_averages(public: Public, share: float) -> Round:
    """Everyone's noisy mean residual (UAvg of Berlioz et al.), from one noisy sum a person
    and her public number of ratings."""

    def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
        residuals = block.value - state.baseline[block.item]
        owner = np.repeat(block.people, np.diff(block.ptr))
        return {"own": Rows(block.ptr, owner, residuals[:, None])}

    def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
        count = np.diff(pattern_of(public).ptr)
        sd = max(released["own"].sd, TINY)
        # The noise is known and the prior public, so this is the best linear guess.
        gain = count * LEVEL / (count**2 * LEVEL + count * NOISE + sd**2)
        return replace(state, own=gain * released["own"].value[: len(count), 0])

    bound = CellClip(MOST, apart=False)
    part = Part("own", people_of(public), bound, share=share, kind=Kind.OBJECTIVE)
    return Round("people", (part,), contribute, absorb)


def input_round(public: Public, share: float, limit: float = MOST) -> Round:
    """Every rating, less the released item effect (and person average), clipped to +-`limit`
    and noised once: true input perturbation.

    One number a rating is released, in the order of the public pattern.
    """

    def contribute(block: Block, state: ValueState) -> Mapping[str, Rows]:
        residuals = block.value - state.baseline[block.item]
        if state.own is not NOT_YET:
            residuals = residuals - np.repeat(state.own[block.people], np.diff(block.ptr))
        index = np.arange(block.first_cell, block.first_cell + len(block.item))
        return {"values": Rows(block.ptr, index, residuals[:, None])}

    def absorb(state: ValueState, released: Mapping[str, Released]) -> ValueState:
        part = released["values"]
        return replace(state, values=Values(part.value[:, 0], part.sd))

    bound = CellClip(limit)
    part = Part("values", cells_of(public), bound, share=share, kind=Kind.INPUT)
    return Round("ratings", (part,), contribute, absorb)
