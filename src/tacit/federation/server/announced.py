"""What the devices of an attempt were told, kept byte for byte.

Guarantee: a recommender that starts again sends the very bytes that it sent before, whatever
its version makes of the state by then. Masks are keyed by a digest of these bytes, so bytes
that were made anew and differ would leave every mask on.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.federation.agreed.scheme import Attempt, Bare, Telling
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.wire import PartLayout, Section, digest
from tacit.federation.server.store import Transaction


@dataclass(frozen=True)
class Kept(Telling):
    """What was told, as it was written down; `made` takes off what devices had to add."""

    made: Telling
    seeds: tuple[str, ...]
    payloads: Mapping[str, bytes]
    """By device."""
    digests: Mapping[str, str]

    def payload(self, device: str) -> bytes:
        """The bytes that this device is told."""
        return self.payloads[device]

    def digest(self, device: str) -> str:
        """Of these bytes."""
        return self.digests[device]

    def rows(
        self, layout: PartLayout, device: str
    ) -> NDArray[np.uint32] | None:
        """As the scheme says."""
        return self.made.rows(layout, device)

    def taken_off(
        self, layout: PartLayout, sum_: Section, arrived: Collection[str]
    ) -> Bare:
        """As the scheme does it."""
        return self.made.taken_off(layout, sum_, arrived)


def keep_told(
    session: Transaction, task: str, attempt: Attempt, told: Telling
) -> Kept:
    """Write down what an attempt's devices are told, unless it was written before; what
    counts is what was written first.

    Where all are told the same, that is so for every attempt at the round: devices then send
    the very words that they sent before.
    """
    if not attempt.joined:
        return Kept(told, told.seeds, {}, {})
    place = (task, attempt.index, attempt.number)
    rows = _rows(session, place, told.alike)
    if not rows:
        return _write(session, place, attempt, told)
    return _read(attempt, told, rows[0])


def forget_told(session: Transaction, task: str, index: int) -> None:
    """The rounds up to this one are over: nobody will ask for their bytes again."""
    session.run(
        "DELETE FROM announced WHERE task = ? AND round <= ?", task, index
    )


Place = tuple[str, int, int]
"""Task, round and attempt."""


def _rows(
    session: Transaction, place: Place, alike: bool
) -> list[tuple[Any, ...]]:
    """What was written for this attempt, or for any at the round where all are alike; the
    first comes first."""
    return session.run(
        "SELECT alike, seeds, digest, told FROM announced "
        "WHERE task = ? AND round = ? AND (attempt = ? OR ? = 1) ORDER BY attempt",
        *place,
        int(alike),
    )


def _write(
    session: Transaction, place: Place, attempt: Attempt, told: Telling
) -> Kept:
    """Write it, and what was written: transactions take turns, so nobody was faster."""
    if told.alike:
        blob = told.payload(next(iter(attempt.joined)))
        payloads = dict.fromkeys(attempt.joined, blob)
    else:
        payloads = {device: told.payload(device) for device in attempt.joined}
        blob = pack_state(
            {
                device: np.frombuffer(payload, np.uint8)
                for device, payload in payloads.items()
            }
        )
    session.run(
        "INSERT INTO announced VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *place,
        int(told.alike),
        json.dumps(told.seeds),
        digest(blob),
        blob,
    )
    digests = {device: told.digest(device) for device in attempt.joined}
    return Kept(told, told.seeds, payloads, digests)


def _read(attempt: Attempt, told: Telling, row: tuple[Any, ...]) -> Kept:
    """What was written, if it is whole."""
    alike, seeds = row[0], row[1]
    print_, blob = row[2], bytes(row[3])
    if digest(blob) != print_:
        raise Failure(
            "the announcement of a round is damaged in the store",
            remedy="restore the store, or begin a new task",
        )
    if alike:
        payloads = dict.fromkeys(attempt.joined, blob)
        digests = dict.fromkeys(attempt.joined, print_)
    else:
        payloads = {
            device: array.tobytes()
            for device, array in unpack_state(blob).items()
        }
        digests = {device: digest(each) for device, each in payloads.items()}
    return Kept(told, tuple(json.loads(seeds)), payloads, digests)
