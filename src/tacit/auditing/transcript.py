"""What a transcript says about each canary, through all rounds, from the released numbers that
her coin alone moves.

Under Gaussian noise each release is projected on the direction of her move, over the noise,
so that a standard normal is left whatever the move; the releases are added up with weights
that the plan fixes beforehand. So the noise of a score has one law for everybody, however
later moves depend on earlier releases (docs/proofs/audit.md, 2). Under pure noise the score
is the exact log-likelihood ratio of her two records.

Whoever attacks knows everything but the coins: all other people, both records of every
canary, the public state of every round. What is left of a released number is then one
coin's move and the noise, whose law is in the event that was charged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tacit.auditing.canaries import Canaries
from tacit.auditing.walk import Walk, Walked
from tacit.bound.base import GramBound, Rows, bounded, check_rows
from tacit.data.ratings import Ratings
from tacit.engine.blocks import block_of
from tacit.engine.threads import Threads, factors_of
from tacit.kernels.gram import SHIFT
from tacit.ledger.account.event import Event, Gaussian, KNorm, Laplace
from tacit.noise.law import law_of
from tacit.rounds.people import Everyone, Turns
from tacit.rounds.round import Block, Kind, Part, Released

Floats = NDArray[np.float64]
TOGETHER = 1000
"""Canaries whose contributions are computed in one block."""


@dataclass(frozen=True)
class Transcript:
    """Everybody's score, and how far her coin moves what is released."""

    scores: Floats
    """Above 0 speaks for the record of a coin that came up; 0 says nothing."""
    moves: Floats
    """How far apart her two records put a score, in standard deviations of the noise that was
    charged; in the sum of logarithms of likelihood ratios at most, where it is pure."""
    pure: bool
    """Whether the noise is pure."""
    shared: tuple[str, ...]
    """Releases none of whose numbers one coin moves alone: they are left out."""


def read_transcript(walked: Walk, canaries: Canaries) -> Transcript:
    """The scores of all canaries, from every release of a walk over data drawn from them."""
    events = {event.name: event for event in walked.run.events}
    engine = _Exact(canaries.only_others(), 1)
    readings: list[_Reading] = []
    shared: list[str] = []
    for step in walked.steps:
        named = (f"{step.round.name}/{part.name}" for part in step.round.parts)
        has_known_noise = all(
            isinstance(events.get(name), Gaussian | Laplace | KNorm) for name in named
        )
        if step.released is None or not has_known_noise or not is_readable(step):
            continue
        other_sums = engine.exact(step)
        masks = _single_masks(step, canaries)
        one_blocks = list(_contributions(step, canaries.one, canaries.first, masks))
        other_blocks = list(_contributions(step, canaries.other, canaries.first, masks))
        for index, part in enumerate(step.round.parts):
            name = f"{step.round.name}/{part.name}"
            sides = _Sides(part, [b[index] for b in one_blocks], [b[index] for b in other_blocks])
            reading = sides.read_release(
                other_sums[part.name], step.released[part.name], events[name]
            )
            if reading is None:
                shared.append(name)
            else:
                readings.append(reading)
    return _combine(readings, canaries.people, tuple(shared))


def _combine(readings: list[_Reading], people: int, shared: tuple[str, ...]) -> Transcript:
    """All releases together, by the weights that the plan gives them."""
    scores, moves = np.zeros(people), np.zeros(people)
    visible = np.ones(people, np.bool_)
    squared_weight = 0.0
    for reading in readings:
        # Whose coin moves nothing in some release has less noise than others: left out.
        visible &= (reading.moves > 0) | reading.pure
        scores += reading.weight * reading.scores
        moves += reading.weight * reading.moves
        squared_weight += reading.weight**2
    scores, moves = np.where(visible, scores, 0.0), np.where(visible, moves, 0.0)
    pure = bool(readings) and all(reading.pure for reading in readings)
    if not pure and squared_weight:
        scores, moves = scores / sqrt(squared_weight), moves / sqrt(squared_weight)
    return Transcript(scores, moves, pure, shared)


def is_readable(step: Walked) -> bool:
    """Whether everybody takes part in a sum of numbers, once, each person by herself."""
    reports = any(part.kind is Kind.REPORT for part in step.round.parts)
    sequential = any(part.is_sequential for part in step.round.parts)
    participation = step.round.takes_part
    once = isinstance(participation, Everyone | Turns) and participation.times == 1
    everybody = once and not participation.is_later
    return everybody and not (reports or sequential or step.round.personal)


class _Exact(Threads):
    """The sums without noise."""

    watched = False

    def exact(self, step: Walked) -> dict[str, NDArray[np.int64]]:
        """Of every part, over the people of this engine."""
        everyone = replace(step.round, takes_part=Everyone())
        factors = factors_of(everyone)
        totals = self._sum(everyone, step.state, factors)
        sums = {name: total.whole for name, total in totals.items()}
        for name, matrix in factors.items():
            part = matrix.part
            size = part.size
            full_matrix = np.zeros((size, size), np.int64)
            above = np.triu_indices(size, 0 if part.diagonal else 1)
            full_matrix[above] = matrix.packed()[:, 0]
            sums[name] = full_matrix
        return sums


Cells = csr_array
"""One row a canary, one column a released number, in steps."""
Masks = dict[str, NDArray[np.bool_]]
"""Of parts that are matrices, the numbers that are looked at."""


def _contributions(
    step: Walked, ratings: Ratings, first_canary: int, masks: Masks
) -> Iterator[list[Cells]]:
    """What each block of canaries adds to each part."""
    for block in _blocks(ratings, first_canary):
        yield _parts(step, block, masks)


def _blocks(ratings: Ratings, first_canary: int) -> Iterator[Block]:
    for start in range(first_canary, ratings.n_users, TOGETHER):
        stop = min(start + TOGETHER, ratings.n_users)
        yield block_of(ratings, slice(start, stop))


def _single_masks(step: Walked, canaries: Canaries) -> Masks:
    """Numbers of matrices that at most one canary moves. The others say nothing of one coin,
    and where everybody's rows are long they would not fit into memory."""
    grams = [part for part in step.round.parts if part.form == "gram"]
    touched = {part.name: np.zeros((canaries.people, part.size), np.float32) for part in grams}
    for ratings in (canaries.one, canaries.other) if grams else ():
        for block in _blocks(ratings, canaries.first):
            contribution = step.round.contribute(block, step.state)
            for part in grams:
                rows = contribution[part.name]
                is_moved = part.bound.apply(rows)[:, 0] != 0
                is_moved &= rows.index < part.size
                person = np.repeat(block.people, np.diff(rows.ptr))[is_moved]
                at = person - canaries.first, rows.index[is_moved]
                touched[part.name][at] = 1.0
    return {name: incidence.T @ incidence <= 1.0 for name, incidence in touched.items()}


def contributed(step: Walked, people: Ratings, person_rows: NDArray[np.int64]) -> list[Cells]:
    """What each of these people adds to each part of a round, bounded and in steps. Nobody
    of them is in the data: they stand in the places of its people `person_rows`."""
    from scipy.sparse import vstack

    blocks: list[list[Cells]] = []
    for start in range(0, people.n_users, TOGETHER):
        stop = min(start + TOGETHER, people.n_users)
        block = block_of(people, slice(start, stop))
        block = replace(block, people=person_rows[start:stop], first_cell=0)
        blocks.append(_parts(step, block))
    return [
        vstack(widened(*(cells[index] for cells in blocks)), format="csr")
        for index in range(len(step.round.parts))
    ]


def widened(*several: Cells) -> list[Cells]:
    """The same cells, all with as many columns as the widest has."""
    width = max(cells.shape[1] for cells in several)
    return [
        csr_array((cells.data, cells.indices, cells.indptr), shape=(cells.shape[0], width))
        for cells in several
    ]


def _parts(step: Walked, block: Block, masks: Masks | None = None) -> list[Cells]:
    contribution = step.round.contribute(block, step.state)
    return [
        _cells(part, contribution[part.name], len(block.people), (masks or {}).get(part.name))
        for part in step.round.parts
    ]


def _cells(part: Part, rows: Rows, people: int, mask: NDArray[np.bool_] | None) -> Cells:
    if part.form == "gram":
        return _products(part, rows, people, mask)
    if len(rows.index):
        # One number a cell or a person: there may be more of these than in the data.
        size_needed = int(rows.index.max()) + 1
        part = replace(part, size=max(part.size, size_needed))
    integers = bounded(
        part.bound, rows, name=part.name, people=people, size=part.size, width=part.width
    )
    person = np.repeat(np.arange(people), np.diff(rows.ptr) * part.width)
    first_column = rows.index.astype(np.int64)[:, None] * part.width
    column = (first_column + np.arange(part.width)).ravel()
    return csr_array((integers.ravel(), (person, column)), shape=(people, part.size * part.width))


def _products(part: Part, rows: Rows, people: int, mask: NDArray[np.bool_] | None) -> Cells:
    """Each person's products of her row with itself, above the diagonal; where it is said,
    those of the numbers that are looked at."""
    bound = part.bound
    assert isinstance(bound, GramBound)
    check_rows(rows, name=part.name, people=people, size=part.size + 1)
    q = bound.apply(rows)[:, 0]
    weights = bound.weights(rows, bound.apply(rows))
    index = rows.index.astype(np.int64)
    persons = []
    columns = []
    values = []
    for person in range(people):
        cells = np.arange(rows.ptr[person], rows.ptr[person + 1])
        cells = cells[(index[cells] < part.size) & (q[cells] != 0)]
        cells = cells[np.argsort(index[cells], kind="stable")]
        a, b = np.triu_indices(len(cells), 0 if bound.diagonal else 1)
        if mask is not None:
            selected = mask[index[cells[a]], index[cells[b]]]
            a, b = a[selected], b[selected]
        products = q[cells[a]] * q[cells[b]]
        if weights is not None:
            half = 1 << (SHIFT - 1)
            products = (weights[person] * products + half) >> SHIFT
        persons.append(np.full(len(a), person))
        columns.append(index[cells[a]] * part.size + index[cells[b]])
        values.append(products)
    return csr_array(
        (np.concatenate(values), (np.concatenate(persons), np.concatenate(columns))),
        shape=(people, part.size * part.size),
    )


@dataclass(frozen=True)
class _Reading:
    scores: Floats
    moves: Floats
    weight: float = 1.0
    pure: bool = True


class _Sides:
    """Both records of all canaries in one part."""

    def __init__(self, part: Part, one: list[Cells], other: list[Cells]) -> None:
        from scipy.sparse import vstack

        first, second = vstack(one).tocsr(), vstack(other).tocsr()
        move = (first - second).tocoo()
        differs = move.data != 0
        person, column = move.row, move.col
        self.person = person[differs].astype(np.int64)
        self.column = column[differs].astype(np.int64)
        self.move = move.data[differs].astype(np.float64)
        self.people = first.shape[0]
        self.width = 1 if part.form == "gram" else part.width
        self.steps = part.bound.steps
        self.middle = np.asarray((first + second).sum(axis=0)).ravel() / 2

    def read_release(
        self, other_sums: NDArray[np.int64], released: Released, event: Event
    ) -> _Reading | None:
        """What the release says about each canary; None where it says nothing about one
        alone."""
        row = self.column // self.width
        pairs = np.unique(np.stack([row, self.person]), axis=1)
        rows, owners = np.unique(pairs[0], return_counts=True)
        is_single = np.isin(row, rows[owners == 1])
        if not is_single.any():
            return None
        person = self.person[is_single]
        column = self.column[is_single]
        move = self.move[is_single]
        value = np.asarray(released.value, np.float64).ravel()[column]
        expected = other_sums.ravel()[column] + self.middle[column]
        residual = value * self.steps - expected
        law = law_of(event)

        def summed(by: Floats, owner: NDArray[np.int64] = person) -> Floats:
            return np.asarray(np.bincount(owner, by, self.people), np.float64)

        if isinstance(event, Gaussian):
            size = np.sqrt(summed(move**2))
            along = summed(residual * move) / np.maximum(size, 1.0)
            return _Reading(
                along / law.spread, size / law.spread, event.sensitivity / law.spread, pure=False
            )
        near, far = np.abs(residual - move / 2), np.abs(residual + move / 2)
        if law.name == "laplace":
            return _Reading(summed((far - near) / law.spread), summed(np.abs(move) / law.spread))
        # Noise of a whole row: its length counts, not each number by itself.
        lines, line_index = np.unique(row[is_single], return_inverse=True)
        line_person = np.zeros(len(lines), np.int64)
        line_person[line_index] = person

        def length(of: Floats) -> Floats:
            return np.sqrt(np.bincount(line_index, of**2, len(lines)))

        return _Reading(
            summed((length(far) - length(near)) / law.spread, line_person),
            summed(length(move) / law.spread, line_person),
        )
