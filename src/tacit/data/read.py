"""`tacit.read`: ratings from a file, a folder, an archive, a data frame or a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tacit.data.catalogue import Catalogue
from tacit.data.layouts import detect, named
from tacit.data.layouts.base import Layout
from tacit.data.memory import memory_size
from tacit.data.ratings import Notes, Ratings, check_times
from tacit.data.read_request import ReadRequest
from tacit.data.reading.assemble import Duplicates, assemble
from tacit.data.reading.columns import (
    Columns,
    Roles,
    describe_columns,
    find_roles,
    of_rows,
    refuse_threshold,
)
from tacit.data.reading.dialect import (
    QUOTES,
    Dialect,
    Misquoted,
    decode,
    delimiter_of,
    fields_of,
    is_blank,
    misquoted,
)
from tacit.data.reading.files import Bundle, Stream, bundle, spreadsheet
from tacit.data.reading.guard import third_party
from tacit.data.reading.table import Table
from tacit.data.reading.written import DeclaredText
from tacit.data.schema import Schema
from tacit.errors import DataError, SettingError
from tacit.validation import by_name, number, text
from tacit.validation import path as asked_path

HEAD = 1 << 16


@by_name
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
    memory: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    dates: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Ratings:
    """Ratings from `source`: a path (or several), a data frame of any library, or a scipy
    sparse matrix.

    `scale` is the lowest and the highest rating possible; a known layout implies it. It is
    public, and never taken from the ratings. With `items` (public), ratings of other items
    are dropped and counted. `positive=True` reads a table without ratings as likes;
    `positive=4` keeps ratings of 4 and more. `columns` maps a role (user, item, rating,
    time) to a header name or to a column's number, counted from 1.

    How a table of text is written is declared and never told from its rows. Line 1 is the
    header unless `header=False` (`columns` then has numbers). `delimiter` is one mark, else
    the header shows it. `dates` is "iso" (or seconds since 1970), "dmy" or "mdy"; `decimal` is
    "." or ","; `encoding` is "utf-8" unless said. Each row is one line.

    A file of `tacit pack` has its scale and columns with it. Where it does not fit into
    `memory` ("4GB"; most of the machine unless said) its ratings stay in the file, and a
    fit on the engine `threads` streams them. A table that does not fit into a `memory` that
    was given is packed first, into a scratch file beside it.

    Guarantee: all errors that depend on private rows are raised here; they name a place and
    never quote a cell.
    """
    declared_text = DeclaredText(header, delimiter, dates, decimal, encoding)
    likes = None if positive is False else positive
    ask = ReadRequest(scale, items, duplicates, likes, users, columns, declared_text)
    path = Path(source).expanduser() if isinstance(source, str | Path) else None
    if path is not None and _is_file(path):
        from tacit.data.packed.store import is_pack
        from tacit.data.packing import beyond, read_packed

        if is_pack(path):
            _check_kinds(ask, layout)
            return read_packed(path, ask, layout, memory)
        if memory is not None and beyond(path, memory):
            return _streamed(path, ask, layout, memory)
    return answer(source, layout, ask)


def _is_file(path: Path) -> bool:
    """Whether it is there; a name that no file can have is refused."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        asked_path("the ratings' path", path)
        raise


def _streamed(path: Path, ask: ReadRequest, layout: str | None, memory: str | int) -> Ratings:
    """A table that is larger than memory, packed beside itself in a file that has lost its
    name when this returns."""
    from tacit.data.packing import PackRequest, aside

    target = aside(path)
    request = PackRequest(
        ask.scale, ask.items, ask.duplicates, ask.positive, ask.users, ask.columns, ask.written
    )
    try:
        return answer(path, layout, request.into(target, memory_size(memory), None))
    finally:
        target.unlink(missing_ok=True)


def answer(source: Any, layout: str | None, ask: ReadRequest) -> Ratings:
    """The ratings that were asked for."""
    _check_kinds(ask, layout)
    if isinstance(source, str | Path) or _is_paths(source):
        label = str(source) if isinstance(source, str | Path) else "the files"
        with third_party(label):
            return _read_files(bundle(source), named(layout) if layout else None, ask)
    from tacit.data.reading.frames import is_sparse, to_polars

    if layout is not None:
        raise SettingError(f"--layout {layout} is for files", remedy="leave --layout out")
    if is_sparse(source):
        ask.written.refuse("a sparse matrix")
        return _read_sparse(source, ask)
    return _read_frame(to_polars(source), "the data frame", ask)


def _check_kinds(ask: ReadRequest, layout: object) -> None:
    """Refuse arguments of another kind than was asked for."""
    items, columns = ask.items, ask.columns
    positive = ask.positive
    if ask.duplicates not in ("last", "mean", "error"):
        raise SettingError(f"duplicates is {ask.duplicates}", remedy="choose last, mean or error")
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
    if any(isinstance(column, bool) for column in (columns or {}).values()):
        raise SettingError(
            "columns names a truth value",
            remedy='for example columns={"user": "customer", "rating": 4}',
        )
    if layout is not None:
        text("layout", layout, "give the name of a layout")
    if positive is not None and not isinstance(positive, bool):
        number("positive", positive, "give the least rating that is a like")


def schema_of(
    scale: tuple[float, float] | None,
    positive: float | bool | None,
    users: int | None,
    rated: bool,
    label: str,
) -> Schema:
    """What is public of a table without a layout, as it was said."""
    likes = None if positive is False else positive
    return ReadRequest(scale, None, "last", likes, users, None).schema(None, rated, label)


def marks_absent(source: str | Path, layout: str | None = None) -> bool:
    """Whether the layout of these files has a number that stands for no rating. Told by names
    and marks, so that a fit can be refused before a rating is read."""
    known_layout = named(layout) if layout else detect(bundle(source))[0]
    return known_layout is not None and known_layout.absent is not None


def _is_paths(source: object) -> bool:
    return isinstance(source, list | tuple) and all(isinstance(path, str | Path) for path in source)


def _refuse_columns(ask: ReadRequest, source_name: str) -> None:
    if of_rows(ask.columns, ask.items) is not None:
        raise SettingError(
            f"{source_name} has no columns to choose from", remedy="leave --columns out"
        )


def _read_files(source: Bundle, layout: Layout | None, ask: ReadRequest) -> Ratings:
    known_layout, parts = _find_layout(source, layout, ask)
    if known_layout is not None and known_layout.reader is not None:
        _refuse_columns(ask, f"the layout {known_layout.name}")
        ask.written.refuse(f"the layout {known_layout.name}")
        return known_layout.reader(known_layout, source, parts, ask)
    part = parts[0]
    head = part.head(HEAD)
    if head[:4] == b"PAR1" or part.name.endswith((".parquet", ".pq")):
        return _read_parquet(part, head, ask)
    text = _open_text(part, head, known_layout, ask.written)
    width, first_line = text.dialect.width, max(text.skip, 1)
    columns = ask.columns
    if known_layout is not None and known_layout.columns is not None and text.header is None:
        columns = {**known_layout.columns, **(columns or {})}
    roles = find_roles(text.header, width, columns, part.label, first_line, likes=ask.likes)
    refuse_threshold(roles, text.header, columns, ask.positive, part.label)
    ratings = _read_text(part, text.dialect, roles, text.skip, known_layout, ask)
    return _with_columns(ratings, describe_columns(roles, text.header, columns), part.label)


def _find_layout(
    source: Bundle, layout: Layout | None, ask: ReadRequest
) -> tuple[Layout | None, list[Stream]]:
    """The layout and the files to read. Where line 1 is said to be a row, no layout is told by
    it."""
    if layout is not None:
        return layout, _parts(source, layout)
    if ask.written.header is not False:
        return detect(source)
    if not source.single:
        raise SettingError(
            "--header no is for one file", place=source.label, remedy="name the file of ratings"
        )
    return None, list(source.parts())


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


def _open_text(part: Stream, head: bytes, layout: Layout | None, said: DeclaredText) -> _Text:
    """The dialect, the header and where rows begin: from what is declared, else from the
    layout, else from line 1, the header. Without a header line 1 shows how many fields a row
    may have, and nothing else."""
    if head[:4] == b"\xd0\xcf\x11\xe0":
        raise spreadsheet(part.label)
    is_complete = len(head) < HEAD
    if not is_complete:
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
    declared_text = said.of(layout)
    encoding = declared_text.encoding or "utf-8"
    lines = decode(head, part.label, encoding).split("\n")
    line = next((k for k, text_line in enumerate(lines, start=1) if not is_blank(text_line)), None)
    if line is None and not is_complete:
        raise DataError(
            f"line {len(lines)} is longer than {HEAD >> 10} kilobytes",
            place=part.label,
            remedy="check that it is a table of lines",
        )
    if line is None:
        raise DataError(
            "the file is empty",
            place=part.label,
            remedy="give a file with at least one row of data",
        )
    first = lines[line - 1]
    headless = said.header is False or (
        said.header is None and layout is not None and layout.columns is not None
    )
    delimiter = declared_text.delimiter
    if delimiter is None:
        delimiter = _usual_delimiter(part) if headless else delimiter_of(first)
    if layout is not None and layout.fence is not None and layout.fence in first:
        delimiter = layout.fence
    try:
        fields = _fields(first, delimiter)
    except Misquoted as error:
        raise misquoted(part.label, line, error) from None
    dialect = Dialect(delimiter, len(fields), encoding)
    if headless:
        return _Text(dialect, None, line - 1)
    if is_complete and all(map(is_blank, lines[line:])):
        raise DataError(
            "the file has a header and no row of data",
            place=part.label,
            remedy="give at least one row of data; where line 1 is a row, say --header no",
        )
    return _Text(dialect, fields, line)


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == QUOTES:
        return fields_of(line.strip().removeprefix('"').removesuffix('"'), delimiter)
    return fields_of(line, delimiter)


def _usual_delimiter(part: Stream) -> str:
    """Without a header nothing shows the delimiter: a comma, or a tab in what is called .tsv."""
    return "\t" if part.name.removesuffix(".gz").endswith((".tsv", ".tab")) else ","


def _read_text(
    part: Stream, dialect: Dialect, roles: Roles, skip: int, layout: Layout | None, ask: ReadRequest
) -> Ratings:
    from tacit.data.reading.delimited import read_delimited

    def into(table: Table) -> None:
        read_delimited(part, dialect, roles, skip, table)

    return ask.fill(layout, roles.rating is not None, part.label, into)


def _read_parquet(part: Stream, head: bytes, ask: ReadRequest) -> Ratings:
    from tacit.data.reading.parquet import parquet_slices, read_parquet

    if head[:4] != b"PAR1":
        raise DataError(
            "this is not a parquet file", place=part.label, remedy="give a parquet file or a csv"
        )
    if ask.in_slices:
        slices = partial(parquet_slices, part)
        return _read_frame(next(slices()), part.label, ask, slices)
    return _read_frame(read_parquet(part), part.label, ask)


def _read_frame(
    frame: Any, label: str, ask: ReadRequest, slices: Callable[[], Iterable[Any]] | None = None
) -> Ratings:
    """A frame; or, where the table comes in slices, all of them, of which it is the first."""
    from tacit.data.reading.frames import read_frame

    ask.written.refuse("a table of columns", "header", "delimiter", "encoding")
    roles = find_roles(frame.columns, frame.width, ask.columns, label, likes=ask.likes, named=True)
    refuse_threshold(roles, frame.columns, ask.columns, ask.positive, label)
    rated = roles.rating is not None
    ask.schema(None, rated, label)
    if not frame.height:
        raise DataError(
            "there is no row in it", place=label, remedy="give at least one row of data"
        )

    def into(table: Table) -> None:
        rows_before = 0
        for piece in (frame,) if slices is None else slices():
            with third_party(label):
                read_frame(piece, label, roles, table, rows_before)
            rows_before += piece.height

    ratings = ask.fill(None, rated, label, into, "row")
    return _with_columns(ratings, describe_columns(roles, frame.columns, ask.columns), label)


def _with_columns(ratings: Ratings, columns: tuple[str, ...], label: str) -> Ratings:
    """The ratings with a note of which column was read as what."""
    check_times(ratings, label)
    return replace(ratings, notes=replace(ratings.notes, columns=columns))


def _read_sparse(matrix: Any, ask: ReadRequest) -> Ratings:
    """Columns are items by position: all of them, rated or not, as the shape of a matrix is
    public."""
    from tacit.data.reading.frames import MATRIX, read_sparse

    if len(matrix.shape) != 2:
        raise DataError(
            f"{MATRIX} has {len(matrix.shape)} dimension and not two",
            remedy="give people as rows and items as columns",
        )
    _refuse_columns(ask, MATRIX)
    rated = ask.positive is not True
    schema = ask.schema(None, rated, MATRIX)
    people, columns = matrix.shape
    if ask.items is not None and len(ask.items) != columns:
        raise DataError(
            f"{MATRIX} has {columns} columns and the catalogue {len(ask.items)} items",
            remedy="give one column for each item of the catalogue, in its order",
        )
    names = ask.items.ids if ask.items is not None else [str(k) for k in range(columns)]
    cells = read_sparse(matrix, schema, rated)
    return assemble(
        cells, [str(k) for k in range(people)], names, schema, Notes(numbered=True), MATRIX
    )
