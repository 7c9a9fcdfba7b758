"""Bytes to numbers for large files. A kernel accepts only the plainest writing and hands
back what it does not know."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels.compiled import njit
from tacit.repr import shapes

Bytes = NDArray[np.uint8]

# Faults of a line of Netflix.
TOO_FEW = 1
NO_USER = 2
NO_RATING = 3
OFF_SCALE = 4
NO_DATE = 5
NO_ITEM = 6
TOO_MANY = 7


@njit(cache=True, nogil=True)
def _rows(
    data: Any,
    mark: int,
    twice: bool,
    width: int,
    roles: Any,
    user: Any,
    item: Any,
    value: Any,
    time: Any,
) -> int:
    """Rows of plain numbers; the number read, or -1 at the first byte that is not as expected.

    `roles` says for each field: 0 skip, 1 user, 2 item, 3 rating, 4 time. Ids must be
    integers below 2^32 in their shortest form, ratings decimals of at most 15 digits, times
    integers of at most 18.
    """
    scale = np.empty(16, np.float64)
    scale[0] = 1.0
    for k in range(1, 16):
        scale[k] = scale[k - 1] * 10.0
    row = 0
    at = 0
    end = data.size
    while at < end:
        if row >= user.size:  # behind the last line end: no row that was counted
            return -1
        for column in range(width):
            role = roles[column]
            negative = False
            if data[at] == 45 and role >= 3:
                negative = True
                at += 1
            start = at
            number = np.int64(0)
            digits = 0
            decimals = -1
            while at < end:
                byte = data[at]
                if 48 <= byte <= 57:
                    number = number * 10 + (byte - 48)
                    digits += 1
                    if decimals >= 0:
                        decimals += 1
                elif byte == 46 and decimals < 0 and role == 3:
                    decimals = 0
                elif byte == mark or byte == 10 or byte == 13:
                    break
                elif role != 0 or byte == 34:
                    return -1
                at += 1
            if role != 0:
                if digits == 0 or digits > 18 or (role == 3 and digits > 15):
                    return -1
                if role <= 2 and (number > 4294967295 or (data[start] == 48 and digits > 1)):
                    return -1
            if role == 1:
                user[row] = number
            elif role == 2:
                item[row] = number
            elif role == 3:
                exact = number / scale[decimals] if decimals > 0 else np.float64(number)
                value[row] = -exact if negative else exact
            elif role == 4:
                time[row] = -number if negative else number
            if column < width - 1:
                if at >= end or data[at] != mark:
                    return -1
                at += 1
                if twice:
                    if at >= end or data[at] != mark:
                        return -1
                    at += 1
                if at >= end:
                    return -1
        if at < end and data[at] == 13:
            at += 1
        if at >= end or data[at] != 10:
            return -1
        at += 1
        row += 1
    return row


def rows(
    data: bytes, delimiter: str, roles: NDArray[np.int8]
) -> (
    tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64] | None]
    | None
):
    """User, item, rating and time of each row of whole lines, or None if some row is not
    plain numbers."""
    view = np.frombuffer(data, np.uint8)
    count = int(np.count_nonzero(view == 10))
    user, item = np.empty(count, np.uint32), np.empty(count, np.uint32)
    value = np.ones(count, np.float64)
    time = np.empty(count if 4 in roles else 0, np.int64)
    rows_read = _rows(
        view, ord(delimiter[0]), len(delimiter) == 2, roles.size, roles, user, item, value, time
    )
    if rows_read != count:
        return None
    return user, item, value, time if 4 in roles else None


@njit(cache=True, nogil=True)
def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the civil calendar."""
    shifted = year - (1 if month <= 2 else 0)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@njit(cache=True, nogil=True)
def _netflix(
    data: Any, low: float, high: float, user: Any, value: Any, day: Any, section: Any, start: Any
) -> tuple[int, int, int, int]:
    """Lines `item:` and `user,rating,year-month-day`: rows, sections, then the fault's kind
    (0: none) and its byte."""
    row = 0
    sections = 0
    at = 0
    end = data.size
    number = np.zeros(5, np.int64)
    digits = np.zeros(5, np.int64)
    while at < end:
        line = at
        number[:] = 0
        digits[:] = 0
        field = 0
        kind = 0
        title = False
        while at < end and data[at] != 10:
            byte = data[at]
            at += 1
            if 48 <= byte <= 57 and not title:
                number[field] = number[field] * 10 + (byte - 48)
                digits[field] += 1
            elif (byte == 44 and field < 2) or (byte == 45 and 2 <= field < 4):
                field += 1
            elif byte == 58 and field == 0 and digits[0]:
                title = True
            elif byte == 13 and at < end and data[at] == 10:
                continue
            elif kind == 0:
                kind = (
                    TOO_MANY
                    if byte == 44
                    else NO_USER
                    if field == 0
                    else NO_RATING
                    if field == 1
                    else NO_DATE
                )
        at += 1
        if kind == 0 and title:
            if digits[0] > 9 or (digits[0] > 1 and data[line] == 48):
                return row, sections, NO_ITEM, line
            section[sections] = number[0]
            start[sections] = row
            sections += 1
            continue
        if kind == 0 and digits[0] == 0 and field == 0:
            continue  # a blank line
        if kind == 0:
            if field < 2:
                kind = TOO_FEW
            elif digits[0] == 0 or digits[0] > 9 or (digits[0] > 1 and data[line] == 48):
                kind = NO_USER
            elif digits[1] == 0 or digits[1] > 3:
                kind = NO_RATING
            elif number[1] < low or number[1] > high or number[1] > 255:
                kind = OFF_SCALE
            elif (
                field != 4 or digits[2] != 4 or not (1 <= number[3] <= 12 and 1 <= number[4] <= 31)
            ):
                kind = NO_DATE
        if kind:
            return row, sections, kind, line
        user[row] = number[0]
        value[row] = number[1]
        day[row] = _days(number[2], number[3], number[4])
        row += 1
    return row, sections, 0, 0


class Parsed(NamedTuple):
    """The rows of a text in the Netflix layout."""

    user: NDArray[np.uint32]
    value: NDArray[np.uint8]
    day: NDArray[np.int32]
    section: NDArray[np.int64]
    """The item of each section."""
    start: NDArray[np.int64]
    """The first row of each section."""
    kind: int
    """Of the first fault; 0 for none."""
    byte: int
    """Where the fault is."""

    def __repr__(self) -> str:
        return shapes(self)


def netflix(data: bytes, low: float, high: float) -> Parsed:
    """All rows of a text, or those before its first fault."""
    view = np.frombuffer(data, np.uint8)
    lines = int(np.count_nonzero(view == 10)) + 1
    titles = int(np.count_nonzero(view == 58)) + 1
    user = np.empty(lines, np.uint32)
    value = np.empty(lines, np.uint8)
    day = np.empty(lines, np.int32)
    section, start = np.empty(titles, np.int64), np.empty(titles, np.int64)
    parsed = _netflix(view, low, high, user, value, day, section, start)
    rows, sections = parsed[0], parsed[1]
    return Parsed(
        user[:rows],
        value[:rows],
        day[:rows],
        section[:sections],
        start[:sections],
        kind=int(parsed[2]),
        byte=int(parsed[3]),
    )
