"""What methods with an item-item matrix share: first-order effects, then one matrix over
the most rated items."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import CentredCells
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.baselines.bias import level_share, strength
from tacit.methods.first_order.rounds import FirstOrder, kept_weights, public_design
from tacit.methods.refine.neighbour import Neighbours
from tacit.model.person.gaussian import loadings
from tacit.model.person.neighbours import compress
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Round
from tacit.rounds.state import State

CLAMP = 1.0
"""B of McSherry & Mironov: a centred rating counts at most one point."""
FICTITIOUS = 20
"""beta_p of McSherry & Mironov: fictitious ratings in a person's own mean."""
OFFSET = 0.5
"""In the length of a person's row: keeps the weight of people with few ratings finite."""
CLIP = 2.0
"""Of a residual before a person's own mean is taken."""
FINE = 2**12
UNDECLARED = 5000
"""Stands for the number of people in the rules where it is not declared."""
EXACT = 1000
"""Up to this many items a matrix is cleaned in 64-bit floats; above, 32 bits are as good as
its noise."""


class MatrixSettings(BaseSettings):
    items: int | None = Field(None, ge=2)
    """How many of the most rated items the matrix covers; by rule from people and noise
    unless given."""
    rank: int = Field(60, ge=1, le=500)
    """At most this many factors."""


class MatrixMethod(Method):
    """Level, item weights and effects; then a matrix, which subclasses measure and use."""

    Settings: ClassVar[type[BaseSettings]] = MatrixSettings

    @abstractmethod
    def measure(self, public: Public, size: int, share: float) -> Round:
        """The round that releases the matrix, over the items of largest released weight."""

    def plan(self, public: Public) -> Plan:
        settings = self.settings
        assert isinstance(settings, MatrixSettings)
        unit, mu = public.unit, strength(public.budget)
        if (
            public.budget is None
        ):  # the twin bounds nobody, so it measures as at the unit that clips least
            public = replace(public, unit="rating")
        reach = (public.schema.users or UNDECLARED) * mu
        matrix = matrix_share(public.unit, reach)
        size = (
            matrix_size(public, reach)
            if settings.items is None
            else min(settings.items, public.items)
        )
        first = FirstOrder(public, public_design(public), is_pure(public))
        level = level_share(public.schema.users, mu * sqrt(1 - matrix))
        rest = (1 - matrix) * (1 - level)
        each = 0.69 * rest / 2
        rounds = (
            first.people((1 - matrix) * level),
            first.weights(0.31 * rest),
            *(
                first.effects(f"effects {i}", each, 1 / (mu * sqrt(each)))
                for i in (1, 2)
            ),
            self.measure(public, size, matrix),
        )
        story = (
            (
                f"The matrix takes {100 * matrix:.0f} % of the budget, over the {size:,} "
                "items of largest weight."
            ),
            "Both numbers follow by rule from people x noise.",
            (
                "First-order statistics take the rest: level, item weights and two sweeps of "
                "item effects."
            ),
        )
        return Plan(unit, rounds, story)


def is_pure(public: Public) -> bool:
    return public.budget is not None and public.budget.delta == 0


def matrix_share(unit: str, reach: float) -> float:
    """Of the budget: nothing much while people x mu is too small for any pair of items to
    stand out."""
    if reach == float("inf"):
        return 0.7
    if unit == "user":
        return 0.7 * reach**2 / (reach**2 + 4000**2)
    return 0.7 * reach / (reach + 400) * min(1.0, reach / 800)


def matrix_size(public: Public, reach: float) -> int:
    """How many items the matrix covers: as many as the noise allows, at most half the catalogue."""
    most = max(2, min(public.items, max(50, public.items // 2)))
    factor = 0.07 if public.unit == "user" else 0.3
    return int(np.clip(min(factor * reach, most), min(50, most), most))


def places(weight: NDArray[np.float64], size: int) -> NDArray[np.uint32]:
    """Row of each item in the matrix, ascending with the item; `size` for items that it
    leaves out."""
    head = np.sort(np.argsort(-np.asarray(weight), kind="stable")[:size])
    place = np.full(len(weight), size, np.uint32)
    place[head] = np.arange(len(head), dtype=np.uint32)
    return place


def first_arrays(
    public: Public, state: State, learned: NDArray[np.float64] | None = None
) -> dict[str, NDArray[np.float32]]:
    """What every method with a matrix publishes: baseline, doubt, loadings of the personal
    model, and weights."""
    made, _ = loadings(
        kept_weights(state).popularity,
        FirstOrder(public, public_design(public), False).features,
        level_variance=float(state["level"][1]),
        learned=learned,
    )
    return {
        "baseline": (float(state["level"][0]) + state["effect"]).astype(np.float32),
        "variance": np.asarray(state["variance"], np.float32),
        "loadings": made.astype(np.float32),
        "weight": np.asarray(state["weight"], np.float32),
    }


def neighbour_lists(
    items: int, head: NDArray[np.int64], near: Neighbours
) -> dict[str, NDArray[Any]]:
    """The neighbours among the items `head` of a matrix, as published: rows of the whole
    catalogue."""
    index, value = (
        np.full((items, near.item.shape[1]), -1, np.int64),
        np.zeros((items, near.item.shape[1])),
    )
    index[head] = np.where(near.item >= 0, head[near.item], -1)
    value[head] = near.value
    return compress(index, value)


def centred_cells(public: Public) -> CentredCells:
    """One rating less its person's shrunk mean, clamped to +-B: for bounds on single cells."""
    return CentredCells(public.items, CLIP, FICTITIOUS, CLAMP, FINE)


def residuals(block: Block, state: State) -> NDArray[np.float64]:
    """What level and item effects leave of each rating."""
    return np.asarray(block.value - state["level"][0] - state["effect"][block.item])


def counted(block: Block, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each cell, how many of its person's cells are inside the matrix."""
    kept = np.concatenate([[0], np.cumsum(inside)])
    return np.repeat(np.diff(kept[block.ptr]), np.diff(block.ptr))


def centred(
    block: Block, state: State, inside: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Residuals less the person's own shrunk mean, clamped; 0 outside the matrix. For
    bounds on whole people."""
    from tacit.kernels.rows import shrunk_means

    rest = np.clip(residuals(block, state), -CLIP, CLIP)
    own = np.empty(len(block.people))
    shrunk_means(block.ptr, rest, FICTITIOUS, CLIP, own)
    return np.where(
        inside, np.clip(rest - np.repeat(own, np.diff(block.ptr)), -CLAMP, CLAMP), 0.0
    )


def precise(matrix: NDArray[np.float32]) -> NDArray[np.float32] | NDArray[np.float64]:
    """The released matrix in the precision in which it is cleaned."""
    return matrix.astype(np.float64) if len(matrix) <= EXACT else matrix
