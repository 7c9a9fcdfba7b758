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

SHORT = 64 << 10
"""Bytes of an answer that is a card of keys, a receipt or a refusal."""
TASK_BYTES = 64 << 20
"""Of a task with its catalogue, which no plan is known before."""
HEAD_BYTES = 16 << 10
"""Of the beginning of an answer, before its body."""
HEAD_SECONDS = 10.0
"""From the first byte of an answer to the last one of its head."""
SLOWEST = 8 << 10
"""Bytes a second at which a body has to come, after as many seconds as a head may take."""
FRAMING = 2
"""Times its body that an answer may be, with what chunks and trailers add to it."""
SMALL = 4 << 10
"""Bytes of a piece that is not kept as an object of its own."""
MOST_DIGITS = 19
"""Of a length that is looked at."""


class TooLong(ConnectionError):
    """An answer is longer than what was asked for can be."""


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
        self._body: list[bytes | bytearray] = []
        self._size = self._received = 0
        self._most = 0
        self._in_head = True
        self._begun = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Future[Answer] | None = None
        self.transport: Any = None

    def ask(self, data: bytes, max_bytes: int) -> asyncio.Future[Answer]:
        """Send a whole request; where its answer will be, with a body of at most so many
        bytes. The line must be idle."""
        self._headers = {}
        self._body = []
        self._size = self._received = 0
        self._most = max_bytes
        self._in_head = True
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self._waiting

    # asyncio calls `connection_made`, `data_received` and `connection_lost`; the parser calls
    # those that begin with `on_`, out of `data_received`.

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._waiting is not None and not self._received:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(HEAD_SECONDS, self._slow)
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(ConnectionError("an answer that is not HTTP"))
        max_bytes = HEAD_BYTES + (0 if self._in_head else FRAMING * self._most)
        if self._waiting is not None and self._received > max_bytes:
            self._fail(TooLong("an answer that is too long"))

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._relax()
        loop = asyncio.get_running_loop()
        self._begun = loop.time()
        self._timer = loop.call_later(HEAD_SECONDS, self._pace)
        announced = self._headers.get("content-length", "")
        if sum(map(len, (*self._headers, *self._headers.values()))) > HEAD_BYTES or (
            announced.isdecimal() and int(announced[:MOST_DIGITS]) > self._most
        ):
            self._fail(TooLong("an answer that is too long"))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            self._fail(TooLong("an answer that is too long"))
        elif len(part) >= SMALL:
            self._body.append(part)
        elif self._body and isinstance(last := self._body[-1], bytearray):
            last += part
        else:
            self._body.append(bytearray(part))

    def on_message_complete(self) -> None:
        self._relax()
        status = self._parser.get_status_code()
        waiting = self._waiting
        self._waiting = None
        if waiting is None or status < 200 or not self._parser.should_keep_alive():
            # an answer that nobody asked for, an interim one, or a server that says goodbye
            self.transport.close()
        else:
            self._idle.append(self)
        if waiting is not None and not waiting.done():
            whole = len(self._body) == 1 and isinstance(self._body[0], bytes)
            body = bytes(self._body[0]) if whole else b"".join(self._body)
            self._body = []
            waiting.set_result(Answer(status, self._headers, body))

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(ConnectionError("the connection ended"))
        if self in self._idle:
            self._idle.remove(self)

    def on_timeout(self, waiting: asyncio.Future[Answer]) -> None:
        """No answer came in time, unless its body is on its way and has a pace of its own."""
        if self._in_head and not waiting.done():
            waiting.set_exception(TimeoutError())

    def _slow(self) -> None:
        self._timer = None
        self._fail(TimeoutError())

    def _pace(self) -> None:
        """Whether the body has come fast enough so far."""
        loop = asyncio.get_running_loop()
        since = loop.time() - self._begun - HEAD_SECONDS
        if self._size < SLOWEST * since or not self._size:
            self._slow()
        else:
            self._timer = loop.call_later(HEAD_SECONDS, self._pace)

    def _relax(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fail(self, error: OSError) -> None:
        self._relax()
        self._body = []
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)
        # without a farewell: who sends without end would not hear it
        self.transport.abort()


@dataclass
class _Server:
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

    `ca` is a file of certificates to trust beside the system's. `seconds` is how long it may
    be to the end of an answer's head, a new connection included; None leaves it to the caller.
    Its body then has to come at the pace of `SLOWEST`, and all of it is over after the seconds
    that its longest length takes. `insecure`: speak without TLS to other machines too.
    """

    def __init__(
        self, ca: str | None = None, seconds: float | None = 60.0, insecure: bool = False
    ) -> None:
        self._ca, self._seconds = ca, seconds
        self._insecure = insecure
        self._places: dict[str, _Server] = {}
        self._context: ssl.SSLContext | None = None

    async def __aenter__(self) -> Web:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections."""
        for server in self._places.values():
            for line in list(server.idle):
                # nothing is on its way; the farewell of TLS would outlive the loop
                line.transport.abort()
        await asyncio.sleep(0)  # let the connections end before the loop does

    async def get(
        self, base: str, path: str, most: int = SHORT, seconds: float | None = None
    ) -> Answer:
        """The answer, whatever its status; an `OSError` if none came in time, `TooLong` if its
        body is longer than `most`. `seconds`, if the server has less time than usual."""
        return await self._ask("GET", base, path, b"", {}, most, seconds)

    async def post(
        self, base: str, path: str, body: bytes, headers: Mapping[str, str], max_bytes: int = SHORT
    ) -> Answer:
        """As `get`."""
        return await self._ask("POST", base, path, body, headers, max_bytes, None)

    async def _ask(
        self,
        method: str,
        base: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        max_bytes: int,
        seconds: float | None,
    ) -> Answer:
        """One request over an idle connection, or over a new one if there is none.

        It is not sent again by itself: whether that is safe is for the caller to say. An idle
        connection that the server has closed meanwhile is an `OSError`, like any other.
        """
        server = self._places.get(base) or self._server_at(base)
        lines = [
            f"{method} {server.prefix}{path} HTTP/1.1",
            f"host: {server.authority}",
            f"content-length: {len(body)}",
        ]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        data = "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body
        loop = asyncio.get_running_loop()
        seconds = self._seconds if seconds is None else seconds
        until = None if seconds is None else loop.time() + seconds
        line = server.idle.pop() if server.idle else None
        if line is None:
            async with asyncio.timeout_at(until):
                line = await self._connect(server)
        waiting = line.ask(data, max_bytes)
        timer = None if until is None else loop.call_at(until, line.on_timeout, waiting)
        try:
            return await waiting
        except BaseException:
            line.transport.abort()  # an answer that came late must not meet the next request
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _server_at(self, base: str) -> _Server:
        """The server at an address, which comes from a person or a signed task: what could
        not be written into a request as it is is refused."""
        try:
            url = urlsplit(base)
            port = url.port or (443 if url.scheme == "https" else 80)
        except ValueError:
            raise SettingError("the address of a server does not parse") from None
        if (
            url.scheme not in ("http", "https")
            or not url.hostname
            or not base.isascii()
            or not base.isprintable()
        ):
            raise SettingError("a server's address begins with http:// or https://")
        bare = url.scheme == "http" and not is_loopback(url.hostname)
        if bare and not self._insecure:
            raise SettingError(
                "without TLS anybody on the way sees who takes part",
                remedy="an https:// address, or --insecure if you mean it",
            )
        authority, prefix = (url.netloc.rpartition("@")[2], url.path.rstrip("/"))
        self._places[base] = _Server(url.hostname, port, url.scheme == "https", authority, prefix)
        return self._places[base]

    async def _connect(self, server: _Server) -> _Line:
        """A new connection. The certificates to trust are read once, at the first of them
        that needs any."""
        if server.secure and self._context is None:
            self._context = ssl.create_default_context()
            if self._ca is not None:
                self._context.load_verify_locations(self._ca)
        loop = asyncio.get_running_loop()
        context = self._context if server.secure else None
        _, line = await loop.create_connection(
            lambda: _Line(server.idle), server.host, server.port, ssl=context
        )
        return line
