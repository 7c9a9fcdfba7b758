"""Randomized reports over the wire: what one device says in the local model, and what the
recommender makes of them.

A report is one (label, answer): the label numbers the person wherever the plan draws public
directions, the answer is a choice, or a coordinate and a bit (2 x coordinate + bit). It
travels in the open, for it is private by itself.

Guarantee: the answer is a draw of `tacit.noise.device` from the event that the device has
paid for, whatever the servers do. An answer that no honest device can give is left out and
not counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.bound.check import check_rows
from tacit.engine.answers import Answers
from tacit.errors import Failure
from tacit.ledger.account.event import Event, RandomizedChoice
from tacit.noise.device import choose, respond
from tacit.rounds.round import Part, Released


def device_report(part: Part, event: Event | None, rows: Rows, label: int) -> NDArray[np.int64]:
    """One device's words: its label and its randomized answer."""
    check_rows(rows, name=part.name, people=1, size=part.size)
    if event is None or len(rows.values) != 1:
        raise Failure(f"a device gives one randomized report to {part.name}, no more and no fewer")
    if part.choices:
        if not isinstance(event, RandomizedChoice):
            raise Failure(f"the event of {part.name} is no choice")
        return np.array([[label, int(choose(event, rows.values)[0])]])
    bit = int(respond(event, np.clip(np.nan_to_num(rows.values[:, 0]), -1, 1))[0])
    return np.array([[label, 2 * int(rows.index[0]) + (bit > 0)]])


def aggregate_reports(part: Part, event: Event | None, words: NDArray[Any]) -> Released:
    """The release that the reports make together; those that make no sense are left out."""
    reports = words.astype("<u8").view("<i8")
    limit = part.choices or 2 * part.size
    reports = reports[
        (reports[:, 0] >= 0)
        & (reports[:, 0] < 1 << 53)
        & (reports[:, 1] >= 0)
        & (reports[:, 1] < limit)
    ]
    answers = Answers(part, event)
    answers.count = len(reports)
    if part.choices:
        answers.who, answers.said = [reports[:, 0]], [reports[:, 1]]
    else:
        coordinate, bit = np.divmod(reports[:, 1], 2)
        answers.total += np.bincount(coordinate, 2.0 * bit - 1, part.size).reshape(
            answers.total.shape
        )
    return answers.released()
