"""Devices over HTTP: one, or many in one process. Patient with servers that restart, strict
about what they say."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import ValidationError

from tacit.errors import BudgetError, Failure, TacitError
from tacit.federation.device.device import Device
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import (
    believed,
    name_of,
    same,
    shared_secrets,
    tag,
    verify,
)
from tacit.federation.protocol.task import Assembled, Task, assemble
from tacit.federation.protocol.wire import Announcement, Join, WireError, pack, unpack
from tacit.ledger.account.event import EVENTS, Event
from tacit.ledger.book.devices import DeviceBooks


@dataclass
class Server:
    """A server as devices know it: its address, its pinned identity, its exchange keys."""

    url: str
    pin: str | None = None
    keys: dict[str, bytes] = field(default_factory=dict)
    current: str = ""

    async def learn(self, web: Web) -> None:
        try:
            answer = await web.get(self.url, "/v1/keys")
            card = json.loads(answer.body)
        except OSError as error:
            raise Away(f"no answer ({type(error).__name__})") from None
        except ValueError:
            raise Failure("the server's card of keys does not parse") from None
        known = believed(card, self.pin)
        self.pin = card["identity"]
        self.keys = {name_of(key): key for key in known}
        self.current = name_of(known[0])


Vanish = float | Callable[[int, Announcement], bool]


class Away(Exception):
    """A server did not answer, or not yet; worth another try."""


class Wallet:
    """The devices' ledgers, charged in batches: one durable write for all that ask within a
    moment."""

    def __init__(self, books: DeviceBooks) -> None:
        self.books = books
        self._asked: list[tuple[int, tuple[Event, ...], asyncio.Future[bool]]] = []

    async def pay(self, device: int, events: Sequence[Event]) -> bool:
        if not events:
            return True
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_later(0.003, self._settle)
        future: asyncio.Future[bool] = loop.create_future()
        self._asked.append((device, tuple(events), future))
        return await future

    def _settle(self) -> None:
        asked, self._asked = self._asked, []
        by_events: dict[tuple[Event, ...], list[tuple[int, asyncio.Future[bool]]]] = {}
        for device, events, future in asked:
            by_events.setdefault(events, []).append((device, future))
        for events, group in by_events.items():
            allowed = np.array([device for device, _ in group], np.int64)
            try:
                for event in events:
                    allowed = self.books.pay(event, allowed)
            except TacitError as error:
                for _, future in group:
                    future.set_exception(error)
                continue
            fine = set(allowed.tolist())
            for device, future in group:
                if not future.done():
                    future.set_result(device in fine)


class Link:
    """One device's conversation with both servers."""

    def __init__(
        self,
        web: Web,
        recommender: Server,
        aggregator: Server,
        private: bytes,
        name: str | None = None,
    ) -> None:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        self.web = web
        self.recommender = recommender
        self.aggregator = aggregator
        self.private = private
        self.public = (
            X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
        )
        self.name = name or name_of(self.public)
        """Of its first key; it stays when the key changes."""
        self.bytes_up = self.bytes_down = 0

    def mask_secret(self, key: str) -> bytes:
        if key not in self.recommender.keys:
            raise Failure(
                "the round is keyed to an exchange key that the recommender does not show"
            )
        return shared_secrets(self.private, self.recommender.keys[key]).mask

    async def enrol(self, token: str | None = None) -> None:
        for server in (self.recommender, self.aggregator):
            body = json.dumps({"public": self.public.hex()}).encode()
            await self.call(
                server,
                "/v1/enrol",
                body,
                {} if token is None else {"tacit-token": token},
            )

    async def rotate(self, private: bytes) -> Link:
        """The same device with a new key. If it is cut short, call it again with the same one."""
        new = Link(self.web, self.recommender, self.aggregator, private, self.name)
        body = json.dumps({"public": new.public.hex()}).encode()
        for server in (self.recommender, self.aggregator):
            try:
                await self.call(server, "/v1/rotate", body)
            except Refused as refused:
                if refused.status != 401:  # else it has the new key already
                    raise
        return new

    async def call(
        self, server: Server, path: str, body: bytes, more: dict[str, str] | None = None
    ) -> bytes:
        """A request with its MAC; the answer, with its MAC checked. Raises `Away` for what
        may pass."""
        mac_key = shared_secrets(self.private, server.keys[server.current]).mac
        mac = tag(mac_key, b"request", b"POST", path.encode(), body)
        headers = {
            "tacit-device": self.name,
            "tacit-key": server.current,
            "tacit-mac": mac,
            **(more or {}),
        }
        try:
            answer = await self.web.post(server.url, path, body, headers)
        except OSError:
            raise Away("no answer") from None
        found, status = answer.body, answer.status
        self.bytes_up += len(body)
        self.bytes_down += len(found)
        if status == 401 and b"has changed" in found:
            await server.learn(self.web)
            raise Away("keys rotated")
        if status in (408, 425, 429) or status >= 500:
            raise Away(str(status))
        if status == 426:
            raise Failure(
                "a server speaks another version of the protocol",
                remedy="upgrade this device or the server",
            )
        if status != 200:
            raise Refused(status)
        if not same(
            answer.headers.get("tacit-mac", ""),
            tag(mac_key, b"response", mac.encode(), found),
        ):
            raise Failure(
                "a server's answer does not verify: it is not the one that was pinned"
            )
        return found


class Refused(Exception):
    """A server turned a message down for good."""

    def __init__(self, status: int) -> None:
        super().__init__(str(status))
        self.status = status


async def fetch_task(
    web: Web, recommender: Server, aggregator: str | None = None
) -> tuple[Assembled, Server]:
    """The task, signed, with its events recomputed here: a device believes its own arithmetic.

    The recommender names the aggregator, so who wants to be sure of two servers pins
    `aggregator` too.
    """
    try:
        answer = await web.get(recommender.url, "/v1/task")
    except OSError as error:
        raise Away(f"no answer ({type(error).__name__})") from None
    body, signature = answer.body, answer.headers.get("tacit-signature", "")
    if recommender.pin is None or not verify(
        bytes.fromhex(recommender.pin), signature, b"task", body
    ):
        raise Failure("the task is not signed by the recommender's identity")
    facts = json.loads(body)
    try:
        task = Task.model_validate(facts["task"])
    except ValidationError:
        raise Failure(
            "the task is of another version of the protocol",
            remedy="upgrade this device",
        ) from None
    made = assemble(task)
    announced = EVENTS.validate_python(facts["events"])
    if announced != tuple(made.events.values()):
        raise Failure(
            "the announced noise is not what this plan and budget ask for",
            remedy="upgrade, or do not take part",
        )
    named = facts["aggregator"]
    if named["identity"] == recommender.pin:
        raise Failure(
            "the recommender is its own aggregator: it could see every contribution"
        )
    if aggregator is not None and not same(named["identity"], aggregator):
        raise Failure(
            "the task names another aggregator than the one pinned",
            remedy="ask its owner before going on",
        )
    return made, Server(named["url"], named["identity"])


async def take_part(
    link: Link,
    device: Device,
    place: int,
    wallet: Wallet,
    *,
    rounds: int | None = None,
    log: list[Any] | None = None,
    vanish: Vanish = 0.0,
) -> None:
    """Join and answer rounds until the training is over, the ledger is at its cap, or
    `rounds` were answered.

    `vanish` is the chance of leaving a round unanswered, or says when (trials and tests).
    """
    done = (-1, -1)
    pause = 0.05
    answered = 0
    sparse = device.made.layouts(0)[0].sparse
    rows = device.items.astype("<u4").tobytes() if sparse else b""
    while (rounds is None or answered < rounds) and not device.retired:
        join = Join(
            task=device.made.task.name,
            stamp=time.time_ns(),
            done=done,
            items=sparse,
            place=device.place,
        )
        try:
            found = await link.call(link.recommender, "/v1/join", pack(join, rows))
        except Away:
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 2)
            continue
        except Refused as refused:
            if refused.status == 410:
                return
            if refused.status == 409:  # two requests crossed
                await asyncio.sleep(0.05)
                continue
            raise Failure(
                f"the recommender refused this device (status {refused.status})"
            ) from None
        pause = 0.05
        told, payload = unpack(Announcement, found)
        if (
            vanish(place, told)
            if callable(vanish)
            else vanish and np.random.default_rng().random() < vanish
        ):
            done = (told.round, told.attempt)
            continue
        if not device.known(told, payload) and not await wallet.pay(
            place, device.events(told, payload)
        ):
            raise BudgetError("this device's own cap is reached; it takes part no more")
        if (
            told.key not in link.recommender.keys
        ):  # it rotated since this device asked for its card
            try:
                await link.recommender.learn(link.web)
            except Away:
                continue
        body = device.answer(told, payload, link.mask_secret(told.key))
        if await _deliver(link, body, told.seconds):
            answered += 1
            if log is not None:
                log.append((told.round, told.attempt))
        done = (told.round, told.attempt)


async def _deliver(link: Link, body: bytes, seconds: float) -> bool:
    """Send until it is counted, or too late."""
    until, pause = time.monotonic() + seconds, 0.05
    while time.monotonic() < until:
        try:
            await link.call(link.aggregator, "/v1/upload", body)
        except Away:
            await asyncio.sleep(pause)
            pause = min(0.5, pause * 2)
        except Refused as refused:
            if refused.status in (404, 410):
                return False
            raise Failure(
                f"the aggregator refused a contribution (status {refused.status})"
            ) from None
        else:
            return True
    return False


async def enrol_patiently(link: Link, token: str | None, tries: int = 40) -> None:
    for attempt in range(tries):
        try:
            await link.enrol(token)
        except (Away, WireError):
            await asyncio.sleep(min(0.05 * 2**attempt, 1.0))
        except Refused as refused:
            raise Failure(
                f"a server refused to enrol this device (status {refused.status})",
                remedy="--token",
            ) from None
        else:
            return
    raise Failure("a server cannot be reached", remedy="check the addresses")
