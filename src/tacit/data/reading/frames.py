"""Tables already in memory: data frames of any library, parquet files and sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.data.reading.assemble import RowsRead
from tacit.data.reading.cells import Fault
from tacit.data.reading.columns import Roles
from tacit.data.reading.faults import off_scale
from tacit.data.reading.table import Table
from tacit.data.schema import Schema
from tacit.errors import DataError, SettingError

if TYPE_CHECKING:
    import polars as pl

MATRIX = "the sparse matrix"
EXACT = 1 << 53
"""Up to here every integer has a float of its own."""


def is_sparse(source: object) -> bool:
    """Whether this is a scipy sparse matrix, without importing scipy."""
    return type(source).__module__.startswith("scipy.sparse")


def to_polars(source: object) -> pl.DataFrame:
    """Any frame that narwhals knows, as polars columns; ids stay as they are written."""
    import narwhals as nw
    import polars as pl

    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError:
        raise SettingError(
            f"ratings cannot be read from a {type(source).__name__}",
            remedy="give a path, a data frame or a scipy sparse matrix",
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return pl.DataFrame(
        [column(frame.get_column(name)) for name in frame.columns]
    )


def column(series: Any) -> pl.Series:
    """One column without pyarrow, which pandas needs not have."""
    import narwhals as nw
    import polars as pl

    kind = series.dtype
    if kind.is_temporal():
        moments = series.cast(nw.Datetime("us")) if kind == nw.Date else series
        return pl.Series(
            series.name, moments.dt.timestamp("us").to_list(), pl.Int64
        ).cast(pl.Datetime("us"))
    if kind.is_numeric() and not series.is_null().any():
        return pl.Series(series.name, series.to_numpy())
    values = [
        None if value is None or value != value else value
        for value in series.to_list()
    ]  # NaN is no cell
    if kind.is_numeric():
        return pl.Series(
            series.name, values, pl.Float64 if kind.is_float() else pl.Int64
        )
    return pl.Series(
        series.name,
        [None if value is None else str(value) for value in values],
        pl.String,
    )


def read_frame(
    frame: pl.DataFrame, label: str, roles: Roles, table: Table
) -> None:
    """The rows of a frame; rows count from 1 in messages."""
    cells = {
        role: frame.to_series(position)
        for role, position in roles.used().items()
    }
    for role in ("user", "item"):
        cells[role] = as_ids(cells[role], role, label)
    lines = np.arange(1, frame.height + 1) if table.keep_lines else None
    try:
        table.add(
            cells["user"],
            cells["item"],
            cells.get("rating"),
            cells.get("time"),
            lines,
        )
    except Fault as fault:
        raise frame_fault(
            cells[fault.role],
            fault,
            label,
            frame.columns[roles.used()[fault.role]],
            table,
        ) from None


def as_ids(cells: pl.Series, role: str, label: str) -> pl.Series:
    """Integers and text as they are; whole floats (integers with a gap, in pandas) as integers."""
    import polars as pl

    if cells.dtype.is_float():
        whole = cells.cast(pl.Int64, strict=False)
        if (whole.abs() > EXACT).any():
            raise DataError(
                f"the column of {role} ids holds numbers that floats cannot tell apart",
                place=label,
                remedy="give ids as integers or text",
            )
        if (
            (whole.cast(pl.Float64) != cells)
            & cells.is_not_null()
            & cells.is_not_nan()
        ).any():
            raise DataError(
                f"the column of {role} ids holds fractions",
                place=label,
                remedy="give ids as text",
            )
        return whole
    if cells.dtype.is_integer() or cells.dtype == pl.String:
        return cells
    return cells.cast(pl.String)


def frame_fault(
    cells: pl.Series, fault: Fault, label: str, name: str, table: Table
) -> DataError:
    """What is wrong with one cell, without showing it."""
    where = f"{label}, row {fault.row + 1}, column {name}"
    value = cells[fault.row]
    if value is None or value == "":
        return DataError(
            "an empty cell", place=where, remedy="complete or remove the row"
        )
    if fault.role == "time":
        return DataError(
            "no time",
            place=where,
            remedy="give times as dates or seconds since 1970",
        )
    try:
        finite = np.isfinite(float(value))
    except (TypeError, ValueError):
        return DataError(
            "text where a number belongs",
            place=where,
            remedy="give ratings as numbers",
        )
    if not finite:
        return DataError(
            "the rating is NaN or infinite",
            place=where,
            remedy="complete or remove the row",
        )
    return off_scale(where, table.schema)


def read_sparse(matrix: Any, schema: Schema, rated: bool) -> RowsRead:
    """Rows are people and columns items; every stored entry is a rating, or a like if it is
    not zero."""
    entries = (
        matrix.tocsr().tocoo()
    )  # repeated entries add up, as scipy means them
    person, item = entries.row.astype(np.uint32), entries.col.astype(np.uint32)
    values = entries.data.astype(np.float64)
    if not rated:
        values = (values != 0).astype(np.float64)
    wrong = ~((values >= schema.low) & (values <= schema.high))
    if wrong.any():
        first = int(wrong.argmax())
        where = f"{MATRIX}, row {person[first]}, column {item[first]}"
        if not np.isfinite(values[first]):
            raise DataError(
                "the rating is NaN or infinite",
                place=where,
                remedy="remove the entry",
            )
        raise off_scale(where, schema)
    cells = RowsRead(person, item, values)
    if not rated:
        cells.take(values != 0)  # a stored zero is no like
    return cells
