"""The gate of both servers: who is this, is it whole, is it too much. Refusals are short
and say nothing private.

A device is who its MAC says: the key of the MAC follows from its own exchange key and the
server's, so nobody else can make it. The other server is who its signature says.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse, PlainTextResponse

from tacit.errors import StorageError
from tacit.federation.protocol.keys import (
    Identity,
    head_tag,
    name_of,
    rotation_proof,
    same,
    shared_secrets,
    tag,
    verify,
)
from tacit.federation.protocol.wire import VERSION, WireError
from tacit.federation.server.reading import Fits, check_length, read_body
from tacit.federation.server.store import Refusal, Session, Store
from tacit.serving.http.limits import Buckets, Limits
from tacit.serving.http.plain import Call, Handler, Plain, Reply
from tacit.serving.http.watch import LOG, Metrics

KEY_BODY = 4096
"""Bytes of the longest message that brings a key."""
HEALTH_SECONDS = 5.0
"""For the store to take a write, or the server is not well."""


@dataclass(frozen=True)
class Caller:
    """A device whose message verified."""

    device: str
    mac: bytes
    """The key of the device's messages."""
    request: str
    """The MAC of this one, which the answer repeats."""


class Gate:
    """See the module. `role` is the server's name, `token` what devices need to enrol.

    Keys of devices are kept in memory too: one look for each request would cost more than
    the request. Another process on the same store may enrol devices or take their new keys,
    so whoever is not known, or does not verify, is looked up once more.
    """

    def __init__(
        self,
        role: str,
        identity: Identity,
        store: Store,
        limits: Limits,
        token: str | None = None,
    ) -> None:
        self.role = role
        self.identity = identity
        self.store = store
        self.limits = limits
        self.token = token
        self.metrics = Metrics(role)
        self.ready = True
        self._plain: dict[tuple[str, str], Handler] = {}
        self._publics: dict[str, bytes] = {}
        self._buckets = Buckets()
        for device, public in store.now(
            lambda s: s.run("SELECT id, public FROM device")
        ):
            self._publics[device] = bytes(public)

    def app(self, **options: Any) -> Plain:
        """An app with what both servers have: health, metrics, keys, enrolment."""
        hidden = {"docs_url": None, "redoc_url": None, "openapi_url": None}
        app = Plain(
            self._plain, title=f"tacit {self.role}", **hidden, **options
        )

        @app.get("/healthz")
        async def healthz() -> JSONResponse:
            fine = await self.is_well()
            return JSONResponse(
                {"ok": fine, "role": self.role, "protocol": VERSION},
                200 if fine else 503,
            )

        @app.get("/metrics")
        async def metrics() -> PlainTextResponse:
            gauges = {
                "devices": len(self._publics),
                "commits": self.store.commits,
                "stored": self.store.works,
            }
            return PlainTextResponse(self.metrics.text(**gauges))

        @app.get("/v1/keys")
        async def keys() -> JSONResponse:
            self.identity.refresh()
            return JSONResponse(self.identity.card())

        self.route("/v1/enrol", self._enrol)
        self.route("/v1/rotate", self._rotate)
        return app

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
                answer = Reply.facts(
                    {"error": "the store is away; try again"}, 503
                )
            except Exception as error:  # noqa: BLE001 - its words could quote a message
                LOG.exception("failed")
                answer = Reply.facts({"error": type(error).__name__}, 500)
            self.metrics.add(
                "requests", 1, f'path="{path}",status="{answer.status}"'
            )
            return answer

        self._plain[method, path] = guarded

    async def heard(
        self,
        request: Call,
        limit: int | None = None,
        fits: Fits | None = None,
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
        given = request.headers.get("tacit-head", "")

        def fine(public: bytes | None) -> bool:
            mac = None if public is None else self._mac(request, public)
            if mac is None:
                return False
            told = head_tag(mac, request.method, request.path, length)
            return same(told, given)

        return fine(self._publics.get(device)) or fine(
            await self._looked_up(device)
        )

    async def body(
        self,
        request: Call,
        limit: int | None = None,
        fits: Fits | None = None,
    ) -> bytes:
        """The whole body, unless it is too long or too slow.

        What is announced as too long is not read at all. The server reads no more of a
        message than was announced.
        """
        most = limit or self.limits.body
        body = await read_body(request, most, self.limits.body_seconds, fits)
        self.metrics.add("bytes_in", len(body))
        return body

    async def caller(self, request: Call, body: bytes) -> Caller:
        """The device whose MAC this request carries."""
        device = request.headers.get("tacit-device", "")
        public = self._publics.get(device)
        caller = None
        if public is not None:
            caller = self._verified(request, body, device, public)
        if caller is None:
            # enrolled, or its key rotated, at another process on the same store
            public = await self._looked_up(device)
            if public is not None:
                caller = self._verified(request, body, device, public)
        if caller is None:
            raise Refusal(401, "unknown device or wrong MAC")
        # only now: a stranger must not use up another's allowance
        self._throttle(device, self.limits.rate)
        return caller

    async def _looked_up(self, device: str) -> bytes | None:
        """A device's key, as the store has it now."""
        if not is_name(device):
            return None
        rows = await self.store.read(
            lambda s: s.run("SELECT public FROM device WHERE id = ?", device)
        )
        if rows:
            self._publics[device] = bytes(rows[0][0])
        return self._publics.get(device)

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

    def _verified(
        self, request: Call, body: bytes, device: str, public: bytes
    ) -> Caller | None:
        """The caller, if the owner of this public key made the request's MAC. The request
        names the server's key that it was made with."""
        mac = self._mac(request, public)
        if mac is None:
            return None
        expected = tag(
            mac,
            b"request",
            request.method.encode(),
            request.path.encode(),
            body,
        )
        given = request.headers.get("tacit-mac", "")
        return Caller(device, mac, given) if same(expected, given) else None

    def reply(self, caller: Caller, payload: bytes, status: int = 200) -> Reply:
        """An answer that the device can check against the pinned identity."""
        self.metrics.add("bytes_out", len(payload))
        mac = tag(caller.mac, b"response", caller.request.encode(), payload)
        return Reply(payload, status, tacit_mac=mac)

    def signed(self, request: Call, body: bytes, identity: bytes) -> None:
        """Refuse what is not signed by the other server."""
        given = request.headers.get("tacit-signature", "")
        if not verify(
            identity,
            given,
            request.method.encode(),
            request.path.encode(),
            body,
        ):
            raise Refusal(401, "not signed by the pinned server")

    def public(self, device: str) -> bytes | None:
        """The key of an enrolled device."""
        return self._publics.get(device)

    async def _enrol(self, request: Call) -> Reply:
        body = await self.body(request, KEY_BODY)
        self._throttle("enrolment", self.limits.enrol_rate)
        public, device = _public(body), request.headers.get("tacit-device", "")
        if self.token is not None and not same(
            self.token, request.headers.get("tacit-token", "")
        ):
            raise Refusal(403, "an enrolment token is needed")
        caller = self._verified(request, body, device, public)
        if device != name_of(public) or caller is None:
            raise Refusal(401, "the key was not proven")
        if len(self._publics) >= self.limits.devices:
            raise Refusal(503, "no more devices are taken")
        stamp = int(time.time())

        def work(session: Session) -> None:
            session.run(
                "INSERT INTO device VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                device,
                public,
                stamp,
            )

        await self.store.write(work)
        self._publics.setdefault(device, public)
        return self.reply(caller, b"{}")

    async def _rotate(self, request: Call) -> Reply:
        """A device's new key, proven by a MAC of its own, under the old one; its id stays.

        A stamp that is not newer than the last one's is refused, in every process on the
        store: a copied message cannot bring an old key back. A key whose secret anybody
        knows (zeros, and every other point of low order) cannot be proven.
        """
        body, caller = await self.heard(request, KEY_BODY)
        public = _public(body)
        device, stamp = caller.device, self._proven(request, body, public)
        before = self._publics[device]

        def work(session: Session) -> None:
            found = session.run(
                "SELECT public FROM device WHERE id = ?", device
            )
            last = session.run(
                "SELECT stamp FROM rotation WHERE device = ?", device
            )
            now, latest = bytes(found[0][0]), int(last[0][0]) if last else -1
            if (now, latest) == (public, stamp):
                return  # this very message, run again
            if now != before:
                raise Refusal(401, "the device has another key by now")
            if stamp <= latest:
                raise Refusal(409, "a new key that is not new")
            session.run(
                "INSERT INTO rotation VALUES (?, ?) ON CONFLICT (device) "
                "DO UPDATE SET stamp = excluded.stamp",
                device,
                stamp,
            )
            session.run(
                "UPDATE device SET public = ? WHERE id = ?", public, device
            )

        await self.store.write(work)
        self._publics[device] = public
        return self.reply(caller, b"{}")

    def _proven(self, request: Call, body: bytes, public: bytes) -> int:
        """The stamp of a rotation, if the owner of the new key made its proof."""
        facts = json.loads(body)
        stamp, proof = facts.get("stamp"), facts.get("proof")
        private = self.identity.by_name[request.headers["tacit-key"]]
        fine = (
            isinstance(stamp, int)
            and isinstance(proof, str)
            and 0 <= stamp < 1 << 63
        )
        if fine:
            device = request.headers["tacit-device"]
            try:
                mac = shared_secrets(private, public).mac
            except ValueError:
                raise Refusal(400, "a key that keeps no secret") from None
            fine = same(rotation_proof(mac, device, stamp), proof)
        if not fine:
            raise Refusal(401, "the new key was not proven")
        return int(stamp)

    def _throttle(self, who: str, rate: float) -> None:
        if not self._buckets.take(who, rate):
            raise Refusal(429, "too many requests")


def _touched(session: Session) -> None:
    """A write that changes nothing."""
    session.run("UPDATE migration SET number = number")


def is_name(device: str) -> bool:
    """Whether this could be the id of a device."""
    return len(device) == 32 and set(device) <= set("0123456789abcdef")


def _public(body: bytes) -> bytes:
    try:
        public = bytes.fromhex(json.loads(body)["public"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refusal(400, "no public key") from None
    if len(public) != 32:
        raise Refusal(400, "no public key")
    return public
