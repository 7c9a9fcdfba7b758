"""What is wrong with a row, in words: the place and the remedy, never the cell itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.data.catalogue import LONGEST
from tacit.data.ids import clean, controlled
from tacit.data.reading.columns import Roles
from tacit.data.reading.dialect import COMMA, is_number, pointed
from tacit.data.schema import Schema
from tacit.errors import DataError, format_location

if TYPE_CHECKING:
    from tacit.data.reading.table import Table

YEAR_FIRST = re.compile(r"\d{4}-\d{1,2}-\d{1,2}\b")
YEAR_LAST = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}\b")
SHORT_YEAR = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2}\b")
FORMS = {
    "iso": "year-month-day",
    "dmy": "day-month-year",
    "mdy": "month-day-year",
}
"""How a date is written, by the order that was declared."""


def cell_fault(
    label: str,
    line: int,
    fields: Sequence[str],
    roles: Roles,
    role: str,
    width: int,
    table: Table,
) -> DataError:
    """The error for one row of a text file that could not be read."""
    used = roles.used()
    if len(fields) <= max(used.values()):
        return DataError(
            f"too few fields: {len(fields)} instead of {width}",
            place=format_location(label, line),
            remedy="complete or remove the line; where fields are divided otherwise, say "
            "--delimiter",
        )
    for column_role, position in used.items():
        if not fields[position] or (column_role == role and not clean(fields[position])):
            return DataError(
                "an empty cell",
                place=_cell_location(label, line, position, column_role),
                remedy="complete or remove the line",
            )
    location = _cell_location(label, line, used[role], role)
    text = fields[used[role]]
    if role in ("user", "item"):
        return id_fault(text, location)
    if role == "rating":
        return rating_fault(text, location, table.schema, table.decimal)
    return time_fault(location, "leave the column out with --columns time=none", text, table.dates)


def id_fault(text: str, location: str) -> DataError:
    """The error for a cell that is no id."""
    if controlled(text):
        return control_fault(location)
    return DataError(
        f"an item's id has more than {LONGEST:,} letters",
        place=location,
        remedy="check the quotes and the delimiter",
    )


def control_fault(location: str) -> DataError:
    """The error for an id that holds what no id does."""
    return DataError(
        "a control character or a line end in an id",
        place=location,
        remedy="correct or remove the row",
    )


def rating_fault(text: str, location: str, schema: Schema, decimal: str = ".") -> DataError:
    """The error for a cell that is no rating."""
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return DataError(
            "the rating is NaN or infinite", place=location, remedy="complete or remove the line"
        )
    if not is_number(pointed(text, decimal)):
        remedy = "write ratings as numbers, such as 4.5, or say which column holds them"
        message = "text where a number belongs"
        if decimal == "." and COMMA.fullmatch(text):
            message = "a number with a decimal comma"
            remedy = "say --decimal , for the whole table"
        elif decimal == "," and is_number(text):
            message = "a number with a decimal point, and --decimal says a comma"
            remedy = "write all numbers in one way, or leave --decimal out"
        return DataError(message, place=location, remedy=remedy)
    return off_scale(location, schema)


def off_scale(location: str, schema: Schema) -> DataError:
    """The error for a rating outside the scale."""
    return DataError(
        f"the rating is outside the scale {schema.low:g} to {schema.high:g}",
        place=location,
        remedy="correct or remove the line, or give the right --scale LOW,HIGH",
    )


def time_fault(
    location: str, or_else: str = "leave the column out", text: str = "", dates: str = "iso"
) -> DataError:
    """The error for a cell that is no time in the declared order; what is wrong with it is
    told from its form."""
    form = FORMS[dates]
    example = {"iso": "2005-09-06", "dmy": "06.09.2005", "mdy": "09/06/2005"}[dates]
    message = "text where a time belongs"
    remedy = f"write times as dates such as {example}, or {or_else}"
    if dates == "iso":
        remedy = f"write times as seconds since 1970 or as dates such as {example}, or {or_else}"
    declared_order, other_order = (
        (YEAR_FIRST, YEAR_LAST) if dates == "iso" else (YEAR_LAST, YEAR_FIRST)
    )
    if is_number(text):
        message = f"a number, and not a date in the form {form}"
        if dates == "iso":
            message = "the times look like milliseconds"
            remedy = f"give seconds since 1970: divide by 1,000; or {or_else}"
        else:
            remedy = f"leave --dates out where times are seconds since 1970, or {or_else}"
    elif declared_order.match(text):
        message = f"no date of the calendar, or no time of the day, in the form {form}"
    elif other_order.match(text):
        message = f"not a date in the form {form}"
        remedy = "leave --dates out where the year comes first"
        if dates == "iso":
            remedy = "if days come first, say --dates dmy; if months do, --dates mdy"
    elif SHORT_YEAR.match(text):
        message = "a year of two digits"
    return DataError(message, place=location, remedy=remedy)


def _cell_location(label: str, line: int, position: int, role: str) -> str:
    return format_location(label, line, f"{position + 1} ({role})")
