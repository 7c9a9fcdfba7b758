"""What Algorithms 1 and 2 of Wang & Tang do alike: who is trained on, the raw start, the
gradient, and a step with its draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.first_order.state import Floats
from tacit.methods.neighbourhood.printed import busy
from tacit.methods.neighbourhood.state import RowState
from tacit.methods.neighbourhood.twin import (
    Data,
    as_rows,
    in_bands,
    item_means,
    keep,
    raw_parts,
    raw_similarities,
)
from tacit.rounds.printed import Claim, Epoch, EpochKind
from tacit.rounds.round import Block, Part, Round

Contribute = Callable[[Block, RowState], Mapping[str, Rows]]
LEAST_RATINGS = 20
"""People with more ratings than this are trained on."""
NOISE = 0.9
"""Variance of a rating that the statement of a prediction's error assumes: the paper has none."""
SIMILARITY_LIMIT = 512.0
"""Beyond every similarity that the algorithms reach."""
RAW = "item means and first similarities are released raw"
"""Why the start is not certified."""


@dataclass(frozen=True)
class Algorithm:
    """What both algorithms do alike: a raw start, then steps, each handed its draws."""

    items: int
    neighbours: int
    pearson: bool
    rescale: float
    """beta: first similarities are multiplied by it."""
    batch: float
    """gamma: share of the ratings in a step."""
    most: int | None
    """Ratings of a person that are kept."""
    kind: EpochKind
    epsilon: float
    rounds: int
    seed: int
    threads: int | None

    @property
    def claimed(self) -> float:
        """Of each part. The paper claims one epsilon for everything; entries need a part
        each, so it is divided evenly."""
        return self.epsilon / (self.rounds + len(raw_parts(1, 1, None)))

    def used(self, block: Block) -> Block:
        """The people and ratings that are trained on."""
        return busy(block, LEAST_RATINGS, self.most, self.seed)

    def start(self) -> Round:
        """Raw item means, and raw similarities of the nearest items, times beta."""

        def contribute(block: Block, state: RowState) -> Mapping[str, Rows]:
            used = self.used(block)
            mean = item_means(used, self.items, levels=False, prior=0.0)
            data = Data.of(used, mean)
            index, value = raw_similarities(
                data,
                self.neighbours,
                pearson=self.pearson,
                damp=0.0,
                levels=False,
                threads=self.threads,
            )
            rows: dict[str, NDArray[Any]] = {
                "baseline": mean,
                "neighbour": index,
                "similarity": value * self.rescale,
                "doubt": np.bincount(data.item, minlength=self.items),
                "noise": np.full(self.items, NOISE),
            }
            return {name: as_rows(array) for name, array in rows.items()}

        claim = Claim("none", 0.0, self.claimed, 0.0, RAW)
        parts = raw_parts(self.items, self.neighbours, claim)
        return Round("start", parts, contribute, keep)

    def gradient(
        self,
        block: Block,
        state: RowState,
        turn: int,
        *,
        floor: float,
        clamp: float = inf,
        reach: float = inf,
    ) -> Floats:
        """Of the loss over the ratings drawn for this step, by each similarity. `clamp`
        bounds errors; `reach` leaves out neighbours that differ by more."""
        from tacit.methods.neighbourhood.kernels_rows import gradient_rows

        data = Data.of(self.used(block), state.baseline[:, 0])
        rng = np.random.default_rng([self.seed, turn])
        drawn = (
            np.ones(len(data.item), np.bool_)
            if self.batch >= 1
            else rng.random(len(data.item)) < self.batch
        )
        index = state.neighbour.astype(np.int32)
        value = np.ascontiguousarray(state.similarity)
        out = np.zeros_like(value)

        def work(first: int, last: int) -> None:
            gradient_rows(
                data.ptr,
                data.item,
                data.dev,
                data.total,
                data.start,
                data.user,
                data.cell,
                drawn,
                index,
                value,
                -1.0,
                floor,
                clamp,
                reach,
                first,
                last,
                out,
            )

        in_bands(self.items, self.threads, work)
        return out

    def step(self, turn: int, claim: Claim, contribute: Contribute) -> Round:
        """A round of one step, with a draw for each similarity."""
        part = Part(
            "similarity",
            self.items,
            CellClip(SIMILARITY_LIMIT),
            width=self.neighbours,
            printed=Epoch(self.kind, claim, self.items * self.neighbours),
        )
        return Round(f"step {turn}", (part,), contribute, keep)
