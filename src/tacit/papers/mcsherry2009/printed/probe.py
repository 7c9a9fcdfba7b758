"""The probe set of McSherry & Mironov's `paper` calibration, and the descent on its error.
Raw: never certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.methods.item_item.covariance import McSherrySettings
from tacit.methods.item_item.plan import PrintedState
from tacit.model.person.base import Cells
from tacit.model.person.centred import CentredNeighbours
from tacit.papers.mcsherry2009.printed.averages import averaged, factor
from tacit.rounds.round import Block

LATEST = 9
"""Of each person's ratings, those that may be held back."""
CHANCE = 1 / 3
"""With which each of them is."""
START = (25.0, 25.0, 1.0)
"""Shrinkage of the diagonal and of the rest, in average pairs; ridge."""
PARAMETERS = len(START)
RIDGE = 2
"""Place of the ridge among these."""
FACTORS = (4.0, 2.0, 1.4)
"""Steps of the descent, up and down in turn on each parameter."""
REPEATED = 3
"""As often a step that helped is taken again."""
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
    words = _hash_words(block.people[row], block.item, seed)
    order = np.lexsort((words, row) if block.time is None else (words, block.time, row))
    latest = np.empty(len(row), np.bool_)
    latest[order] = np.arange(len(row)) >= np.repeat(block.ptr[1:], counts) - LATEST
    held = latest & (words >> np.uint64(11) < np.uint64(CHANCE * 2**53))
    return Halves(_take(block, row, ~held), _take(block, row, held))


def _hash_words(
    person: NDArray[np.int64], item: NDArray[np.uint32], seed: int
) -> NDArray[np.uint64]:
    """A word for each cell (splitmix64), the same whichever block it comes in."""
    word = (
        (person.astype(np.uint64) << np.uint64(32))
        ^ item.astype(np.uint64)
        ^ np.uint64(seed * 0x9E37 + 1)
    )
    for shift, multiple in ROUNDS_OF_MIXING:
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(multiple)
    return word


def _take(block: Block, row: NDArray[np.int64], mask: NDArray[np.bool_]) -> Block:
    counts = np.bincount(row[mask], minlength=len(block.people))
    ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Block(block.people, ptr, block.item[mask], block.value[mask])


def _first_people(block: Block, people: int) -> Block:
    """The first people of a block."""
    end = int(block.ptr[people])
    return Block(
        block.people[:people], block.ptr[: people + 1], block.item[:end], block.value[:end]
    )


@dataclass(frozen=True)
class Probe:
    """Shrinkage and ridge: given, or found by a descent on the error of the probe set."""

    settings: McSherrySettings
    clean: bool
    rank: int
    neighbours: int
    """Own ratings that a prediction uses; 0 for the SVD."""

    @property
    def _fixed_parameters(self) -> tuple[float | None, float | None, float | None]:
        settings = self.settings
        return settings.shrink_diagonal, settings.shrink_off, settings.ridge

    @property
    def _open(self) -> list[int]:
        """The parameters that are to be found. Without cleaning nothing shrinks."""
        candidates = range(PARAMETERS) if self.clean else (RIDGE,)
        return [index for index in candidates if self._fixed_parameters[index] is None]

    @property
    def needed(self) -> bool:
        """Whether anything is to be found, and so a probe set to be held back."""
        return bool(self._open)

    @property
    def start_parameters(self) -> Floats:
        """Those that were given, and the start for the others; 0 where nothing shrinks."""
        parameters = [
            start if setting is None else setting
            for setting, start in zip(self._fixed_parameters, START, strict=True)
        ]
        if not self.clean:
            parameters[:RIDGE] = [0.0] * RIDGE
        return np.array(parameters)

    def fitted(self, state: PrintedState, training: Block, probe: Block) -> Floats:
        """Coordinate descent on the logarithms of the open parameters."""
        parameters = self.start_parameters
        people = min(MOST, len(training.people))
        held_out = _first_people(probe, people)
        if not len(held_out.value):
            return parameters
        error = _Error(self, state, _first_people(training, people), held_out)
        best = error.of(parameters)
        for step in FACTORS:
            for index in self._open:
                for multiplier in (step, 1 / step):
                    helped = False
                    for _ in range(REPEATED):
                        tried = parameters.copy()
                        tried[index] *= multiplier
                        if (trial_error := error.of(tried)) >= best:
                            break
                        best = trial_error
                        parameters = tried
                        helped = True
                    if helped:
                        break
        return parameters


class _Error:
    """The root mean square error on the probe, of one choice of parameters after another."""

    def __init__(self, probe: Probe, state: PrintedState, training: Block, held_out: Block) -> None:
        self.how = probe
        self.state = state
        self.truth = held_out.value
        self.cells = Cells(training.ptr, training.item, training.value, held_out.ptr, held_out.item)
        self._known: dict[tuple[float, ...], dict[str, Floats]] = {}

    def of(self, tried: Floats) -> float:
        """With a matrix that is made once for each shrinkage."""
        probe = self.how
        settings = probe.settings
        numbers = {
            "level_prior": settings.person_prior,
            "level_mean": self.state.again,
            "clamp": settings.clamp if settings.residuals == "clamped" else 0.0,
            "ridge": float(tried[RIDGE]),
            "neighbours": float(probe.neighbours),
        }
        model = CentredNeighbours(self._arrays(tried[:RIDGE]), numbers)
        predicted = np.clip(model.predict_cells(self.cells), -2.0, 2.0)
        return float(np.sqrt(np.mean((predicted - self.truth) ** 2)))

    def _arrays(self, shrinkage: Floats) -> dict[str, Floats]:
        key = tuple(float(number) for number in shrinkage)
        if key not in self._known:
            self._known = {key: self._count_arrays(shrinkage)}
        return self._known[key]

    def _count_arrays(self, shrinkage: Floats) -> dict[str, Floats]:
        probe, state = self.how, self.state
        least_weight = probe.settings.least_weight
        arrays = {"baseline": np.asarray(state.item - MIDDLE)}
        if probe.neighbours:
            arrays["similarity"] = np.asarray(state.weights, np.float64)
        if probe.neighbours and not probe.clean:
            arrays["covariance"] = averaged(state, np.zeros(2), least_weight)
            return arrays
        # Roughly: only which parameters are better is asked.
        rows = factor(state, shrinkage, probe.clean, probe.rank, least_weight, roughly=True)
        arrays["loadings"] = rows
        return arrays
