"""Requests and replies as the servers' own routes see them: a few fields, no framework in between.

These routes answer nearly all requests of a federation, two for each device and round, so
what a framework adds to each is most of what a round costs the servers. FastAPI answers the
rest.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from tacit.serving.http.origins import asks_first, let, named, origin_of
from tacit.serving.http.pieces import in_pieces


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
