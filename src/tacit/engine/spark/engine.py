"""The driver: what every task is to do, sums added up, noise drawn from paid events.

It collects sums of whole partitions and what partitions tell of themselves; never a rating,
a person's id, or anything of one person.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.gram import BAND, check_memory
from tacit.engine.spark.keys import fresh_key
from tacit.engine.spark.session import cores_of, session, spark_errors
from tacit.engine.spark.table import PARTITION, PackedBlocks, SparkRatings, let_go, spread
from tacit.engine.spark.wire import ROW, SUM, WireRow, raise_fault, rows_of, unpack_arrays
from tacit.engine.spark.work import (
    AddBands,
    InTurn,
    Keys,
    Limit,
    PartitionWork,
    Products,
    rows_of_band,
)
from tacit.errors import Failure, SettingError
from tacit.noise.release import Charge, GramRelease, release
from tacit.rounds.options import How, Progress
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Kind, Part, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue

AT_ONCE = 1 << 27
"""Bytes of partial sums that the driver takes over in one piece; beyond that it takes them
partition by partition."""
PER_PARTITION = 4
"""Bands of a matrix that one task adds up."""
GRAM_CELLS = 1 << 26
"""Ratings whose bounded rows one task holds, at most about: under 1 GB."""


class Spark:
    """Rounds over a table on a cluster: partitions clip and sum, the driver adds noise."""

    name = "spark"
    like = ""
    trust = "a trusted curator holds the ratings on a cluster and adds the noise after the sum"

    def __init__(
        self,
        ratings: SparkRatings | Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.threads = threads or len(os.sched_getaffinity(0))
        if isinstance(ratings, Ratings):
            ratings = spread(ratings, session(threads))
        self.ratings = ratings
        self.refused = 0
        self._progress = progress
        self._packed: PackedBlocks | None = None
        self._blocks: Any = None
        self._place_key = fresh_key()
        self._n_items = len(ratings.items)

    @classmethod
    def over(cls, ratings: SparkRatings | Ratings, how: How, budget: Budget | None = None) -> Self:
        """An engine over these ratings, as it was asked for."""
        return cls(ratings, how.threads, how.progress)

    # ---------------------------------------------------- what the conductor asks

    @property
    def people(self) -> int:
        return self._packed_blocks().people

    def align(self, items: Catalogue) -> None:
        """Put the ratings over the rows of a public catalogue, as blocks of people."""
        self._take(items.ids)

    def limit(self, max_ratings: int) -> None:
        """Keep at most so many ratings of a person, chosen by a fresh secret."""
        self._packed_blocks()
        work = Limit(max_ratings, fresh_key(), self._n_items)
        self._replace(self._blocks.mapInArrow(work, ROW).persist())

    def pattern(self) -> Pattern:
        """Refused: who rated what stays on the cluster."""
        raise SettingError(
            "at the unit value who rated what would come to the driver",
            remedy="use --engine threads",
        )

    def fingerprint(self) -> bytes:
        return self._packed_blocks().mark

    def check(self, plan: Plan) -> None:
        """Refuse, before anything is paid, a plan that cannot be run here."""
        check_memory(plan)
        for round_ in plan.rounds:
            self._check_round(round_)

    def _check_round(self, round_: Round) -> None:
        papers = [round_.takes_part.printed, *(part.printed for part in round_.parts)]
        if any(papers):
            raise SettingError(
                f"the round {round_.name} is as a paper prints it, which does not run on a cluster",
                remedy="use --engine threads",
            )
        if any(part.kind is Kind.REPORT for part in round_.parts):
            # A sum of n bits is odd if n is: exact about who takes part, which is private.
            raise SettingError(
                "randomized reports show who takes part", remedy="use --engine local or simulate"
            )

    # -------------------------------------------------------------- blocks of people

    def _packed_blocks(self) -> PackedBlocks:
        """The blocks, made when they are first asked for."""
        if self._packed is None:
            self._take(self.ratings.items)
        assert self._packed is not None
        return self._packed

    def _take(self, items: Any) -> None:
        self._packed = self.ratings.pack(items)
        self._n_items = len(items)
        self._blocks = self._packed.blocks

    def _replace(self, blocks: Any) -> None:
        """From here on these are the blocks. Earlier ones stay as long as they are needed to
        make these again."""
        self._blocks = blocks
        finalize(self, let_go, blocks)

    # ------------------------------------------------------------------------ a round

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """Sum on the cluster, then noise and release part by part."""
        self._check_round(round_)
        self._packed_blocks()
        work = self._work(round_, state)
        contributions = self._blocks.mapInArrow(work, ROW)
        if round_.personal:
            contributions = contributions.persist()
        with spark_errors(f"ran the round {round_.name}"):
            sums = self._sums(round_, contributions)
            released_parts: dict[str, Released] = {}
            for at, part in enumerate(round_.parts):
                path = f"{round_.name}/{part.name}"
                if part.form == "gram":
                    tasks = self._gram_tasks
                    products = Products(part, at)
                    bands = (
                        contributions.coalesce(tasks).mapInArrow(products, ROW)
                        if round_.personal
                        else self._blocks.coalesce(tasks).mapInArrow(InTurn(work, products), ROW)
                    )
                    released_parts[part.name] = self._matrix(path, part, bands, charge)
                else:
                    integer_sums = sums[part.name]
                    released_parts[part.name] = release(
                        path, integer_sums, part.bound.steps, charge
                    )
        if self._progress:
            self._progress(1, 1, round_.name)
        if round_.personal:
            self._replace(contributions)
        return released_parts

    def sums(self, round_: Round, state: State) -> dict[str, NDArray[np.int64]]:
        """The exact sums of a round, which are private; nothing is released."""
        self._packed_blocks()
        work = self._work(round_, state)
        return self._sums(round_, self._blocks.mapInArrow(work, ROW))

    def _work(self, round_: Round, state: State) -> PartitionWork:
        """What executors do with the blocks in this round. Its keys are fresh: a round asks for
        it once, however often it goes through the blocks."""
        # What comes after the sum is the driver's: it is not sent.
        round_to_send = replace(round_, absorb=_driver, chosen=None)
        return PartitionWork(
            round_to_send,
            state,
            self.ratings.schema,
            self._n_items,
            Keys(fresh_key(), self._place_key),
        )

    def _sums(self, round_: Round, contributions: Any) -> dict[str, NDArray[np.int64]]:
        """The exact sums of all parts but Gram ones."""
        sums = {
            part.name: np.zeros((part.size, part.width), np.int64)
            for part in round_.parts
            if part.form != "gram"
        }
        bytes_ = sum(array.nbytes for array in sums.values())
        if not sums and not round_.personal:
            return sums  # a matrix alone: its own way through the blocks
        for row in self._rows(contributions, bytes_, round_.name):
            flat = sums[round_.parts[row.part].name].reshape(-1)
            piece = np.frombuffer(row.data, np.int64)
            flat[row.place : row.place + len(piece)] += piece
        return sums

    def _rows(self, contributions: Any, bytes_: int, label: str) -> Iterator[WireRow]:
        """Rows of sums and faults, in one piece or partition by partition."""
        sums = contributions.filter(f"kind >= {SUM}")
        partitions = self.partitions
        if bytes_ * partitions <= AT_ONCE:
            batches = sums.toArrow().to_batches()
            rows = rows_of(batches)
        else:
            sums = sums.persist()
            sums.count()
            rows = _one_by_one(sums)
        for row in rows:
            raise_fault(row)
            yield row
        if bytes_ * partitions > AT_ONCE:
            sums.unpersist()

    @property
    def partitions(self) -> int:
        """Number of partitions for sums: at least one a core, and about `PARTITION` cells in
        each."""
        spark = self.ratings.frame.sparkSession
        return max(cores_of(spark), -(-self._packed_blocks().cells // PARTITION))

    # ----------------------------------------------------------------------- matrices

    def _matrix(self, path: str, part: Part, bands: Any, charge: Charge) -> Released:
        """An item-item matrix, summed and noised band by band."""
        from tacit.kernels.gram import mirror

        size = part.size
        opened = GramRelease(path, size, part.diagonal, part.bound.steps, charge)
        out = np.zeros((size, size), np.float32)
        remaining = set(range(0, size, rows_of_band(size)))

        def finish(first_row: int, sums: NDArray[np.int64]) -> None:
            for start in range(0, len(sums), BAND):
                piece = sums[start : start + BAND]
                row = first_row + start
                opened.band(row, piece, out[row : row + len(piece)])

        with ThreadPoolExecutor(self.threads) as pool:
            waiting: list[Future[None]] = []
            for row in self._added(part, bands):
                remaining.discard(row.place)
                sums = _squared(row, size)
                waiting.append(pool.submit(finish, row.place, sums))
                # A few bands at a time: no more are held in 64 bits.
                while len(waiting) > self.threads:
                    waiting.pop(0).result()
            for future in waiting:
                future.result()
        step = rows_of_band(size)
        for first_row in sorted(remaining):  # nobody has a rating there
            finish(first_row, np.zeros((min(step, size - first_row), size), np.int64))
        mirror(out)
        return Released(out, opened.sd, opened.private)

    @property
    def _gram_tasks(self) -> int:
        """Tasks that each hold the bounded rows of their people."""
        return max(
            cores_of(self.ratings.frame.sparkSession), -(-self._packed_blocks().cells // GRAM_CELLS)
        )

    def _added(self, part: Part, products: Any) -> Iterator[WireRow]:
        """The finished bands of a product, each once; two of the same place stop the fit."""
        bands = -(-part.size // rows_of_band(part.size))
        added = products.repartition(-(-bands // PER_PARTITION), "place").mapInArrow(
            AddBands(), ROW
        )
        if part.size**2 * 4 <= AT_ONCE:
            rows = rows_of(added.toArrow().to_batches())
        else:
            added = added.persist()
            added.count()
            rows = _one_by_one(added)
        finished: set[int] = set()
        for row in rows:
            raise_fault(row)
            if row.place in finished:
                raise Failure("a band of a matrix was summed twice")
            finished.add(row.place)
            yield row
        if part.size**2 * 4 > AT_ONCE:
            added.unpersist()


def _squared(row: WireRow, size: int) -> NDArray[np.int64]:
    """A band with all of its columns: those below the diagonal are zero."""
    sums = unpack_arrays(row.data)["sums"]
    full_band = np.zeros((len(sums), size), np.int64)
    full_band[:, row.place :] = sums
    return full_band


def _one_by_one(frame: Any) -> Iterator[WireRow]:
    """Rows of a table that was made, one partition after the other."""
    for row in frame.toLocalIterator():
        yield WireRow(row.kind, row.part, row.place, bytes(row.data))


def _driver(state: Any, released: Any) -> Any:
    raise Failure("what is released is absorbed by the driver alone")
