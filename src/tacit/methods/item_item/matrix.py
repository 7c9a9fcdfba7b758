"""From a released matrix to what is published: baseline, loadings, and lists of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.methods.base import Method, Public
from tacit.methods.first_order.item_factors import loadings
from tacit.methods.first_order.rounds import public_design
from tacit.methods.item_item.state import MatrixState
from tacit.methods.refine.neighbour import Neighbours
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared

EXACT = 1000
"""Up to this many items a matrix is cleaned in 64-bit floats; above, 32 bits are as good as
its noise."""

Arrays = dict[str, NDArray[Any]]


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
