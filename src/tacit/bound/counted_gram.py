"""McSherry & Mironov's covariance and weight matrix for one rating: products divided by a
power of a person's count.

The two matrices of one step are two parts, each with its own share of the budget: the same
as one joint vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.centre import CentredCells, mean_shift
from tacit.bound.gram import SHIFT, EntryGram
from tacit.units import Unit


@dataclass(frozen=True)
class _Moves:
    """How far the upper triangle moves, for each number c of other cells inside."""

    others: NDArray[np.float64]
    old: NDArray[np.float64]
    """Each entry of two other cells."""
    new: NDArray[np.float64]
    """Each entry of the cell that is new; c + 1 of them."""
    swap: bool = False
    """As many entries go as come."""

    @property
    def l1(self) -> float:
        """Largest L1 norm of the change, over the numbers of ratings a person may have."""
        return float((self._pairs * self.old + self._fresh * self.new).max())

    @property
    def l2(self) -> float:
        """The largest root of the sum of their squares."""
        squares = self._pairs * self.old**2 + self._fresh * self.new**2
        return float(np.sqrt(squares.max()))

    @property
    def _pairs(self) -> NDArray[np.float64]:
        return self.others * (self.others + 1) / 2

    @property
    def _fresh(self) -> NDArray[np.float64]:
        return (self.others + 1) * (2 if self.swap else 1)


@dataclass(frozen=True)
class CountedGram(EntryGram):
    """The sum of yy'/n^power over people with the diagonal, n the person's cells inside the matrix.

    `cells` is a `CentredCells` (the covariance) or a `CellClip` (the weight matrix: every
    cell counts `limit`, whatever its number).

    Guarantee (`rating`; docs/proofs/covariance.md, 10). Covariance: let a person have c
    cells inside before, and w(n) = n^-power, B the clamp, d_c how far the integer mean
    moves each of them (the largest over c or more cells in all). If the new cell is inside,
    an old entry moves by at most t = 2 B d_c w(c+1) + B^2 (w(c) - w(c+1)) and each of the c
    + 1 new ones by B^2 w(c+1): over the upper triangle L2^2 <= c(c+1)/2 t^2 + (c+1) B^4
    w(c+1)^2 and L1 <= c(c+1)/2 t + (c+1) B^2 w(c+1). If it is outside, t = 2 B d_c w(c) and
    nothing is new. On the grid every entry is rounded by itself, which adds 1 + 2 (B
    fine)^2/2^30 steps for each pair, in L2 times the root of their number. Weights: every
    entry of a person with n cells is one and the same integer E(n), so the move is counted
    exactly:
    c(c+1)/2 entries by |E(c) - E(c+1)| and c + 1 by E(c+1).

    With a cap on ratings a swap may also keep the count n inside: then c = n - 1 others stay,
    of whose c(c+1)/2 entries each moves by at most 2 B e_c w(n) (e_c the mean's shift by a
    swap; nothing for weights), n entries of at most B^2 w(n) go and n come. Or one of the two
    cells is outside: as above, with e_c for d_c, which also covers an addition.
    """

    power: float = 0.5
    diagonal: ClassVar[bool] = True

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Centred cells, or one and the same number for every cell."""
        if isinstance(self.cells, CentredCells):
            return super().apply(rows)
        return np.full(rows.values.shape, floor(self.cells.steps * self.cells.limit), np.int64)

    def weights(self, rows: Rows, q: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each person's 2^30 grid/(fine^2 n^power), rounded down; a function of how many
        cells she has inside."""
        inside = rows.index.astype(np.int64) < self.size
        running_count = np.concatenate([[0], np.cumsum(inside)])
        return self._weight(np.diff(running_count[rows.ptr]))

    def _weight(self, count: NDArray[np.int64]) -> NDArray[np.int64]:
        scaled = (
            2.0**SHIFT
            * self.grid
            / (self.cells.steps**2 * np.maximum(count, 1).astype(np.float64) ** self.power)
        )
        floored: NDArray[np.int64] = np.floor(scaled).astype(np.int64)
        return floored

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """For one rating alone; other units have no bound here."""
        if unit != "rating":
            return Sensitivity(inf, inf)
        if isinstance(self.cells, CentredCells):
            return self._covariance(self.cells, limited)
        return self._counts(limited)

    def _covariance(self, cells: CentredCells, limited: int | None) -> Sensitivity:
        clamp = floor(cells.steps * cells.limit)
        widest = max(min(cells.catalogue, limited or cells.catalogue), self.size + 1)
        other_cells = np.arange(widest, dtype=np.float64)
        clip = floor(cells.steps * cells.clip)
        shift = mean_shift(other_cells, clip, cells.shrink, "rating", limited)
        shift = np.minimum(shift, 2 * clamp)
        # The mean may be over more cells than are inside.
        shift = np.maximum.accumulate(shift[::-1])[::-1] / cells.steps
        top = clamp / cells.steps
        c = other_cells[: self.size + 1]
        weight_before = np.maximum(c, 1) ** -self.power
        weight_after = (c + 1) ** -self.power
        cell_move = 2 * top * shift[: len(c)]
        cell_square = top**2
        moves = [
            # The new cell is inside the matrix, and one more is there.
            _Moves(
                c,
                cell_move * weight_after + cell_square * (weight_before - weight_after),
                cell_square * weight_after,
            ),
            # It is outside: the mean alone moves.
            _Moves(c, cell_move * weight_before, 0 * c),
        ]
        if limited:  # one inside gives way to another
            moves.append(_Moves(c, cell_move * weight_after, cell_square * weight_after, swap=True))
        l1 = max(move.l1 for move in moves)
        l2 = max(move.l2 for move in moves)
        # The last for the float power.
        rounding = 1 + 2 * (cells.limit * cells.steps) ** 2 / 2**SHIFT + 1e-6
        entries = self.size * (self.size + 1) / 2
        return Sensitivity(
            l1 * self.grid + rounding * entries, l2 * self.grid + rounding * sqrt(entries)
        )

    def _counts(self, limited: int | None) -> Sensitivity:
        cell_square = floor(self.cells.steps * self.cells.limit) ** 2
        weight = self._weight(np.arange(self.size + 1)).astype(object) * cell_square
        half = 1 << (SHIFT - 1)
        # What the kernel adds.
        entry = np.array([int(w) + half >> SHIFT for w in weight], dtype=np.float64)
        c = np.arange(self.size, dtype=np.float64)
        entry_move = np.abs(entry[:-1] - entry[1:])
        entry_move[0] = 0.0
        moves = [_Moves(c, entry_move, entry[1:])]
        if limited:  # the count stays, and so does what others have in common
            moves.append(_Moves(c, 0 * c, entry[1:], swap=True))
        return Sensitivity(
            max(move.l1 for move in moves), max(move.l2 for move in moves) * (1 + 1e-12)
        )

    def words(self) -> str:
        return (
            f"{self.cells.words()}; each person's products are divided by her number "
            f"of ratings^{self.power:g}"
        )
