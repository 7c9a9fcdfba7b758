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
from tacit.federation.agreed.scheme import Attempt, Bare, Briefing
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.wire import PartLayout, Section, digest
from tacit.federation.server.store import Transaction


@dataclass(frozen=True)
class StoredBriefing(Briefing):
    """What was told, as it was written down; `made` takes off what devices had to add."""

    made: Briefing
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


def store_briefing(
    session: Transaction, task: str, attempt: Attempt, briefing: Briefing
) -> StoredBriefing:
    """What an attempt's devices are told, written down: what counts is what was written
    first. Those who are told each its own follow with `store_payloads`.

    Where all are told the same, that is so for every attempt at the round: devices then send
    the very words that they sent before.
    """
    if not attempt.joined:
        return StoredBriefing(briefing, briefing.seeds, {}, {})
    attempt_key = (task, attempt.index, attempt.number)
    rows = _rows(session, attempt_key, briefing.alike)
    if rows:
        return _stored_briefing(session, attempt_key, attempt, briefing, rows[0])
    blob = briefing.payload(next(iter(attempt.joined))) if briefing.alike else b""
    session.run(
        "INSERT INTO announced VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *attempt_key,
        int(briefing.alike),
        json.dumps(briefing.seeds),
        digest(blob),
        blob,
    )
    if not briefing.alike:
        return StoredBriefing(briefing, briefing.seeds, {}, {})
    return _common_briefing(attempt, briefing, briefing.seeds, blob)


def store_payloads(
    session: Transaction, task: str, attempt: Attempt, briefing: StoredBriefing, devices: Devices
) -> StoredBriefing:
    """Write down what these devices are told, who are told each its own. What was written
    before is in `briefing`, and is not written again.

    What is returned is new, for a work may run twice: `briefing` is as it was.
    """
    payloads = {device: briefing.made.payload(device) for device in devices}
    blob = pack_state(
        {device: np.frombuffer(payload, np.uint8) for device, payload in payloads.items()}
    )
    session.run(
        "INSERT INTO announced_some VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        task,
        attempt.index,
        attempt.number,
        devices[0],
        digest(blob),
        blob,
    )
    digests = {device: briefing.made.digest(device) for device in devices}
    return StoredBriefing(briefing.made, briefing.seeds, payloads, digests)


def forget_briefings(session: Transaction, task: str, index: int) -> None:
    """The rounds up to this one are over: nobody will ask for their bytes again."""
    for table in ("announced", "announced_some"):
        session.run(f"DELETE FROM {table} WHERE task = ? AND round <= ?", task, index)


Devices = Sequence[str]
"""Devices that are told together."""
AttemptKey = tuple[str, int, int]
"""Task, round and attempt."""


def _rows(session: Transaction, attempt_key: AttemptKey, alike: bool) -> list[tuple[Any, ...]]:
    """What was written for this attempt, or for any at the round where all are alike; the
    first comes first."""
    return session.run(
        "SELECT alike, seeds, digest, told FROM announced "
        "WHERE task = ? AND round = ? AND (attempt = ? OR ? = 1) ORDER BY attempt",
        *attempt_key,
        int(alike),
    )


def _stored_briefing(
    session: Transaction,
    attempt_key: AttemptKey,
    attempt: Attempt,
    briefing: Briefing,
    row: tuple[Any, ...],
) -> StoredBriefing:
    """What was written, if it is whole. Of those who are told each its own, some may not
    have been told yet."""
    alike, seeds = row[0], tuple(json.loads(row[1]))
    blob = _verified_blob(row[2], row[3])
    if alike:
        return _common_briefing(attempt, briefing, seeds, blob)
    parts = session.run(
        "SELECT digest, told FROM announced_some WHERE task = ? AND round = ? AND attempt = ?",
        *attempt_key,
    )
    blobs = [_verified_blob(*part) for part in parts]
    if blob:  # of a version that told all of them at once
        blobs.append(blob)
    payloads = {
        device: array.tobytes() for part in blobs for device, array in unpack_state(part).items()
    }
    digests = {device: digest(payload) for device, payload in payloads.items()}
    return StoredBriefing(briefing, seeds, payloads, digests)


def _verified_blob(print_: str, stored: Any) -> bytes:
    """Bytes of the store, if they are those that were written."""
    blob = bytes(stored)
    if digest(blob) != print_:
        raise Failure(
            "the announcement of a round is damaged in the store",
            remedy="restore the store, or begin a new task",
        )
    return blob


def _common_briefing(
    attempt: Attempt, briefing: Briefing, seeds: tuple[str, ...], blob: bytes
) -> StoredBriefing:
    """All are told the same."""
    payloads = dict.fromkeys(attempt.joined, blob)
    return StoredBriefing(briefing, seeds, payloads, dict.fromkeys(attempt.joined, digest(blob)))
