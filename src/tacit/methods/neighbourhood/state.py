"""What the rounds of learned neighbourhoods release, typed."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.methods.first_order.state import FirstState, Floats
from tacit.rounds.state import NOT_YET, State


@dataclass(frozen=True)
class PairState(FirstState):
    """Of the `sound` plan: first-order statistics, then matrices over the most rated items."""

    cosine: Floats = NOT_YET
    """From the released covariance."""
    start: Floats = NOT_YET
    """The first similarities, made of these cosines."""
    similarity: Floats = NOT_YET
    """The present ones."""
    iterates: Floats = NOT_YET
    """All of them so far, the start first."""
    chosen: Floats = NOT_YET
    """Those that people's own errors speak for; zeros where none stand out of the noise."""
    around: float = NOT_YET
    """Variance of a rating around what the chosen neighbours predict."""


@dataclass(frozen=True)
class AllPairsState(State):
    """Of the printed algorithms: raw, with a similarity for every pair of items."""

    baseline: Floats = NOT_YET
    counts: Floats = NOT_YET
    """Ratings of each item."""
    similarity: Floats = NOT_YET
    """Of row to column."""


@dataclass(frozen=True)
class RowState(State):
    """Of the twin: one row an item, raw."""

    effects: Floats = NOT_YET
    """Baseline, variance, weight and loadings, as `bias`' twin has them."""
    baseline: Floats = NOT_YET
    """What the descent adds to it."""
    neighbour: Floats = NOT_YET
    """At most N_k items for each item, padded with -1."""
    similarity: Floats = NOT_YET
    """Of these neighbours."""
    doubt: Floats = NOT_YET
    """Mean variance of an item's similarities."""
    noise: Floats = NOT_YET
    """Variance of a rating around item means, the same in every row."""
