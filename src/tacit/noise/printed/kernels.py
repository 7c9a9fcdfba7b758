"""Gaussian numbers of a given spread for each cell, as the printed federated schemes mix them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.kernels.compiled import njit


@njit(cache=True, nogil=True)
def mix_cells(uniform: Any, mixed: Any, people: Any, scale: float, out: Any) -> None:
    """out = scale sqrt(2 mixed / people) N(0, 1), by Box and Muller from two uniform
    numbers a cell."""
    rows, width = mixed.shape
    for row in range(rows):
        for column in range(width):
            radius = -2.0 * np.log1p(-uniform[row, column])
            cosine = np.cos(2.0 * np.pi * uniform[row, width + column])
            out[row, column] = (
                scale * np.sqrt(2.0 * mixed[row, column] * radius / people[row]) * cosine
            )


@njit(cache=True, nogil=True)
def mix_pairs(words: Any, mixed: Any, people: Any, scale: float, out: Any) -> None:
    """The same from one 64-bit word a cell (and one more in a row of odd width): Box and
    Muller give two independent numbers at a time, by the cosine and by the sine."""
    rows, width = mixed.shape
    unit = 1.0 / 9007199254740992.0  # 2^-53
    at = 0
    for row in range(rows):
        factor = -4.0 * scale * scale / people[row]
        for column in range(0, width, 2):
            fraction = np.float64(words[at] >> np.uint64(11)) * unit
            angle_fraction = np.float64(words[at + 1] >> np.uint64(11)) * unit
            at += 2
            radius = factor * np.log1p(-fraction)
            angle = 2.0 * np.pi * angle_fraction
            out[row, column] = np.sqrt(mixed[row, column] * radius) * np.cos(angle)
            if column + 1 < width:
                out[row, column + 1] = np.sqrt(mixed[row, column + 1] * radius) * np.sin(angle)


@njit(cache=True, nogil=True)
def distance_from_exponential(ordered: Any) -> float:
    """The largest gap between ascending numbers' share so far and what Exponential(1) has
    below them."""
    count = len(ordered)
    farthest = 0.0
    for rank in range(count):
        below = -np.expm1(-ordered[rank])
        farthest = max(farthest, (rank + 1) / count - below, below - rank / count)
    return farthest
