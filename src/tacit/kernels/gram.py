"""The item-item Gram of everyone's bounded integer rows: the upper triangle, one item row
at a time.

Two forms, for the two ways a contribution is put on the grid (docs/proofs/covariance.md):

- *factor*: the sum of q_i q_j over people, q a person's integer row. For unit `user`:
  |qq'|_F = |q|^2 is an integer
  identity, so the bound is checked on q before it comes here.
- *entry*: the sum of round(weight_u q_i q_j / 2^shift) over people: every entry of one
  person is rounded by itself. For units `rating` and `value`, where a rounded factor would
  multiply its rounding error by the whole row.

A caller asks for a *band* of rows, adds its noise to the finished integers, keeps them as
float32 and goes on, so that memory is the output plus one band. Everything is an integer:
no order, thread count or band size changes a sum. A sum beyond 64 bits wraps, which is
harmless for privacy and impossible below 2^63 / (steps^2) people.

Speed: each item row scans, for each of its raters, that person's row *forward from the item
itself*, and the row being summed stays in cache. Unsigned indices halve the time and 16-bit
ones take a fifth less again; 64-bit sums cost no more than 32-bit ones that spill. Tried
without gain: unrolling, people in chunks that fit the cache, items by popularity.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.kernels.compiled import njit
from tacit.kernels.order import by_item
from tacit.repr import shapes

Int64s = NDArray[np.int64]
Indices = NDArray[np.unsignedinteger[Any]]
SHIFT = 30
"""Fraction bits of a person's weight in the *entry* form."""


@dataclass(frozen=True, eq=False)
class IntegerRows:
    """Everyone's integer rows, by person (`ptr`, `item`, `value`) and by item (`start`,
    `user`, `cell`)."""

    n_items: int
    ptr: Int64s
    item: Indices
    value: NDArray[np.int16] | NDArray[np.int32]
    start: Int64s
    user: NDArray[np.uint32]
    cell: NDArray[np.uint32]

    __repr__ = shapes

    @property
    def n_users(self) -> int:
        """How many people have rows."""
        return len(self.ptr) - 1


def arrange(
    ptr: Int64s, item: Indices, value: NDArray[np.int16] | NDArray[np.int32], n_items: int
) -> IntegerRows:
    """Rows in user order (items ascending in each row), with the other order made by counting."""
    if len(item) >= 2**32:
        raise SettingError(
            "more than 4,294,967,295 ratings", remedy="restrict the catalogue or the people"
        )
    narrow: Any = item.astype(np.uint16 if n_items <= 2**16 else np.uint32, copy=False)
    return IntegerRows(n_items, ptr, narrow, value, *by_item(ptr, narrow, n_items))


def bytes_needed(n_items: int, matrices: int = 1, rows: int = 32) -> int:
    """Memory of `matrices` square float32 outputs and one band of 64-bit rows: asked before
    any work."""
    return n_items * n_items * 4 * matrices + rows * n_items * 8


def work_by_row(cells: IntegerRows) -> Int64s:
    """Multiplications that each item row costs; to share rows out evenly. Private: never
    shown, released or logged."""
    work: Int64s = _work(cells.ptr, cells.start, cells.user, cells.cell)
    return work


def bands(n_items: int, rows: int = 32) -> list[tuple[int, int]]:
    """Consecutive (first, last) row ranges; small enough that threads taking the next free
    one finish together."""
    return [(first, min(first + rows, n_items)) for first in range(0, n_items, rows)]


def factor_band(
    cells: IntegerRows, first: int, last: int, out: Int64s, *, add: bool = False
) -> None:
    """Rows first..last-1 of the sum of q_i q_j, columns j >= i; the rest of `out`
    (last-first, n_items) is zero. With `add`, to what is there."""
    _check(cells, first, last, out)
    if not add:
        out[:] = 0
    _factor_band(
        cells.ptr, cells.item, cells.value, cells.start, cells.user, cells.cell, first, last, out
    )


def entry_band(
    cells: IntegerRows, weight: Int64s, first: int, last: int, out: Int64s, *, add: bool = False
) -> None:
    """Rows first..last-1 of the sum of round(weight_u q_i q_j / 2^SHIFT), columns j >= i.
    With `add`, to what is there.

    Needs |weight_u q_i q_j| < 2^62 for every pair of a row. Rounding is to the nearest step
    (halves up), so the entries
    of two neighbouring rows differ by less than one step more than their real values do.
    """
    _check(cells, first, last, out)
    if len(weight) != cells.n_users:
        raise SettingError(
            f"{len(weight)} weights for {cells.n_users} rows", remedy="give one weight a person"
        )
    if not add:
        out[:] = 0
    _entry_band(
        cells.ptr,
        cells.item,
        cells.value,
        weight,
        cells.start,
        cells.user,
        cells.cell,
        first,
        last,
        out,
    )


def _check(cells: IntegerRows, first: int, last: int, out: Int64s) -> None:
    if not 0 <= first <= last <= cells.n_items or out.shape != (last - first, cells.n_items):
        raise SettingError(
            f"a band of rows {first} to {last} does not fit {cells.n_items} items and an "
            f"output of shape {out.shape}",
            remedy="give an int64 output of shape (last - first, items)",
        )


def mirror(upper: NDArray[np.float32], threads: int = 1) -> None:
    """Copy the upper triangle of a square array onto the lower, in place, block by block; each
    thread takes the next row of blocks."""
    block, size = 256, len(upper)

    def copy(row: int) -> None:
        for column in range(row, size, block):
            part = upper[row : row + block, column : column + block]
            if row == column:
                part += np.triu(part, 1).T - np.tril(part, -1)
            else:
                upper[column : column + block, row : row + block] = part.T

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(copy, range(0, size, block)))


@njit(cache=True, nogil=True)
def _work(ptr: Any, start: Any, user: Any, cell: Any) -> Any:
    work = np.zeros(start.size - 1, np.int64)
    for i in range(start.size - 1):
        for at in range(start[i], start[i + 1]):
            work[i] += ptr[np.int64(user[at]) + 1] - np.int64(cell[at])
    return work


@njit(cache=True, nogil=True)
def _factor_band(
    ptr: Any,
    item: Any,
    value: Any,
    start: Any,
    user: Any,
    cell: Any,
    first: int,
    last: int,
    out: Any,
) -> None:
    for i in range(first, last):
        row = out[i - first]
        for at in range(start[i], start[i + 1]):
            start_cell, end_cell = (np.uint64(cell[at]), np.uint64(ptr[np.int64(user[at]) + 1]))
            x = np.int64(value[start_cell])
            if x == 0:
                continue
            for k in range(start_cell, end_cell):
                row[item[k]] += x * np.int64(value[k])


@njit(cache=True, nogil=True)
def _entry_band(
    ptr: Any,
    item: Any,
    value: Any,
    weight: Any,
    start: Any,
    user: Any,
    cell: Any,
    first: int,
    last: int,
    out: Any,
) -> None:
    half = np.int64(1) << np.int64(SHIFT - 1)
    shift = np.int64(SHIFT)
    for i in range(first, last):
        row = out[i - first]
        for at in range(start[i], start[i + 1]):
            start_cell, end_cell = (np.uint64(cell[at]), np.uint64(ptr[np.int64(user[at]) + 1]))
            x = weight[user[at]] * np.int64(value[start_cell])
            if x == 0:
                continue
            for k in range(start_cell, end_cell):
                row[item[k]] += (x * np.int64(value[k]) + half) >> shift
