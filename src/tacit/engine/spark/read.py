"""Ratings that Spark reads: a path that all machines see, or a table of its own.

The driver looks at names and types of columns, and at the ids of items where no catalogue
says them, because those are public (docs/sharp-edges.md). It looks at no other cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tacit.data.catalogue import LONGEST, Catalogue
from tacit.data.ratings import Notes
from tacit.data.read import schema_of
from tacit.data.reading.assemble import Duplicates
from tacit.data.reading.cells import IdColumn
from tacit.data.reading.columns import (
    Columns,
    Roles,
    describe_columns,
    find_roles,
    refuse_threshold,
)
from tacit.data.reading.dialect import (
    Dialect,
    Misquoted,
    delimiter_of,
    fields_of,
    misquoted,
)
from tacit.data.reading.written import DeclaredText
from tacit.engine.spark.code import FAULT, IdRows, LineRows
from tacit.engine.spark.session import session, spark_errors
from tacit.engine.spark.table import SparkRatings
from tacit.errors import DataError, SettingError
from tacit.repr import shapes

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
"""How a path of text ends; all else is parquet."""
MOST_FIELDS = 64
"""Of a line, where no header says how many there are."""
WHOLE = ("tinyint", "smallint", "int", "bigint")
FRAME = "the Spark table"


def read_table(
    source: Any,
    scale: tuple[float, float] | None = None,
    *,
    items: Catalogue | None = None,
    duplicates: Duplicates = "last",
    positive: float | bool | None = None,
    users: int | None = None,
    columns: Columns | None = None,
    threads: int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    dates: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> SparkRatings:
    """Ratings from a path of csv or parquet that Spark reads, or from a table of Spark.
    Options as for `tacit.read`; `threads` is for a session on this machine."""
    label = FRAME
    declared_text = DeclaredText(header, delimiter, dates, decimal, encoding)
    likes = positive is not None and positive is not False
    lines: ClusterText | None = None
    if isinstance(source, str):
        label = str(source)
        if label.lower().endswith(TEXT):
            declared_text.refuse("a table of a cluster, which is UTF-8", "encoding")
            lines = _lines(label, session(threads), declared_text)
        else:
            source = _open(label, session(threads))
    if lines is None:
        declared_text.refuse("a table of columns", "header", "delimiter", "encoding")
        names, named, width = source.columns, True, len(source.columns)
    else:
        names, named, width = lines.header, False, lines.dialect.width
    roles = find_roles(names, width, columns, label, likes=likes, named=named)
    refuse_threshold(roles, names, columns, positive, label)
    rated = roles.rating is not None
    schema = schema_of(scale, positive, users, rated, label)
    frame = _selected(source, roles, label) if lines is None else lines.rows(roles)
    facts = _names(frame, items, label)
    return SparkRatings(
        frame,
        schema,
        facts.names,
        rated,
        roles.time is not None,
        duplicates,
        Notes(columns=describe_columns(roles, names, columns)),
        label,
        rows=facts.rows,
        written=declared_text,
    )


class ClusterText(NamedTuple):
    """A table of text: its lines on the cluster, and how they are written."""

    frame: Any
    first: str
    """The header line; empty where there is none."""
    header: list[str] | None
    dialect: Dialect

    def __repr__(self) -> str:
        return shapes(self)

    def rows(self, roles: Roles) -> Any:
        """Rows of the columns that are read, and what is wrong with a line."""
        columns = {**roles.used()}
        names = {"user": "user", "item": "item", "rating": "value", "time": "time"}
        kinds = [f"{names[role]} string" for role in columns]
        line_rows = LineRows(self.dialect, roles, self.first)
        with spark_errors("opened the text"):
            return self.frame.mapInArrow(line_rows, ", ".join([*kinds, f"{FAULT} int"]))


def _lines(path: str, spark: Any, source_format: DeclaredText) -> ClusterText:
    """The lines of a text. Only the header, which is nobody's row, comes to the driver: the
    first line of each file. Without a header the driver looks at none."""
    with spark_errors(f"opened {path}"):
        frame = spark.read.text(path)
        usual = "\t" if ".tsv" in path.lower() else ","
        if source_format.header is False:
            return ClusterText(
                frame, "", None, Dialect(source_format.delimiter or usual, MOST_FIELDS)
            )
        first_row = frame.filter("trim(value) != ''").first()
    if first_row is None:
        raise DataError("the file is empty", place=path, remedy="give a table with rows")
    first = str(first_row[0])
    text = first.removeprefix("\ufeff")
    delimiter = source_format.delimiter or delimiter_of(text)
    try:
        header = fields_of(text, delimiter)
    except Misquoted as fault:
        raise misquoted(path, 1, fault) from None
    return ClusterText(frame, first, header, Dialect(delimiter, len(header)))


class TableFacts(NamedTuple):
    """The ids of items, and how many rows the table has."""

    names: Sequence[str]
    rows: int


def _open(path: str, spark: Any) -> Any:
    """The parquet table at a path; errors of Spark become errors with a remedy."""
    if path.endswith(".tacit"):
        raise SettingError(
            "a packed file is for one machine",
            remedy="give Spark csv or parquet, or leave --engine out",
        )
    with spark_errors(f"opened {path}"):
        return spark.read.parquet(path)


def _selected(frame: Any, roles: Roles, label: str) -> Any:
    """The columns that are read, under their roles, in the types that are compared."""
    from pyspark.sql import functions as sql

    kinds = [kind for _, kind in frame.dtypes]
    plain = frame.toDF(*(f"c{index}" for index in range(len(kinds))))

    def id_(index: int, role: str) -> Any:
        column = sql.col(f"c{index}")
        if kinds[index] in WHOLE:
            return column.cast("long").alias(role)
        if kinds[index] == "string":
            return column.alias(role)
        raise DataError(
            f"the column of {role}s is of type {kinds[index]}",
            place=label,
            remedy="cast it to text or to whole numbers",
        )

    selection = [id_(roles.user, "user"), id_(roles.item, "item")]
    if roles.rating is not None:
        # A cast that fails would be logged with the cell, and a text is read by our own rules.
        rating = f"c{roles.rating}"
        if kinds[roles.rating] != "string":
            rating = f"try_cast({rating} as double)"
        selection.append(sql.expr(rating).alias("value"))
    if roles.time is not None:
        selection.append(_seconds(roles.time, kinds[roles.time]).alias("time"))
    return plain.select(*selection)


def _seconds(index: int, kind: str) -> Any:
    from pyspark.sql import functions as sql

    if kind in ("date", "timestamp", "timestamp_ntz"):
        expression = f"unix_seconds(cast(c{index} as timestamp))"
        return sql.expr(expression)
    if kind == "string":
        return sql.col(f"c{index}")
    return sql.expr(f"try_cast(c{index} as long)")


def _names(frame: Any, items: Catalogue | None, label: str) -> TableFacts:
    """The ids of items: of the catalogue, or all that stand in the table, in an order that
    depends on their set alone."""
    import polars as pl

    with spark_errors("looked for items"):
        if dict(frame.dtypes)["item"] == "bigint":
            # Numbers need no cleaning, and Spark counts them without Python.
            counts = frame.groupBy("item").count().toArrow()
        else:
            id_rows = frame.select("item").mapInArrow(IdRows(), "name string, count long")
            counts = id_rows.groupBy("name").agg({"count": "sum"}).toArrow()
    rows = int(sum(counts.column(1).to_pylist()))
    names = [str(name) for name in counts.column(0).to_pylist() if name is not None]
    if items is not None:
        return TableFacts(items.ids, rows)
    if not names:
        raise DataError(
            "there is no rating in it",
            place=label,
            remedy="give a table with at least one row of data",
        )
    if any(len(name) > LONGEST for name in names):
        raise DataError(
            f"an item's id has more than {LONGEST:,} letters",
            place=label,
            remedy="check the quotes and the delimiter",
        )
    column = IdColumn()
    column.add(pl.Series(names, dtype=pl.String))
    return TableFacts(column.finish()[1], rows)
