"""The plan of every method with an item-item matrix: first-order rounds, then one matrix
over the most rated items.

How much of the budget the matrix takes, and how many items it covers, follow by public
rules from people x noise. A method says only which round measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import CentredCells
from tacit.data.catalogue import Catalogue
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import (
    FirstOrder,
    FirstState,
    global_mean_share,
    loadings,
    public_design,
    strength,
)
from tacit.methods.refine.neighbour import LowRankEase, Neighbours
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Round
from tacit.rounds.state import NOT_YET, State

MATRIX_MOST = 0.7
"""Share of the budget that the matrix nears as people x mu grows. These rules were chosen
with ML-1M in sight: docs/results/covariance.md, "Which constants were looked at"."""
HALF_OF_PEOPLE = 4000.0
"""Unit `user`: people x mu at which the matrix takes half of its most."""
HALF_OF_RATINGS = 400.0
"""The same at unit `rating`."""
FULL_RATINGS = 800.0
"""Unit `rating`: below this the share falls once more, as cleaning gains nothing there."""
COVERED = {"user": 0.07, "rating": 0.3}
"""Items that the matrix covers, for a unit of people x mu."""
LEAST_COVERED = 50
WEIGHTS, ITEM_BIASES = 0.31, 0.69
"""Of what matrix and level leave: item weights, and all sweeps of item effects."""
RANK = 60
"""Factors at most, unless told."""
SWEEPS = 2
FIRST_STORY = (
    "First-order statistics take the rest: level, item weights and two sweeps of item effects."
)
Measure = Callable[[Public, int, float], Round]
"""The round that releases the matrix: over so many items, for this share of the budget."""
Floats = NDArray[np.float64]
CLAMP = 1.0
"""B of McSherry & Mironov: a centred rating counts at most one point."""
FICTITIOUS = 20
"""beta_p of McSherry & Mironov: fictitious ratings in a person's own mean."""
OFFSET = 0.5
"""In the length of a person's row: keeps the weight of people with few ratings finite."""
CLIP = 2.0
"""Of a residual before a person's own mean is taken."""
FINE = 2**12
"""Steps of the grid of single cells."""
EXACT = 1000
"""Up to this many items a matrix is cleaned in 64-bit floats; above, 32 bits are as good as
its noise."""
Arrays = dict[str, NDArray[Any]]


class MatrixSettings(BaseSettings):
    """What every method with a matrix can be told."""

    items: int | None = Field(None, ge=2)
    """How many of the most rated items the matrix covers; by rule from people and noise
    unless given."""
    rank: int | None = Field(None, ge=1, le=500)
    """At most this many factors: 60 unless given; 20 where McSherry & Mironov print it."""


@dataclass(frozen=True)
class Division:
    """How a budget of strength `mu` is divided; all shares add up to 1."""

    mu: float
    matrix: float
    level: float
    weights: float
    sweep: float
    """Of each sweep of item effects."""


def matrix_plan(public: Public, settings: MatrixSettings, measure: Measure) -> Plan:
    """Level, item weights and two sweeps of effects; then the matrix."""
    facts = measured(public)
    division = divided(facts)
    size = covered(facts, settings)
    rounds = (*first_rounds(facts, division), measure(facts, size, division.matrix))
    percent = f"{100 * division.matrix:.0f} % of the budget"
    story = (
        f"The matrix takes {percent}, over the {size:,} items of largest weight.",
        "Both numbers follow by rule from people x noise.",
        FIRST_STORY,
    )
    return Plan(public.unit, rounds, story)


def measured(public: Public) -> Public:
    """The twin bounds nobody, so it measures as at the unit that clips least."""
    return replace(public, unit="rating") if public.budget is None else public


def divided(public: Public) -> Division:
    """The shares of a plan with a matrix."""
    mu = strength(public.budget)
    matrix = matrix_share(public.unit, people_by_noise(public))
    level = global_mean_share(public.people, mu * sqrt(1 - matrix))
    after_level = (1 - matrix) * (1 - level)
    return Division(
        mu,
        matrix,
        level=(1 - matrix) * level,
        weights=WEIGHTS * after_level,
        sweep=ITEM_BIASES * after_level / SWEEPS,
    )


def first_rounds(public: Public, division: Division) -> tuple[Round, ...]:
    """What is measured before the matrix."""
    first_order = FirstOrder.of(public)
    spread = 1 / (division.mu * sqrt(division.sweep))
    return (
        first_order.people(division.level),
        first_order.weights(division.weights),
        *(
            first_order.effects(f"effects {i}", division.sweep, spread)
            for i in range(1, SWEEPS + 1)
        ),
    )


def full_budget(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The same rounds, with the whole budget between them."""
    total = sum(part.share for round_ in rounds for part in round_.parts)
    return tuple(
        replace(r, parts=tuple(replace(p, share=p.share / total) for p in r.parts)) for r in rounds
    )


def people_by_noise(public: Public) -> float:
    """People x mu: what all rules go by."""
    return public.people * strength(public.budget)


def matrix_share(unit: str, reach: float) -> float:
    """Of the budget: nothing much while people x mu is too small for any pair of items to
    stand out."""
    if reach == inf:
        return MATRIX_MOST
    if unit == "user":
        return MATRIX_MOST * reach**2 / (reach**2 + HALF_OF_PEOPLE**2)
    share = MATRIX_MOST * reach / (reach + HALF_OF_RATINGS)
    return share * min(1.0, reach / FULL_RATINGS)


def covered(public: Public, settings: MatrixSettings) -> int:
    """How many items the matrix covers: what was asked for, or as many as the noise allows,
    at most half the catalogue."""
    if settings.items is not None:
        return min(settings.items, public.items)
    limit = max(2, min(public.items, max(LEAST_COVERED, public.items // 2)))
    size = min(COVERED[public.unit] * people_by_noise(public), limit)
    return int(np.clip(size, min(LEAST_COVERED, limit), limit))


# What the item-item methods release, typed: one class for each way to measure.


@dataclass(frozen=True)
class MatrixState(FirstState):
    """First-order numbers, and what the released matrix says of items together."""

    learned: Floats = NOT_YET
    """Items x columns: loadings whose products are the cleaned covariances."""
    near: Neighbours = NOT_YET
    """The strongest neighbours among the items that the matrix covers."""


@dataclass(frozen=True)
class EaseState(State):
    """Popularity, and the weights between the most liked items where they were measured."""

    weight: Floats = NOT_YET
    """How much each item is liked."""
    counted: Floats = NOT_YET
    """The same as released, before anything is known of items."""
    counted_sd: float = 0.0
    """Of its noise."""
    loadings: Floats = NOT_YET
    """Of what the Gram says beyond popularity."""
    head: NDArray[np.int64] = NOT_YET
    """The items that the Gram covers, ascending."""
    between: LowRankEase = NOT_YET


@dataclass(frozen=True)
class PrintedState(State):
    """What McSherry & Mironov measure as printed, on a scale of 1 to 5."""

    average: float = NOT_YET
    """Of all ratings."""
    item: Floats = NOT_YET
    """Average of each item."""
    count: Floats = NOT_YET
    """Noisy number of ratings of each item."""
    again: float = NOT_YET
    """Average of what item averages leave of the ratings."""
    covariance: NDArray[Any] = NOT_YET
    """Of centred, clamped ratings, over people's own lengths."""
    weights: NDArray[Any] = NOT_YET
    """The same of ones: how many pairs an entry of the covariance has."""
    parameters: Floats = NOT_YET
    """Shrinkage of the diagonal and of the rest, and ridge: fitted on the raw probe error."""


@dataclass(frozen=True)
class PlainState(State):
    """Raw item means and raw similarities of all pairs: PCC and COS of Wang & Tang."""

    baseline: Floats = NOT_YET
    similarity: Floats = NOT_YET


# What one person adds to an item-item matrix: a row of numbers about her items inside it.
#
# Ratings count less what level and item effects say, less the person's own shrunk mean, and
# clamped; each person's products are divided by the length of her row. Why one person, or one
# rating, then moves a matrix by a known amount: docs/proofs/covariance.md.


def matrix_rows(weight: Floats, size: int) -> NDArray[np.uint32]:
    """Row of each item in the matrix, ascending with the item; `size` for items that it
    leaves out."""
    head = np.sort(np.argsort(-np.asarray(weight), kind="stable")[:size])
    rows = np.full(len(weight), size, np.uint32)
    rows[head] = np.arange(len(head), dtype=np.uint32)
    return rows


def head_of(weight: Floats, size: int) -> NDArray[np.int64]:
    """The items that the matrix covers, ascending."""
    return np.flatnonzero(matrix_rows(weight, size) < size)


def residuals(block: Block, state: MatrixState) -> Floats:
    """What level and item effects leave of each rating."""
    item_bias = state.effects.mean[block.item]
    return np.asarray(block.value - state.level.mean - item_bias)


def centred_cells(public: Public) -> CentredCells:
    """One rating less its person's shrunk mean, clamped to +-B: for bounds on single cells."""
    return CentredCells(public.items, CLIP, FICTITIOUS, CLAMP, FINE)


def centred(block: Block, residuals: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Residuals less the person's own shrunk mean, clamped; 0 outside the matrix. For
    bounds on whole people."""
    from tacit.kernels.rows import shrunk_means

    residuals = np.clip(residuals, -CLIP, CLIP)
    user_means = np.empty(len(block.people))
    shrunk_means(block.ptr, residuals, FICTITIOUS, CLIP, user_means)
    residuals = np.clip(residuals - np.repeat(user_means, np.diff(block.ptr)), -CLAMP, CLAMP)
    return np.where(inside, residuals, 0.0)


def counts_inside(block: Block, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each cell, how many of its person's cells are inside the matrix."""
    running_count = np.concatenate([[0], np.cumsum(inside)])
    return np.repeat(np.diff(running_count[block.ptr]), np.diff(block.ptr))


def factors(block: Block, residuals: Floats, inside: NDArray[np.bool_], pure: bool) -> Floats:
    """y/sqrt(|y|^2 + offset), or y/(|y|_1 + offset) for an L1 bound, y the residuals `residuals`
    as `centred`; each person alone."""
    if pure:
        row = centred(block, residuals, inside)
        return np.asarray(row / (_summed(block, np.abs(row)) + OFFSET))
    from tacit.kernels.covariance_row import centred_factors

    out = np.empty(len(inside))
    centred_factors(block.ptr, residuals, inside, CLIP, FICTITIOUS, CLAMP, OFFSET, out)
    return out


def over_length(block: Block, row: Floats, pure: bool) -> Floats:
    """A row of numbers that are not negative over its own length, as `factors` are."""
    if pure:
        return np.asarray(row / (_summed(block, row) + OFFSET))
    return np.asarray(row / np.sqrt(_summed(block, row**2) + OFFSET))


def _summed(block: Block, values: Floats) -> Floats:
    """For each cell, the sum over its person's cells."""
    people = len(block.people)
    person = np.repeat(np.arange(people), np.diff(block.ptr))
    return np.asarray(np.bincount(person, values, people)[person], np.float64)


# From a released matrix to what is published: baseline, loadings, and lists of neighbours.


def precise(matrix: NDArray[np.float32]) -> NDArray[np.float32] | NDArray[np.float64]:
    """The released matrix in the precision in which it is cleaned."""
    return matrix.astype(np.float64) if len(matrix) <= EXACT else matrix


def first_arrays(
    public: Public, state: MatrixState, learned: NDArray[np.float64] | None = None
) -> Arrays:
    """What every method with a matrix publishes: baseline, doubt, loadings of the personal
    model, and weights."""
    matrix, _ = loadings(
        state.weights.popularity,
        public_design(public),
        item_biases=state.effects.mean,
        level_variance=state.level.variance,
        learned=learned,
    )
    return {
        "baseline": state.baseline.astype(np.float32),
        "variance": state.effects.variance.astype(np.float32),
        "loadings": matrix.astype(np.float32),
        "weight": state.weights.mean.astype(np.float32),
    }


def published(
    method: Method, public: Public, personal: str, arrays: Arrays, numbers: Mapping[str, float]
) -> Shared:
    """The shared model of a method, and the name of the personal model that uses it."""
    settings = method.used(public)
    return Shared(method.name, personal, arrays, numbers, public.schema, public.catalogue, settings)


def neighbour_lists(items: int, head: NDArray[np.int64], near: Neighbours) -> Arrays:
    """The neighbours among the items `head` of a matrix, as published: rows of the whole
    catalogue."""
    index = np.full((items, near.item.shape[1]), -1, np.int64)
    value = np.zeros((items, near.item.shape[1]))
    index[head] = np.where(near.item >= 0, head[near.item], -1)
    value[head] = near.value
    return compress(index, value)


def carried_over(previous: Shared, catalogue: Catalogue) -> Arrays:
    """The neighbours of a published model, as rows of another catalogue; items that it
    lacks are left out."""
    row = np.array([catalogue.index.get(name, -1) for name in previous.catalogue.ids], np.int64)
    owner = row[np.repeat(np.arange(len(row)), np.diff(previous.arrays["start"]))]
    near = row[previous.arrays["neighbour"]]
    value = previous.arrays["similarity"]
    order = np.argsort(owner, kind="stable")
    order = order[(owner[order] >= 0) & (near[order] >= 0)]
    counts = np.bincount(owner[order], minlength=len(catalogue))
    return {
        "start": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "neighbour": near[order].astype(np.int32),
        "similarity": value[order].astype(np.float32),
    }
