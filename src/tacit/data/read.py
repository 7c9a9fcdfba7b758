"""`tacit.read`: ratings from a file, a folder, an archive, a data frame or a sparse matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tacit.asked import number, text
from tacit.data.catalogue import Catalogue
from tacit.data.layouts import detect, named
from tacit.data.layouts.base import Layout, dialect_of
from tacit.data.ratings import Notes, Ratings, check_times
from tacit.data.reading.assemble import Duplicates, assemble
from tacit.data.reading.columns import (
    Columns,
    Roles,
    find_roles,
    looks_like_header,
    told,
)
from tacit.data.reading.dialect import Dialect, decode, records, sniff
from tacit.data.reading.files import Bundle, Stream, bundle, spreadsheet
from tacit.data.reading.guard import third_party
from tacit.data.reading.table import Table, Unplaced
from tacit.data.schema import LIKES, Schema
from tacit.errors import DataError, SettingError

HEAD = 1 << 16


def read(
    source: Any,
    scale: tuple[float, float] | None = None,
    *,
    items: Catalogue | None = None,
    duplicates: Duplicates = "last",
    positive: float | bool | None = None,
    users: int | None = None,
    layout: str | None = None,
    columns: Columns | None = None,
) -> Ratings:
    """Ratings from `source`: a path (or several), a data frame of any library, or a scipy
    sparse matrix.

    `scale` is the lowest and the highest rating possible; a known layout implies it. It is
    public, and never taken from the ratings. With `items` (public), ratings of other items
    are dropped and counted. `positive=True` reads a table without ratings as likes;
    `positive=4` keeps ratings of 4 and more. `columns` maps a role (user, item, rating,
    time) to a header name or to a column's number, counted from 1.

    Guarantee: all errors that depend on private rows are raised here; they name a place and
    never quote a cell.
    """
    if duplicates not in ("last", "mean", "error"):
        raise SettingError(
            f"duplicates is {duplicates}", remedy="choose last, mean or error"
        )
    _check_kinds(items, columns, positive, layout)
    ask = _Ask(
        scale,
        items,
        duplicates,
        None if positive is False else positive,
        users,
        columns,
    )
    if isinstance(source, str | Path) or _is_paths(source):
        label = str(source) if isinstance(source, str | Path) else "the files"
        with third_party(label):
            return _read_files(
                bundle(source), named(layout) if layout else None, ask
            )
    from tacit.data.reading.frames import is_sparse, to_polars

    if layout is not None:
        raise SettingError(
            f"--layout {layout} is for files", remedy="leave --layout out"
        )
    if is_sparse(source):
        return _read_sparse(source, ask)
    return _read_frame(to_polars(source), "the data frame", ask)


def _check_kinds(
    items: object, columns: object, positive: object, layout: object
) -> None:
    """Refuse arguments of another kind than was asked for."""
    if items is not None and not isinstance(items, Catalogue):
        raise SettingError(
            f"items is a {type(items).__name__} and not a catalogue",
            remedy="read it first: tacit.read_items(source)",
        )
    if columns is not None and not isinstance(columns, Mapping):
        raise SettingError(
            f"columns is a {type(columns).__name__} and not a mapping",
            remedy='for example columns={"user": "customer", "rating": 4}',
        )
    if layout is not None:
        text("layout", layout, "give the name of a layout")
    if positive is not None and not isinstance(positive, bool):
        number("positive", positive, "give the least rating that is a like")


def marks_absent(source: str | Path, layout: str | None = None) -> bool:
    """Whether the layout of these files has a number that stands for no rating. Told by names
    and marks, so that a fit can be refused before a rating is read."""
    found = named(layout) if layout else detect(bundle(source))[0]
    return found is not None and found.absent is not None


def _is_paths(source: object) -> bool:
    return isinstance(source, list | tuple) and all(
        isinstance(each, str | Path) for each in source
    )


def _refuse_columns(ask: _Ask, what: str) -> None:
    if ask.columns is not None:
        raise SettingError(
            f"{what} has no columns to choose from",
            remedy="leave --columns out",
        )


class _Ask:
    """What the caller asked for, and the schema that follows from it."""

    def __init__(
        self,
        scale: tuple[float, float] | None,
        items: Catalogue | None,
        duplicates: Duplicates,
        positive: float | bool | None,
        users: int | None,
        columns: Columns | None,
    ) -> None:
        self.scale = scale
        self.items = items
        self.duplicates = duplicates
        self.columns = columns
        self.positive, self.users = positive, users

    @property
    def likes(self) -> bool:
        return self.positive is not None

    def schema(self, layout: Layout | None, rated: bool, label: str) -> Schema:
        """The scale that was given, else the layout's; a table of likes needs none."""
        if not rated:
            return Schema(
                0.0, 1.0, users=self.users, positive=1.0, source=LIKES
            )
        if self.positive is True:
            raise SettingError(
                "the data have ratings; say from which rating on one is a like",
                place=label,
                remedy="give the least rating that counts, such as --positive 4",
            )
        if self.scale is not None:
            low, high = _pair(self.scale)
            source = "given"
        elif layout is not None:
            low = layout.low
            high = layout.high
            source = layout.name
        else:
            raise SettingError(
                "the scale of the ratings is not known",
                place=label,
                remedy="give the lowest and the highest possible rating, such as --scale 1,5",
            )
        least = float(self.positive) if self.positive is not None else None
        if least is not None and not (math.isfinite(least) and least <= high):
            raise SettingError(
                f"positive is {least:g}, above the scale",
                remedy=f"choose at most {high:g}",
            )
        return Schema(
            low,
            high,
            users=self.users,
            positive=least,
            absent=layout is not None and layout.absent is not None,
            source=source,
        )

    def table(self, layout: Layout | None, rated: bool, label: str) -> Table:
        schema = self.schema(layout, rated, label)
        table = Table(schema, keep_lines=self.duplicates == "error")
        if layout is not None:
            table.absent = layout.absent
            table.item_text = layout.item_text
        return table

    def fill(
        self,
        layout: Layout | None,
        rated: bool,
        label: str,
        into: Callable[[Table], None],
        unit: str = "line",
    ) -> Ratings:
        """The ratings that `into` puts into a table; a second time, with lines, where an
        error must name two of them."""
        for again in (False, True):
            table = self.table(layout, rated, label)
            table.unit = unit
            table.keep_lines |= again
            into(table)
            try:
                name = layout.name if layout else ""
                return table.finish(label, name, self.items, self.duplicates)
            except Unplaced:
                continue
        raise AssertionError("lines were kept")


def _pair(scale: Sequence[float]) -> tuple[float, float]:
    try:
        if isinstance(scale, str):  # "15" would pass for (1, 5)
            raise TypeError
        low, high = (float(each) for each in scale)
    except (TypeError, ValueError):
        raise SettingError(
            "the scale is not two numbers",
            remedy="give the lowest and the highest possible rating, such as --scale 1,5",
        ) from None
    return low, high


def _read_files(source: Bundle, layout: Layout | None, ask: _Ask) -> Ratings:
    found, parts = (
        detect(source) if layout is None else (layout, _parts(source, layout))
    )
    if found is not None and found.reader is not None:
        _refuse_columns(ask, f"the layout {found.name}")
        return found.reader(found, source, parts, ask)
    part = parts[0]
    head = part.head(HEAD)
    if head[:4] == b"PAR1" or part.name.endswith((".parquet", ".pq")):
        return _read_parquet(part, head, ask)
    text = _open_text(part, head, found)
    width, first = text.dialect.width, max(text.skip, 1)
    roles = find_roles(
        text.header, width, ask.columns, part.label, first, likes=ask.likes
    )
    read = _read_text(part, text.dialect, roles, text.skip, found, ask)
    return _with_columns(
        read, told(roles, text.header, ask.columns), part.label
    )


def _parts(source: Bundle, layout: Layout) -> list[Stream]:
    """The files to read when the caller names the layout: the one that is there, or the one
    detection would choose."""
    if layout.one_pass:
        return []
    parts = list(source.parts())
    return parts if source.single or layout.several else detect(source)[1]


class _Text(NamedTuple):
    """How a text table begins."""

    dialect: Dialect
    header: list[str] | None
    skip: int
    """Lines before the first row."""


def _open_text(part: Stream, head: bytes, layout: Layout | None) -> _Text:
    """The dialect, the header and where rows begin."""
    if head[:4] == b"\xd0\xcf\x11\xe0":
        raise spreadsheet(part.label)
    whole = len(head) < HEAD
    if not whole:
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
    text = decode(head, part.label, layout.encoding if layout else "utf-8")
    dialect = sniff(text)
    if dialect is None:
        raise DataError(
            "the file is empty",
            place=part.label,
            remedy="give a file with at least one row of data",
        )
    if layout is not None:
        dialect = dialect_of(layout, dialect)
    rows = records(text, dialect)
    line, fields = next((number, row) for number, row in rows if any(row))
    if not looks_like_header(fields):
        return _Text(dialect, None, line - 1)
    if whole and not any(any(row) for _, row in rows):
        raise DataError(
            "the file has a header and no row of data",
            place=part.label,
            remedy="give at least one row of data",
        )
    delimiter = dialect.delimiter
    if layout is not None and layout.fence is not None and layout.fence in text:
        delimiter = layout.fence
    return _Text(
        Dialect(delimiter, len(fields), dialect.encoding), fields, line
    )


def _read_text(
    part: Stream,
    dialect: Dialect,
    roles: Roles,
    skip: int,
    layout: Layout | None,
    ask: _Ask,
) -> Ratings:
    from tacit.data.reading.delimited import read_delimited

    def into(table: Table) -> None:
        read_delimited(part, dialect, roles, skip, table)

    return ask.fill(layout, roles.rating is not None, part.label, into)


def _read_parquet(part: Stream, head: bytes, ask: _Ask) -> Ratings:
    from tacit.data.reading.parquet import read_parquet

    if head[:4] != b"PAR1":
        raise DataError(
            "this is not a parquet file",
            place=part.label,
            remedy="give a parquet file or a csv",
        )
    return _read_frame(read_parquet(part), part.label, ask)


def _read_frame(frame: Any, label: str, ask: _Ask) -> Ratings:
    from tacit.data.reading.frames import read_frame

    roles = find_roles(
        frame.columns, frame.width, ask.columns, label, likes=ask.likes
    )
    rated = roles.rating is not None
    ask.schema(None, rated, label)
    if not frame.height:
        raise DataError(
            "there is no row in it",
            place=label,
            remedy="give at least one row of data",
        )

    def into(table: Table) -> None:
        read_frame(frame, label, roles, table)

    made = ask.fill(None, rated, label, into, "row")
    return _with_columns(made, told(roles, frame.columns, ask.columns), label)


def _with_columns(
    made: Ratings, columns: tuple[str, ...], label: str
) -> Ratings:
    """The ratings with a note of which column was read as what."""
    check_times(made, label)
    return replace(made, notes=replace(made.notes, columns=columns))


def _read_sparse(matrix: Any, ask: _Ask) -> Ratings:
    """Columns are items by position: all of them, rated or not, as the shape of a matrix is
    public."""
    from tacit.data.reading.frames import MATRIX, read_sparse

    _refuse_columns(ask, MATRIX)
    rated = ask.positive is not True
    schema = ask.schema(None, rated, MATRIX)
    people, columns = matrix.shape
    if ask.items is not None and len(ask.items) != columns:
        raise DataError(
            f"{MATRIX} has {columns} columns and the catalogue {len(ask.items)} items",
            remedy="give one column for each item of the catalogue, in its order",
        )
    names = (
        ask.items.ids
        if ask.items is not None
        else [str(k) for k in range(columns)]
    )
    cells = read_sparse(matrix, schema, rated)
    return assemble(
        cells,
        [str(k) for k in range(people)],
        names,
        schema,
        Notes(numbered=True),
        MATRIX,
    )
