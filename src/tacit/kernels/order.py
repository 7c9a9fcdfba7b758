"""Orders of ratings by counting: to people's rows, and to items. Stable, with 32-bit positions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.repr import shapes

Codes = NDArray[np.uint32]
Starts = NDArray[np.int64]


@njit(cache=True, nogil=True, inline="always")
def _starts(code: Any, size: int) -> Any:
    ptr = np.zeros(size + 1, np.int64)
    for k in range(code.size):
        ptr[np.int64(code[k]) + 1] += 1
    for k in range(size):
        ptr[k + 1] += ptr[k]
    return ptr


@njit(cache=True, nogil=True, inline="always")
def _counting_order(code: Any, ptr: Any) -> Any:
    """Position of the k-th smallest code, equal codes in the order they came."""
    free = ptr[:-1].copy()
    order = np.empty(code.size, np.uint32)
    for k in range(code.size):
        group = code[k]
        order[free[group]] = k
        free[group] += 1
    return order


@njit(cache=True, nogil=True, inline="always")
def _sort_rows(ptr: Any, item: Any, order: Any) -> None:
    """Within each row by item, stable; rows that already ascend (most files) are left alone."""
    for row in range(ptr.size - 1):
        start, end = ptr[row], ptr[row + 1]
        for k in range(start + 1, end):
            if item[order[k]] < item[order[k - 1]]:
                part = order[start:end].copy()
                rank = np.argsort(item[part], kind="mergesort")
                for j in range(part.size):
                    order[start + j] = part[rank[j]]
                break


@njit(cache=True, nogil=True)
def _gather(values: Any, order: Any, out: Any) -> None:
    for k in range(order.size):
        out[k] = values[order[k]]


@njit(cache=True, nogil=True, inline="always")
def _row_of(ptr: Any, cell: Any) -> Any:
    """The row that holds each cell."""
    row_of = np.empty(cell.size, np.uint32)
    for row in range(ptr.size - 1):
        for k in range(ptr[row], ptr[row + 1]):
            row_of[k] = row
    return row_of[cell]


# One compiled function each; their parts are inlined, because compiling every part alone takes as
# long as the whole.
@njit(cache=True, nogil=True)
def _by_row(user: Any, item: Any, n_users: int) -> Any:
    ptr = _starts(user, n_users)
    order = _counting_order(user, ptr)
    _sort_rows(ptr, item, order)
    return ptr, order


@njit(cache=True, nogil=True)
def _by_item(ptr: Any, item: Any, n_items: int) -> Any:
    starts = _starts(item, n_items)
    cell = _counting_order(item, starts)
    return starts, _row_of(ptr, cell), cell


def by_row(user: Codes, item: Codes, n_users: int) -> tuple[Starts, Codes]:
    """Row starts, and the order that sorts the cells by (user, item), equal cells in the
    order they came."""
    rows: tuple[Starts, Codes] = _by_row(user, item, n_users)
    return rows


def gather(values: NDArray[Any], order: Codes, dtype: Any) -> NDArray[Any]:
    """`values[order]` as another type; numpy would widen the order to 64 bits first, and
    make two arrays."""
    out = np.empty(order.size, dtype)
    _gather(values, order, out)
    return out


class ItemOrder(NamedTuple):
    """Ratings in item order, people ascending in each item."""

    ptr: Starts
    """Where each item begins."""
    person: Codes
    """Whose rating it is."""
    cell: Codes
    """Where it is in the order by person."""

    def __repr__(self) -> str:
        return shapes(self)


def by_item(ptr: Starts, item: Codes, n_items: int) -> ItemOrder:
    """The order by item of ratings that are ordered by person.

    Positions are 32-bit: the caller refuses 2^32 cells or more (`tacit.data.ratings.check_size`).
    """
    return ItemOrder(*_by_item(ptr, item, n_items))
