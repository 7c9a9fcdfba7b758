"""Covariance and weights measured apart and divided afterwards, as McSherry & Mironov do,
at sound bounds.

Unit `user`: a person adds (rr', ee')/n, products of rows of length at most B and 1 (the
weight is *squared*; with 1/sqrt n a whole person would add B^2 sqrt n). Unit `rating`:
(rr', ee')/sqrt n, bounded by `CountedGram`. For a pure promise n and n^2 stand for sqrt n
and n. The shrinkage follows by rule from the noise on the weights.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.bound import Bound, CellClip, CountedGram, FactorGram, Rows
from tacit.methods.base import Public
from tacit.methods.item_item.matrix import (
    FINE,
    centred,
    centred_cells,
    counted,
    is_pure,
    places,
    precise,
    residuals,
)
from tacit.methods.item_item.state import MatrixState
from tacit.methods.refine.spectrum import paper_clean
from tacit.rounds.round import Block, Part, Released, Round

WEIGHTS = 0.2
"""Of the round's share, for the weights: they are large and smooth where the covariance is small.
"""
RANK = 20
"""k of the paper."""
PULL, PER_NOISE = 3.0, 4.0
"""Average pairs to shrink by: so many, and so many times the noise of a weight over the
average weight."""


def pair_round(public: Public, size: int, share: float) -> Round:
    """Release both matrices with their diagonals; clean them as the paper does."""
    whole_person, pure = public.unit == "user", is_pure(public)
    bounds: tuple[Bound, Bound]
    if whole_person:
        bounds = (FactorGram(norm="l1" if pure else "l2", diagonal=True),) * 2
    else:
        grid, power = (2**28, 1.0) if pure else (2**20, 0.5)
        bounds = (
            CountedGram(size, centred_cells(public), grid=grid, power=power),
            CountedGram(size, CellClip(1.0, FINE), grid=grid, power=power),
        )

    def contribute(block: Block, state: MatrixState) -> Mapping[str, Rows]:
        index = places(state.weights.mean, size)[block.item]
        if not whole_person:
            rows = residuals(block, state), np.ones(len(index))
        else:
            inside = index < size
            count = np.maximum(counted(block, inside), 1)
            scale = 1.0 / (count if pure else np.sqrt(count))
            rows = scale * centred(block, state, inside), scale * inside
        return {
            n: Rows(block.ptr, index, r[:, None])
            for n, r in zip(("covariance", "weights"), rows, strict=True)
        }

    def absorb(state: MatrixState, released: Mapping[str, Released]) -> MatrixState:
        head = np.flatnonzero(places(state.weights.mean, size) < size)
        weights = precise(released["weights"].value)
        mean = float(weights[np.triu_indices(len(head), 1)].mean())
        pull = PULL + PER_NOISE * released["weights"].sd / max(
            mean, 1e-3 * released["weights"].sd + 1e-9
        )
        found = paper_clean(
            precise(released["covariance"].value),
            weights,
            state.weights.mean[head],
            rank=RANK,
            shrink_diagonal=PULL,
            shrink_off=pull,
        )
        learned = np.zeros((public.items, found.shape[1]))
        learned[head] = found
        return state.after(learned=learned)

    parts = (
        Part("covariance", size, bounds[0], share=(1 - WEIGHTS) * share, form="gram"),
        Part("weights", size, bounds[1], share=WEIGHTS * share, form="gram"),
    )
    return Round("covariance", parts, contribute, absorb)
