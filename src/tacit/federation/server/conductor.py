"""The recommender's rounds: gather a cohort, announce, collect, take the masks off, absorb.

A machine of four states for each round of the loop (`tacit.rounds.loop`):

    opening ─► gathering ─► announced ─► absorbing ─► the next opening
       ▲                        │
       └────── given up ────────┘

Guarantee: public state moves from one round to the next in a single transaction, after a
sum of at least the least cohort has arrived and its range was checked, so the model never
holds a partial round. A process that dies anywhere goes on from what its store holds
(`tacit.federation.server.rounds`): an attempt that was announced is announced again, byte
for byte, and collected (the aggregator reveals the same sum); one that was not is made anew.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.federation.agreed.assembled import Assembled
from tacit.federation.agreed.expect import nothing
from tacit.federation.agreed.scheme import Attempt
from tacit.federation.protocol.arrays import without_held_rows
from tacit.federation.protocol.keys import Identity, shared_secrets, ticket
from tacit.federation.protocol.packing import round_key
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import Announcement, Closing, Opening, pack
from tacit.federation.server.rounds import Keyed, Rounds, Status, StoredBriefing, patiently
from tacit.federation.server.store import ServerStore
from tacit.federation.server.unmask import Opened, unmask
from tacit.noise import bits
from tacit.rounds.loop import Loop
from tacit.rounds.people import Participation, Slice
from tacit.rounds.round import Round
from tacit.rounds.state import State
from tacit.serving.http.watch import Metrics, log

TOGETHER = 100
"""Devices whose payloads are written down as one, where each has its own: the first work
while those of the last are made."""
ROWS = 50_000
"""That these devices may have listed: a few who list the whole catalogue must not make more
bytes than a database takes as one (some hundred for each row)."""
AT_A_TIME = 16
"""Devices that are answered before others get the processor: the first work while the last
are answered."""
Rows = NDArray[np.uint32]
"""Rows of the catalogue that a device has named."""
SOON = 0.01
"""Seconds that are waited at least before another look."""


class Aggregator(Protocol):
    """The other server, as the recommender speaks to it. Both calls are repeated until they
    are answered."""

    async def open(self, opening: Opening) -> None:
        """Open an attempt at a round."""

    async def close(self, closing: Closing) -> bytes | None:
        """The sum, or None if the attempt was given up."""

    async def tickets(self) -> bytes:
        """Its key for join tickets."""


class Stage(Enum):
    """Where the conductor stands in a round."""

    OPENING = "opening"
    GATHERING = "gathering"
    ANNOUNCED = "announced"
    ABSORBING = "absorbing"
    OVER = "over"


class Conductor:
    """See the module. `public` gives a device's key."""

    def __init__(
        self,
        assembled: Assembled,
        store: ServerStore,
        identity: Identity,
        aggregator: Aggregator,
        public: Callable[[str], bytes | None],
        gather: float = 2.0,
        metrics: Metrics | None = None,
    ) -> None:
        self.made = assembled
        self.task, self.name = assembled.task, assembled.task.name
        self.rounds = Rounds(assembled, store)
        self.identity = identity
        self.aggregator = aggregator
        self.lobby = Lobby(assembled.task, gather)
        self.calls = Calls(assembled, self.rounds, self.lobby)
        self.loop = Loop(assembled.plan, assembled.first_state)
        self.kept: bytes | None = None
        """What the scheme keeps between rounds."""
        self.index = 0
        """Of the current round in the plan."""
        self.step = Stage.OPENING
        self.active: Active | None = None
        self.spoilt = 0
        self.out: set[str] = set()
        """Devices that were in a sum out of range while others were not: they sit out."""
        self.finished = asyncio.Event()
        self.stopped: str | None = None
        """Why the training ended before its last round, if it did."""
        self.times: list[float] = []
        """Seconds of each attempt."""
        self.going = asyncio.Event()
        """Clear while the operator has it paused: no further attempt begins."""
        self.going.set()
        self.metrics = metrics
        self._ticket_key = b""
        self._since = 0.0
        self._public = public
        self._places = {round_.name: k for k, round_ in enumerate(assembled.plan.rounds)}

    @property
    def private(self) -> bool:
        """Whether anything is noised."""
        return bool(self.made.events)

    async def run(self) -> State:
        """All rounds that are left; the final public state."""
        standing = await self.rounds.standing()
        self.loop = Loop(self.made.plan, standing.state, standing.done)
        self.kept, self.spoilt = standing.kept, standing.spoilt
        self.out = set(standing.out)
        clock = asyncio.get_running_loop()
        while (round_ := self.loop.next()) is not None:
            self.index = self._places[round_.name]
            await self.going.wait()
            began = clock.time()
            await self._attempt(round_)
            self.times.append(clock.time() - began)
        self.index = len(self.made.plan.rounds)
        self._enter(Stage.OVER)
        await self._hold(None)
        self.finished.set()
        self.lobby.close()
        state: State = self.loop.state
        return state

    def stop(self, reason: str) -> None:
        """The training goes on no more: whoever waits is told so, and why."""
        self.stopped = reason
        self.lobby.close()

    def pause(self, paused: bool) -> None:
        """Begin no further attempt for now, or go on. The one under way is finished."""
        if paused == self.going.is_set():
            log("training paused" if paused else "training goes on")
        if paused:
            self.going.clear()
        else:
            self.going.set()

    async def give_up(self) -> None:
        """Have the attempt that devices answer now given up at the aggregator. If its sum
        was revealed by then, that stands."""
        if self.active is None:
            return
        attempt = self.active.attempt
        closing = Closing(task=self.name, round=attempt.index, attempt=attempt.number, give_up=True)
        await self.aggregator.close(closing)

    def _enter(self, step: Stage) -> None:
        """Every transition passes here, so that a test can kill the process at each."""
        now = time.monotonic()
        if self.metrics is not None and self._since:
            phase = f'phase="{self.step.value}"'
            self.metrics.observe("phase_seconds", now - self._since, phase)
        self._since = now
        self.step = step

    async def _attempt(self, round_: Round) -> None:
        """One attempt at a round; the loop moves on if it succeeds."""
        attempt = await self.rounds.opened(self.index)
        if attempt is None:
            attempt = await self._gather(round_, await self._open())
        else:
            log("round resumed", round=attempt.index, attempt=attempt.number)
        active = await self._announced(attempt)
        if not attempt.joined:
            await self._pass_over(round_, attempt)
            return
        sum_ = await self._collect(active)
        if sum_ is None:
            log("round re-run", round=attempt.index, attempt=attempt.number)
            await self.rounds.give_up(attempt)
            return
        await self._absorb(round_, active, sum_)
        joined = len(attempt.joined)
        if self.metrics is not None:
            self.metrics.observe("round_devices", joined)
            self.metrics.observe("sum_bytes", len(sum_))
        log("round done", round=attempt.index, attempt=attempt.number, joined=joined)

    # ---------------------------------------------------------------- opening

    async def _open(self) -> Keyed:
        """A new attempt, opened at the aggregator.

        Nothing is durable here yet. A process that dies opens the same attempt again, which
        is opening it once.
        """
        self._enter(Stage.OPENING)
        fresh, current = bits.fresh().token(16).hex(), self.identity.current
        # The mask of a round is the same in every attempt: a device sends the very words it
        # sent before.
        keyed = await self.rounds.keyed(self.index, fresh, current)
        if keyed.key not in self.identity.by_name:
            keyed = Keyed(keyed.number, keyed.nonce, current)
        # before anybody masks with it: three rotations in one round must not lose it
        await self._hold(keyed.key)
        opening = Opening(
            task=self.name,
            round=self.index,
            attempt=keyed.number,
            parts=self.made.layouts(self.index),
            least=self.task.least,
            tickets=self.identity.tickets.hex(),
            groups=self.task.groups,
        )
        await self.aggregator.open(opening)
        return keyed

    async def _hold(self, key: str | None) -> None:
        """Have this key kept, whatever is rotated, until another one is held."""
        hold = self.identity.hold
        await patiently(lambda: asyncio.to_thread(hold, key, self.name), "the key file")

    # ---------------------------------------------------------------- gathering

    async def _gather(self, round_: Round, keyed: Keyed) -> Attempt:
        """The cohort of an attempt, with the keys that its devices have now."""
        self._enter(Stage.GATHERING)
        joined = await self.lobby.gathered(round_.takes_part)
        return Attempt(
            self.index,
            keyed.number,
            keyed.nonce,
            keyed.key,
            joined,
            {device: self._public(device) or b"" for device in joined},
        )

    async def _pass_over(self, round_: Round, attempt: Attempt) -> None:
        """Nobody of this slice came: the round releases nothing."""
        self._enter(Stage.ABSORBING)
        closing = Closing(task=self.name, round=attempt.index, attempt=attempt.number, give_up=True)
        await self.aggregator.close(closing)
        await self._advance(round_, attempt, Opened(nothing(round_.parts)))

    # ---------------------------------------------------------------- announced

    async def _announced(self, attempt: Attempt) -> Active:
        """The attempt with what its devices are told, written down before anybody is told:
        from here on a restart collects this attempt, with these devices, keys and bytes.
        (Where each is told its own, the bytes of some are written after others were told.)"""
        if not self._ticket_key:
            aggregator_key = await self.aggregator.tickets()
            self._ticket_key = self.identity.ticket_key(aggregator_key)
        secret = self.identity.by_name[attempt.key]
        briefing = self.made.scheme.brief(attempt, self.loop.state, self.kept, secret)
        return Active(attempt, await self.rounds.begin(attempt, briefing))

    async def _collect(self, active: Active) -> bytes | None:
        """Answer everybody in the attempt, and wait for their sum: None if too few came."""
        attempt = active.attempt
        self._enter(Stage.ANNOUNCED)
        self.active = active
        await self.calls.everybody(active, self._ticket_key)
        closing = Closing(
            task=self.name,
            round=attempt.index,
            attempt=attempt.number,
            expected=len(attempt.joined),
            wait=self.task.seconds,
        )
        sums = await self.aggregator.close(closing)
        self.active = None
        return sums

    def announcement(self, device: str, holds: int = 0) -> bytes:
        """The answer to a device that joined the active round, and has the first `holds`
        rows of the arrays that grow."""
        if self.active is None:
            raise Failure("no round is active")
        key = self._ticket_key
        return self.calls.announcement(self.active, key, device, holds)

    # ---------------------------------------------------------------- absorbing

    async def _absorb(self, round_: Round, active: Active, sum_: bytes) -> None:
        """From the sum to the next state; in a thread, for devices go on asking meanwhile."""
        self._enter(Stage.ABSORBING)
        opened = await asyncio.to_thread(self._unmasked, active, sum_)
        if opened.spoilt:
            labels = {"round": active.attempt.index, "attempt": active.attempt.number}
            log("sum out of range: some device went past its clip", **labels)
        if opened.out:
            log(
                "a group out of range: its devices sit out",
                round=active.attempt.index,
                attempt=active.attempt.number,
                joined=len(opened.out),
            )
        await self._advance(round_, active.attempt, opened)

    def _unmasked(self, active: Active, sum_: bytes) -> Opened:
        people = self.loop.state.people

        def key(device: str) -> bytes:
            return self._mask_key(active, device)

        return unmask(self.made, active.attempt, active.told, sum_, key, people)

    def _mask_key(self, active: Active, device: str) -> bytes:
        attempt = active.attempt
        private = self.identity.by_name[attempt.key]
        secret = shared_secrets(private, attempt.publics[device]).mask
        payload_digest = active.told.digest(device)
        return round_key(secret, self.name, attempt.index, attempt.nonce, payload_digest)

    async def _advance(self, round_: Round, attempt: Attempt, opened: Opened) -> None:
        """The next state: in the store first, then here.

        The loop that goes on is a new one, so that a store which fails leaves this one as it
        was.
        """
        ahead = Loop(self.made.plan, self.loop.state, self.loop.done)
        await asyncio.to_thread(ahead.absorb, round_, opened.released)
        stored = self.kept if opened.kept is None else opened.kept
        status: Status = "spoilt" if opened.spoilt else "done"
        await self.rounds.advance(attempt, ahead.state, opened.kept, status, opened.out)
        self.out |= set(opened.out)
        self.lobby.dismiss(opened.out)
        self.loop, self.kept = ahead, stored
        self.index = attempt.index + 1
        self.spoilt += opened.spoilt


# Calling the devices of an attempt: each gets its announcement, once that is stored.
@dataclass(frozen=True)
class Active:
    """An attempt that devices can answer, and what they are told."""

    attempt: Attempt
    told: StoredBriefing


class Lobby:
    """The devices that wait.

    `gather` is how many seconds after the least cohort is there a round begins, without
    waiting for more. In the local model, where reports are collected, it is chosen long.
    """

    def __init__(self, task: Task, gather: float) -> None:
        self._task, self._gather = task, gather
        self._waiting: dict[str, Waiting] = {}
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, device: str, items: Rows, place: int, holds: int = 0) -> asyncio.Future[bytes]:
        """Where the device's announcement will be.

        A device waits once: if it asks again, the first request is answered as if it had
        waited too long.
        """
        earlier = self._waiting.pop(device, None)
        if earlier is not None:
            earlier.answer.cancel()
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[device] = Waiting(items, place, answer, holds)
        return answer

    def leave(self, device: str, answer: asyncio.Future[bytes]) -> None:
        """The device waits no longer, unless it has asked again meanwhile."""
        waiting = self._waiting.get(device)
        if waiting is not None and waiting.answer is answer:
            del self._waiting[device]

    def stir(self) -> None:
        """Look again: somebody came."""
        self._news.set()

    def rows_held(self, device: str) -> int:
        """Rows that a waiting device has of arrays that grow."""
        waiting = self._waiting.get(device)
        return 0 if waiting is None else waiting.holds

    def call(self, device: str, announcement: bytes) -> None:
        """Answer a device, if it is still there."""
        waiting = self._waiting.pop(device, None)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_result(announcement)

    def dismiss(self, devices: Collection[str]) -> None:
        """Send these home: they are told why when they ask again."""
        for device in devices:
            waiting = self._waiting.pop(device, None)
            if waiting is not None and not waiting.answer.done():
                waiting.answer.cancel()

    def close(self) -> None:
        """Send everybody home."""
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.cancel()

    async def gathered(self, takes_part: Participation) -> dict[str, Rows]:
        """Whoever waits, once there are enough; chosen at random if there are more than a
        round takes.

        A full cohort begins at once, the least one after the time to gather. A slice of the
        people may hold too few: it is passed over, and nobody is gathered, once others have
        waited for as long as a round takes. Rounds of everybody wait for ever.
        """
        loop = asyncio.get_running_loop()
        until: float | None = None
        empty: float | None = None
        while True:
            # an answer that is done is of a device that has gone, and was not seen to
            present = [d for d, waiting in self._waiting.items() if not waiting.answer.done()]
            if isinstance(takes_part, Slice):
                if present:
                    empty = empty or loop.time() + self._task.seconds
                present = [d for d in present if self._is_in(takes_part, d)]
            if len(present) >= self._task.cohort:
                break
            if len(present) >= self._task.least:
                until = until or loop.time() + self._gather
                if loop.time() >= until:
                    break
            elif empty is not None and loop.time() >= empty:
                return {}
            await self._wait([waiting for waiting in (until, empty) if waiting is not None])
        cohort = random.SystemRandom().sample(present, min(len(present), self._task.cohort))
        return {device: self._waiting[device].items for device in cohort}

    def _is_in(self, part: Slice, device: str) -> bool:
        """Whether a device says that it is in this slice. (An honest one refuses a round of
        another slice, whatever the recommender makes of its number.)"""
        position = self._waiting[device].place % part.of
        return part.index <= position < part.index + part.width

    async def _wait(self, ends: list[float]) -> None:
        """Until somebody comes, or the first of these moments."""
        self._news.clear()
        now = asyncio.get_running_loop().time()
        seconds = max(SOON, min(ends) - now) if ends else None
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return


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
                self.rounds.record_briefing(attempt, briefing, devices),
                self._call(active, key, ready),
            )
            ready = devices
        await self._call(active, key, ready)

    async def _call(self, active: Active, key: bytes, devices: list[str]) -> None:
        """Answer these devices, whose announcement is written down."""
        for position, device in enumerate(devices):
            holds = self.lobby.rows_held(device)
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


# Where devices wait for a round, and how a cohort is gathered from those who wait.
#
# A device that joins is here until it is announced a round, until it has waited for so long
# that it is told to ask again, or until its connection ends. Nothing here is durable: after a
# restart the devices come again by themselves.


@dataclass(frozen=True)
class Waiting:
    """A device that waits for a round."""

    items: Rows
    place: int
    """The number that it drew for the task (`Join.place`)."""
    answer: asyncio.Future[bytes]
    holds: int = 0
    """Rows that it has of arrays that grow (`Join.holds`)."""
