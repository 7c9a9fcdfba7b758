"""The Jester matrix: a row a person, first the number of jokes rated, then a column a joke;
99 is no rating."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.data.layouts.base import Glance, Layout, LayoutRequest
from tacit.data.ratings import Ratings
from tacit.data.reading.dialect import (
    Misquoted,
    decode,
    delimiter_of,
    fields_of,
    is_blank,
    is_number,
    misquoted,
)
from tacit.data.reading.faults import rating_fault
from tacit.data.reading.files import Bundle, Stream, spreadsheet
from tacit.data.reading.table import Table
from tacit.errors import DataError, format_location

WIDTHS = (101, 151)
"""Columns of the two matrices: a count, then 100 or 150 jokes."""
MANY = 50
"""A file that is called Jester's has more columns than this."""
CELL = re.compile(r"\s*-?\d*(\.\d*)?\s*")
MOST = 1 << 26
"""Bytes of a matrix: the largest published has 50 million."""


def is_jester(preview: Glance) -> bool:
    """By its name and many columns, or by its very width and numbers alone."""
    fields = re.split("[;,\t]", preview.first)
    if "jester" in preview.name and preview.name.endswith((".xls", ".dat", ".csv", ".txt", ".tsv")):
        return preview.name.endswith(".xls") or len(fields) > MANY or _is_matrix(preview, fields)
    return _is_matrix(preview, fields)


def _is_matrix(preview: Glance, fields: list[str]) -> bool:
    if not preview.name.endswith((".csv", ".txt", ".tsv")) or len(fields) not in WIDTHS:
        return False
    return all(CELL.fullmatch(field) for field in fields)


def read(layout: Layout, bundle: Bundle, parts: list[Stream], asked: LayoutRequest) -> Ratings:
    """The ratings of all files, as if they were one."""
    table = asked.table(layout, True, bundle.label)
    read_jester(parts, table)
    ratings = table.finish(bundle.label, layout.name, asked.items, asked.duplicates)
    return replace(ratings, notes=replace(ratings.notes, numbered=True))


def read_jester(parts: list[Stream], table: Table) -> None:
    """People are numbered through all files from 1, jokes from 1 in the order of the columns."""
    people = 0
    width = None
    for part in parts:
        lines, matrix = read_matrix(part)
        if width is not None and matrix.shape[1] != width:
            raise DataError(
                "the files have different numbers of columns",
                place=part.label,
                remedy="read one of them",
            )
        width = matrix.shape[1]
        ratings = matrix[:, 1:]
        check(ratings, lines, part.label, table)
        person, joke = np.nonzero(ratings != table.absent)
        table.dropped_absent = 0  # the empty cells of a matrix are no news
        table.add_numbers(
            (person + people + 1).astype(np.uint32),
            (joke + 1).astype(np.uint32),
            ratings[person, joke],
            None,
            lines[person] if table.keep_lines else None,
        )
        people += matrix.shape[0]


def read_matrix(part: Stream) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The line and the numbers of each row; a header line is skipped."""
    data = part.read_all(MOST, "a matrix of ratings")
    if data[:4] == b"\xd0\xcf\x11\xe0":
        raise spreadsheet(part.label)
    texts = decode(data, part.label).split("\n")
    first = next((line for line in texts if not is_blank(line)), None)
    if first is None:
        raise DataError(
            "the file is empty",
            place=part.label,
            remedy="give a file with at least one row of data",
        )
    delimiter = delimiter_of(first)
    width = len(_fields(first, delimiter, part.label, 1))
    lines: list[int] = []
    rows: list[NDArray[np.float64]] = []
    for number, text in enumerate(texts, start=1):
        fields = [] if is_blank(text) else _fields(text, delimiter, part.label, number)
        if not any(fields) or (not rows and not any(is_number(field) for field in fields)):
            continue
        if len(fields) != width:
            kind = "few" if len(fields) < width else "many"
            message = f"too {kind} fields: {len(fields)} instead of {width}"
            raise DataError(
                message,
                place=format_location(part.label, number),
                remedy="complete or remove the line",
            )
        rows.append(numbers(fields, part.label, number))
        lines.append(number)
    if not rows:
        raise DataError(
            "the file has no row of data", place=part.label, remedy="give at least one row of data"
        )
    return np.array(lines, np.int64), np.vstack(rows)


def _fields(text: str, delimiter: str, label: str, line: int) -> list[str]:
    try:
        return fields_of(text, delimiter)
    except Misquoted as error:
        raise misquoted(label, line, error) from None


def numbers(fields: list[str], label: str, line: int) -> NDArray[np.float64]:
    """The cells of one line, or an error that names the first that is no number."""
    try:
        return np.array(fields, np.float64)
    except ValueError:
        column = next((k + 1 for k, field in enumerate(fields) if not is_number(field)), None)
        raise DataError(
            "text where a number belongs",
            place=format_location(label, line, column),
            remedy="write ratings as numbers with a decimal point, and 99 for none",
        ) from None


def check(ratings: NDArray[np.float64], lines: NDArray[np.int64], label: str, table: Table) -> None:
    """Refuse a rating outside the scale that is not the mark of an absent one."""
    schema = table.schema
    wrong = ~((ratings >= schema.low) & (ratings <= schema.high)) & (ratings != table.absent)
    if wrong.any():
        person, joke = (int(k[0]) for k in np.nonzero(wrong))
        location = format_location(label, int(lines[person]), joke + 2)
        raise rating_fault(str(ratings[person, joke]), location, schema)


LAYOUTS = (Layout("jester", "Jester", -10, 10, is_jester, absent=99, several=True, reader=read),)
