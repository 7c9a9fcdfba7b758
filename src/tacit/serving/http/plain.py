"""Requests and replies as the servers' own routes see them: a few fields, no framework in between.

These routes answer nearly all requests of a federation, two for each device and round, so
what a framework adds to each is most of what a round costs the servers. FastAPI answers the
rest.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

ASKED = "content-type, tacit-device, tacit-key, tacit-head, tacit-mac, tacit-token"
"""Headers that a device sends."""
TOLD = "tacit-mac, tacit-signature"
"""Headers of answers that a device reads."""
SECONDS = 7200
"""For which a browser need not ask again."""
PIECE = 64 << 10


class Call:
    """One request. Header names are in lower case; the body is read by the gate, within its
    limits."""

    __slots__ = ("headers", "method", "path", "receive")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.receive = receive
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }


class Reply:
    """An answer. Further headers are keyword arguments, with `_` for `-`."""

    __slots__ = ("headers", "payload", "status")

    def __init__(
        self,
        payload: bytes = b"",
        status: int = 200,
        kind: str = "application/octet-stream",
        **headers: str,
    ) -> None:
        self.payload, self.status = payload, status
        self.headers = [
            (b"content-type", kind.encode()),
            (b"content-length", str(len(payload)).encode()),
        ]
        for name, value in headers.items():
            self.headers.append((name.replace("_", "-").encode(), value.encode("latin-1")))

    @classmethod
    def facts(cls, facts: dict[str, Any], status: int = 200) -> Reply:
        """An answer in JSON."""
        return cls(json.dumps(facts).encode(), status, "application/json")


WATCHED = ("/healthz", "/metrics")
"""What operators ask for."""
Handler = Callable[[Call], Awaitable[Reply]]
"""What answers the requests of one route."""


class PlainRoutes(FastAPI):
    """An app whose plain routes are answered before the framework looks at a request."""

    def __init__(self, routes: dict[tuple[str, str], Handler], **options: Any) -> None:
        super().__init__(**options)
        self._routes = routes
        self.watch_port: int | None = None
        """Where operators ask: `WATCHED` is answered there, and nothing else."""
        self.origins: frozenset[str] = frozenset()
        """Of pages that may take part: none unless the operator lists them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = in_pieces(send)
        if self.origins and scope["type"] == "http":
            origin = origin_of(scope, self.origins)
            if origin is not None and asks_first(scope):
                await let(send, origin)
                return
            send = send if origin is None else named(send, origin)
        if scope["type"] == "http" and not self._is_here(scope):
            reply = Reply.facts({"error": "not here"}, 404)
            await _send(reply, send)
            return
        handler = (
            self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        )
        if handler is None:
            await super().__call__(scope, receive, send)
            return
        await _send(await handler(Call(scope, receive)), send)

    def _is_here(self, scope: Scope) -> bool:
        """Whether a path is answered at the port that it was asked at: counts are for
        operators alone, and operators need nothing else. Health is answered at both."""
        server = scope.get("server")
        watched = server is not None and server[1] == self.watch_port
        path = scope["path"]
        return path in WATCHED if watched else path != "/metrics"


async def _send(reply: Reply, send: Send) -> None:
    await send({"type": "http.response.start", "status": reply.status, "headers": reply.headers})
    await send({"type": "http.response.body", "body": reply.payload})


# Pages of other origins that may speak to a server of a federation: those that its operator lists.
#
# A browser lets a page speak to another server only if that server says so. Nothing is protected by
# it here, since every message carries a MAC of its own: it is the operator's say in which pages
# take part.


def origin_of(scope: Scope, allowed: Collection[str]) -> str | None:
    """The page's origin, if it is one that the operator lists."""
    for name, value in scope["headers"]:
        if name == b"origin":
            origin: str = value.decode("latin-1")
            return origin if origin in allowed else None
    return None


def asks_first(scope: Scope) -> bool:
    """Whether a browser asks what it may send, before it sends it."""
    return scope["method"] == "OPTIONS" and any(
        name == b"access-control-request-method" for name, _ in scope["headers"]
    )


async def let(send: Send, origin: str) -> None:
    """The answer to a browser that asks first."""
    fields = {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": ASKED,
        "access-control-max-age": str(SECONDS),
        "content-length": "0",
        "vary": "origin",
    }
    headers = [(name.encode(), value.encode()) for name, value in fields.items()]
    start = {"type": "http.response.start", "status": 204, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": b""})


def named(send: Send, origin: str) -> Send:
    """`send` with what lets the page read the answer."""
    fields = {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": TOLD,
        "vary": "origin",
    }
    added_headers = [(name.encode(), value.encode()) for name, value in fields.items()]

    async def send_named(message: Message) -> None:
        out: MutableMapping[str, Any] = message
        if message["type"] == "http.response.start":
            out = {**message, "headers": [*message["headers"], *added_headers]}
        await send(out)

    return send_named


# Answers go out in pieces, so that what a slow reader has not read is not held for it: under
# TLS a whole answer would be encrypted, and kept, for each of them.


def in_pieces(send: Send) -> Send:
    """`send`, which waits for the peer after each piece of a long body."""

    async def sent(message: Message) -> None:
        body = message.get("body", b"")
        if message["type"] != "http.response.body" or len(body) <= PIECE:
            await send(message)
            return
        last = (len(body) - 1) // PIECE * PIECE
        for start in range(0, last, PIECE):
            part = body[start : start + PIECE]
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({**message, "body": body[last:]})

    return sent
