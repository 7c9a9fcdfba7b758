"""Covariance and weights measured apart and divided afterwards, as McSherry & Mironov do,
at sound bounds.

Unit `user`: a person adds (rr', ee')/n, products of rows of length at most B and 1 (the
weight is *squared*; with 1/sqrt n a whole person would add B^2 sqrt n). Unit `rating`:
(rr', ee')/sqrt n, bounded by `CountedGram`. For a pure promise n and n^2 stand for sqrt n
and n. The shrinkage follows by rule from the noise on the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tacit.bound import Bound, CellClip, CountedGram, FactorGram, Rows
from tacit.methods.base import Public
from tacit.methods.first_order.rule import is_pure
from tacit.methods.item_item.matrix import precise
from tacit.methods.item_item.rows import (
    FINE,
    centred,
    centred_cells,
    counts_inside,
    head_of,
    matrix_rows,
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
PULL = 3.0
"""Average pairs to shrink by. This and the next are the first values tried:
docs/results/covariance.md."""
PER_NOISE = 4.0
"""Added to `PULL` for each noise of a weight over the average weight."""
GRID, GRID_PURE = 2**20, 2**28
"""Steps of the grid at unit `rating`: finer where the bound is of L1 and counts every entry."""
TINY, TINIER = 1e-3, 1e-9
"""The average weight counts as at least so much of its own noise, and more than nothing."""


def pair_round(public: Public, size: int, share: float) -> Round:
    """Release both matrices with their diagonals; clean them as the paper does."""
    whole_person = public.unit == "user"
    pure = is_pure(public.budget)

    def contribute(block: Block, state: MatrixState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weights.mean, size)[block.item]
        rating = residuals(block, state)
        weight = np.ones(len(index))
        if whole_person:
            inside = index < size
            count = np.maximum(counts_inside(block, inside), 1)
            scale = 1.0 / (count if pure else np.sqrt(count))
            rating = scale * centred(block, rating, inside)
            weight = scale * inside
        return {
            "covariance": Rows(block.ptr, index, rating[:, None]),
            "weights": Rows(block.ptr, index, weight[:, None]),
        }

    def absorb(state: MatrixState, released: Mapping[str, Released]) -> MatrixState:
        head = head_of(state.weights.mean, size)
        factor = paper_clean(
            precise(released["covariance"].value),
            precise(released["weights"].value),
            state.weights.mean[head],
            rank=RANK,
            shrink_diagonal=PULL,
            shrink_off=_shrinkage(released["weights"]),
        )
        learned = np.zeros((public.items, factor.shape[1]))
        learned[head] = factor
        return replace(state, learned=learned)

    ratings: Bound
    ones: Bound
    if whole_person:
        ratings = ones = FactorGram(norm="l1" if pure else "l2", diagonal=True)
    else:
        grid = GRID_PURE if pure else GRID
        power = 1.0 if pure else 0.5
        ratings = CountedGram(size, centred_cells(public), grid=grid, power=power)
        ones = CountedGram(size, CellClip(1.0, FINE), grid=grid, power=power)
    covariance_share = (1 - WEIGHTS) * share
    parts = (
        Part("covariance", size, ratings, share=covariance_share, form="gram"),
        Part("weights", size, ones, share=WEIGHTS * share, form="gram"),
    )
    return Round("covariance", parts, contribute, absorb)


def _shrinkage(weights: Released) -> float:
    """Average pairs to shrink an entry off the diagonal by."""
    matrix = precise(weights.value)
    mean = float(matrix[np.triu_indices(len(matrix), 1)].mean())
    return PULL + PER_NOISE * weights.sd / max(mean, TINY * weights.sd + TINIER)
