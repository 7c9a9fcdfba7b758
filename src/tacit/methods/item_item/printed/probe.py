"""The probe set of McSherry & Mironov's `paper` calibration, and the descent on its error.
Raw: never certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.methods.item_item.rows import FICTITIOUS
from tacit.methods.item_item.state import PrintedState
from tacit.methods.refine.spectrum import paper_clean
from tacit.model.person.gaussian import GaussianModel, predict_cells
from tacit.rounds.round import Block

LATEST = 9
"""Of each person's ratings, those that may be held back."""
CHANCE = 1 / 3
"""With which each of them is."""
RANK = 20
"""k."""
START = (25.0, 25.0, 1.0)
"""Shrinkage of the diagonal and of the rest, in average pairs; ridge."""
RIDGE = 2
"""Place of the ridge among these."""
FACTORS = (4.0, 2.0, 1.4)
"""Steps of the descent, up and down in turn on each parameter."""
MOST = 3000
"""People whose probe ratings are looked at."""
MIDDLE = 3.0
"""Of the paper's scale."""
ROUNDS_OF_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""Shifts and factors of splitmix64."""
Floats = NDArray[np.float64]


class Halves(NamedTuple):
    """The ratings of one block, cut in two."""

    training: Block
    probe: Block


def split_probe(block: Block, seed: int) -> Halves:
    """Of each person's 9 latest ratings (without times, any 9) each is held back by chance
    1/3."""
    counts = np.diff(block.ptr)
    row = np.repeat(np.arange(len(counts)), counts)
    words = _words(block.people[row], block.item, seed)
    order = np.lexsort(
        (words, row) if block.time is None else (words, block.time, row)
    )
    late = np.empty(len(row), np.bool_)
    late[order] = (
        np.arange(len(row)) >= np.repeat(block.ptr[1:], counts) - LATEST
    )
    held = late & (words >> np.uint64(11) < np.uint64(CHANCE * 2**53))
    return Halves(_take(block, row, ~held), _take(block, row, held))


def _words(
    person: NDArray[np.int64], item: NDArray[np.uint32], seed: int
) -> NDArray[np.uint64]:
    """A word for each cell (splitmix64), the same whichever block it comes in."""
    word = (
        (person.astype(np.uint64) << np.uint64(32))
        ^ item.astype(np.uint64)
        ^ np.uint64(seed * 0x9E37 + 1)
    )
    for shift, factor in ROUNDS_OF_MIXING:
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    return word


def _take(
    block: Block, row: NDArray[np.int64], kept: NDArray[np.bool_]
) -> Block:
    counts = np.bincount(row[kept], minlength=len(block.people))
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Block(block.people, ptr, block.item[kept], block.value[kept])


def _first(block: Block, people: int) -> Block:
    """The first people of a block."""
    last = int(block.ptr[people])
    return Block(
        block.people[:people],
        block.ptr[: people + 1],
        block.item[:last],
        block.value[:last],
    )


def printed_loadings(
    state: PrintedState, parameters: Floats, clean: bool
) -> Floats:
    """[level | rank-k factor]: a level with the paper's fictitious ratings, and the cleaned
    (or plain) average."""
    found = paper_clean(
        state.covariance,
        state.weights,
        state.count if clean else np.ones(len(state.weights)),
        rank=RANK,
        shrink_diagonal=float(parameters[0]) if clean else 0.0,
        shrink_off=float(parameters[1]) if clean else 0.0,
    )
    level = np.full(
        (len(found), 1), np.sqrt(float(parameters[RIDGE]) / FICTITIOUS)
    )
    return np.ascontiguousarray(
        np.concatenate([level, found], axis=1), np.float64
    )


def fit_parameters(
    state: PrintedState,
    kept: Block,
    probe: Block,
    *,
    clean: bool,
    neighbours: int,
) -> Floats:
    """Coordinate descent on the logarithms of the parameters."""
    parameters = np.array(START)
    people = min(MOST, len(kept.people))
    asked = _first(probe, people)
    if not len(asked.value):
        return parameters
    error = _Error(state, _first(kept, people), asked, neighbours)
    found = printed_loadings(state, parameters, clean)
    best = error.of(parameters, found)
    for factor in FACTORS:
        for place in range(0 if clean else RIDGE, len(parameters)):
            for way in (factor, 1 / factor):
                tried = parameters.copy()
                tried[place] *= way
                other = found
                if place != RIDGE:
                    other = printed_loadings(state, tried, clean)
                if (now := error.of(tried, other)) < best:
                    best = now
                    parameters = tried
                    found = other
                    break
    return parameters


@dataclass(frozen=True, eq=False)
class _Error:
    """The root mean square error on the probe, of one choice of parameters after another."""

    state: PrintedState
    kept: Block
    probe: Block
    neighbours: int

    @property
    def baseline(self) -> Floats:
        return np.asarray(self.state.item + self.state.again - MIDDLE)

    def of(self, tried: Floats, found: Floats) -> float:
        """With the loadings `found`, whose level follows the ridge that is tried."""
        rows = found.copy()
        rows[:, 0] = np.sqrt(tried[RIDGE] / FICTITIOUS)
        predict = self._by_neighbours if self.neighbours else self._by_factor
        made = predict(rows, float(tried[RIDGE]))
        left = np.clip(made, -2.0, 2.0) - self.probe.value
        return float(np.sqrt(np.mean(left**2)))

    def _by_neighbours(self, rows: Floats, ridge: float) -> Floats:
        from tacit.kernels.neighbours import predict_neighbours

        kept, probe = self.kept, self.probe
        baseline = self.baseline
        out = np.empty(len(probe.value))
        predict_neighbours(
            kept.ptr,
            kept.item,
            kept.value - baseline[kept.item],
            probe.ptr,
            probe.item,
            rows,
            np.full(len(rows), ridge),
            self.neighbours,
            np.asarray(self.state.weights, np.float32),
            out,
        )
        return np.asarray(baseline[probe.item] + out)

    def _by_factor(self, rows: Floats, ridge: float) -> Floats:
        kept, probe = self.kept, self.probe
        model = GaussianModel(self.baseline, np.zeros(len(rows)), rows, ridge)
        made, _ = predict_cells(
            model, kept.ptr, kept.item, kept.value, probe.ptr, probe.item
        )
        return made
