"""Smaller uploads by Shin et al.'s projection: a device's matrix over all items, times
public random signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.rounds.round import AnyState, Block, Released, Round


def signs(rows: int, items: int, seed: int) -> NDArray[np.float64]:
    """Columns of length 1 with independent signs: Phi'Phi is the identity in expectation."""
    rng = np.random.default_rng([seed, rows, items])
    bits = rng.integers(0, 2, (rows, items), dtype=np.int8)
    return np.asarray((2.0 * bits - 1) / sqrt(rows), np.float64)


def projected(round_: Round, rows: int, seed: int) -> Round:
    """The same round on `rows` random directions instead of one row for each item.

    Guarantee: the projection comes before the clip and the grid, so the bound of the part
    holds as it stands, for the rows that are sent. The items are estimated by Phi' times
    the released rows: unbiased, with the other items' gradients as further noise, which is
    added to the standard deviation by their measured size.
    """
    (part,) = round_.parts
    if rows >= part.size:
        return round_
    matrix = signs(rows, part.size, seed)

    def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
        contribution = round_.contribute(block, state)[part.name]
        people = len(contribution.ptr) - 1
        out = np.zeros((people * rows, part.width))
        # Each person alone: a sum over her own cells in their order.
        for person in range(people):
            user_rows = out[person * rows : (person + 1) * rows]
            for cell in range(contribution.ptr[person], contribution.ptr[person + 1]):
                user_rows += matrix[:, contribution.index[cell], None] * contribution.values[cell]
        ptr = np.arange(people + 1, dtype=np.int64) * rows
        index = np.tile(np.arange(rows, dtype=np.uint32), people)
        return {part.name: Rows(ptr, index, out)}

    def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
        noisy = released[part.name]
        # What all items' gradients measure together, less the noise in the measure: the
        # other items' share of it falls on each item as further noise.
        square = float((noisy.value**2).sum(axis=0).mean())
        energy = max(square - rows * noisy.sd**2, 0.0)
        spread = sqrt(noisy.sd**2 + energy / rows)
        back = replace(noisy, value=matrix.T @ noisy.value, sd=spread)
        return round_.absorb(state, {part.name: back})

    return replace(round_, parts=(replace(part, size=rows),), contribute=contribute, absorb=absorb)
