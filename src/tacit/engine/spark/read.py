"""Ratings that Spark reads: a path that all machines see, or a table of its own.

The driver looks at names and types of columns, and at the ids of items where no catalogue
says them, because those are public (docs/sharp-edges.md). It looks at no other cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tacit.data.catalogue import LONGEST, Catalogue
from tacit.data.ids import two_ways
from tacit.data.ratings import Notes
from tacit.data.read import schema_of
from tacit.data.reading.assemble import Duplicates, check_listed
from tacit.data.reading.cells import IdColumn
from tacit.data.reading.columns import (
    Columns,
    Roles,
    find_roles,
    looks_like_header,
    refuse_threshold,
    told,
)
from tacit.engine.spark.code import IdRows
from tacit.engine.spark.session import session, spark_errors
from tacit.engine.spark.table import SparkRatings
from tacit.errors import DataError, SettingError

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
"""How a path of text ends; all else is parquet."""
MARKS = (";", "\t", "|")
"""What may divide fields besides a comma."""
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
) -> SparkRatings:
    """Ratings from a path of csv or parquet that Spark reads, or from a table of Spark.
    Options as for `tacit.read`; `threads` is for a session on this machine."""
    label = FRAME
    if isinstance(source, str):
        label = str(source)
        source = _open(label, session(threads))
    likes = positive is not None and positive is not False
    roles = find_roles(
        None if _headless(source) else source.columns,
        len(source.columns),
        columns,
        label,
        likes=likes,
    )
    header = None if _headless(source) else source.columns
    refuse_threshold(roles, header, columns, positive, label)
    rated = roles.rating is not None
    schema = schema_of(scale, positive, users, rated, label)
    frame = _selected(source, roles, label)
    found = _names(frame, items, label)
    return SparkRatings(
        frame,
        schema,
        found.names,
        rated,
        roles.time is not None,
        duplicates,
        Notes(columns=told(roles, header, columns)),
        label,
        rows=found.rows,
    )


class TableFacts(NamedTuple):
    """The ids of items, and how many rows the table has."""

    names: Sequence[str]
    rows: int


def _open(path: str, spark: Any) -> Any:
    """A table at a path."""
    if path.endswith(".tacit"):
        raise SettingError(
            "a packed file is for one machine",
            remedy="give Spark csv or parquet, or leave --engine out",
        )
    with spark_errors(f"opened {path}"):
        if not path.lower().endswith(TEXT):
            return spark.read.parquet(path)
        options = {"sep": "\t" if ".tsv" in path.lower() else ",", "quote": '"', "escape": '"'}
        frame = spark.read.options(**options, header=True).csv(path)
        mark = delimiter_of(frame.columns, options["sep"])
        if mark != options["sep"]:
            options["sep"] = mark
            frame = spark.read.options(**options, header=True).csv(path)
        if looks_like_header(frame.columns):
            return frame
        return spark.read.options(**options, header=False).csv(path)


def delimiter_of(names: Sequence[str], tried: str) -> str:
    """What divides the first line, of which `tried` has made these names: a comma unless
    another mark stands in it more often (rows with decimal commas have those inside)."""
    line = tried.join(names)
    return max(tried, *MARKS, key=lambda mark: (line.count(mark), mark == tried))


def _headless(frame: Any) -> bool:
    """Whether the columns have no names but those that Spark gives."""
    return all(name == f"_c{place}" for place, name in enumerate(frame.columns))


def _selected(frame: Any, roles: Roles, label: str) -> Any:
    """The columns that are read, under their roles, in the types that are compared."""
    from pyspark.sql import functions as sql

    kinds = [kind for _, kind in frame.dtypes]
    plain = frame.toDF(*(f"c{place}" for place in range(len(kinds))))

    def id_(place: int, role: str) -> Any:
        column = sql.col(f"c{place}")
        if kinds[place] in WHOLE:
            return column.cast("long").alias(role)
        if kinds[place] == "string":
            return column.alias(role)
        raise DataError(
            f"the column of {role}s is of type {kinds[place]}",
            place=label,
            remedy="cast it to text or to whole numbers",
        )

    chosen = [id_(roles.user, "user"), id_(roles.item, "item")]
    if roles.rating is not None:
        # A cast that fails would be logged with the cell, and a text is read by our own rules.
        rating = f"c{roles.rating}"
        if kinds[roles.rating] != "string":
            rating = f"try_cast({rating} as double)"
        chosen.append(sql.expr(rating).alias("value"))
    if roles.time is not None:
        chosen.append(_seconds(roles.time, kinds[roles.time]).alias("time"))
    return plain.select(*chosen)


def _seconds(place: int, kind: str) -> Any:
    from pyspark.sql import functions as sql

    if kind in ("date", "timestamp", "timestamp_ntz"):
        whole = f"unix_seconds(cast(c{place} as timestamp))"
        return sql.expr(whole)
    if kind == "string":
        return sql.col(f"c{place}")
    return sql.expr(f"try_cast(c{place} as long)")


def _names(frame: Any, items: Catalogue | None, label: str) -> TableFacts:
    """The ids of items: of the catalogue, or all that stand in the table, in an order that
    depends on their set alone."""
    import polars as pl

    with spark_errors("looked for items"):
        if dict(frame.dtypes)["item"] == "bigint":
            # Numbers need no cleaning, and Spark counts them without Python.
            found = frame.groupBy("item").count().toArrow()
        else:
            made = frame.select("item").mapInArrow(IdRows(), "name string, count long")
            found = made.groupBy("name").agg({"count": "sum"}).toArrow()
    rows = int(sum(found.column(1).to_pylist()))
    names = [str(name) for name in found.column(0).to_pylist() if name is not None]
    if items is not None:
        check_listed(names, items, label)
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
    if two_ways(set(names)) is not None:
        raise DataError(
            "two ids of items denote one number, written in two ways",
            place=label,
            remedy="write each id in one way",
        )
    column = IdColumn()
    column.add(pl.Series(names, dtype=pl.String))
    return TableFacts(column.finish()[1], rows)
