"""What one sender may cost: headers, bodies, and how slowly they may come."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.types import Message, Receive
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 16 << 10
HEADER_SECONDS = 10.0


@dataclass(frozen=True)
class BodyLimits:
    """Of the messages that are read at all."""

    size: int = 1 << 20
    seconds: float = 10.0


class Refused(Exception):
    """A request that costs too much: a status and words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


async def whole_body(
    headers: list[tuple[bytes, bytes]], receive: Receive, limits: BodyLimits
) -> Receive:
    """The body, read within its limits, as something that hands it on in one piece."""
    announced = dict(headers).get(b"content-length", b"0")
    if not announced.isdigit() or int(announced) > limits.size:
        raise Refused(413, "the message is too long")
    parts = list[bytes]()
    more = True
    try:
        async with asyncio.timeout(limits.seconds):
            while more:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise Refused(400, "the message ended early")
                parts.append(event.get("body", b""))
                more = event.get("more_body", False)
                if sum(map(len, parts)) > limits.size:
                    raise Refused(413, "the message is too long")
    except TimeoutError:
        raise Refused(408, "the message came too slowly") from None
    body: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def again() -> Message:
        return body.pop() if body else await receive()

    return again


class Guarded(HttpToolsProtocol):
    """uvicorn's parser has no limit on headers and waits for them for ever: this one does not."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head = 0
        self._reading = True
        self._refused = False
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Headers are due from now on."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._relax()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Counts what comes before a request's headers are complete."""
        if self._refused:
            return
        if self._reading and self._patience is None:
            self._wait()
        super().data_received(data)
        if self._reading:
            self._head += len(data)
            if self._head > HEADER_BYTES:
                self._refuse()

    def on_headers_complete(self) -> None:
        """Within their limits, or refused."""
        self._relax()
        self._head, self._reading = 0, False
        lines = sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers)
        size = len(self.url) + lines
        if self._refused or size > HEADER_BYTES:
            self._refuse()
            return
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """What follows are the headers of the next request."""
        self._reading = True
        if not self._refused:
            super().on_message_complete()

    def on_body(self, body: bytes) -> None:
        """Not of a request that was refused."""
        if not self._refused:
            super().on_body(body)

    def _wait(self) -> None:
        self._patience = self.loop.call_later(HEADER_SECONDS, self._late)

    def _relax(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _late(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()

    def _refuse(self) -> None:
        """431, and no more of this connection."""
        self._relax()
        self._refused = True
        if not self.transport.is_closing():
            words = b"the headers are too long\n"
            head = (
                b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
                b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
                b"content-length: %d\r\n\r\n" % len(words)
            )
            self.transport.write(head + words)
            self.transport.close()
