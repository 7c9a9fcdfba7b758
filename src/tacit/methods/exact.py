"""What a round releases of one block, exactly: for rehearsals (`tacit.methods.rehearsal`).

An engine does this for many blocks, in bands and threads and with noise; here are twelve people,
and plain arrays say what is meant. Contributions are checked and bounded as an engine does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import GramBound, Rows
from tacit.bound.check import bounded, check_rows
from tacit.errors import Failure
from tacit.rounds.round import Kind, Part, Released, Round

Flags = NDArray[np.bool_]
WEIGHTS = 2.0**30
"""In which the weights of a Gram bound are given."""


def summed(
    round_: Round, contributions: Mapping[str, Rows], participants: Flags
) -> dict[str, Released]:
    """The sums over those people of a block who take part."""
    return {
        part.name: Released(
            _summed(part, contributions[part.name], participants),
            0.0,
            private=False,
            reports=int(participants.sum()),
        )
        for part in round_.parts
    }


def _summed(part: Part, rows: Rows, participants: Flags) -> NDArray[Any]:
    if part.kind is Kind.REPORT:
        return _reports(part, rows, participants)
    if part.form == "gram":
        return _products(part, rows, participants)
    return _sums(part, rows, participants)


def _sums(part: Part, rows: Rows, participants: Flags) -> NDArray[np.float64]:
    integers = bounded(
        part.bound, rows, name=part.name, people=len(participants), size=part.size, width=part.width
    )
    lines = np.repeat(participants, np.diff(rows.ptr))
    sums = np.zeros((part.size, part.width), np.int64)
    np.add.at(sums, rows.index[lines], integers[lines])
    return np.asarray(sums / part.bound.steps)


def _products(part: Part, rows: Rows, participants: Flags) -> NDArray[np.float32]:
    """The symmetric sum of products; rows outside the matrix count in a bound, and are left
    out."""
    assert isinstance(part.bound, GramBound)
    people, size = len(participants), part.size
    check_rows(rows, name=part.name, people=people, size=size + 1)
    integers = part.bound.apply(rows)
    weights = part.bound.weights(rows, integers)
    person = np.repeat(np.arange(people), np.diff(rows.ptr))
    inside = rows.index < size
    named = list(zip(person[inside], rows.index[inside], strict=True))
    if len(set(named)) < len(named):
        raise Failure(f"a contribution to {part.name} names one row of the matrix twice")
    dense = np.zeros((people, size + 1))
    dense[person, rows.index] = integers[:, 0]
    dense = dense[participants, :size]
    weighted = dense
    if weights is not None:
        weighted = dense * (weights[participants] / WEIGHTS)[:, None]
    sums = weighted.T @ dense
    if not part.diagonal:
        np.fill_diagonal(sums, 0.0)
    return (sums / part.bound.steps).astype(np.float32)


def _reports(part: Part, rows: Rows, participants: Flags) -> NDArray[Any]:
    """Who said what, where devices choose among answers; else the sum of what they say."""
    check_rows(rows, name=part.name, people=len(participants), size=part.size)
    if (np.diff(rows.ptr) != 1).any():
        raise Failure(f"a device gives one report to {part.name}, no more and no fewer")
    answers = rows.values[participants, 0]
    if part.choices:
        answers = answers.astype(np.int64)
        return np.column_stack([np.flatnonzero(participants), answers]).astype(np.float64)
    bits = np.clip(np.nan_to_num(answers), -1, 1)
    totals = np.bincount(rows.index[participants], bits, part.size * part.width)
    return totals.reshape(part.size, part.width)
