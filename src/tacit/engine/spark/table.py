"""Ratings that are on a cluster: a table that Spark reads, and what is public about it.

It stands where `tacit.data.ratings.Ratings` stands in a fit, without a rating in it: the
schema, the ids of items, and a recipe by which executors make blocks of people.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import finalize

from tacit.data.held_out import HeldOut
from tacit.data.ratings import Notes, Ratings, format_count
from tacit.data.reading.assemble import Duplicates, need_two_people
from tacit.data.reading.written import PLAIN, DeclaredText
from tacit.data.schema import Schema
from tacit.engine.spark.code import FAULTS, REMEDIES, UNLISTED, Code
from tacit.engine.spark.keys import MARK, fresh_key
from tacit.engine.spark.pack import Pack
from tacit.engine.spark.scatter import Scatter, places_for
from tacit.engine.spark.session import cores_of, spark_errors
from tacit.engine.spark.wire import ROW, TOLD, raise_fault, rows_of
from tacit.errors import DataError, Failure
from tacit.repr import shapes

PARTITION = 1 << 23
"""Ratings of a partition, about: a task holds a few of its blocks at a time."""


@dataclass(frozen=True, eq=False)
class PackedBlocks:
    """Blocks of people on the cluster, and what was seen while they were made."""

    blocks: Any
    people: int
    cells: int
    mark: bytes
    notes: Notes

    __repr__ = shapes


@dataclass(frozen=True, eq=False)
class SparkRatings:
    """Rows of `user`, `item` and where they are there `value` and `time`, on a cluster."""

    frame: Any
    schema: Schema
    items: Sequence[str]
    rated: bool = True
    timed: bool = False
    duplicates: Duplicates = "last"
    notes: Notes = field(default_factory=Notes)
    label: str = "the table"
    apart: HeldOut | None = None
    judged: bool = False
    """Whether models are judged by what is kept apart."""
    left_out: frozenset[str] = frozenset()
    rows: int = 0
    """How many there are, where that is known."""
    written: DeclaredText = PLAIN
    """How texts of dates and numbers are written."""
    made: dict[tuple[str, ...], PackedBlocks] = field(default_factory=dict)
    """Blocks that were made, by the items that they are over."""

    __repr__ = shapes

    def noticed(self) -> list[str]:
        """What was noticed in the rows while blocks were made, in words: for the owner."""
        earlier_lines = self.notes.lines()
        return [
            line
            for packed in self.made.values()
            for line in packed.notes.lines()
            if line not in earlier_lines
        ]

    def seen_by(self, held_out: HeldOut, *, judged: bool = False) -> SparkRatings:
        """Without the ratings that are kept apart; `judged`: these stay beside the others on
        the cluster, for whoever judges a model by them."""
        return replace(self, apart=held_out, judged=judged, made={})

    def without(self, people: Iterable[str]) -> SparkRatings:
        """The ratings of everybody but `people`."""
        left_out = self.left_out | frozenset(people)
        return replace(self, left_out=left_out, made={})

    def pack(self, items: Sequence[str]) -> PackedBlocks:
        """Blocks of people over the rows of a catalogue, kept on the cluster. All errors that
        depend on ratings are raised here."""
        over = tuple(items)
        if over not in self.made:
            self.made[over] = self._pack(over)
        return self.made[over]

    def _pack(self, items: Sequence[str]) -> PackedBlocks:
        with spark_errors("read the ratings"):
            rows, pack = self.people_together(items)
            blocks = rows.mapInArrow(pack, ROW).persist()
            batches = blocks.filter(f"kind >= {TOLD}").toArrow().to_batches()
        facts = []
        for row in rows_of(batches):
            raise_fault(row)
            facts.append(json.loads(bytes(row.data)))
        return self._packed(blocks, facts)

    def check_rows(self, items: Sequence[str]) -> None:
        """Refuse rows that cannot be read, where no blocks are made of them."""
        with spark_errors("read the ratings"):
            wrong = self._coded(items).filter(f"item < {UNLISTED}")
            fault_counts = wrong.groupBy("item").agg({"value": "sum"}).collect()
        faults = Counter({str(row[0]): int(row[1]) for row in fault_counts})
        self._refuse(faults)

    def people_together(self, items: Sequence[str]) -> tuple[Any, Pack]:
        """Rows of each person in one partition, and who makes something of them."""
        with spark_errors("read the ratings"):
            rows = self.rows or self.frame.count()
        cores = cores_of(self.frame.sparkSession)
        partitions = max(cores, -(-rows // PARTITION))
        pack = Pack(
            self.schema,
            len(items),
            fresh_key(),
            self.duplicates,
            self.apart,
            tuple(items) if self.apart is not None else (),
            self.judged,
            self.left_out,
        )
        scatter = Scatter(self._code(items), places_for(partitions))
        scattered = self.frame.mapInArrow(scatter, ROW)
        return scattered.repartition(partitions, "place"), pack

    def _code(self, items: Sequence[str]) -> Code:
        schema = self.schema
        return Code(
            tuple(items),
            schema.low,
            schema.high,
            self.rated,
            self.timed,
            self.written.dates or "iso",
            self.written.decimal or ".",
        )

    def _coded(self, items: Sequence[str]) -> Any:
        """Rows of ids that can be compared, places of items, and numbers."""
        kind = dict(self.frame.dtypes)["user"]
        columns = f"user {kind}, item int, value float, time long"
        return self.frame.mapInArrow(self._code(items), columns)

    def _packed(self, blocks: Any, all_facts: list[dict[str, Any]]) -> PackedBlocks:
        import tacit

        facts: Counter[str] = Counter()
        faults: Counter[str] = Counter()
        mark = 0
        for partition_facts in all_facts:
            if partition_facts["version"] != tacit.__version__:
                raise Failure(
                    f"executors have Tacit {partition_facts['version']}, and the driver "
                    f"{tacit.__version__}",
                    remedy="install one version on all machines",
                )
            facts.update(partition_facts["facts"])
            faults.update(partition_facts["faults"])
            mark += partition_facts["mark"]
        dropped = faults.pop(str(UNLISTED), 0)
        self._check(faults, facts, dropped)
        messages = self.notes.messages
        if facts["below"]:
            threshold = self.schema.positive
            below = format_count(facts["below"], "rating")
            messages = (*messages, f"dropped {below} below {threshold:g}")
        notes = replace(
            self.notes, duplicates=facts["duplicates"], dropped_items=dropped, messages=messages
        )
        packed = PackedBlocks(
            blocks,
            facts["people"],
            facts["cells"],
            (mark % (1 << 8 * MARK)).to_bytes(MARK, "little"),
            notes,
        )
        finalize(packed, let_go, blocks)
        return packed

    def _check(self, faults: Counter[str], facts: Counter[str], dropped: int) -> None:
        """Refuse what no fit can be made of."""
        self._refuse(faults)
        self._need_people(facts, dropped)

    def _refuse(self, faults: Counter[str]) -> None:
        """Refuse rows that cannot be read, without a word of what they hold."""
        for text in sorted(faults, key=int, reverse=True):
            mark = int(text)
            raise DataError(
                f"{FAULTS[mark]}, in {format_count(faults[text], 'row')}",
                place=self.label,
                remedy=REMEDIES.get(mark, "correct the table, or leave such rows out"),
            )

    def _need_people(self, facts: Counter[str], dropped: int) -> None:
        if not facts["people"]:
            raise DataError(
                "no rating is of an item in the catalogue" if dropped else "no rating is left",
                place=self.label,
                remedy="check that both use the same item ids"
                if dropped
                else "give a table with explicit ratings",
            )
        need_two_people(facts["people"], self.label)


def let_go(blocks: Any) -> None:
    """Free cached blocks; a failure to do so is ignored."""
    try:
        blocks.unpersist()
    except Exception:  # noqa: BLE001
        return  # the session is over, and its blocks with it


def spread(ratings: Ratings, spark: Any) -> SparkRatings:
    """Ratings of this machine as a table of the cluster."""
    import numpy as np
    import pyarrow as pa

    users = pa.array(list(ratings.users), pa.string())
    items = pa.array(list(ratings.items), pa.string())
    table = pa.table(
        {
            "user": users.take(pa.array(ratings.user)),
            "item": items.take(pa.array(ratings.item)),
            "value": pa.array(ratings.value.astype(np.float64)),
        }
    )
    with spark_errors("took over the ratings"):
        frame = spark.createDataFrame(table)
    return SparkRatings(
        frame, ratings.schema, ratings.items, notes=ratings.notes, rows=len(ratings)
    )
