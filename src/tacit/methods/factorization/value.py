"""Factorizations at the unit `value`: who rated what is public, the ratings' values are not.

Two families. *Input*: every rating is noised once, and any training on the noisy ratings is
post-processing. *Sides*: people's vectors, then items' vectors, are released with noise in
the objective's linear term (`objective`) or on the solution (`output`); left-hand sides are
functions of public numbers, so only right-hand sides need noise.

Guarantee: a changed value moves one number (input, by twice the clip) or one row (sides,
see `bound.vectors`). Each side's coefficients come from releases before it, which is
composition; both sides are noised, none is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.bound.vectors import CellVectors, ridge_gain
from tacit.methods.base import Public
from tacit.methods.factorization.rounds import baseline
from tacit.methods.first_order.rounds import TINY, cell_rows
from tacit.methods.refine import level as levels
from tacit.methods.refine.effects import Evidence, item_effects
from tacit.methods.refine.factors import ItemFactors, item_factors
from tacit.methods.refine.weights import Weights
from tacit.model.person.gaussian import NOISE
from tacit.rounds.pattern import Pattern
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
MOST = 2.0
"""Residuals are cut at +-this: the half width of the scale."""
LEVEL = np.sqrt(0.5)
"""Constant column of an item's profile, for a person's level; the rest of the profile has
the same length."""
PRINTED_RIDGE = 0.125
RATING_VARIANCE = 1.05
"""Of a rating around its item's effect, on the inner scale: a public rule."""


def cells_of(public: Public) -> int:
    return max(1, len(public.pattern.item)) if public.pattern is not None else 1


def people_of(public: Public) -> int:
    return max(1, len(public.pattern.ptr) - 1) if public.pattern is not None else 1


def item_sums(public: Public, share: float) -> Round:
    """One noisy sum for each item, whose count is public; then the state of the first-order
    rounds."""
    items = public.items

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        return {"sums": cell_rows(block, block.value)}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        sums, sd = released["sums"].value[:, 0], max(released["sums"].sd, TINY)
        count = public.counts.astype(np.float64)
        total = max(float(count.sum()), 1.0)
        mean, variance = levels.shrink(
            float(sums.sum()) / total, sd * sqrt(items) / total, 0.0, levels.LEVEL_SD
        )
        some = np.maximum(
            count, 0.5
        )  # an item without ratings weighs next to nothing, and has a logarithm
        logs = np.log(some)
        centre = float(count @ logs / total)
        spread = sqrt(float(count @ (logs - centre) ** 2) / total)
        weights = Weights(some, some**2, logs, spread)
        start = Evidence.none(items).add(
            sums - count * mean, sd, 1.0, weights, np.zeros(items)
        )
        found = item_effects(
            start, weights, sampling=RATING_VARIANCE, level_variance=variance
        )
        return {
            **state,
            "level": np.array([mean, variance, total / people_of(public)]),
            "weight": some,
            "weight_square": some**2,
            "weight_log": logs,
            "weight_spread": np.array([spread]),
            "effect": found.mean,
            "variance": found.variance,
        }

    part = Part(
        "sums", items, CellClip(2.0), share=share, kind=Kind.OBJECTIVE
    )  # a pure event of width 1: Laplace
    return Round("effects", (part,), contribute, absorb)


def own_averages(public: Public, share: float) -> Round:
    """Everyone's noisy mean residual (UAvg of Berlioz et al.), from one noisy sum a person."""
    people = people_of(public)

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        rest = block.value - baseline(state)[block.item]
        return {
            "own": Rows(
                block.ptr, np.repeat(block.people, np.diff(block.ptr)), rest[:, None]
            )
        }

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        count = np.diff(_pattern(public).ptr)
        sd = max(released["own"].sd, TINY)
        prior = 0.17
        gain = (
            count * prior / (count**2 * prior + count * NOISE + sd**2)
        )  # known noise, public prior
        return {**state, "own": gain * released["own"].value[: len(count), 0]}

    part = Part(
        "own", people, CellClip(MOST, apart=False), share=share, kind=Kind.OBJECTIVE
    )
    return Round("people", (part,), contribute, absorb)


def input_round(public: Public, share: float, limit: float = MOST) -> Round:
    """Every rating, less the released item effect (and person average), clipped and noised once."""

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        rest = block.value - baseline(state)[block.item]
        if "own" in state:
            rest = rest - np.repeat(state["own"][block.people], np.diff(block.ptr))
        index = np.arange(block.first_cell, block.first_cell + len(block.item))
        return {"values": Rows(block.ptr, index, rest[:, None])}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        part = released["values"]
        return {**state, "values": part.value[:, 0], "values_sd": np.array([part.sd])}

    part = Part(
        "values", cells_of(public), CellClip(limit), share=share, kind=Kind.INPUT
    )
    return Round("ratings", (part,), contribute, absorb)


def _pattern(public: Public) -> Pattern:
    assert public.pattern is not None
    return public.pattern


def side_rounds(
    public: Public,
    kind: Literal["objective", "output"],
    width: int,
    share: float,
    seed: int,
) -> tuple[Round, ...]:
    """People against public random profiles, then items against the released people."""
    items, people = public.items, people_of(public)
    release = Kind.OBJECTIVE if kind == "objective" else Kind.OUTPUT
    output = kind == "output"
    rng = np.random.default_rng(seed)
    random = rng.standard_normal((items, width))
    random *= LEVEL / np.sqrt((random**2).sum(axis=1))[:, None]
    profile = np.hstack([np.full((items, 1), LEVEL), random])

    def left_of_people() -> Floats:
        pattern = _pattern(public)
        return _grams(pattern.ptr, pattern.item, profile)

    def contribute_people(block: Block, state: State) -> Mapping[str, Rows]:
        rest = np.clip(block.value - baseline(state)[block.item], -MOST, MOST)
        owner = np.repeat(np.arange(len(block.people)), np.diff(block.ptr))
        rows = profile[block.item]
        if output:
            grams = _grams(block.ptr, block.item, profile)
            rows = _gains(grams, np.diff(block.ptr), rows, owner)
        return {"vectors": Rows(block.ptr, block.people[owner], rows * rest[:, None])}

    def absorb_people(state: State, released: Mapping[str, Released]) -> State:
        grams, count = left_of_people(), np.diff(_pattern(public).ptr)
        value, sd = (
            released["vectors"].value[: len(count)],
            max(released["vectors"].sd, TINY),
        )
        found = _posterior(grams, count, value, sd, output)
        vectors = found.mean[:, 1:]
        longest = max(float(np.sqrt((vectors**2).sum(axis=1)).max(initial=0.0)), TINY)
        return {**state, "own": found.mean[:, 0] * LEVEL, "vectors": vectors / longest}

    def contribute_items(block: Block, state: State) -> Mapping[str, Rows]:
        counts = np.diff(block.ptr)
        rest = (
            block.value
            - baseline(state)[block.item]
            - np.repeat(state["own"][block.people], counts)
        )
        rows = np.repeat(state["vectors"][block.people], counts, axis=0)
        if output:
            rows = _gains(state["left"], public.counts, rows, block.item)
        return {
            "factors": Rows(
                block.ptr, block.item, rows * np.clip(rest, -MOST, MOST)[:, None]
            )
        }

    def with_left(state: State) -> State:
        from tacit.kernels.order import by_item

        pattern = _pattern(public)
        ptr, person, _ = by_item(pattern.ptr, pattern.item, items)
        return {
            **state,
            "left": _grams(ptr, person, np.ascontiguousarray(state["vectors"])),
        }

    def absorb_items(state: State, released: Mapping[str, Released]) -> State:
        value, sd = released["factors"].value, max(released["factors"].sd, TINY)
        found = _posterior(state["left"], public.counts, value, sd, output)
        total = state["left"].sum(axis=0) / max(float(public.counts.sum()), 1.0)
        root = np.linalg.cholesky(total + 1e-12 * np.eye(width))
        state = {k: v for k, v in state.items() if k != "left"}
        scale = (
            np.trace(total) / width
        )  # what is unknown of v'p, for a person of typical length
        return {
            **state,
            "factors": found.mean @ root,
            "unknown": found.unknown * scale,
            "root": root,
        }

    people_part = Part(
        "vectors",
        people,
        CellVectors(MOST),
        width=width + 1,
        share=share * 0.5,
        kind=release,
    )
    items_part = Part(
        "factors",
        items,
        CellVectors(MOST),
        width=width,
        share=share * 0.5,
        kind=release,
    )
    return (
        Round(
            "people",
            (people_part,),
            contribute_people,
            lambda s, r: with_left(absorb_people(s, r)),
        ),
        Round("items", (items_part,), contribute_items, absorb_items),
    )


def _grams(ptr: NDArray[np.int64], index: NDArray[np.uint32], rows: Floats) -> Floats:
    """Sum of xx' over each row's cells."""
    from tacit.kernels.als import gram_rows

    out = np.zeros((len(ptr) - 1, rows.shape[1], rows.shape[1]))
    gram_rows(ptr, index, rows, out)
    return out


def _ridges(count: NDArray[np.int64]) -> Floats:
    return PRINTED_RIDGE * np.maximum(count, 1).astype(np.float64)


def _gains(
    grams: Floats, count: NDArray[np.int64], rows: Floats, owner: NDArray[np.integer]
) -> Floats:
    """(G + ridge)^-1 x for each cell's x, over the most that its norm can be: at most 1."""
    ridge = _ridges(count)
    inverse = (
        np.linalg.inv(grams + ridge[:, None, None] * np.eye(grams.shape[1]))
        / ridge_gain(ridge)[:, None, None]
    )
    gained: Floats = np.einsum("nab,nb->na", inverse[owner], rows)
    return gained


def _posterior(
    grams: Floats, count: NDArray[np.int64], value: Floats, sd: float, output: bool
) -> ItemFactors:
    """Vectors from noisy right-hand sides, or from noisy solutions, by empirical Bayes with
    the known noise."""
    unit = np.eye(grams.shape[1])
    if not output:
        return item_factors(value, grams, NOISE * grams + sd**2 * unit)
    ridge = _ridges(count)
    gain = ridge_gain(ridge)[:, None, None]
    shrink = np.linalg.solve(
        grams + ridge[:, None, None] * unit, grams
    )  # symmetric: both commute
    noise = (
        NOISE * shrink @ np.linalg.inv(grams + ridge[:, None, None] * unit)
        + (gain * sd) ** 2 * unit
    )
    return item_factors(
        value * gain[:, :, 0], (shrink + np.swapaxes(shrink, 1, 2)) / 2, noise
    )


def implicit_from_people(public: Public, state: State) -> Floats:
    """SVD++ is free at this unit: the mean released vector of an item's raters, over the
    root of a typical count."""
    from tacit.kernels.order import by_item

    pattern = _pattern(public)
    ptr, person, _ = by_item(pattern.ptr, pattern.item, public.items)
    whitened = state["vectors"] @ np.linalg.inv(state["root"]).T
    total = np.concatenate(
        [np.zeros((1, whitened.shape[1])), np.cumsum(whitened[person], axis=0)]
    )
    sums = total[ptr[1:]] - total[ptr[:-1]]
    typical = max(float(state["level"][2]), 1.0)
    mean: Floats = sums / (public.counts + 50.0)[:, None] / np.sqrt(typical)
    return mean
