"""A small HTTP client for devices: connections that stay open, requests written by hand,
answers parsed in C.

A fleet makes two requests for each device and round, so the client is what a round costs
most. It does what devices need and no more: no redirects, no cookies, no compression.
Everything that may pass is an `OSError`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httptools

from tacit.errors import SettingError

LONGEST = 1 << 30
"""Bytes of an answer that are read at most."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, whatever it said: a status is not an error here. Header names are
    in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Line(asyncio.Protocol):
    """One connection, with one request on its way at a time.

    A connection is in the list of idle ones, or has exactly one request waiting. Whatever is
    strange about an answer ends both the request and the connection, so that no answer can
    meet a later request.
    """

    def __init__(self, idle: list[_Line]) -> None:
        self._idle = idle
        self._parser: Any = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._waiting: asyncio.Future[Answer] | None = None
        self.transport: Any = None

    def ask(self, data: bytes) -> asyncio.Future[Answer]:
        """Send a whole request; where its answer will be. The line must be idle."""
        self._headers = {}
        self._body = []
        self._size = 0
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self._waiting

    # asyncio calls `connection_made`, `data_received` and `connection_lost`; the parser calls
    # the three that begin with `on_`, out of `data_received`.

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail("an answer that is not HTTP")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > LONGEST:
            self._fail("an answer that is too long")
        else:
            self._body.append(part)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        waiting = self._waiting
        self._waiting = None
        if waiting is None or status < 200 or not self._parser.should_keep_alive():
            # an answer that nobody asked for, an interim one, or a server that says goodbye
            self.transport.close()
        else:
            self._idle.append(self)
        if waiting is not None and not waiting.done():
            body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
            waiting.set_result(Answer(status, self._headers, body))

    def connection_lost(self, error: Exception | None) -> None:
        self._fail("the connection ended")
        if self in self._idle:
            self._idle.remove(self)

    def _fail(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(ConnectionError(reason))
        self.transport.close()


def _late(waiting: asyncio.Future[Answer]) -> None:
    """No answer came in time."""
    if not waiting.done():
        waiting.set_exception(TimeoutError())


@dataclass
class _Place:
    """A server: where to connect, how requests to it begin, and its connections that wait
    for work."""

    host: str
    port: int
    secure: bool
    authority: str
    prefix: str
    idle: list[_Line] = field(default_factory=list)


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own, so that nobody is on the way."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Web:
    """Connections to a few servers.

    `ca` is a file of certificates to trust beside the system's. `seconds` is how long an
    answer may take, a new connection included; None leaves it to the caller. `insecure`:
    speak without TLS to other machines too.
    """

    def __init__(
        self, ca: str | None = None, seconds: float | None = 60.0, insecure: bool = False
    ) -> None:
        self._ca, self._seconds = ca, seconds
        self._insecure = insecure
        self._places: dict[str, _Place] = {}
        self._context: ssl.SSLContext | None = None

    async def __aenter__(self) -> Web:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections."""
        for place in self._places.values():
            for line in list(place.idle):
                # nothing is on its way; the farewell of TLS would outlive the loop
                line.transport.abort()
        await asyncio.sleep(0)  # let the connections end before the loop does

    async def get(self, base: str, path: str) -> Answer:
        """The answer, whatever its status; an `OSError` if none came in time."""
        return await self._ask("GET", base, path, b"", {})

    async def post(self, base: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """The answer, whatever its status; an `OSError` if none came in time."""
        return await self._ask("POST", base, path, body, headers)

    async def _ask(
        self, method: str, base: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> Answer:
        """One request over an idle connection, or over a new one if there is none.

        It is not sent again by itself: whether that is safe is for the caller to say. An idle
        connection that the server has closed meanwhile is an `OSError`, like any other.
        """
        place = self._places.get(base) or self._place(base)
        lines = [
            f"{method} {place.prefix}{path} HTTP/1.1",
            f"host: {place.authority}",
            f"content-length: {len(body)}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        data = "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body
        loop = asyncio.get_running_loop()
        until = None if self._seconds is None else loop.time() + self._seconds
        line = place.idle.pop() if place.idle else None
        if line is None:
            async with asyncio.timeout_at(until):
                line = await self._connect(place)
        waiting = line.ask(data)
        timer = None if until is None else loop.call_at(until, _late, waiting)
        try:
            return await waiting
        except BaseException:
            line.transport.close()  # an answer that came late must not meet the next request
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _place(self, base: str) -> _Place:
        """The server at an address, which comes from a person or a signed task: what could
        not be written into a request as it is is refused."""
        try:
            found = urlsplit(base)
            port = found.port or (443 if found.scheme == "https" else 80)
        except ValueError:
            raise SettingError("the address of a server does not parse") from None
        if (
            found.scheme not in ("http", "https")
            or not found.hostname
            or not base.isascii()
            or not base.isprintable()
        ):
            raise SettingError("a server's address begins with http:// or https://")
        bare = found.scheme == "http" and not is_loopback(found.hostname)
        if bare and not self._insecure:
            raise SettingError(
                "without TLS anybody on the way sees who takes part",
                remedy="an https:// address, or --insecure if you mean it",
            )
        authority, prefix = (found.netloc.rpartition("@")[2], found.path.rstrip("/"))
        self._places[base] = _Place(
            found.hostname, port, found.scheme == "https", authority, prefix
        )
        return self._places[base]

    async def _connect(self, place: _Place) -> _Line:
        """A new connection. The certificates to trust are read once, at the first of them
        that needs any."""
        if place.secure and self._context is None:
            self._context = ssl.create_default_context()
            if self._ca is not None:
                self._context.load_verify_locations(self._ca)
        loop = asyncio.get_running_loop()
        context = self._context if place.secure else None
        _, line = await loop.create_connection(
            lambda: _Line(place.idle), place.host, place.port, ssl=context
        )
        return line
