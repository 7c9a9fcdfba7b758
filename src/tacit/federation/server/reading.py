"""A message is read: no more of it than was announced, not for ever, and not to its end if
its beginning is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tacit.federation.server.store import Refusal
from tacit.serving.http.plain import Call

BEGINNING = 4096
"""Bytes of a message that are read before its length is checked: its header is in them."""
MOST_DIGITS = 12
"""Of a length."""
Fits = Callable[[bytes, int], Awaitable[None]]
"""Refuses a message by its beginning and its length."""


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
