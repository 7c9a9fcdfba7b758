"""A session on this machine is woken by a round of invented people: Spark loads and compiles
what reads a table, brings people together and adds them up, and workers load the kernels, before
anybody's fit waits for it. Nothing of it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tacit.bound.base import Rows
from tacit.bound.clip import RowClip
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State

INVENTED = 1 << 17
"""Ratings: so many that Java compiles the loops over rows."""


def wake(spark: Any, scratch: str) -> None:
    """One round from a table to a sum."""
    from tacit.engine.spark.engine import Spark
    from tacit.engine.spark.read import read_table

    path = str(Path(scratch) / "invented")
    columns = ("id div 64 as user", "id % 64 as item", "double(3) as rating")
    spark.range(INVENTED).selectExpr(*columns).write.parquet(path)
    engine = Spark(read_table(path, (1, 5)), 1)
    part = Part("sum", 64, RowClip(1.0))
    engine.sums(Round("wake", (part,), _contribute, _absorb), State())
    spark.catalog.clearCache()


def _contribute(block: Any, state: Any) -> Any:
    values = np.asarray(block.value, np.float64).reshape(-1, 1)
    return {"sum": Rows(block.ptr, block.item, values)}


def _absorb(state: Any, released: Any) -> Any:
    return state
