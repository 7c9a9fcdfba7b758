"""What the rounds of learned neighbourhoods release, typed."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.methods.first_order.state import FirstState, Floats
from tacit.rounds.state import State, later


@dataclass(frozen=True)
class PairState(FirstState):
    """Of the `sound` plan: first-order statistics, then matrices over the most rated items."""

    cosine: Floats = later()
    """From the released covariance."""
    start: Floats = later()
    """The first similarities, made of these cosines."""
    similarity: Floats = later()
    """The present ones."""
    iterates: Floats = later()
    """All of them so far, the start first."""
    chosen: Floats = later()
    """Those that people's own errors speak for; zeros where none stand out of the noise."""
    around: float = later()
    """Variance of a rating around what the chosen neighbours predict."""


@dataclass(frozen=True)
class RowState(State):
    """Of the printed algorithms and of the twin: one row an item, raw."""

    baseline: Floats = later()
    neighbour: Floats = later()
    """At most N_k items for each item, padded with -1."""
    similarity: Floats = later()
    """Of these neighbours."""
    doubt: Floats = later()
    """Mean variance of an item's similarities; of the printed algorithms its number of
    ratings."""
    noise: Floats = later()
    """Variance of a rating around item means, the same in every row."""
