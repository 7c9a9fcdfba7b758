"""Where devices wait for a round, and how a cohort is gathered from those who wait.

A device that joins is here until it is announced a round, until it has waited for so long
that it is told to ask again, or until its connection ends. Nothing here is durable: after a
restart the devices come again by themselves.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.federation.protocol.task import Task
from tacit.rounds.people import Participation, Slice

Rows = NDArray[np.uint32]
"""Rows of the catalogue that a device has named."""
SOON = 0.01
"""Seconds that are waited at least before another look."""


@dataclass(frozen=True)
class Waiting:
    """A device that waits for a round."""

    items: Rows
    place: int
    """The number that it drew for the task (`Join.place`)."""
    answer: asyncio.Future[bytes]
    holds: int = 0
    """Rows that it has of arrays that grow (`Join.holds`)."""


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
