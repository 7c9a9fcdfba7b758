"""What is wrong with a row, in words: the place and the remedy, never the cell itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tacit.data.ids import clean
from tacit.data.reading.columns import Roles
from tacit.data.reading.dialect import is_number, with_point
from tacit.data.schema import Schema
from tacit.errors import DataError, place

NO_TIME = (
    (
        re.compile(r"\d{1,4}/\d{1,2}/\d{1,4}\b"),
        "a date with slashes, in which day and month may be either way round",
    ),
    (
        re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}\b|\d{4}-\d{1,2}-\d{1,2}\b"),
        "a date that no calendar has",
    ),
    (re.compile(r"\d{1,2}\.\d{1,2}\.\d{2}\b(?!\d)"), "a year of two digits"),
)
"""Forms of dates that cannot be read, and what is wrong with them."""


def cell_fault(
    label: str,
    line: int,
    fields: Sequence[str],
    roles: Roles,
    role: str,
    width: int,
    schema: Schema,
) -> DataError:
    """The error for one row of a text file that could not be read."""
    used = roles.used()
    if len(fields) <= max(used.values()):
        if any("\n" in field for field in fields):
            return DataError(
                "a quotation mark in or after this line is never closed",
                place=place(label, line),
                remedy="close it, or write it twice where it is meant as itself",
            )
        return DataError(
            f"too few fields: {len(fields)} instead of {width}",
            place=place(label, line),
            remedy="complete or remove the line",
        )
    for each, position in used.items():
        if not fields[position] or (each == role and not clean(fields[position])):
            return DataError(
                "an empty cell",
                place=_where(label, line, position, each),
                remedy="complete or remove the line",
            )
    where = _where(label, line, used[role], role)
    return (
        rating_fault(fields[used[role]], where, schema)
        if role == "rating"
        else time_fault(where, "leave the column out with --columns time=none", fields[used[role]])
    )


def rating_fault(text: str, where: str, schema: Schema) -> DataError:
    """The error for a cell that is no rating."""
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return DataError(
            "the rating is NaN or infinite", place=where, remedy="complete or remove the line"
        )
    if not is_number(with_point(text)):
        remedy = "write ratings as numbers, such as 4.5, or say which column holds them"
        return DataError("text where a number belongs", place=where, remedy=remedy)
    return off_scale(where, schema)


def off_scale(where: str, schema: Schema) -> DataError:
    """The error for a rating outside the scale."""
    return DataError(
        f"the rating is outside the scale {schema.low:g} to {schema.high:g}",
        place=where,
        remedy="correct or remove the line, or give the right --scale LOW,HIGH",
    )


def time_fault(where: str, or_else: str = "leave the column out", text: str = "") -> DataError:
    """The error for a cell that is no time; what is wrong with it is told from its form."""
    message = "text where a time belongs"
    for form, what in NO_TIME:
        if form.match(text):
            message = what
    return DataError(
        message,
        place=where,
        remedy="write times as seconds since 1970 or as dates such as 2005-09-06 or "
        f"06.09.2005, or {or_else}",
    )


def _where(label: str, line: int, position: int, role: str) -> str:
    return place(label, line, f"{position + 1} ({role})")
