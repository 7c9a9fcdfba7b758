"""What a device takes from a server before it believes it: sizes and times have bounds that
follow from what was asked."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import pytest

from tacit.errors import Failure
from tacit.federation.device.client import KnownServer
from tacit.federation.protocol import http
from tacit.federation.protocol.http import SHORT, TooLong, Web

OK = b"HTTP/1.1 200 OK\r\n"
Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def forever(begin: bytes, piece: bytes, pause: float = 0.0) -> Answering:
    """An answer without an end."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        for _ in range(20_000):
            if reader.at_eof() or writer.transport.is_closing():
                return
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


ENDLESS = {
    "a header": forever(OK + b"a: ", b"x" * 1000),
    "headers": forever(OK, b"a: b\r\n" * 100),
    "a reason": forever(b"HTTP/1.1 200 ", b"x" * 1000),
    "a body": forever(OK + b"\r\n", b"x" * 10_000),
    "chunks": forever(OK + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 1000),
    "an extension": forever(OK + b"transfer-encoding: chunked\r\n\r\n1;", b"x" * 1000),
    "trailers": forever(OK + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n" * 1000),
    "a length": forever(OK + b"content-length: 1000000000\r\n\r\n", b"x" * 10_000),
}
SLOW = {
    "a head": forever(OK + b"a: ", b"x", 0.02),
    "a body": forever(OK + b"content-length: 60000\r\n\r\n", b"x", 0.02),
    "chunks": forever(OK + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.02),
    "nothing": forever(OK + b"content-length: 60000\r\n\r\n", b"", 0.02),
}


async def against(answer: Answering, ask: Callable[[Web, str], Awaitable[object]]) -> None:
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            await answer(reader, writer)
        writer.close()
        over.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        async with Web() as web:
            port = server.sockets[0].getsockname()[1]
            await ask(web, f"http://127.0.0.1:{port}")
    finally:
        await over.wait()
        server.close()


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_without_end_is_not_read(kind, monkeypatch) -> None:
    """Seen: 1.09 GB for a card of some hundred bytes."""
    taken = []
    feed = http._Line.data_received

    def received(line, data):
        taken.append(len(data))
        feed(line, data)

    monkeypatch.setattr(http._Line, "data_received", received)
    with pytest.raises(TooLong):
        asyncio.run(against(ENDLESS[kind], lambda web, url: web.get(url, "/v1/keys")))
    assert sum(taken) < 3 * SHORT + (512 << 10)  # and what a socket gives at once


@pytest.mark.parametrize("kind", SLOW)
def test_an_answer_that_hardly_comes_is_not_waited_for(kind, monkeypatch) -> None:
    """Seen: a header without end held a device for 63 seconds."""
    monkeypatch.setattr(http, "HEAD_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(against(SLOW[kind], lambda web, url: web.get(url, "/v1/keys")))
    assert time.monotonic() - began < 30


def test_a_card_that_is_too_long_is_no_card() -> None:
    with pytest.raises(Failure, match="longer"):
        asyncio.run(against(ENDLESS["a length"], lambda web, url: KnownServer(url).learn(web)))
