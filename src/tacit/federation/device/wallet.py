"""The ledgers of the devices of one process, charged many at a time.

A durable write takes longer than all else that a device does in a round. So requests to pay
are held for a moment, and those for the same events are written together. No device goes on
before its own charge is durable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.errors import TacitError
from tacit.ledger.account.event import Event
from tacit.ledger.book.devices import DeviceBooks

MOMENT = 0.003
"""Seconds within which requests are charged together."""


class _Request(NamedTuple):
    device: int
    events: tuple[Event, ...]
    answer: asyncio.Future[bool]


class Wallet:
    """The devices' ledgers, charged in batches: one durable write for all that ask within a
    moment. A single device has one too, with a book of one.

    `steps` is how many steps at the task's unit one at the books' unit can take
    (`Policy.steps`): every event is charged for so many.
    """

    def __init__(self, books: DeviceBooks, steps: int = 1) -> None:
        self.books = books
        self.steps = steps
        self._asked: list[_Request] = []

    async def pay(self, device: int, events: Sequence[Event]) -> bool:
        """Charge a device, durably; False if its cap leaves no room. Nothing to pay for is
        always paid."""
        if not events:
            return True
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_later(MOMENT, self._settle)
        future: asyncio.Future[bool] = loop.create_future()
        self._asked.append(_Request(device, tuple(events), future))
        return await future

    def _settle(self) -> None:
        requests, self._asked = self._asked, []
        by_events: dict[tuple[Event, ...], list[_Request]] = {}
        for request in requests:
            by_events.setdefault(request.events, []).append(request)
        for events, group in by_events.items():
            self._pay_together(events, group)

    def _pay_together(self, events: tuple[Event, ...], group: list[_Request]) -> None:
        """Charge several devices for the same events.

        A device that can pay for the first event and not for the second has paid for the
        first: budget may be wasted, never overspent.
        """
        allowed = np.array([request.device for request in group], np.int64)
        try:
            for event in events:
                allowed = self.books.pay(event, allowed, self.steps)
        except TacitError as error:
            for request in group:
                request.answer.set_exception(error)
            return
        fine = set(allowed.tolist())
        for request in group:
            if not request.answer.done():
                request.answer.set_result(request.device in fine)
