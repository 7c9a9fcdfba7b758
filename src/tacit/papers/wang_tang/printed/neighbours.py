"""PCC and COS, the non-private neighbours that Wang & Tang compare with (section 5.1).

Equation 2 over raw item means: Pearson's correlation over common raters, or the cosine over
all raters, of ratings less their items' means; N neighbours of each item are kept, by the
size of their similarity or by the similarity itself.
`tests/papers/printed/wang_tang.py` has a plain twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.bound import CellClip, Rows
from tacit.methods.base import Form, Public
from tacit.methods.item_item.knn import ItemKNN
from tacit.methods.item_item.plan import Arrays, PlainState, published
from tacit.model.person.gaussian import NOISE
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
LEAST_TOTAL = 1e-9
"""Stands for a positive divisor where no neighbour was rated."""
STORY = "Not private: raw means and raw similarities, as Wang & Tang compare with them."


class PlainForm(Form):
    """`none` with `neighbours` given: nothing of it is private."""

    method: ItemKNN

    def plan(self, public: Public) -> Plan:
        """One round makes everything."""
        items = public.items
        pearson = self.method.centres

        def contribute(block: Block, state: PlainState) -> Mapping[str, Rows]:
            mean = item_means(block, items)
            alike = similarities(block, mean, pearson=pearson)
            return {"baseline": _rows(mean[:, None]), "similarity": _rows(alike)}

        def absorb(state: PlainState, released: Mapping[str, Released]) -> PlainState:
            return state.after(**{name: part.value for name, part in released.items()})

        parts = tuple(
            Part(name, items, CellClip(8.0), width, share=0.5, printed=Epoch())
            for name, width in (("baseline", 1), ("similarity", items))
        )
        round_ = Round("plain", parts, contribute, absorb)
        return Plan(public.unit, (round_,), (STORY,))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return PlainState()

    def finish(self, public: Public, state: PlainState) -> Shared:
        """Item means, and the most similar neighbours of each item."""
        neighbours = cast("int", self.method.knn_settings.neighbours)
        by_size = self.method.knn_settings.nearest == "size"
        arrays = plain_arrays(state, neighbours, by_size=by_size)
        numbers = {"noise": NOISE, "around": NOISE, "floor": LEAST_TOTAL}
        return published(self.method, public, "neighbourhood", arrays, numbers)


def plain_arrays(state: PlainState, neighbours: int, *, by_size: bool) -> Arrays:
    """For the personal model of neighbours, without levels."""
    items = len(state.similarity)
    masked = np.abs(state.similarity) if by_size else state.similarity.copy()
    np.fill_diagonal(masked, -np.inf)
    count = max(1, min(neighbours, items - 1))
    best = np.argsort(-masked, axis=1, kind="stable")[:, :count]
    index = np.sort(best, axis=1).astype(np.int64)
    value = np.take_along_axis(state.similarity, index, axis=1)
    return {
        "baseline": state.baseline[:, 0].astype(np.float32),
        "variance": np.zeros(items, np.float32),
        "loadings": np.zeros((items, 1), np.float32),
        "doubt": np.zeros(items, np.float32),
        **compress(index, value),
    }


def item_means(block: Block, items: int) -> Floats:
    """Raw; that of all ratings for an item without any."""
    count = np.bincount(block.item, minlength=items)
    total = np.bincount(block.item, block.value, items)
    every = float(block.value.mean()) if len(block.value) else 0.0
    return np.where(count > 0, total / np.maximum(count, 1), every)


def similarities(block: Block, mean: Floats, *, pearson: bool) -> Floats:
    """Of all pairs; 0 where nobody rated both, and on the diagonal."""
    shape = (len(block.people), len(mean))
    away = block.value - mean[block.item]
    deviations = csr_array((away, block.item, block.ptr), shape=shape)
    dot = (deviations.T @ deviations).toarray()
    square = csr_array((away**2, block.item, block.ptr), shape=shape)
    if pearson:
        ones = csr_array((np.ones(len(away)), block.item, block.ptr), shape=shape)
        common_squares: Floats = (square.T @ ones).toarray()
        size: Floats = common_squares * common_squares.T
    else:
        norm = np.bincount(block.item, away**2, len(mean))
        size = np.asarray(np.outer(norm, norm))
    alike = dot / np.sqrt(np.where(size > 0, size, 1.0)) * (size > 0)
    np.fill_diagonal(alike, 0.0)
    return np.asarray(alike)


def _rows(array: Floats) -> Rows:
    """A whole array as what one epoch made."""
    size = len(array)
    return Rows(np.array([0, size]), np.arange(size, dtype=np.uint32), array)
