"""Tables that end as a packed file: because somebody asked for one, or because they are larger
than the memory that may be used."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.data.layouts.base import Layout
from tacit.data.memory import memory_size
from tacit.data.read_request import ReadRequest
from tacit.data.reading.spooled import Progress, SpooledTable
from tacit.data.reading.table import Table
from tacit.data.unpacked import ITEM, LOADED, VALUE

SUFFIX = ".tacit"
SHARE = 0.25
"""Of the memory, for sorting one bucket: the rest is for reading and for ids."""
ROW = 12
"""Bytes of a row of text, at least: a person, an item, a rating and what is between."""
READING = 3
"""Times what ratings take in memory is taken while a table of them is read."""


class PackRequest(ReadRequest):
    """A question whose answer is a file."""

    in_slices = True
    target: Path
    memory: int
    told: Progress | None = None

    def into(self, target: Path, memory: int, callback: Progress | None) -> PackRequest:
        """Where it goes, and what may be used on the way."""
        self.target = target
        self.memory = memory
        self.told = callback
        return self

    def table(self, layout: Layout | None, rated: bool, label: str) -> Table:
        """Rows go to scratch files beside the target."""
        table = SpooledTable(
            self.schema(layout, rated, label),
            keep_lines=self.duplicates == "error",
            target=self.target,
            memory=int(SHARE * self.memory),
            told=self.told,
        )
        return self.as_written(table, layout)


def beyond(path: Path, memory: str | int) -> bool:
    """Whether a table is probably larger than may be held: told by its size."""
    if not path.is_file():
        return False
    rows = path.stat().st_size / ROW
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            import polars as pl

            row_count = pl.scan_parquet(path, glob=False).select(pl.len())
            rows = float(row_count.collect().item())
    return rows * (ITEM + VALUE) * READING > LOADED * memory_size(memory)


def aside(path: Path) -> Path:
    """Where a table that is not to be kept is packed: beside it, under a name that nobody
    else has."""
    return path.absolute().with_name(f".{path.name}.{os.getpid()}{SUFFIX}")
