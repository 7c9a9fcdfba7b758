"""What the recommender's store knows of a training: where it stands, the attempts at its
rounds, who joined them, and the receipt of the ledger.

Guarantee: each method that writes is one transaction, written so that running it twice
changes nothing. `advance` is the only one that moves the public state.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, StorageError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.scheme import Attempt, Bare, Briefing
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.wire import PartLayout, Section, digest
from tacit.federation.server.store import ServerStore, Transaction
from tacit.rounds.state import State
from tacit.serving.http.watch import log

T = TypeVar("T")
PAUSE = 1.0
"""Seconds between two tries while the store is away."""
Status = Literal["done", "spoilt", "given up"]
"""How an attempt ended: absorbed, absorbed as nothing, or never revealed."""


@dataclass(frozen=True)
class Standing:
    """Where a training stands."""

    state: State
    kept: bytes | None
    """What the scheme keeps."""
    done: tuple[str, ...]
    """Names of the rounds that are over."""
    spoilt: int
    """How many of them came out of range."""
    out: frozenset[str] = frozenset()
    """Devices that sit out."""


@dataclass(frozen=True)
class Keyed:
    """What keys an attempt that is about to be made."""

    number: int
    nonce: str
    key: str


async def patiently(work: Callable[[], Awaitable[T]], subject: str) -> T:
    """The result of a work that may run twice, however long what it writes to is away: a
    training is not given up for that."""
    while True:
        try:
            return await work()
        except StorageError:
            log(f"{subject} is away; the training waits")
            await asyncio.sleep(PAUSE)


class Rounds:
    """The rounds of one task in a store."""

    def __init__(self, assembled: Assembled, store: ServerStore) -> None:
        self.made = assembled
        self.store = store
        self.name = assembled.task.name

    async def _execute(self, work: Callable[[Transaction], T]) -> T:
        """The result of a work. One whose fate is unknown is run again."""
        return await patiently(lambda: self.store.write(work, soon=True), "the store")

    async def standing(self) -> Standing:
        """Where the training stands; a new one stands at its beginning."""
        return await self._execute(self._standing)

    def _standing(self, session: Transaction) -> Standing:
        self._enter(session)
        task_rows = session.run("SELECT state, tau FROM task WHERE id = ?", self.name)
        state, stored = task_rows[0]
        over = session.run(
            "SELECT round, status FROM round "
            "WHERE task = ? AND status IN ('done', 'spoilt') ORDER BY round",
            self.name,
        )
        return Standing(
            self.made.state(unpack_state(bytes(state))),
            None if stored is None else bytes(stored),
            tuple(self.made.round(int(index)).name for index, _ in over),
            sum(status == "spoilt" for _, status in over),
            frozenset(
                row[0]
                for row in session.run("SELECT device FROM sits_out WHERE task = ?", self.name)
            ),
        )

    def _enter(self, session: Transaction) -> None:
        """The row of this task, if it is not there yet."""
        session.run(
            "INSERT INTO task VALUES (?, ?, 0, ?, NULL, 0, NULL) ON CONFLICT DO NOTHING",
            self.name,
            self.made.task.model_dump_json().encode(),
            pack_state(self.made.first_state.packed()),
        )

    async def opened(self, index: int) -> Attempt | None:
        """The attempt at a round that was announced and is not over, if there is one."""
        return await self._execute(lambda session: self._opened(session, index))

    def _opened(self, session: Transaction, index: int) -> Attempt | None:
        rows = session.run(
            "SELECT attempt, nonce, key FROM round "
            "WHERE task = ? AND round = ? AND status = 'open'",
            self.name,
            index,
        )
        if not rows:
            return None
        keyed = Keyed(*rows[-1])
        joined_rows = session.run(
            "SELECT device, public, items FROM joined "
            "WHERE task = ? AND round = ? AND attempt = ? ORDER BY device",
            self.name,
            index,
            keyed.number,
        )
        return Attempt(
            index,
            int(keyed.number),
            keyed.nonce,
            keyed.key,
            {name: np.frombuffer(bytes(items or b""), "<u4") for name, _, items in joined_rows},
            {name: bytes(public) for name, public, _ in joined_rows},
        )

    async def keyed(self, index: int, nonce: str, key: str) -> Keyed:
        """What keys the next attempt at a round: the nonce and key of its first one, or
        these if it is the first."""
        rows = await self._execute(
            lambda s: s.run(
                "SELECT attempt, nonce, key FROM round "
                "WHERE task = ? AND round = ? ORDER BY attempt",
                self.name,
                index,
            )
        )
        if not rows:
            return Keyed(0, nonce, key)
        return Keyed(int(rows[-1][0]) + 1, rows[0][1], rows[0][2])

    async def begin(self, attempt: Attempt, briefing: Briefing) -> StoredBriefing:
        """Write an attempt down, with all who joined it and what they are told, if that is
        the same for all; `tell` is for the others.

        What was written first counts: an attempt that goes on after a restart is told as it
        was told before.
        """
        attempt_key = (self.name, attempt.index, attempt.number)

        def work(session: Transaction) -> StoredBriefing:
            session.run(
                "INSERT INTO round VALUES (?, ?, ?, ?, ?, 'open') ON CONFLICT DO NOTHING",
                *attempt_key,
                attempt.nonce,
                attempt.key,
            )
            session.execute_many(
                "INSERT INTO joined VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [
                    (*attempt_key, device, attempt.publics[device], items.tobytes())
                    for device, items in attempt.joined.items()
                ],
            )
            return store_briefing(session, self.name, attempt, briefing)

        return await self._execute(work)

    async def record_briefing(
        self, attempt: Attempt, briefing: StoredBriefing, devices: Devices
    ) -> None:
        """Write down what these devices are told, each its own; they may be told then."""
        stored_briefing = await self._execute(
            lambda s: store_payloads(s, self.name, attempt, briefing, devices)
        )
        briefing.payloads.update(stored_briefing.payloads)
        briefing.digests.update(stored_briefing.digests)

    async def give_up(self, attempt: Attempt) -> None:
        """The attempt is over, and its sum was never revealed."""
        await self._execute(lambda s: self._end(s, attempt, "given up"))

    async def advance(
        self,
        attempt: Attempt,
        state: State,
        stored: bytes | None,
        status: Status,
        out: Collection[str] = (),
    ) -> None:
        """The next state and the end of this round, together or not at all. `stored` is what
        the scheme keeps from now on, None if that is what it was. Devices that are `out` sit
        out the rest."""
        packed = pack_state(state.packed())

        def work(session: Transaction) -> None:
            self._end(session, attempt, status)
            for device in out:
                session.run(
                    "INSERT INTO sits_out VALUES (?, ?) ON CONFLICT DO NOTHING", self.name, device
                )
            session.run(
                "DELETE FROM joined WHERE task = ? AND round <= ?", self.name, attempt.index
            )
            forget_briefings(session, self.name, attempt.index)
            session.run(
                "UPDATE task SET round = ?, state = ?, tau = COALESCE(?, tau) "
                "WHERE id = ? AND round <= ?",
                attempt.index + 1,
                packed,
                stored,
                self.name,
                attempt.index,
            )

        await self._execute(work)

    def _end(self, session: Transaction, attempt: Attempt, status: Status) -> None:
        session.run(
            "UPDATE round SET status = ? WHERE task = ? AND round = ? AND attempt = ?",
            status,
            self.name,
            attempt.index,
            attempt.number,
        )

    def receipt(self) -> str | None:
        """The ledger's receipt for this task, if it was charged."""
        rows = self.store.write_blocking(
            lambda s: s.run("SELECT receipt FROM task WHERE id = ?", self.name)
        )
        return rows[0][0] if rows else None

    def keep_receipt(self, text: str) -> None:
        """Remember that this task was charged."""

        def work(session: Transaction) -> None:
            self._enter(session)
            session.run("UPDATE task SET receipt = ? WHERE id = ?", text, self.name)

        self.store.write_blocking(work)


# What the devices of an attempt were told, kept byte for byte.
#
# Guarantee: a recommender that starts again sends the very bytes that it sent before, whatever
# its version makes of the state by then. Masks are keyed by a digest of these bytes, so bytes
# that were made anew and differ would leave every mask on.
#
# Where each device is told its own, its payload is written with those of some others, and they
# are told while the next ones are made: a thousand payloads take a tenth of a second, in which
# devices would do nothing.


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
