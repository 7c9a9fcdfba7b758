"""Pages of other origins that may speak to a server of a federation: those that its operator lists.

A browser lets a page speak to another server only if that server says so. Nothing is protected by
it here, since every message carries a MAC of its own: it is the operator's say in which pages
take part.
"""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from typing import Any

from starlette.types import Message, Scope, Send

ASKED = "content-type, tacit-device, tacit-key, tacit-head, tacit-mac, tacit-token"
"""Headers that a device sends."""
TOLD = "tacit-mac, tacit-signature"
"""Headers of answers that a device reads."""
SECONDS = 7200
"""For which a browser need not ask again."""


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
