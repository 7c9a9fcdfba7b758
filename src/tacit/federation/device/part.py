"""A device in a training: join, pay, answer, and again. Patient with servers that restart,
strict about what they say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.errors import BudgetError, Failure, TacitError
from tacit.federation.device.client import Away, Conversation, Papers, TurnedDown
from tacit.federation.device.device import Device
from tacit.federation.protocol.wire import Announcement, Join, WireError, pack, unpack
from tacit.ledger.account.event import Event
from tacit.ledger.book.devices import DeviceBooks

Vanish = float | Callable[[int, Announcement], bool]
"""The chance of leaving a round unanswered, or what says when (trials and tests)."""
PAUSE = 0.05
"""Seconds before a first further try; each pause is twice the one before it."""
JOIN_PAUSE = 1.0
UPLOAD_PAUSE = 0.5
"""The longest pauses between tries to join a round and to deliver an answer."""
ENROL_TRIES = 40
MOMENT = 0.003
"""Seconds within which requests are charged together."""


async def take_part(
    link: Conversation,
    device: Device,
    position: int,
    wallet: Wallet,
    *,
    rounds: int | None = None,
    log: list[Any] | None = None,
    vanish: Vanish = 0.0,
) -> None:
    """Join and answer rounds until the training is over, the ledger is at its cap, or
    `rounds` were answered.

    The device has this `position` in the wallet. It is charged before its noise is drawn, and
    never for an answer that it has made already. `log` is given the (round, attempt) of each
    answer that was counted.
    """
    last_attempt = (-1, -1)
    answered = 0
    pause = PAUSE
    while (rounds is None or answered < rounds) and not device.retired:
        try:
            reply = await _join(link, device, last_attempt)
        except Away:
            await asyncio.sleep(pause)
            pause = min(JOIN_PAUSE, pause * 2)
            continue
        if reply is None:
            return
        pause = PAUSE
        announcement, short = unpack(Announcement, reply)
        payload = device.held.complete(short, announcement.since, announcement.whole)
        if payload is None:
            continue  # not the bytes that were named: ask for all of them
        if _vanishes(vanish, position, announcement):
            last_attempt = (announcement.round, announcement.attempt)
            continue
        paid = device.has_answer(announcement, payload) or await wallet.pay(
            position, device.events(announcement, payload)
        )
        if not paid:
            raise BudgetError("this device's own cap is reached; it takes part no more")
        if not await _has_key(link, announcement.key):
            continue
        body = device.answer(announcement, payload, link.mask_secret(announcement.key))
        if await _deliver(link, body, announcement.seconds):
            answered += 1
            if log is not None:
                log.append((announcement.round, announcement.attempt))
        last_attempt = (announcement.round, announcement.attempt)


async def _join(link: Conversation, device: Device, last_attempt: tuple[int, int]) -> bytes | None:
    """The next announcement, or None if the training is over. `last_attempt` is the last attempt
    that was answered, or left unanswered on purpose."""
    shows_items = device.made.scheme.shows_items
    rows = device.items.astype("<u4").tobytes() if shows_items else b""
    join = Join(
        task=device.made.task.name,
        stamp=link.stamp(),
        done=last_attempt,
        holds=device.held.rows,
        items=shows_items,
        place=device.place,
    )
    try:
        most = device.made.most_told
        return await link.call(link.recommender, "/v1/join", pack(join, rows), max_bytes=most)
    except TurnedDown as refused:
        early = "stopped" in refused.reason or "sits out" in refused.reason
        if refused.status == 410 and not early:
            return None
        if refused.status == 410:
            raise Failure(refused.reason) from None
        if refused.status == 409:  # two requests crossed, or a clock that was off
            raise Away(refused.reason) from None
        why = refused.reason or f"status {refused.status}"
        raise Failure(f"the recommender refused this device: {why}") from None


def _vanishes(vanish: Vanish, position: int, announcement: Announcement) -> bool:
    if callable(vanish):
        return vanish(position, announcement)
    return vanish > 0 and np.random.default_rng().random() < vanish


async def _has_key(link: Conversation, key: str) -> bool:
    """Whether the round's key is known, after a look at the recommender's card if need be:
    it may have rotated since."""
    if key in link.recommender.keys:
        return True
    try:
        await link.recommender.learn(link.web)
    except Away:
        return False
    return True


async def _deliver(link: Conversation, body: bytes, seconds: float) -> bool:
    """Send until it is counted, or too late. Sending the same again is always safe: the
    aggregator counts it once."""
    until, pause = time.monotonic() + seconds, PAUSE
    while time.monotonic() < until:
        try:
            await link.call(link.aggregator, "/v1/upload", body)
        except Away:
            await asyncio.sleep(pause)
            pause = min(UPLOAD_PAUSE, pause * 2)
        except TurnedDown as refused:
            if refused.status == 409:
                return True  # what it sent before it lost its memory is counted
            if refused.status in (404, 410):
                return False
            why = refused.reason or f"status {refused.status}"
            raise Failure(f"the aggregator refused a contribution: {why}") from None
        else:
            return True
    return False


async def enrol_patiently(link: Conversation, papers: Papers, tries: int = ENROL_TRIES) -> None:
    """Enrol at both servers, which may still be starting."""
    for attempt in range(tries):
        try:
            await link.enrol(papers)
        except (Away, WireError):
            await asyncio.sleep(min(PAUSE * 2**attempt, JOIN_PAUSE))
        except TurnedDown as refused:
            why = refused.reason or f"status {refused.status}"
            raise Failure(
                f"a server refused to enrol this device: {why}",
                remedy="--ticket-file and --aggregator-ticket-file, or --token-file",
            ) from None
        else:
            return
    raise Failure("a server cannot be reached", remedy="check the addresses")


# The ledgers of the devices of one process, charged many at a time.
#
# A durable write takes longer than all else that a device does in a round. So requests to pay
# are held for a moment, and those for the same events are written together. No device goes on
# before its own charge is durable.


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
