"""What every bound takes for granted about a contribution, checked before it is bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import AddingBound, Bound, Rows
from tacit.errors import Failure


def check_rows(rows: Rows, *, name: str, people: int, size: int) -> None:
    """Refuse a contribution whose lines are not shared out among exactly `people` people,
    or that misses its array.

    Guarantee: bounds clip person by person, so a method that lists one person as several
    would be charged for one of them only; and a line that belongs to nobody would never be
    clipped. The test depends on the method, not the data.
    """
    ptr, lines = rows.ptr, len(rows.values)
    if (
        len(ptr) != people + 1
        or ptr[0] != 0
        or ptr[-1] != lines
        or (people > 1 and (np.diff(ptr) < 0).any())
    ):
        raise Failure(f"a contribution to {name} is not listed person by person")
    if len(rows.index) != lines:
        raise Failure(f"a contribution to {name} has {len(rows.index)} places for {lines} lines")
    if lines and not 0 <= int(rows.index.min()) <= int(rows.index.max()) < size:
        raise Failure(f"a contribution to {name} points outside its array")


def bounded(
    bound: Bound, rows: Rows, *, name: str, people: int, size: int, width: int
) -> NDArray[np.int64]:
    """The integer rows of a contribution that was checked, before and after its bound."""
    check_rows(rows, name=name, people=people, size=size)
    integers = bound.apply(rows)
    _check_width(integers, rows, name, width)
    return integers


def add_bounded(
    bound: Bound, rows: Rows, out: NDArray[np.int64], *, name: str, people: int
) -> None:
    """Add the integer rows of a contribution that was checked to the array that it is for."""
    size, width = out.shape
    if isinstance(bound, AddingBound):
        check_rows(rows, name=name, people=people, size=size)
        _check_width(rows.values, rows, name, width)
        bound.add(rows, out)
    else:
        from tacit.kernels.rows import add_rows

        whole = bounded(bound, rows, name=name, people=people, size=size, width=width)
        add_rows(rows.index, whole, out)


def _check_width(lines: NDArray[Any], rows: Rows, name: str, width: int) -> None:
    if lines.shape != (len(rows.index), width):
        raise Failure(f"a contribution to {name} has not {width} columns")
