"""The plan of every method with an item-item matrix: first-order rounds, then one matrix
over the most rated items.

How much of the budget the matrix takes, and how many items it covers, follow by public
rules from people x noise. A method says only which round measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from pydantic import Field

from tacit.methods.base import Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import FirstOrder
from tacit.methods.first_order.rule import global_mean_share, strength
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round

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
