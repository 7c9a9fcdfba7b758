"""The gate of both servers: who is this, is it whole, is it too much. Refusals are short
and say nothing private.

A device is who its MAC says: the key of the MAC follows from its own exchange key and the
server's, so nobody else can make it. The other server is who its signature says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse, PlainTextResponse

from tacit.errors import StorageError
from tacit.federation.protocol.keys import Identity, head_tag, same, shared_secrets, tag, verify
from tacit.federation.protocol.wire import VERSION, WireError
from tacit.federation.server.book import banned
from tacit.federation.server.enrolment import Enrolment, Terms
from tacit.federation.server.store import Refusal, ServerStore, Transaction
from tacit.serving.http.limits import Buckets, Limits
from tacit.serving.http.plain import Call, Handler, PlainRoutes, Reply
from tacit.serving.http.watch import LOG, Metrics

BAN_SECONDS = 1.0
"""After which a ban is looked for again."""
HEALTH_SECONDS = 5.0
"""For the store to take a write, or the server is not well."""
BEGINNING = 4096
"""Bytes of a message that are read before its length is checked: its header is in them."""
MOST_DIGITS = 12
"""Of a length."""
Fits = Callable[[bytes, int], Awaitable[None]]
"""Refuses a message by its beginning and its length."""


@dataclass(frozen=True)
class Caller:
    """A device whose message verified."""

    device: str
    mac: bytes
    """The key of the device's messages."""
    request: str
    """The MAC of this one, which the answer repeats."""


class Gate:
    """See the module. `role` is the server's name, `terms` what devices need to enrol.

    Keys of devices are kept in memory too: one look for each request would cost more than
    the request. Another process on the same store may enrol devices or take their new keys,
    so whoever is not known, or does not verify, is looked up once more.
    """

    def __init__(
        self,
        role: str,
        identity: Identity,
        store: ServerStore,
        limits: Limits,
        terms: Terms | None = None,
    ) -> None:
        self.role = role
        self.identity = identity
        self.store = store
        self.limits = limits
        self.terms = terms or Terms()
        self.metrics = Metrics(role)
        self.troubles: set[str] = set()
        """Names of the trainings that have stopped, or wait for a disk."""
        self._plain: dict[tuple[str, str], Handler] = {}
        self.publics: dict[str, bytes] = {}
        self._buckets = Buckets()
        self._banned: set[str] = set()
        self._look_again = 0.0
        for device, public in store.write_blocking(
            lambda s: s.run("SELECT id, public FROM device")
        ):
            self.publics[device] = bytes(public)

    def app(self, **options: Any) -> PlainRoutes:
        """An app with what both servers have: health, metrics, keys, enrolment."""
        no_docs = {"docs_url": None, "redoc_url": None, "openapi_url": None}
        app = PlainRoutes(self._plain, title=f"tacit {self.role}", **no_docs, **options)

        @app.get("/healthz")
        async def healthz() -> JSONResponse:
            fine = await self.is_well()
            return JSONResponse(
                {"ok": fine, "role": self.role, "protocol": VERSION}, 200 if fine else 503
            )

        @app.get("/metrics")
        async def metrics() -> PlainTextResponse:
            gauges = {
                "devices": len(self.publics),
                "commits": self.store.commits,
                "stored": self.store.works,
                "well": float(await self.is_well()),
            }
            return PlainTextResponse(self.metrics.text(**gauges))

        @app.get("/v1/keys")
        async def keys() -> JSONResponse:
            self.identity.refresh()
            return JSONResponse(self.identity.card(self.terms.trust_mode))

        enrolment = Enrolment(self)
        self.route("/v1/enrol", enrolment.enrol)
        self.route("/v1/rotate", enrolment.rotate)
        return app

    @property
    def ready(self) -> bool:
        """Whether nothing has stopped what the server does."""
        return not self.troubles

    async def is_well(self) -> bool:
        """Whether the server does its work: its store takes a write (a full disk can still
        be read), and nothing has stopped it."""
        try:
            await asyncio.wait_for(self.store.write(_touched), HEALTH_SECONDS)
        except (StorageError, TimeoutError):
            return False
        return self.ready

    def route(self, path: str, handler: Handler, method: str = "POST") -> None:
        """A plain route ahead of the framework's: no parsing but our own. Every fault
        becomes a short refusal."""

        async def guarded(request: Call) -> Reply:
            try:
                answer = await handler(request)
            except Refusal as refusal:
                answer = Reply.facts({"error": refusal.message}, refusal.status)
            except WireError as error:
                answer = Reply.facts({"error": error.message}, error.status)
            except StorageError:
                answer = Reply.facts({"error": "the store is away; try again"}, 503)
            except Exception as error:  # noqa: BLE001 - its words could quote a message
                LOG.exception("failed")
                answer = Reply.facts({"error": type(error).__name__}, 500)
            self.metrics.add("requests", 1, f'path="{path}",status="{answer.status}"')
            return answer

        self._plain[method, path] = guarded

    async def receive(
        self, request: Call, limit: int | None = None, fits: Fits | None = None
    ) -> tuple[bytes, Caller]:
        """A device's message and who it is.

        Nothing is read of somebody who is not enrolled, or who did not say, under a MAC, how
        long the message is. `fits` sees the beginning of it before the rest is read.
        """
        check_length(request, limit or self.limits.body)
        if not await self._is_announced(request):
            raise Refusal(401, "unknown device or wrong MAC")
        body = await self.body(request, limit, fits)
        return body, await self.caller(request, body)

    async def _is_announced(self, request: Call) -> bool:
        """Whether an enrolled device says that it sends a message of this length."""
        device = request.headers.get("tacit-device", "")
        length = int(request.headers["content-length"])
        claimed = request.headers.get("tacit-head", "")

        def fine(public: bytes | None) -> bool:
            mac = None if public is None else self._mac(request, public)
            if mac is None:
                return False
            expected = head_tag(mac, request.method, request.path, length)
            return same(expected, claimed)

        return fine(self.publics.get(device)) or fine(await self._looked_up(device))

    async def body(
        self, request: Call, limit: int | None = None, fits: Fits | None = None
    ) -> bytes:
        """The whole body, unless it is too long or too slow.

        What is announced as too long is not read at all. The server reads no more of a
        message than was announced.
        """
        max_bytes = limit or self.limits.body
        body = await read_body(request, max_bytes, self.limits.body_seconds, fits)
        self.metrics.add("bytes_in", len(body))
        return body

    async def caller(self, request: Call, body: bytes) -> Caller:
        """The device whose MAC this request carries."""
        device = request.headers.get("tacit-device", "")
        public = self.publics.get(device)
        caller = None
        if public is not None:
            caller = self.verified(request, body, device, public)
        if caller is None:
            # enrolled, or its key rotated, at another process on the same store
            public = await self._looked_up(device)
            if public is not None:
                caller = self.verified(request, body, device, public)
        if caller is None:
            raise Refusal(401, "unknown device or wrong MAC")
        if device in await self.banned():
            raise Refusal(403, "this device was banned by the operator")
        # only now: a stranger must not use up another's allowance
        self.throttle(device, self.limits.rate)
        return caller

    async def banned(self) -> set[str]:
        """Who is served no more; looked up now and then, since the operator bans from
        another process."""
        now = time.monotonic()
        if now >= self._look_again:
            self._look_again = now + BAN_SECONDS
            self._banned = await self.store.read(banned)
        return self._banned

    async def _looked_up(self, device: str) -> bytes | None:
        """A device's key, as the store has it now."""
        if not is_name(device):
            return None
        rows = await self.store.read(
            lambda s: s.run("SELECT public FROM device WHERE id = ?", device)
        )
        if rows:
            self.publics[device] = bytes(rows[0][0])
        return self.publics.get(device)

    def _mac(self, request: Call, public: bytes) -> bytes | None:
        """The key of the device's messages under the server's key that the request names."""
        name = request.headers.get("tacit-key", "")
        if name not in self.identity.by_name:
            self.identity.refresh()  # rotated by another process of this server
        private = self.identity.by_name.get(name)
        if private is None:
            raise Refusal(401, "the server's key has changed; fetch /v1/keys")
        try:
            return shared_secrets(private, public).mac
        except ValueError:
            return None

    def verified(self, request: Call, body: bytes, device: str, public: bytes) -> Caller | None:
        """The caller, if the owner of this public key made the request's MAC. The request
        names the server's key that it was made with."""
        mac = self._mac(request, public)
        if mac is None:
            return None
        expected = tag(mac, b"request", request.method.encode(), request.path.encode(), body)
        claimed = request.headers.get("tacit-mac", "")
        return Caller(device, mac, claimed) if same(expected, claimed) else None

    def reply(self, caller: Caller, payload: bytes, status: int = 200) -> Reply:
        """An answer that the device can check against the pinned identity."""
        self.metrics.add("bytes_out", len(payload))
        mac = tag(caller.mac, b"response", caller.request.encode(), payload)
        return Reply(payload, status, tacit_mac=mac)

    def signed(self, request: Call, body: bytes, identity: bytes) -> None:
        """Refuse what is not signed by the other server."""
        signature = request.headers.get("tacit-signature", "")
        if not verify(identity, signature, request.method.encode(), request.path.encode(), body):
            raise Refusal(401, "not signed by the pinned server")

    async def is_known(self, device: str) -> bool:
        """Whether a device is enrolled, here or at another process on the store."""
        public = self.publics.get(device) or await self._looked_up(device)
        return public is not None

    def public(self, device: str) -> bytes | None:
        """The key of an enrolled device."""
        return self.publics.get(device)

    def throttle(self, sender: str, rate: float) -> None:
        """Refuse a sender that asks too often."""
        if not self._buckets.take(sender, rate):
            raise Refusal(429, "too many requests")


def _touched(session: Transaction) -> None:
    """A write that changes nothing."""
    session.run("UPDATE migration SET number = number")


def is_name(device: str) -> bool:
    """Whether this could be the id of a device."""
    return len(device) == 32 and set(device) <= set("0123456789abcdef")


# Reading a message: never more bytes than announced, with a time limit, and only while its
# beginning is valid.


def check_length(request: Call, max_bytes: int) -> int:
    """How long a message says it is, unless that is too long or it does not say."""
    announced = request.headers.get("content-length", "")
    if len(announced) > MOST_DIGITS or not announced.isdecimal():
        raise Refusal(413, "the message does not say how long it is")
    if int(announced) > max_bytes:
        raise Refusal(413, "the message is too long")
    return int(announced)


async def read_body(
    request: Call, max_bytes: int, seconds: float, fits: Fits | None = None
) -> bytes:
    """The whole body, within so many bytes and seconds. `fits` sees its beginning before the
    rest is read."""
    length = check_length(request, max_bytes)
    parts = list[bytes]()
    size = 0
    has_more = True
    try:
        async with asyncio.timeout(seconds):
            while has_more:
                event = await request.receive()
                if event["type"] == "http.disconnect":
                    raise Refusal(400, "the message ended early")
                parts.append(event.get("body", b""))
                size += len(parts[-1])
                has_more = event.get("more_body", False)
                if size > max_bytes:
                    raise Refusal(413, "the message is too long")
                if fits is not None and size >= min(BEGINNING, length):
                    await fits(b"".join(parts), length)
                    fits = None
    except TimeoutError:
        raise Refusal(408, "the message came too slowly") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)
