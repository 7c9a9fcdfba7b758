"""What Algorithms 1 and 2 of Wang & Tang do alike: who is trained on, the start, the
gradient over all pairs, and a step with its draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, inf, log2
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.first_order.state import Floats
from tacit.methods.neighbourhood.printed import MIDDLE
from tacit.methods.neighbourhood.state import AllPairsState
from tacit.methods.neighbourhood.twin import Data, as_rows, in_bands, item_means, raw_similarities
from tacit.rounds.printed import POSTERIOR, Claim, Epoch, EpochKind, trimmed
from tacit.rounds.round import Block, Part, Released, Round

Contribute = Callable[[Block, AllPairsState], Mapping[str, Rows]]
Start = Literal["random", "cosine", "pearson"]
RANDOM = 0.1
"""First similarities are uniform within +-this, as in the authors' published program; the
paper says only that they are initialized."""
RAW = "item means are released raw"
"""Why the start is not certified."""
FINE = 16
"""Draws are integers on a grid: their scale has at least 2^this steps, or the finest grid."""
FINEST = 29
START_PARTS = ("baseline", "counts")
"""What the start releases raw, beside the similarities."""


@dataclass(frozen=True)
class Algorithm:
    """What both algorithms do alike: a start, then steps, each handed its draws."""

    items: int
    start_from: Start
    rescale: float
    """beta: first similarities are multiplied by it."""
    batch: float
    """gamma: share of the ratings in a step."""
    least: int
    """People with more ratings than this are trained on."""
    most: int | None
    """tau: so many ratings of a person are kept, at random."""
    published: bool
    """Whether steps are those of the authors' published program."""
    kind: EpochKind
    epsilon: float
    rounds: int
    seed: int
    threads: int | None

    @property
    def claimed(self) -> float:
        """Of each part. A sample of Algorithm 2 has all of epsilon, whichever step it is
        of; Algorithm 1 has one for everything, divided evenly because entries need a part
        each."""
        if self.kind is POSTERIOR:
            return self.epsilon
        return self.epsilon / (self.rounds + len(START_PARTS) + 1)

    def used(self, block: Block) -> Block:
        """The people and ratings that are trained on."""
        return trimmed(block, self.least, self.most, self.seed)

    def start(self) -> Round:
        """Raw item means, and the first similarities of all pairs, times beta."""

        def contribute(block: Block, state: AllPairsState) -> Mapping[str, Rows]:
            used = self.used(block)
            mean = item_means(used, self.items, levels=False, prior=0.0)
            counts = np.bincount(used.item, minlength=self.items)
            similarity = self.rescale * self._first(Data.of(used, mean))
            arrays = {"baseline": mean, "counts": counts, "similarity": similarity}
            return {name: as_rows(array) for name, array in arrays.items()}

        claim = Claim("none", 0.0, self.claimed, 0.0, RAW)
        widths = {**dict.fromkeys(START_PARTS, 1), "similarity": self.items}
        parts = tuple(
            Part(name, self.items, CellClip(1.0), width=width, printed=Epoch(claim=claim))
            for name, width in widths.items()
        )
        return Round("start", parts, contribute, keep)

    def _first(self, data: Data) -> Floats:
        """Of every pair; an item is no neighbour of its own."""
        if self.start_from == "random":
            rng = np.random.default_rng(self.seed)
            similarity = rng.uniform(-RANDOM, RANDOM, (self.items, self.items))
            if not self.published:
                np.fill_diagonal(similarity, 0.0)
            return similarity
        index, value = raw_similarities(
            data,
            max(self.items - 1, 1),
            pearson=self.start_from == "pearson",
            damp=0.0,
            levels=False,
            threads=self.threads,
        )
        similarity = np.zeros((self.items, self.items))
        row, column = np.nonzero(index >= 0)
        similarity[row, index[row, column]] = value[row, column]
        return similarity

    def gradient(
        self,
        block: Block,
        state: AllPairsState,
        iteration: int,
        *,
        floor: float,
        clamp: float = inf,
        reach: float = inf,
    ) -> Floats:
        """Of the loss over the ratings drawn for this step, by every similarity. `clamp`
        bounds errors; `reach` leaves out neighbours that differ by more."""
        from tacit.methods.neighbourhood.printed.kernels import gradient_pairs

        data = Data.of(self.used(block), state.baseline[:, 0])
        in_batch = self._drawn(len(data.item), iteration)
        value = np.ascontiguousarray(state.similarity)
        out = np.empty_like(value)

        def work(first: int, last: int) -> None:
            gradient_pairs(
                data.ptr,
                data.item,
                data.dev,
                data.start,
                data.user,
                data.cell,
                in_batch,
                value,
                floor,
                clamp,
                reach,
                first,
                last,
                out,
            )

        in_bands(self.items, self.threads, work)
        return out

    def published_gradient(self, block: Block, state: AllPairsState, *, floor: float) -> Floats:
        """As the authors' published program computes it, over all ratings."""
        from tacit.methods.neighbourhood.printed.kernels import published_pairs

        used = self.used(block)
        data = Data.of(used, state.baseline[:, 0])
        value = np.ascontiguousarray(state.similarity)
        rating = used.value + MIDDLE
        out = np.empty_like(value)

        def work(first: int, last: int) -> None:
            published_pairs(
                data.ptr,
                data.item,
                data.dev,
                data.start,
                data.user,
                data.cell,
                rating,
                value,
                floor,
                first,
                last,
                out,
            )

        in_bands(self.items, self.threads, work)
        return out

    def _drawn(self, cells: int, iteration: int) -> NDArray[np.bool_]:
        """The mini-batch of a step: each rating with chance gamma."""
        if self.batch >= 1:
            return np.ones(cells, np.bool_)
        rng = np.random.default_rng([self.seed, iteration])
        return rng.random(cells) < self.batch

    def step(self, iteration: int, claim: Claim, contribute: Contribute) -> Round:
        """A round of one step, with a draw for each pair."""
        grid = CellClip(1.0, grain(claim.scale))
        part = Part(
            "similarity",
            self.items,
            grid,
            width=self.items,
            printed=Epoch(self.kind, claim, self.items**2),
        )
        return Round(f"step {iteration}", (part,), contribute, keep)


def grain(scale: float) -> int:
    """Steps in one unit of a grid on which noise of this scale is fine."""
    if scale <= 0:
        return 1
    return 1 << int(np.clip(FINE - ceil(log2(scale)), 0, FINEST))


def keep(state: AllPairsState, released: Mapping[str, Released]) -> AllPairsState:
    """What was made takes the place of what was there; parts have the names of fields."""
    return state.after(**{name: part.value for name, part in released.items()})
