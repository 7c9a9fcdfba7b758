"""What the devices of an attempt were told, kept byte for byte.

Guarantee: a recommender that starts again sends the very bytes that it sent before, whatever
its version makes of the state by then. Masks are keyed by a digest of these bytes, so bytes
that were made anew and differ would leave every mask on.

Where each device is told its own, its payload is written with those of some others, and they
are told while the next ones are made: a thousand payloads take a tenth of a second, in which
devices would do nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
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
    payloads: dict[str, bytes]
    """By device: of those that may be told."""
    digests: dict[str, str]

    def payload(self, device: str) -> bytes:
        """The bytes that this device is told."""
        return self.payloads[device]

    def digest(self, device: str) -> str:
        """Of these bytes."""
        return self.digests[device]

    def rows(self, layout: PartLayout, device: str) -> NDArray[np.uint32] | None:
        """As the scheme says."""
        return self.made.rows(layout, device)

    def taken_off(self, layout: PartLayout, sum_: Section, arrived: Collection[str]) -> Bare:
        """As the scheme does it."""
        return self.made.taken_off(layout, sum_, arrived)


def keep_told(session: Transaction, task: str, attempt: Attempt, told: Telling) -> Kept:
    """What an attempt's devices are told, written down: what counts is what was written
    first. Those who are told each its own follow with `keep_some`.

    Where all are told the same, that is so for every attempt at the round: devices then send
    the very words that they sent before.
    """
    if not attempt.joined:
        return Kept(told, told.seeds, {}, {})
    place = (task, attempt.index, attempt.number)
    rows = _rows(session, place, told.alike)
    if rows:
        return _read(session, place, attempt, told, rows[0])
    blob = told.payload(next(iter(attempt.joined))) if told.alike else b""
    session.run(
        "INSERT INTO announced VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *place,
        int(told.alike),
        json.dumps(told.seeds),
        digest(blob),
        blob,
    )
    if not told.alike:
        return Kept(told, told.seeds, {}, {})
    return _alike(attempt, told, told.seeds, blob)


def keep_some(session: Transaction, task: str, attempt: Attempt, told: Kept, some: Some) -> Kept:
    """Write down what these devices are told, who are told each its own. What was written
    before is in `told`, and is not written again.

    What is returned is new, for a work may run twice: `told` is as it was.
    """
    payloads = {device: told.made.payload(device) for device in some}
    blob = pack_state(
        {device: np.frombuffer(payload, np.uint8) for device, payload in payloads.items()}
    )
    session.run(
        "INSERT INTO announced_some VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        task,
        attempt.index,
        attempt.number,
        some[0],
        digest(blob),
        blob,
    )
    digests = {device: told.made.digest(device) for device in some}
    return Kept(told.made, told.seeds, payloads, digests)


def forget_told(session: Transaction, task: str, index: int) -> None:
    """The rounds up to this one are over: nobody will ask for their bytes again."""
    for table in ("announced", "announced_some"):
        session.run(f"DELETE FROM {table} WHERE task = ? AND round <= ?", task, index)


Some = Sequence[str]
"""Devices that are told together."""
Place = tuple[str, int, int]
"""Task, round and attempt."""


def _rows(session: Transaction, place: Place, alike: bool) -> list[tuple[Any, ...]]:
    """What was written for this attempt, or for any at the round where all are alike; the
    first comes first."""
    return session.run(
        "SELECT alike, seeds, digest, told FROM announced "
        "WHERE task = ? AND round = ? AND (attempt = ? OR ? = 1) ORDER BY attempt",
        *place,
        int(alike),
    )


def _read(
    session: Transaction, place: Place, attempt: Attempt, told: Telling, row: tuple[Any, ...]
) -> Kept:
    """What was written, if it is whole. Of those who are told each its own, some may not
    have been told yet."""
    alike, seeds = row[0], tuple(json.loads(row[1]))
    blob = _whole(row[2], row[3])
    if alike:
        return _alike(attempt, told, seeds, blob)
    parts = session.run(
        "SELECT digest, told FROM announced_some WHERE task = ? AND round = ? AND attempt = ?",
        *place,
    )
    found = [_whole(*part) for part in parts]
    if blob:  # of a version that told all of them at once
        found.append(blob)
    payloads = {
        device: array.tobytes() for part in found for device, array in unpack_state(part).items()
    }
    digests = {device: digest(each) for device, each in payloads.items()}
    return Kept(told, seeds, payloads, digests)


def _whole(print_: str, kept: Any) -> bytes:
    """Bytes of the store, if they are those that were written."""
    blob = bytes(kept)
    if digest(blob) != print_:
        raise Failure(
            "the announcement of a round is damaged in the store",
            remedy="restore the store, or begin a new task",
        )
    return blob


def _alike(attempt: Attempt, told: Telling, seeds: tuple[str, ...], blob: bytes) -> Kept:
    """All are told the same."""
    payloads = dict.fromkeys(attempt.joined, blob)
    return Kept(told, seeds, payloads, dict.fromkeys(attempt.joined, digest(blob)))
