"""How well a model predicts what was kept apart, judged where the ratings are. NOT PRIVATE:
sums of errors, for the owner only."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from tacit.data.schema import Schema
from tacit.engine.spark.pack import Crowded
from tacit.engine.spark.session import spark_errors
from tacit.engine.spark.table import SparkRatings
from tacit.engine.spark.wire import (
    ROW,
    WireRow,
    batches_of,
    blocks_of,
    facts_row,
    guarded,
    raise_fault,
    rows_of,
)
from tacit.kernels.pools import one_blas_thread
from tacit.model.person.base import Cells, PersonalModel
from tacit.repr import shapes


@dataclass(frozen=True)
class Judge:
    """Blocks in; out comes one row of sums of errors for each partition."""

    __repr__ = shapes

    personal: PersonalModel = field(repr=False)
    schema: Schema

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Score held-out ratings; yields rows of `wire.ROW`."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        sums: Counter[str] = Counter()
        faults: list[WireRow] = []
        with one_blas_thread():
            for row in blocks_of(batches, faults):
                sums.update(self._errors(Crowded.read(row.data)))
        yield from faults
        yield facts_row(sums)

    def _errors(self, block: Crowded) -> dict[str, float]:
        schema = self.schema
        ptr, item, truth = block.held
        centred = block.value.astype(np.float64) - schema.middle
        cells = Cells(
            block.ptr,
            block.item.astype(np.uint32),
            centred / schema.unit_width,
            ptr,
            item.astype(np.uint32),
        )
        predictions = self.personal.predict_cells(cells)
        rating = schema.middle + schema.unit_width * predictions
        wrong = np.clip(rating, schema.low, schema.high) - truth
        return {
            "count": len(wrong),
            "squares": float(wrong @ wrong),
            "sizes": float(np.abs(wrong).sum()),
        }


def judged(ratings: SparkRatings, personal: PersonalModel, items: Any) -> Any:
    """Errors of a model on what was kept apart: `rmse` and `mae`."""
    blocks = ratings.pack(items).blocks
    sums: Counter[str] = Counter()
    with spark_errors("judged a model"):
        scores = blocks.mapInArrow(Judge(personal, ratings.schema), ROW)
        batches = scores.toArrow().to_batches()
    for row in rows_of(batches):
        raise_fault(row)
        sums.update(json.loads(bytes(row.data)))
    if not sums["count"]:
        return {"rmse": None, "mae": None}
    return {"rmse": sqrt(sums["squares"] / sums["count"]), "mae": sums["sizes"] / sums["count"]}
