"""Half-steps of alternating least squares: each row (a person, or an item) solved against
the other side, held fixed.

A row's normal equations come from one product of its own ratings' factors with themselves.
Rows do not depend on each other, so neither threads nor blocks change a bit of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.cholesky import factor, factor_beside, substitute, substitute_beside
from tacit.kernels.compiled import njit

Floats = NDArray[np.float32] | NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint32]

TILE = 3
"""Rows and columns of a product that are summed together."""
BESIDE = 64
"""Rows that are solved side by side: 32 take a tenth more time, 16 a third."""
LANES = 32
"""Ratings of a row are filled up with zeros to a multiple of this, so that no sum has a slow
tail: an eighth of the time of products at 160 ratings a row; 16 and 64 save less."""
SUMS = {"reassoc", "contract", "nsz"}
"""What the compiler may do to a sum: regroup it, by its length alone."""


@njit(cache=True, nogil=True)
def whole_tiles(count: int) -> int:
    """So many ratings, filled up to whole lanes."""
    return (count + LANES - 1) // LANES * LANES


@njit(cache=True, nogil=True)
def _gather(
    factors: Floats, index: Codes, value: Floats, start: int, count: int, space: Floats
) -> Floats:
    """The rows that a row's ratings name, as columns, with its values as one more row, and
    zeros up to a whole tile and to whole lanes."""
    width = factors.shape[1]
    padded = (width + 1 + TILE - 1) // TILE * TILE
    filled = whole_tiles(count)
    out = space[: padded * filled].reshape((padded, filled))
    out[width + 1 :] = 0.0
    out[: width + 1, count:] = 0.0
    cell = 0
    while cell + 8 <= count:  # so that neighbours are written together
        at = start + cell
        r0, r1 = factors[index[at]], factors[index[at + 1]]
        r2, r3 = factors[index[at + 2]], factors[index[at + 3]]
        r4, r5 = factors[index[at + 4]], factors[index[at + 5]]
        r6, r7 = factors[index[at + 6]], factors[index[at + 7]]
        for a in range(width):
            line = out[a, cell : cell + 8]
            line[0] = r0[a]
            line[1] = r1[a]
            line[2] = r2[a]
            line[3] = r3[a]
            line[4] = r4[a]
            line[5] = r5[a]
            line[6] = r6[a]
            line[7] = r7[a]
        cell += 8
    while cell < count:
        source = factors[index[start + cell]]
        for a in range(width):
            out[a, cell] = source[a]
        cell += 1
    out[width, :count] = value[start : start + count]
    return out


@njit(cache=True, nogil=True, fastmath=SUMS)
def products_of(rows: Floats, gram: Floats) -> None:
    """Upper triangle of rows rows', three by three at a time: nine sums stay in registers
    while their rows are read. Rows are whole lanes long (`whole`).

    The compiler may regroup a sum, in a way that depends on its length alone.
    """
    zero = gram.dtype.type(0)
    size = rows.shape[1] // LANES * LANES
    for a in range(0, rows.shape[0], TILE):
        a0 = rows[a]
        a1 = rows[a + 1]
        a2 = rows[a + 2]
        for b in range(a, rows.shape[0], TILE):
            b0 = rows[b]
            b1 = rows[b + 1]
            b2 = rows[b + 2]
            s00 = zero
            s01 = zero
            s02 = zero
            s10 = zero
            s11 = zero
            s12 = zero
            s20 = zero
            s21 = zero
            s22 = zero
            for k in range(size):
                u0 = a0[k]
                u1 = a1[k]
                u2 = a2[k]
                v0 = b0[k]
                v1 = b1[k]
                v2 = b2[k]
                s00 += u0 * v0
                s01 += u0 * v1
                s02 += u0 * v2
                s10 += u1 * v0
                s11 += u1 * v1
                s12 += u1 * v2
                s20 += u2 * v0
                s21 += u2 * v1
                s22 += u2 * v2
            gram[a, b] = s00
            gram[a, b + 1] = s01
            gram[a, b + 2] = s02
            gram[a + 1, b] = s10
            gram[a + 1, b + 1] = s11
            gram[a + 1, b + 2] = s12
            gram[a + 2, b] = s20
            gram[a + 2, b + 1] = s21
            gram[a + 2, b + 2] = s22


@njit(cache=True, nogil=True)
def column_space(ptr: Ints, start: int, stop: int, factors: Floats) -> tuple[Floats, Floats]:
    """Room for the longest row's columns and for its products."""
    longest = 1
    for row in range(start, stop):
        longest = max(longest, ptr[row + 1] - ptr[row])
    padded = (factors.shape[1] + 1 + TILE - 1) // TILE * TILE
    return np.empty(padded * whole_tiles(longest), factors.dtype), np.empty(
        (padded, padded), factors.dtype
    )


@njit(cache=True, nogil=True)
def half_step(
    ptr: Ints,
    index: Codes,
    value: Floats,
    factors: Floats,
    ridge: Floats,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """out[row] = argmin sum (value - other[index]'x)^2 + ridge[row]'x^2 for rows `start` to `stop`.

    `ridge` has a number for each column of each row. A row without ratings gets zeros.
    """
    width = factors.shape[1]
    space, gram = column_space(ptr, start, stop, factors)
    cells = width * (width + 1) // 2
    systems = np.empty((BESIDE, cells + width), factors.dtype)
    lanes = np.empty((cells + width, BESIDE), factors.dtype)
    upper, right = lanes[:cells], lanes[cells:]
    for top in range(start, stop, BESIDE):
        end = min(top + BESIDE, stop)
        for row in range(top, end):
            begin, count = ptr[row], ptr[row + 1] - ptr[row]
            products_of(_gather(factors, index, value, begin, count, space), gram)
            for a in range(width):
                # A row without ratings may have no ridge.
                gram[a, a] += ridge[row, a] if count else 1.0
            _pack(gram, width, systems[row - top])
        for lane in range(end - top, BESIDE):
            gram[:] = 0.0
            for a in range(width):
                gram[a, a] = 1.0
            _pack(gram, width, systems[lane])
        for cell in range(len(lanes)):
            line = lanes[cell]
            for lane in range(BESIDE):
                line[lane] = systems[lane, cell]
        factor_beside(upper, width)
        substitute_beside(upper, right)
        for row in range(top, end):
            for a in range(width):
                out[row, a] = right[a, row - top]


@njit(cache=True, nogil=True)
def _pack(gram: Floats, width: int, out: Floats) -> None:
    """One system in a line: its upper triangle, and then the column after it, its right side."""
    at = 0
    for a in range(width):
        line = gram[a, a:width]
        for b in range(line.size):
            out[at + b] = line[b]
        at += line.size
    for a in range(width):
        out[at + a] = gram[a, width]


@njit(cache=True, nogil=True)
def half_step_likes(
    ptr: Ints,
    index: Codes,
    factors: Floats,
    everywhere: Floats,
    weight: float,
    ridge: float,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """out[row] = argmin over *all* cells of c (x'other - like)^2, c = 1 + `weight` for
    likes and 1 else, + ridge |x|^2.

    `everywhere` is other'other: what cells without a like contribute.
    """
    width = factors.shape[1]
    space, gram = column_space(ptr, start, stop, factors)
    ones = np.ones(space.size, factors.dtype)
    for row in range(start, stop):
        begin, count = ptr[row], ptr[row + 1] - ptr[row]
        out[row, :] = 0.0
        if count == 0:
            continue
        products_of(_gather(factors, index[begin : begin + count], ones, 0, count, space), gram)
        for a in range(width):
            out[row, a] = (1 + weight) * gram[a, width]
            for b in range(a, width):
                gram[a, b] = everywhere[a, b] + weight * gram[a, b]
            gram[a, a] += ridge
        factor(gram[:width, :width])
        substitute(gram[:width, :width], out[row])


@njit(cache=True, nogil=True)
def solve_rows(
    ptr: Ints, index: Codes, factors: Floats, ridge: Floats, right: Floats, out: Floats
) -> None:
    """out[row] = (X'X + ridge)^-1 right[row], X the rows of `factors` that the row's ratings
    name."""
    width, rows = factors.shape[1], ptr.size - 1
    space, gram = column_space(ptr, 0, rows, factors)
    zeros = np.zeros(space.size, factors.dtype)
    for row in range(rows):
        start, count = ptr[row], ptr[row + 1] - ptr[row]
        products_of(_gather(factors, index[start : start + count], zeros, 0, count, space), gram)
        for a in range(width):
            gram[a, a] += ridge[row, a]
            out[row, a] = right[row, a]
        factor(gram[:width, :width])
        substitute(gram[:width, :width], out[row])


@njit(cache=True, nogil=True)
def gram_rows(ptr: Ints, index: Codes, factors: Floats, out: Floats) -> None:
    """out[row] += X'X, X the rows of `factors` that the row's ratings name."""
    width = factors.shape[1]
    for row in range(ptr.size - 1):
        gram = out[row]
        for cell in range(ptr[row], ptr[row + 1]):
            x = factors[index[cell]]
            for a in range(width):
                for b in range(width):
                    gram[a, b] += x[a] * x[b]
