"""Where ratings are: on this machine, or on a cluster, whose engine alone can reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.data.inputs import as_ratings
from tacit.data.ratings import Ratings
from tacit.data.schema import LIKES
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.reading.columns import Columns
    from tacit.engine.spark.table import SparkRatings
    from tacit.model.person.lists import ListMaker

CLUSTER = "spark"
"""The engine of ratings on a cluster."""


def is_cluster_table(source: object) -> bool:
    """Whether this is a table of Spark, without importing it."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql") and hasattr(kind, "mapInArrow")


def check_place(ratings: object, engine: str | None) -> None:
    """Refuse ratings of a cluster on an engine of one machine."""
    if not isinstance(ratings, Ratings) and engine != CLUSTER:
        raise SettingError(
            f"these ratings are on a cluster, where {engine or 'threads'} does not run",
            remedy="use --engine spark, or collect them if they fit this machine",
        )


def lists_on_cluster(
    maker: ListMaker,
    source: Any,
    out: str,
    *,
    scale: tuple[float, float] | None = None,
    columns: Columns | None = None,
    overwrite: bool = False,
    **written: Any,
) -> int:
    """Everyone's list, made and written where the ratings are; how many people there are."""
    from tacit.engine.spark.lists import write_lists
    from tacit.engine.spark.read import read_table
    from tacit.model.person.lists import without_ratings

    if not out.endswith(".parquet"):
        raise SettingError(
            f"--out {out} is not .parquet",
            remedy="a cluster writes a folder of parquet files: name it so",
        )
    schema = maker.model.shared.schema
    # Where ratings were made likes, all are read: what was rated is not new.
    likes = schema.source == LIKES
    table = read_table(
        source,
        scale or (schema.low, schema.high),
        items=maker.model.shared.catalogue,
        positive=likes or None,
        columns=without_ratings(columns) if likes else columns,
        **written,
    )
    return write_lists(table, maker, out, overwrite=overwrite)


def placed(
    source: Any,
    engine: str | None,
    *,
    threads: int | None = None,
    items: Catalogue | None = None,
    **options: Any,
) -> Ratings | SparkRatings:
    """Ratings as they are, read here, or left to a cluster where the engine is one."""
    on_cluster = is_cluster_table(source)
    if on_cluster:
        check_place(source, engine)
    if isinstance(source, str) and engine == CLUSTER:
        on_cluster = True
    if on_cluster:
        from tacit.engine.spark.read import read_table

        for name in ("layout", "memory"):
            if options.pop(name, None) is not None:
                raise SettingError(
                    f"--{name} is for files of this machine",
                    remedy=f"leave --{name} out, or write csv or parquet first",
                )
        return read_table(source, items=items, threads=threads, **options)
    if not isinstance(source, Ratings) and hasattr(source, "seen_by"):
        ratings: SparkRatings = source
        return ratings
    return as_ratings(source, items=items, **options)
