"""On executors: the rows of a partition become blocks of people.

Guarantee: a block is a function of the rows of its partition, whatever their order and
however often the task is run: people are in the order of their ids, ratings in that of items,
and of ratings of one cell the latest counts, of equally late ones the highest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.bound.gram import index_type
from tacit.data.held_out import HeldOut
from tacit.data.ratings import Ratings
from tacit.data.reading.assemble import Duplicates, RowsRead, merge_repeats
from tacit.data.schema import Schema
from tacit.engine.spark.keys import MARK, Digests, cell_words, digests, mark_of
from tacit.engine.spark.scatter import gathered, in_quarters, of_quarters
from tacit.engine.spark.wire import (
    BLOCK,
    WireRow,
    batches_of,
    facts_row,
    guarded,
    pack_arrays,
    unpack_arrays,
)
from tacit.repr import shapes

CELLS = 1 << 18
"""Cells of a block: a few megabytes in one row."""
NOBODY = np.zeros(0, np.uint32)
"""Whose rows are whose is said by the starts of rows."""
KEPT = "kept "
"""Before the name of personal state."""
HELD = ("held ptr", "held item", "held value")
"""Of ratings that are kept apart, where they are to be predicted."""


@dataclass(frozen=True)
class Pack:
    """Coded rows, as `tacit.engine.spark.scatter` hands them on."""

    __repr__ = shapes

    schema: Schema
    n_items: int
    key: bytes = field(repr=False)
    """By which people are known in this run."""
    duplicates: Duplicates
    apart: HeldOut | None = None
    items: tuple[str, ...] = ()
    """Their ids, where some ratings are kept apart."""
    judged: bool = False
    """Whether ratings that are kept apart stay beside the others, to be predicted."""
    without: frozenset[str] = frozenset()
    """People who are left out."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yields packed blocks, then one row of facts about the partition."""
        return batches_of(self._rows(batches))

    @guarded
    def _rows(self, batches: Iterator[Any]) -> Iterator[WireRow]:
        facts = PartitionFacts()
        for runs in self.runs(batches, CELLS, facts):
            block = self._build_crowd(*self.cells(runs, facts), facts)
            if block is not None:
                yield WireRow(BLOCK, 0, 0, block.write(self.n_items))
        yield facts_row(facts.facts())

    def runs(self, batches: Iterator[Any], cells: int, facts: PartitionFacts) -> Iterator[Runs]:
        """Runs of whole people of about so many cells, from rows of this partition."""
        return whole_people(facts.marks(gathered(batches)), cells)

    def cells(self, runs: Runs, facts: PartitionFacts) -> PeopleCells:
        """Some people, the rows of each in any order: one rating a cell."""
        names, rows = runs.names, runs.rows
        owner = np.repeat(np.arange(len(names)), np.diff(runs.ends, prepend=0))
        item = rows.column("item").to_numpy().astype(np.uint32)
        value = rows.column("value").to_numpy()
        time = rows.column("time").to_numpy()
        key = owner << 32 | item
        if not (key[1:] > key[:-1]).all():
            order = np.argsort(key)
            ordered = key[order]
            if (ordered[1:] == ordered[:-1]).any():
                order = np.lexsort((value, time, key))
            item = item[order]
            value, time = value[order], time[order]
        cells = RowsRead(NOBODY, item, value, time.copy())
        ptr, repeats = merge_repeats(
            cells, np.append(0, runs.ends), self.duplicates, "the ratings", str
        )
        facts.facts_["duplicates"] += repeats
        return PeopleCells(names, ptr, cells)

    def _build_crowd(
        self, names: list[str], ptr: Any, cells: RowsRead, facts: PartitionFacts
    ) -> Crowded | None:
        """The ratings that count, and the people who have any."""
        owner = np.repeat(np.arange(len(names)), np.diff(ptr))
        keep = np.ones(len(owner), bool)
        if self.schema.positive is not None:
            keep = cells.value >= np.float32(self.schema.positive)
            facts.facts_["below"] += int((~keep).sum())
        if self.without:
            gone = np.array([name in self.without for name in names], bool)
            facts.facts_["left_out"] += int(gone.sum())
            keep &= ~gone[owner]
        has_ratings = np.bincount(owner[keep], minlength=len(names)) > 0
        facts.mark += mark_of(
            name for name, is_there in zip(names, has_ratings, strict=True) if is_there
        )
        held = np.zeros(len(keep), bool)
        if self.apart is not None:
            away = self.apart.cells(names, self.items, owner, cells.item)
            held = keep & away & self.judged
            keep &= ~away
        counts = np.bincount(owner[keep], minlength=len(names))
        alive = np.flatnonzero(counts)
        if not len(alive):
            return None
        facts.facts_["people"] += len(alive)
        facts.facts_["cells"] += int(counts.sum())
        return Crowded(
            digests((names[position] for position in alive), self.key),
            np.append(0, counts[alive].cumsum()),
            cells.item[keep],
            cells.value[keep],
            held=_held(owner, held, alive, cells) if self.judged else (),
        )


def _held(
    owner: NDArray[np.int64], held: NDArray[np.bool_], alive: NDArray[np.int64], cells: RowsRead
) -> tuple[NDArray[Any], ...]:
    """What is kept apart, of the people who have other ratings too."""
    has_ratings = np.zeros(int(owner.max()) + 1, bool)
    has_ratings[alive] = True
    keep = held & has_ratings[owner]
    counts = np.bincount(owner[keep], minlength=len(has_ratings))[alive]
    ptr = np.append(0, counts.cumsum())
    return ptr, cells.item[keep], cells.value[keep]


class PeopleCells(NamedTuple):
    """Some people by name, where the rows of each begin, and their ratings."""

    names: list[str]
    ptr: NDArray[np.int64]
    rated: RowsRead

    def __repr__(self) -> str:
        return shapes(self)


class PartitionFacts:
    """What a partition has seen so far: for the owner of the ratings."""

    def __init__(self) -> None:
        self.facts_: Counter[str] = Counter()
        self.faults: Counter[int] = Counter()
        self.mark = 0

    def marks(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches without the marks that stand in place of rows (`tacit.engine.spark.code`)."""
        import pyarrow as pa

        for batch in batches:
            item = batch.column("item").to_numpy()
            away = item < 0
            if not away.any():
                yield batch
                continue
            value = batch.column("value").to_numpy()
            for mark, count in zip(item[away], value[away], strict=True):
                self.faults[int(mark)] += int(count)
            yield batch.filter(pa.array(~away))

    def facts(self) -> dict[str, Any]:
        """Counts, faults and fingerprint of a partition, as the driver adds them up."""
        return {
            "facts": dict(self.facts_),
            "faults": dict(self.faults),
            "mark": self.mark % (1 << 8 * MARK),
            "version": tacit.__version__,
        }


class Runs(NamedTuple):
    """Rows that end with a person: who these people are, and where the rows of each end."""

    names: list[str]
    ends: NDArray[np.int64]
    rows: Any

    def __repr__(self) -> str:
        return shapes(self)


def whole_people(batches: Iterator[Any], cells: int) -> Iterator[Runs]:
    """Runs of about so many cells. Rows come sorted by person."""
    held: list[Any] = []
    count, goal = 0, cells
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            count += batch.num_rows
        if count < goal:
            continue
        runs = runs_of(held)
        if len(runs.ends) == 1:  # one person with very many ratings
            held, goal = [runs.rows], 2 * count
            continue
        end = int(runs.ends[-2])
        yield runs._replace(
            names=runs.names[:-1], ends=runs.ends[:-1], rows=runs.rows.slice(0, end)
        )
        held, goal = [runs.rows.slice(end)], cells
        count -= end
    if count:
        yield runs_of(held)


def runs_of(held: list[Any]) -> Runs:
    """Batches in one piece, and its people."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.Table.from_batches(held).combine_chunks()
    user = table.column("user").chunk(0)
    runs = pc.run_end_encode(user, run_end_type=pa.int64())
    names = [str(name) for name in runs.values.to_pylist()]
    ends = runs.run_ends.to_numpy()
    return Runs(names, ends, table.to_batches()[0])


# Some people as they are kept on the cluster: who they are to this run, their ratings, and
# what is kept on their side between rounds.


@dataclass(frozen=True, eq=False)
class Crowded:
    """A block of people: one row of the table that stays on the cluster."""

    who: Digests
    ptr: NDArray[np.int64]
    item: NDArray[Any]
    value: NDArray[np.float32]
    personal: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    held: tuple[NDArray[Any], ...] = ()
    """As `HELD` names them; empty unless a model is to be judged."""

    __repr__ = shapes

    @classmethod
    def read(cls, data: bytes | memoryview) -> Crowded:
        """Inverse of `write`."""
        arrays = unpack_arrays(data)
        personal = {
            name.removeprefix(KEPT): array
            for name, array in arrays.items()
            if name.startswith(KEPT)
        }
        value = arrays["value"]
        if value.dtype == np.uint8:
            value = of_quarters(value)
        return cls(
            arrays["who"],
            arrays["ptr"],
            arrays["item"],
            value,
            personal,
            tuple(arrays[name] for name in HELD if name in arrays),
        )

    def write(self, n_items: int) -> bytes:
        """As bytes; places of items are as short as the catalogue lets them be, and ratings
        that are whole quarters take one."""
        state_arrays = {KEPT + name: array for name, array in self.personal.items()}
        item = self.item.astype(index_type(n_items), copy=False)
        cell_arrays: dict[str, NDArray[Any]] = {"who": self.who, "ptr": self.ptr, "item": item}
        held = dict(zip(HELD, self.held, strict=False))
        short = in_quarters(self.value)
        value = self.value if short is None else short
        return pack_arrays(cell_arrays | {"value": value} | state_arrays | held)

    def ratings(self, schema: Schema) -> Ratings:
        """What the engine of one machine works on. Nobody has a name here."""
        item = self.item.astype(np.uint32, copy=False)
        return Ratings(schema, (), (), self.ptr, item, self.value)

    def limited(self, max_ratings: int, key: bytes) -> Crowded:
        """At most so many ratings of a person: those of smallest secret word, as
        `tacit.bound.limit` keeps them."""
        counts = np.diff(self.ptr)
        if not len(counts) or counts.max() <= max_ratings:
            return self
        owner = np.repeat(np.arange(len(counts)), counts)
        secret = cell_words(key, self.who, owner, self.item)
        order = np.lexsort((secret, owner))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(self.ptr[:-1], counts)
        keep = rank < max_ratings
        ptr = np.concatenate([[0], np.minimum(counts, max_ratings).cumsum()])
        return replace(self, ptr=ptr, item=self.item[keep], value=self.value[keep])
