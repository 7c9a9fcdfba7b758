"""Everyone's list on a cluster, each made from their own ratings where those are, and written
there: no list comes to the driver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.engine.spark.pack import Pack, PartitionFacts
from tacit.engine.spark.session import spark_errors
from tacit.engine.spark.table import SparkRatings
from tacit.errors import Failure
from tacit.kernels.pools import one_blas_thread
from tacit.model.person.lists import ListMaker
from tacit.repr import shapes

COLUMNS = "person string, rank int, item string, expected double, personal boolean"
CELLS = 1 << 14
"""Ratings of people whose lists are made at a time."""


@dataclass(frozen=True)
class Listing:
    """Rows sorted by person in; out come the lines of their lists."""

    __repr__ = shapes

    pack: Pack
    maker: ListMaker = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Recommend for the people of a partition; yields rows of `COLUMNS`."""
        import pyarrow as pa

        facts = PartitionFacts()
        with one_blas_thread():
            for runs in self.pack.runs(batches, CELLS, facts):
                cells = self.pack.cells(runs, facts)
                lines = [
                    (name, *line)
                    for position, name in enumerate(cells.names)
                    for line in self._lines(position, cells)
                ]
                columns: list[Any] = list(zip(*lines, strict=True)) or [[]] * 4
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(columns[0], pa.string()),
                        pa.array(columns[1], pa.int32()),
                        pa.array(columns[2], pa.string()),
                        pa.array(columns[3], pa.float64()),
                        pa.array([True] * len(lines), pa.bool_()),
                    ],
                    ["person", "rank", "item", "expected", "personal"],
                )

    def _lines(self, position: int, cells: Any) -> Any:
        rows = slice(int(cells.ptr[position]), int(cells.ptr[position + 1]))
        items = cells.rated.item[rows].astype(np.int64)
        values = cells.rated.value[rows].astype(np.float64)
        try:
            return self.maker.lines(items, values)
        except Exception as error:  # noqa: BLE001
            # Spark logs what a task raises, and its words may quote her ratings.
            name = type(error).__name__
        raise Failure(f"a list could not be made ({name})")


def write_lists(ratings: SparkRatings, maker: ListMaker, out: str, *, overwrite: bool) -> int:
    """Write everyone's list as parquet at a path that all machines see; how many people."""
    from pyspark.sql import functions as sql

    items = maker.model.shared.catalogue.ids
    ratings.check_rows(items)
    rows, pack = ratings.people_together(items)
    lists = rows.mapInArrow(Listing(pack, maker), COLUMNS)
    with spark_errors("wrote the lists"):
        mode = "overwrite" if overwrite else "errorifexists"
        lists.write.mode(mode).parquet(out)
        stored_lists = rows.sparkSession.read.parquet(out)
        count = stored_lists.agg(sql.count_distinct("person").alias("n")).collect()
    return int(count[0].n)
