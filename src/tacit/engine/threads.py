"""One machine, one trusted curator: blocks of people over threads, exact integer sums,
noise after the sum.

Sums are integers, so they depend neither on the number of threads nor on the cut into blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.data.ratings import Ratings
from tacit.engine.base import Progress
from tacit.engine.gram import Factors
from tacit.errors import Failure, SettingError
from tacit.noise import bits
from tacit.noise.release import Charge, release, tape
from tacit.rounds.people import Participation, People, Turns
from tacit.rounds.round import Block, Kind, Part, Released, Round
from tacit.rounds.state import State

CELLS = 1 << 18
"""Cells of a block: a few megabytes of working arrays for each thread."""


class Threads:
    """See the module. `threads` defaults to the cores this process may use."""

    name = "threads"
    trust = "a trusted curator holds the ratings on one machine and adds the noise after the sum"

    def __init__(
        self,
        ratings: Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.ratings = ratings
        self.threads = threads or len(os.sched_getaffinity(0))
        self._progress = progress
        self._personal: dict[str, NDArray[np.float64]] = {}
        self._places: NDArray[np.uint64] | None = None

    def run(
        self, round_: Round, state: State, charge: Charge
    ) -> Mapping[str, Released]:
        for kept in round_.personal:
            self._personal.setdefault(
                kept.name, np.zeros((self.ratings.n_users, kept.width))
            )
        paths = {part.name: f"{round_.name}/{part.name}" for part in round_.parts}
        if any(part.kind is Kind.REPORT for part in round_.parts):
            # A sum of n bits is odd if n is: exact about who takes part, which here is private.
            raise SettingError(
                "randomized reports show who takes part",
                remedy="use --engine local or simulate",
            )
        tapes = {
            part.name: tape(paths[part.name], charge, part.printed.draws)
            / part.bound.steps
            for part in round_.parts
            if part.printed is not None and part.printed.sequential
        }
        factors = {
            part.name: Factors(part) for part in round_.parts if part.form == "gram"
        }
        sums = self._sum(round_, state, tapes, factors)
        done: dict[str, Released] = {}
        for part in round_.parts:
            if part.form == "gram":
                done[part.name] = factors[part.name].release(
                    paths[part.name], charge, self.threads
                )
                continue
            total = sums[part.name]
            if (
                part.is_sequential
            ):  # the draws are inside already: the event was spent on the tape
                done[part.name] = Released(
                    total.real,
                    0.0,
                    private=(bool(tapes[part.name].any()) or _bare(part))
                    and not bits.injected(),
                )
            else:
                done[part.name] = release(
                    paths[part.name], total.whole, part.bound.steps, charge
                )
        return done

    def _sum(
        self,
        round_: Round,
        state: State,
        tapes: Mapping[str, NDArray[np.float64]],
        factors: Mapping[str, Factors] = MappingProxyType({}),
    ) -> dict[str, _Total]:
        from threadpoolctl import threadpool_limits

        people = self._who(round_.takes_part)
        blocks = list(self._cut(people, whole=bool(tapes)))
        workers = max(1, min(self.threads, len(blocks)))
        summed = [part for part in round_.parts if part.name not in factors]
        totals = [{p.name: _Total(p) for p in summed} for _ in range(workers)]
        one_pool = threadpool_limits(1) if workers > 1 else nullcontext()

        def work(worker: int) -> None:
            for position in range(worker, len(blocks), workers):
                block = self._block(blocks[position], tapes)
                given = round_.contribute(block, state)
                self._keep(block, round_)
                for part in summed:
                    totals[worker][part.name].add(
                        part, given[part.name], len(block.people)
                    )
                for name, matrix in factors.items():
                    matrix.add(position, given[name], len(block.people))
                if self._progress:
                    self._progress(position + 1, len(blocks), round_.name)

        with one_pool:
            if workers == 1:
                work(0)
            else:
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(work, range(workers)))
        first = totals[0]
        for other in totals[1:]:
            for name, total in other.items():
                first[name].merge(total)
        return first

    def _who(self, takes_part: Participation) -> NDArray[np.int64] | None:
        """The rows that take part; None for everyone."""
        return takes_part.among(self)

    def coins(self) -> NDArray[np.uint64]:
        """A fresh secret word for each person."""
        return bits.fresh().words(self.ratings.n_users)

    def places(self) -> NDArray[np.uint64]:
        """A word of one's own for the whole run: one person more or less moves nobody else."""
        if self._places is None:
            self._places = bits.fresh().words(self.ratings.n_users)
        return self._places

    def turn(self, turns: Turns) -> People:
        """Nobody: these people have no devices."""
        raise Failure(f"the engine {self.name} has no devices that take turns")

    def raters(self, item: int) -> People:
        """The people who rated an item."""
        order = self.ratings.by_item
        return order.user[order.ptr[item] : order.ptr[item + 1]].astype(np.int64)

    def _cut(
        self, people: NDArray[np.int64] | None, whole: bool
    ) -> Iterator[NDArray[np.int64] | slice]:
        """Runs of people with about CELLS cells each; slices where nobody is left out, so
        nothing is copied."""
        ptr, count = self.ratings.ptr, self.ratings.n_users
        if people is None:
            if whole:
                yield slice(0, count)
                return
            cuts = np.searchsorted(ptr, np.arange(0, ptr[-1], CELLS), side="left")
            edges = np.unique(np.concatenate([[0], cuts, [count]]))
            yield from (slice(int(a), int(b)) for a, b in pairwise(edges))
        elif len(people):
            sizes = np.cumsum((ptr[1:] - ptr[:-1])[people])
            edges = np.searchsorted(sizes, np.arange(CELLS, sizes[-1], CELLS))
            yield from (part for part in np.split(people, edges) if len(part))

    def _block(
        self,
        people: NDArray[np.int64] | slice,
        tapes: Mapping[str, NDArray[np.float64]],
    ) -> Block:
        data, schema = self.ratings, self.ratings.schema
        if isinstance(people, slice):
            rows = np.arange(people.start, people.stop, dtype=np.int64)
            first = int(data.ptr[people.start])
            cells: slice | NDArray[np.int64] = slice(first, int(data.ptr[people.stop]))
            ptr = data.ptr[people.start : people.stop + 1] - data.ptr[people.start]
        else:
            rows, first = people, 0
            counts = np.diff(data.ptr)[people]
            ptr = np.concatenate([[0], np.cumsum(counts)])
            cells = np.repeat(data.ptr[people] - ptr[:-1], counts) + np.arange(ptr[-1])
        value = (
            data.value[cells].astype(np.float64) - schema.middle
        ) / schema.unit_width
        time = data.time[cells] if data.time is not None else None
        personal = {name: kept[people] for name, kept in self._personal.items()}
        return Block(rows, ptr, data.item[cells], value, time, first, personal, tapes)

    def _keep(self, block: Block, round_: Round) -> None:
        """Personal state written by a kernel goes back to its people."""
        for kept in round_.personal:
            self._personal[kept.name][block.people] = block.personal[kept.name]


def _bare(part: Part) -> bool:
    """Whether a paper prints this release without noise: claimed as all of it is, not
    switched off."""
    return part.printed is not None and part.printed.bare


class _Total:
    """The running sum of one part in one thread."""

    def __init__(self, part: Part) -> None:
        self.whole = np.zeros((part.size, part.width), np.int64)
        self.real = np.zeros((part.size, part.width) if part.is_sequential else (0, 0))

    def add(self, part: Part, rows: Rows, people: int) -> None:
        from tacit.bound.check import check_rows
        from tacit.kernels.rows import add_rows

        if (
            part.is_sequential
        ):  # whatever the epoch made: nothing bounds it, and nothing is certified
            np.add.at(self.real, rows.index, rows.values)
            return
        check_rows(rows, name=part.name, people=people, size=part.size)
        bounded = part.bound.apply(rows)
        if bounded.shape != (len(rows.index), part.width):
            raise Failure(f"a contribution to {part.name} has not {part.width} columns")
        add_rows(rows.index, bounded, self.whole)

    def merge(self, other: _Total) -> None:
        self.whole += other.whole
