"""The compiled loops of the samplers, and nothing else. Import inside functions: numba
takes a third of a second.

No float here decides alone: a value computed in floating point is compared with a margin
that bounds its error, and what falls inside the margin goes back to the caller for big
integers. No fast-math: the roundings are IEEE 754's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit

MARGIN = 2.0**-40
"""More than every error bound stated below, by a factor of 16 and more."""

_UNIT = 2.0**-53
_U1 = np.uint64(1)
_U10 = np.uint64(10)
_U11 = np.uint64(11)
_U21 = np.uint64(21)
_U32 = np.uint64(32)
_U43 = np.uint64(43)
_U63 = np.uint64(63)
_COLUMN = np.uint64(1023)
_LOW32 = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def _exp_small(d: float) -> float:
    """exp(-d) for 0 <= d <= 1/4, off by less than 2^-46.

    Ten terms of the alternating series leave less than 2^-22/11! < 2^-47. In the nested
    form each step multiplies what came before by d/k <= 1/4 and adds at most 4 roundings of
    numbers below 1, so rounding ends below 8 * 2^-53.
    """
    v = 1.0 - d * 0.1
    v = 1.0 - d * v * (1.0 / 9.0)
    v = 1.0 - d * v * 0.125
    v = 1.0 - d * v * (1.0 / 7.0)
    v = 1.0 - d * v * (1.0 / 6.0)
    v = 1.0 - d * v * 0.2
    v = 1.0 - d * v * 0.25
    v = 1.0 - d * v * (1.0 / 3.0)
    v = 1.0 - d * v * 0.5
    return 1.0 - d * v


@njit(cache=True, nogil=True)
def strip_draws(
    words: NDArray[np.uint64],
    out: NDArray[np.int64],
    at: int,
    word: int,
    log_width: int,
    threshold: NDArray[np.uint32],
    alias: NDArray[np.uint16],
    squeeze: NDArray[np.uint32],
    top: NDArray[np.float64],
    slope: NDArray[np.float64],
    curve: float,
    strips: int,
    reject: int,
    margin: float,
    event: NDArray[np.int64],
) -> tuple[int, int, bool]:
    """Draw into out[at:] until it or the words run out, or until an event needs big
    integers (then the last is True).

    One word gives the column (10 bits), the sign, the alias coin (32) and the first 21 bits
    of the acceptance number u; a second the offset, if strips are wider than 1. `event`
    returns (strip, magnitude, negative, 53 bits of u).
    """
    stride = 2 if log_width > 0 else 1
    shift = np.uint64(63 - log_width)
    n, last_word = out.size, words.size - stride - 1
    while at < n and word <= last_word:
        w = words[word]
        offset = np.int64((words[word + stride - 1] >> _U1) >> shift)
        word += stride
        column = np.int64(w & _COLUMN)
        aliased = np.int64(alias[column])
        strip = column if ((w >> _U11) & _LOW32) < np.uint64(threshold[column]) else aliased
        negative = np.int64((w >> _U10) & _U1)
        u = w >> _U43
        magnitude = (np.int64(strip) << log_width) + offset
        if u >= np.uint64(squeeze[strip]):
            if strip == reject:
                continue
            fine = u << _U32 | words[word] >> _U32
            word += 1
            undecided = strip == strips  # the tail
            if not undecided:
                d = np.float64(offset) * (slope[strip] + np.float64(offset) * curve)
                accept = top[strip] * _exp_small(d)
                x = np.float64(fine) * _UNIT
                if x >= accept + margin:
                    continue
                undecided = x + _UNIT > accept - margin
            if undecided:
                event[0] = strip
                event[1] = magnitude
                event[2] = negative
                event[3] = np.int64(fine)
                return at, word, True
        if magnitude == 0 and negative:
            continue
        out[at] = -magnitude if negative else magnitude
        at += 1
    return at, word, False


@njit(cache=True, nogil=True)
def flips(
    x: NDArray[np.float64],
    error: NDArray[np.float64],
    factor: NDArray[np.float64],
    words: NDArray[np.uint64],
    powers: NDArray[np.float64],
    margin: float,
    out: NDArray[np.uint8],
) -> None:
    """out = 1 with probability factor * exp(-x), else 0; 2 where the first 53 bits of u
    cannot tell.

    `error` bounds what x and the factor (at most 1) are off by together; `powers` holds
    exp(-i/4). The product of a power (one rounding), the small exponential and the factor
    then is off by less than error + 2^-45.
    """
    for i in range(x.size):
        value = max(x[i], 0.0)
        u = np.float64(words[i] >> _U11) * _UNIT
        if value < 64.0:
            quarter = np.int64(value * 4.0)
            accept = factor[i] * (powers[quarter] * _exp_small(value - 0.25 * quarter))
            slack = error[i] + margin
        else:
            accept, slack = 0.0, error[i] + 1e-24  # exp(-64) < 2e-28
        if u + _UNIT <= accept - slack:
            out[i] = 1
        elif u >= accept + slack:
            out[i] = 0
        else:
            out[i] = 2


@njit(cache=True, nogil=True)
def finish_band(sums: Any, noise: Any, first_row: int, steps: int, out: Any) -> None:
    """Rows of a symmetric matrix as float32: sums plus noise (none if it is empty) from
    column `first_row` + row on."""
    at = 0
    for row in range(sums.shape[0]):
        start = min(first_row + row, sums.shape[1])
        for column in range(start):
            out[row, column] = 0.0
        for column in range(start, sums.shape[1]):
            total = sums[row, column]
            if noise.size:
                total += noise[at]
                at += 1
            out[row, column] = total / steps
