"""What the body of a message may cost: how long it may be, and how slowly it may come."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.types import Message, Receive


@dataclass(frozen=True)
class BodyLimits:
    """Of the messages that are read at all."""

    size: int = 1 << 20
    seconds: float = 10.0


class Refused(Exception):
    """A request that costs too much: a status and words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.words = status, message


async def whole_body(
    headers: list[tuple[bytes, bytes]], receive: Receive, limits: BodyLimits
) -> Receive:
    """The body, read within its limits, as something that hands it on in one piece."""
    announced = dict(headers).get(b"content-length", b"0")
    if not announced.isdigit() or int(announced) > limits.size:
        raise Refused(413, "the message is too long")
    parts = list[bytes]()
    more_body = True
    try:
        async with asyncio.timeout(limits.seconds):
            while more_body:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise Refused(400, "the message ended early")
                parts.append(event.get("body", b""))
                more_body = event.get("more_body", False)
                if sum(map(len, parts)) > limits.size:
                    raise Refused(413, "the message is too long")
    except TimeoutError:
        raise Refused(408, "the message came too slowly") from None
    body: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def replay() -> Message:
        return body.pop() if body else await receive()

    return replay
