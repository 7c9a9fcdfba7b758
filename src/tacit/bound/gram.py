"""Bounds of item-item sums: what one person, or one cell, can add to the upper triangle of
a Gram matrix.

A bound of this kind gives integer rows and, in its *entry* form, one integer weight a
person; the engine sums products (`tacit.kernels.gram`). Cells may point outside the
matrix (index = size): they count in a person's own mean and are then left out, which moves
nothing further: leaving coordinates out never lengthens a difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, Sensitivity
from tacit.bound.centre import CentredCells, mean_shift
from tacit.bound.clip import CellClip, check_grid
from tacit.errors import SettingError
from tacit.units import Unit

SHIFT = 30
"""Fraction bits of a person's weight: that of `tacit.kernels.gram`."""
Indices = NDArray[np.unsignedinteger[Any]]


def index_type(size: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest index of so many rows."""
    return np.uint16 if size <= 2**16 else np.uint32


@dataclass(frozen=True)
class FactorGram:
    """The sum of qq' over people, q a person's row of norm at most `limit`, above the
    diagonal (or with it).

    Guarantee (`user`): |qq'|_F = |q|^2 holds in integers, and q is checked in integers: sum
    q^2 <= (root limit)^2. The part above the diagonal holds each off-diagonal number once, so
    its L2 norm is at most |q|^2/sqrt 2; with the diagonal at most |q|^2. In L1 (`norm` l1)
    the part above the diagonal sums to at most |q|_1^2/2, and with the diagonal to |q|_1^2. A
    person replaced by another (`rating`, `value`) moves twice that in L1, and in L2 only
    sqrt 2 times: |qq' - pp'|_F^2 = |q|^4 + |p|^4 - 2 (q.p)^2, and (q.p)^2 is not negative
    (docs/proofs/covariance.md, 8).
    """

    limit: float = 1.0
    norm: Literal["l1", "l2"] = "l2"
    root: int = 2**13
    """Grid steps per unit of a factor; the Gram is on their square."""
    diagonal: bool = False

    def __post_init__(self) -> None:
        check_grid(self.limit, self.root)
        if self.limit * self.root >= 2**15:
            raise SettingError("the factors of a Gram must fit 16 bits")

    @property
    def steps(self) -> int:
        """Of a product: the square of those of a factor."""
        return self.root**2

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """Scale each person's row to its norm and put it on the grid of factors."""

        from tacit.kernels.rows import grid_absolute, grid_squared

        out = np.empty(rows.values.shape, np.int64)
        grid = grid_squared if self.norm == "l2" else grid_absolute
        grid(rows.ptr, rows.values, self.limit, self.root, out)
        return out

    def weights(self, rows: Rows, q: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """None: products are summed as they are."""
        return None

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """One product of a row with itself; the difference of two where a person is
        replaced."""
        row_square = float(floor((self.root * self.limit) ** 2))
        once = 1.0 if self.diagonal else 0.5
        single = Sensitivity(inf, row_square * sqrt(once))
        if self.norm == "l1":
            single = Sensitivity(row_square * once, row_square * sqrt(once))
        if unit == "user":
            return single
        return Sensitivity(2 * single.l1, sqrt(2) * single.l2 * (1 + 1e-15))

    def words(self) -> str:
        return (
            f"each person's row has an {self.norm.upper()} norm of at most "
            f"{self.limit:g} before it is multiplied"
        )


@dataclass(frozen=True)
class EntryGram:
    """The sum of yy'/sqrt(|y|^2 + offset) over people, above the diagonal; y = cells
    centred by `CentredCells`.

    Guarantee (`rating`): write Y = (y, sqrt offset), r = |Y|, u = Y/r. The matrix is a
    block of r uu', whose change is dr uu' + r (du u' + u du'), so its F-norm squared is at
    most dr^2 + 2 r^2 |du|^2 <= 2 |dY|^2: the map is sqrt 2-Lipschitz. Above the diagonal
    each number stands once, which takes the sqrt 2 away: L2 <= the move of y, which `cells`
    bounds (cells outside the matrix leave coordinates out; |y|^2 is taken over the matrix
    alone).

    On the grid every entry is rounded by itself, to the nearest step, from a weight rounded
    down in 2^-30 and rows in steps of `fine`; so each of the two neighbours' entries is off
    by at most 1/2 + limit^2 fine^2/2^30, and the difference of the two vectors grows by at
    most (1 + 2 limit^2 fine^2/2^30) sqrt(size (size - 1)/2) in L2.
    """

    size: int
    """Rows of the matrix."""
    cells: CentredCells | CellClip
    offset: float = 0.5
    grid: int = 2**20
    """Steps of the released numbers."""

    diagonal: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fine = self.cells.steps
        weight = 2.0**SHIFT * self.grid / (fine**2 * sqrt(self.offset))
        if (
            self.offset <= 0
            or fine * self.cells.limit > 2**13
            or weight * (fine * self.cells.limit) ** 2 >= 2**61
        ):
            raise SettingError("the grid of the Gram is out of range")

    @property
    def steps(self) -> int:
        """Grid steps per unit of the released products (cells are on a grid of their own)."""
        return self.grid

    @property
    def limit(self) -> float:
        """Largest absolute value of one cell."""
        return self.cells.limit

    def apply(self, rows: Rows) -> NDArray[np.int64]:
        """The cells on their fine grid; those outside the matrix meet nowhere."""
        index = rows.index.astype(np.int64)
        outside = self.size + np.arange(len(index))
        folded = np.where(index < self.size, index, outside)
        return self.cells.apply(Rows(rows.ptr, folded, rows.values))

    def weights(self, rows: Rows, q: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each person's 2^30 grid/(fine^2 sqrt(|y|^2 + offset)), rounded down; a function
        of her own cells alone."""
        inside = np.where(rows.index.astype(np.int64) < self.size, q[:, 0], 0)
        sums = np.concatenate([[0], np.cumsum(inside**2)])
        length = (sums[rows.ptr[1:]] - sums[rows.ptr[:-1]]) / self.cells.steps**2
        scaled = 2.0**SHIFT * self.grid / (self.cells.steps**2 * np.sqrt(length + self.offset))
        floored: NDArray[np.int64] = np.floor(scaled).astype(np.int64)
        return floored

    def sensitivity(self, unit: Unit, limited: int | None = None) -> Sensitivity:
        """How far the cells move, and how far every entry is rounded."""
        if unit == "user":
            return Sensitivity(inf, inf)
        fine = self.cells.steps
        cell_move = self.cells.sensitivity(unit, limited).l2 / fine * self.grid
        # The last for the float square root.
        rounding = 1 + 2 * (self.cells.limit * fine) ** 2 / 2**SHIFT + 1e-6
        pairs = self.size * (self.size - 1) / 2
        return Sensitivity(inf, cell_move + rounding * sqrt(pairs))

    def words(self) -> str:
        return f"{self.cells.words()}; each person's products are divided by the length of her row"


# McSherry & Mironov's covariance and weight matrix for one rating: products divided by a
# power of a person's count.
#
# The two matrices of one step are two parts, each with its own share of the budget: the same
# as one joint vector.


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
