"""Tables that end as a packed file: because somebody asked for one, or because they are larger
than the memory that may be used."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tacit.data.layouts.base import Layout
from tacit.data.memory import memory_size
from tacit.data.packed import Packed, open_pack, rewritten
from tacit.data.ratings import Ratings, aligned
from tacit.data.read_request import ReadRequest
from tacit.data.reading.assemble import need_two_people, only_likes
from tacit.data.reading.columns import of_rows
from tacit.data.reading.spooled import Progress, SpooledTable
from tacit.data.reading.table import Table
from tacit.data.schema import Schema
from tacit.errors import DataError, SettingError

SUFFIX = ".tacit"
SHARE = 0.25
"""Of the memory, for sorting one bucket: the rest is for reading and for ids."""
ROW = 12
"""Bytes of a row of text, at least: a person, an item, a rating and what is between."""
READING = 3
"""Times what ratings take in memory is taken while a table of them is read."""
LOADED = 0.3
"""Of the memory: ratings that take no more are loaded, because all that works on them takes
some times as much."""
ITEM = 4
"""Bytes of an item's number in memory."""
VALUE = 4
"""Bytes of a rating."""
TIME = 8
"""Bytes of a moment."""


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


# A packed file as the answer to what was asked of a reader: its ratings in memory where they
# fit, else still in the file.


def read_packed(
    path: Path, ask: ReadRequest, layout: str | None, memory: str | int | None
) -> Ratings:
    """The ratings of a packed file."""
    room = LOADED * memory_size(memory)
    columns = of_rows(ask.columns, ask.items)
    ask.written.refuse("a packed file")
    for option, name in ((layout, "--layout"), (columns, "--columns")):
        if option is not None:
            raise SettingError(
                f"{name} is for tables, and a packed file has no columns",
                remedy=f"leave {name} out",
            )
    packed = open_pack(path)
    packed = replace(packed, schema=_schema(packed.schema, ask))
    label = str(path)
    if bytes_of(packed) <= room:
        return _check_remaining(_changed(packed.loaded(), ask, label), label)
    return _check_remaining(_changed(packed, ask, label), label)


def bytes_of(ratings: Ratings) -> int:
    """What ratings take in memory."""
    width = ITEM + VALUE + (0 if ratings.time is None else TIME)
    return len(ratings) * width


def _schema(schema: Schema, ask: ReadRequest) -> Schema:
    """That of the file, with what is asked; another scale is refused."""
    if ask.scale is not None:
        low, high = ask.scale
        if (float(low), float(high)) != (schema.low, schema.high):
            raise SettingError(
                f"the file was packed with the scale {schema.low:g},{schema.high:g}",
                remedy="leave --scale out, or pack the ratings again",
            )
    schema = schema.declare(ask.users)
    if ask.positive is None:
        return schema
    if schema.positive is None:
        if ask.positive is True:
            raise SettingError(
                "the data have ratings; say from which rating on one is a like",
                remedy="give the least rating that counts, such as --positive 4",
            )
        return replace(schema, positive=float(ask.positive))
    if ask.positive is not True and float(ask.positive) != schema.positive:
        raise SettingError(
            f"the file was packed as likes from {schema.positive:g} on",
            remedy="leave --positive out, or pack the ratings again",
        )
    return schema


def _changed(ratings: Ratings, ask: ReadRequest, label: str) -> Ratings:
    """Over the rows of a catalogue, and likes alone, where that is asked for."""
    steps: list[Callable[[Ratings], Ratings]] = []
    items = ask.items
    if items is not None and list(items.ids) != list(ratings.items):
        steps.append(lambda part: aligned(part, items))
    threshold = ratings.schema.positive
    if ask.positive is not None and threshold is not None:
        if not isinstance(ratings, Packed):
            steps.append(lambda part: only_likes(part, threshold, label))
        else:
            steps.append(lambda part: part.take(part.value >= np.float32(threshold)))
    if not steps:
        return ratings
    if isinstance(ratings, Packed):
        return rewritten(ratings, _one_by_one(steps), ratings.file.path.parent)
    return _one_by_one(steps)(ratings)


def _one_by_one(steps: list[Callable[[Ratings], Ratings]]) -> Callable[[Ratings], Ratings]:
    def change(part: Ratings) -> Ratings:
        for step in steps:
            part = step(part)
        return part

    return change


def _check_remaining(ratings: Ratings, label: str) -> Ratings:
    """Refuse what is left of nobody, or of one person."""
    if not len(ratings):
        raise DataError("no rating is left", place=label, remedy="check --items and --positive")
    need_two_people(ratings.n_users, label)
    return ratings
