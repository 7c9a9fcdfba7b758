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
from tacit.bound.centre import CentredCells
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
