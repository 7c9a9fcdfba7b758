"""The devices of an attempt are called: each gets its announcement, once that is written
down."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.scheme import Attempt
from tacit.federation.protocol.growing_arrays import without_held_rows
from tacit.federation.protocol.tickets import ticket
from tacit.federation.protocol.wire import Announcement, pack
from tacit.federation.server.announced import StoredBriefing
from tacit.federation.server.lobby import Lobby
from tacit.federation.server.rounds import Rounds

TOGETHER = 100
"""Devices whose payloads are written down as one, where each has its own: the first work
while those of the last are made."""
ROWS = 50_000
"""That these devices may have listed: a few who list the whole catalogue must not make more
bytes than a database takes as one (some hundred for each row)."""
AT_A_TIME = 16
"""Devices that are answered before others get the processor: the first work while the last
are answered."""


@dataclass(frozen=True)
class Active:
    """An attempt that devices can answer, and what they are told."""

    attempt: Attempt
    told: StoredBriefing


@dataclass(frozen=True)
class Calls:
    """See the module. `key` is that of the join tickets."""

    made: Assembled
    rounds: Rounds
    lobby: Lobby

    async def everybody(self, active: Active, key: bytes) -> None:
        """Answer everybody in the attempt.

        Where each is told its own, what some of them are told is written down while those
        before them are answered. After a restart those who were told are told again.
        """
        attempt, briefing = active.attempt, active.told
        ready = list(briefing.payloads)
        for devices in together(active):
            await asyncio.gather(
                self.rounds.tell(attempt, briefing, devices), self._call(active, key, ready)
            )
            ready = devices
        await self._call(active, key, ready)

    async def _call(self, active: Active, key: bytes, devices: list[str]) -> None:
        """Answer these devices, whose announcement is written down."""
        for position, device in enumerate(devices):
            holds = self.lobby.holds(device)
            announcement = self.announcement(active, key, device, holds)
            self.lobby.call(device, announcement)
            if position % AT_A_TIME == AT_A_TIME - 1:
                await asyncio.sleep(0)

    def announcement(self, active: Active, key: bytes, device: str, holds: int = 0) -> bytes:
        """The answer to a device of the attempt that has the first `holds` rows of the
        arrays that grow."""
        attempt = active.attempt
        briefing = active.told
        task = self.made.task
        payload = briefing.payload(device)
        names = self.made.first_state.growing()
        short = without_held_rows(payload, names, holds) if names else None
        attempt_key = (task.name, attempt.index, attempt.number)
        header = Announcement(
            task=task.name,
            round=attempt.index,
            attempt=attempt.number,
            nonce=attempt.nonce,
            key=attempt.key,
            joined=len(attempt.joined),
            least=task.least,
            enough=task.enough,
            seconds=task.seconds,
            since=0 if short is None else holds,
            whole="" if short is None else briefing.digest(device),
            ticket=ticket(key, *attempt_key, device),
            mixing=briefing.seeds,
        )
        return pack(header, payload if short is None else short)


def together(active: Active) -> list[list[str]]:
    """Those who are not told yet, in parts that are told together."""
    joined, briefed = active.attempt.joined, active.told.payloads
    parts: list[list[str]] = []
    rows = 0
    for device in [name for name in joined if name not in briefed]:
        listed = len(joined[device])
        full = rows + listed > ROWS or (parts and len(parts[-1]) == TOGETHER)
        if full or not parts:  # the first may have listed nothing
            parts.append([])
            rows = 0
        parts[-1].append(device)
        rows += listed
    return parts
