"""The probe set of McSherry & Mironov's `paper` calibration, and the descent on its error.
Raw: never certified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.item_item.matrix import FICTITIOUS
from tacit.methods.item_item.state import PrintedState
from tacit.methods.refine.spectrum import paper_clean
from tacit.model.person.gaussian import GaussianModel, predict_cells
from tacit.rounds.round import Block

LATEST, CHANCE = 9, 1 / 3
RANK = 20
"""k."""
START = (25.0, 25.0, 1.0)
"""Shrinkage of the diagonal and of the rest, in average pairs; ridge."""
FACTORS = (4.0, 2.0, 1.4)
"""Steps of the descent, up and down in turn on each parameter."""
MOST = 3000
"""People whose probe ratings are looked at."""
Floats = NDArray[np.float64]


def _words(
    person: NDArray[np.int64], item: NDArray[np.uint32], seed: int
) -> NDArray[np.uint64]:
    """A word for each cell (splitmix64), the same whichever block it comes in."""
    word = (
        (person.astype(np.uint64) << np.uint64(32))
        ^ item.astype(np.uint64)
        ^ np.uint64(seed * 0x9E37 + 1)
    )
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    return word


def split_probe(block: Block, seed: int) -> tuple[Block, Block]:
    """(training, probe): of each person's 9 latest ratings (without times, any 9) each is
    held back by chance 1/3."""
    counts = np.diff(block.ptr)
    row = np.repeat(np.arange(len(counts)), counts)
    words = _words(block.people[row], block.item, seed)
    order = np.lexsort((words, row) if block.time is None else (words, block.time, row))
    late = np.empty(len(row), np.bool_)
    late[order] = np.arange(len(row)) >= np.repeat(block.ptr[1:], counts) - LATEST
    held = late & (words >> np.uint64(11) < np.uint64(CHANCE * 2**53))
    return _take(block, row, ~held), _take(block, row, held)


def _take(block: Block, row: NDArray[np.int64], kept: NDArray[np.bool_]) -> Block:
    ptr = np.concatenate(
        [[0], np.cumsum(np.bincount(row[kept], minlength=len(block.people)))]
    ).astype(np.int64)
    return Block(block.people, ptr, block.item[kept], block.value[kept])


def printed_loadings(state: PrintedState, parameters: Floats, clean: bool) -> Floats:
    """[level | rank-k factor]: a level with the paper's fictitious ratings, and the cleaned
    (or plain) average."""
    covariance, weights = state.covariance, state.weights
    if clean:
        found = paper_clean(
            covariance,
            weights,
            state.count,
            rank=RANK,
            shrink_diagonal=float(parameters[0]),
            shrink_off=float(parameters[1]),
        )
    else:
        found = paper_clean(
            covariance,
            weights,
            np.ones(len(weights)),
            rank=RANK,
            shrink_diagonal=0.0,
            shrink_off=0.0,
        )
    level = np.full((len(found), 1), np.sqrt(float(parameters[2]) / FICTITIOUS))
    return np.ascontiguousarray(np.concatenate([level, found], axis=1), np.float64)


def fit_parameters(
    state: PrintedState, kept: Block, probe: Block, *, clean: bool, neighbours: float
) -> Floats:
    """Coordinate descent on the logarithms of the parameters."""
    from tacit.kernels.ridge_neighbours import predict_neighbours

    parameters = np.array(START)
    last = min(MOST, len(kept.people))
    baseline = state.item + state.again - 3.0
    cut = slice(0, int(kept.ptr[last])), slice(0, int(probe.ptr[last]))
    own = kept.ptr[: last + 1], kept.item[cut[0]], kept.value[cut[0]]
    ask, truth = (probe.ptr[: last + 1], probe.item[cut[1]]), probe.value[cut[1]]
    if not len(truth):
        return parameters
    similarity = np.asarray(state.weights, np.float32)

    def error(tried: Floats, found: Floats) -> float:
        rows = found.copy()
        rows[:, 0] = np.sqrt(tried[2] / FICTITIOUS)
        if neighbours:
            out = np.empty(len(truth))
            noise = np.full(len(rows), tried[2])
            rest = own[2] - baseline[own[1]]
            predict_neighbours(
                own[0],
                own[1],
                rest,
                *ask,
                rows,
                noise,
                int(neighbours),
                similarity,
                out,
            )
            made = baseline[ask[1]] + out
        else:
            model = GaussianModel(
                baseline, np.zeros(len(baseline)), rows, float(tried[2])
            )
            made = predict_cells(model, *own, *ask)[0]
        return float(np.sqrt(np.mean((np.clip(made, -2.0, 2.0) - truth) ** 2)))

    found = printed_loadings(state, parameters, clean)
    best = error(parameters, found)
    for factor in FACTORS:
        for place in range(0 if clean else 2, len(parameters)):
            for way in (factor, 1 / factor):
                tried = parameters.copy()
                tried[place] *= way
                other = found if place == 2 else printed_loadings(state, tried, clean)
                if (now := error(tried, other)) < best:
                    best = now
                    parameters = tried
                    found = other
                    break
    return parameters
