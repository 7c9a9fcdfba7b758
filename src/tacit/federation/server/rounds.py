"""What the recommender's store knows of a training: where it stands, the attempts at its
rounds, who joined them, and the receipt of the ledger.

Guarantee: each method that writes is one transaction, written so that running it twice
changes nothing. `advance` is the only one that moves the public state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from tacit.errors import StorageError
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.scheme import Attempt, Briefing
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.server.announced import (
    Devices,
    StoredBriefing,
    forget_briefings,
    store_briefing,
    store_payloads,
)
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
