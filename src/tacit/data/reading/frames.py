"""Tables already in memory: data frames of any library, parquet files and sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.data.ids import clean
from tacit.data.reading.assemble import RowsRead
from tacit.data.reading.cells import Fault
from tacit.data.reading.columns import Roles
from tacit.data.reading.dialect import AROUND
from tacit.data.reading.faults import id_fault, off_scale, rating_fault, time_fault
from tacit.data.reading.guard import third_party
from tacit.data.reading.table import Table
from tacit.data.schema import Schema
from tacit.errors import DataError, SettingError

if TYPE_CHECKING:
    import polars as pl

FRAME = "the data frame"
MATRIX = "the sparse matrix"
COLLECT = ("collect", "compute", "toPandas", "to_pandas")
"""How frames that hold no columns yet (dask, Spark, others) are told to fetch them."""
WIDE = {"i": np.int64, "u": np.uint64, "f": np.float64}
"""Numbers of each kind that numpy names, at their widest."""
EXACT = 1 << 53
"""Up to here every integer has a float of its own."""


def is_sparse(source: object) -> bool:
    """Whether this is a scipy sparse matrix, without importing scipy."""
    return type(source).__module__.startswith("scipy.sparse")


def to_polars(source: object) -> pl.DataFrame:
    """Any frame as polars columns; ids stay as they are written.

    Most libraries hand their columns over by the Arrow interface. pandas does
    so only where pyarrow is installed, so its columns are taken one by one."""
    import polars as pl

    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        with third_party(FRAME):
            return source.collect()
    if isinstance(source, type | pl.Series):
        raise _no_frame(source)
    if _is_pandas(source):
        return _from_pandas(source)
    if hasattr(source, "__arrow_c_stream__"):
        try:
            with third_party(FRAME):
                return pl.DataFrame(source)
        except DataError:  # a stream of something else than rows
            raise _no_frame(source) from None
    for name in COLLECT:
        if callable(getattr(source, name, None)):
            fetched = getattr(source, name)()
            if _is_pandas(fetched) or hasattr(fetched, "__arrow_c_stream__"):
                return to_polars(fetched)
    raise _no_frame(source)


def _no_frame(source: object) -> SettingError:
    return SettingError(
        f"nothing can be read from an object of type {type(source).__name__}",
        remedy="give a path or a data frame; ratings may be a scipy sparse matrix too",
    )


def _is_pandas(source: object) -> bool:
    """Whether this is a frame of pandas, without importing pandas."""
    kind = type(source)
    return kind.__module__.split(".")[0] == "pandas" and hasattr(kind, "iterrows")


def _from_pandas(frame: Any) -> pl.DataFrame:
    """The columns of a pandas frame, without pyarrow."""
    import polars as pl

    names = [str(name) for name in frame.columns]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise DataError(
                f"two columns are called {name}", place=FRAME, remedy="rename one of them"
            )
    return pl.DataFrame([column(name, frame.iloc[:, k]) for k, name in enumerate(names)])


def column(name: str, series: Any) -> pl.Series:
    """One column of pandas; NaN, NaT and NA are no cells."""
    import polars as pl

    kind = series.dtype.kind
    if kind == "M":
        return pl.Series(name, series.to_numpy("datetime64[us]"))
    gaps = series.isna().to_numpy(bool)
    if kind in WIDE and not gaps.any():
        return pl.Series(name, series.to_numpy(WIDE[kind]))
    values = [None if gap else value for value, gap in zip(series.to_list(), gaps, strict=True)]
    if kind in WIDE:
        wide = {"i": pl.Int64, "u": pl.UInt64, "f": pl.Float64}
        return pl.Series(name, values, wide[kind])
    try:
        texts = [None if value is None else text_of(value) for value in values]
        return pl.Series(name, texts, pl.String)
    except ValueError:
        row = next((row for row, value in enumerate(values, start=1) if not has_text(value)), 0)
        raise DataError(
            "a cell that cannot be written as text",
            place=f"{FRAME}, row {row}, column {name}",
            remedy="correct or remove the row",
        ) from None


def text_of(value: object) -> str:
    """A cell of a column of objects, by its own type: a whole float is its integer, as in a
    column of floats, whatever else stands in this one."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) <= EXACT else str(value)
    return str(value)


def has_text(value: object) -> bool:
    """Whether a cell can be written: half of a surrogate pair cannot, nor a number of more
    digits than Python writes."""
    try:
        text_of(value).encode()
    except ValueError:
        return False
    return True


def read_frame(
    frame: pl.DataFrame, label: str, roles: Roles, table: Table, rows_before: int = 0
) -> None:
    """The rows of a frame, or of a slice with so many rows before it; rows count from 1 in
    messages."""
    cells = {role: frame.to_series(position) for role, position in roles.used().items()}
    for role in ("user", "item"):
        cells[role] = as_ids(cells[role], role, label)
    for role in cells.keys() - {"user", "item"}:
        cells[role] = as_texts(cells[role])
    lines = None
    if table.keep_lines:
        lines = np.arange(rows_before + 1, rows_before + frame.height + 1)
    try:
        table.add(cells["user"], cells["item"], cells.get("rating"), cells.get("time"), lines)
    except Fault as fault:
        raise frame_fault(
            cells[fault.role],
            fault,
            label,
            frame.columns[roles.used()[fault.role]],
            table,
            rows_before,
        ) from None


def as_texts(cells: pl.Series) -> pl.Series:
    """Ratings or times of a column of texts without blanks around them; a category is its
    text, and never its number among the others."""
    import polars as pl

    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype in (pl.Object, pl.Binary):
        return pl.Series(cells.name, [None] * len(cells), pl.String)
    return cells.str.strip_chars(AROUND) if cells.dtype == pl.String else cells


def as_ids(cells: pl.Series, role: str, label: str) -> pl.Series:
    """Integers and text as they are; whole floats (integers with a gap, in pandas) as integers."""
    import polars as pl

    if cells.dtype.is_float():
        integers = cells.cast(pl.Int64, strict=False)
        if (integers.abs() > EXACT).any():
            raise DataError(
                f"the column of {role} ids holds numbers that floats cannot tell apart",
                place=label,
                remedy="give ids as integers or text",
            )
        if ((integers.cast(pl.Float64) != cells) & cells.is_not_null() & cells.is_not_nan()).any():
            raise DataError(
                f"the column of {role} ids holds fractions", place=label, remedy="give ids as text"
            )
        return integers
    if cells.dtype.is_integer() or cells.dtype == pl.String:
        return cells
    if cells.dtype.is_nested():
        raise DataError(
            f"the column of {role} ids holds lists",
            place=label,
            remedy="give one id a row, as text or a whole number",
        )
    if cells.dtype in (pl.Object, pl.Binary) or cells.dtype.is_temporal():
        raise DataError(
            f"the column of {role} ids is of type {cells.dtype}",
            place=label,
            remedy="give one id a row, as text or a whole number",
        )
    return cells.cast(pl.String)


def frame_fault(
    cells: pl.Series, fault: Fault, label: str, name: str, table: Table, rows_before: int = 0
) -> DataError:
    """What is wrong with one cell, without showing it."""
    location = f"{label}, row {rows_before + fault.row + 1}, column {name}"
    value = None if cells.dtype.is_nested() else cells[fault.row]
    if cells.dtype.is_nested():
        return DataError(
            "a list where a number belongs",
            place=location,
            remedy="give one rating a row, as a number",
        )
    empty = DataError("an empty cell", place=location, remedy="complete or remove the row")
    if value is None or value == "":
        return empty
    if fault.role in ("user", "item"):
        return id_fault(str(value), location) if clean(str(value)) else empty
    if fault.role == "time":
        return time_fault(location, text=str(value), dates=table.dates)
    decimal = table.decimal if isinstance(value, str) else "."
    return rating_fault(str(value), location, table.schema, decimal)


def read_sparse(matrix: Any, schema: Schema, rated: bool) -> RowsRead:
    """Rows are people and columns items; every stored entry is a rating, or a like if it is
    not zero."""
    entries = matrix.tocsr().tocoo()  # repeated entries add up, as scipy means them
    person, item = entries.row.astype(np.uint32), entries.col.astype(np.uint32)
    values = entries.data.astype(np.float64)
    if not rated:
        values = (values != 0).astype(np.float64)
    wrong = ~((values >= schema.low) & (values <= schema.high))
    if wrong.any():
        first_wrong = int(wrong.argmax())
        location = f"{MATRIX}, row {person[first_wrong]}, column {item[first_wrong]}"
        if not np.isfinite(values[first_wrong]):
            raise DataError(
                "the rating is NaN or infinite", place=location, remedy="remove the entry"
            )
        raise off_scale(location, schema)
    cells = RowsRead(person, item, values)
    if not rated:
        cells.take(values != 0)  # a stored zero is no like
    return cells
