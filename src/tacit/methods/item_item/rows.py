"""What one person adds to an item-item matrix: a row of numbers about her items inside it.

Ratings count less what level and item effects say, less the person's own shrunk mean, and
clamped; each person's products are divided by the length of her row. Why one person, or one
rating, then moves a matrix by a known amount: docs/proofs/covariance.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CentredCells
from tacit.methods.base import Public
from tacit.methods.item_item.state import MatrixState
from tacit.rounds.round import Block

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

Floats = NDArray[np.float64]


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
