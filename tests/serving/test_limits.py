"""What one sender may cost: headers and bodies that are too long or too slow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.types import Message
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from tacit.serving.http import door as limits
from tacit.serving.http.bodies import BodyLimits, Refused, whole_body
from tacit.serving.http.crowd import ConnectionCrowd
from tacit.serving.http.door import HEADER_BYTES, Guarded


class Wire(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.told, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.told += bytes(data)

    def close(self) -> None:
        self.closed = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


def talk(*pieces: bytes, patience: float | None = None) -> Wire:
    """What a server says to these pieces of data."""

    async def conversation() -> Wire:
        config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none")
        config.load()
        wire = Wire()
        seat = ConnectionCrowd(9).enter("127.0.0.1")
        assert seat is not None
        seat.expect(limits.HEADER_SECONDS)  # as a door does
        protocol = Guarded(config, ServerState(), {}, seat=seat)
        protocol.connection_made(wire)
        for piece in pieces:
            protocol.data_received(piece)
            await asyncio.sleep(0.01)
        if patience is not None:
            await asyncio.sleep(patience)
        open_before = not wire.closed
        protocol.connection_lost(None)  # which closes it in any case
        wire.closed = not open_before
        return wire

    return asyncio.run(conversation())


GET = b"GET /model HTTP/1.1\r\nhost: x\r\n"


def test_ordinary_requests_pass_one_after_another_and_at_once() -> None:
    assert talk(GET + b"\r\n").told.count(b"200 OK") == 1
    assert talk(GET + b"\r\n", GET, b"\r\n").told.count(b"200 OK") == 2
    assert talk((GET + b"\r\n") * 3).told.count(b"200 OK") == 3
    body = b"POST /x HTTP/1.1\r\ncontent-length: 100000\r\n\r\n" + bytes(100_000)
    assert talk(body, body).told.count(b"200 OK") == 2
    many = [GET + b"a: " + b"x" * 10_000 + b"\r\n\r\n"] * 5
    assert talk(*many).told.count(b"200 OK") == 5


def test_headers_that_are_too_long_are_refused() -> None:
    long = b"a: " + b"x" * HEADER_BYTES + b"\r\n"
    for pieces in (
        [GET + long + b"\r\n"],
        [GET, long, b"\r\n"],
        [GET + b"a: ", *[b"x" * 1000] * 40],
        [b"GET /" + b"x" * HEADER_BYTES + b" HTTP/1.1\r\n\r\n"],
        [GET + b"\r\n", GET + long + b"\r\n"],
        [GET + b"b: 1\r\n" * 4000 + b"\r\n"],
    ):
        wire = talk(*pieces)
        assert b"431" in wire.told.rpartition(b"HTTP/1.1 ")[2]
        assert wire.closed


def test_headers_that_do_not_come_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEADER_SECONDS", 0.05)
    assert talk(patience=0.2).closed
    assert talk(GET, patience=0.2).closed
    assert talk(GET + b"\r\n", GET, patience=0.2).closed
    assert not talk(GET + b"\r\n", patience=0.2).closed


def test_requests_that_wait_for_others_are_few() -> None:
    """Seen: 2.4 GB under TLS for 50 connections, each of which sends 30,000 at once."""
    for pieces in ([(GET + b"\r\n") * 1000], [(GET + b"\r\n") * 1000, GET + b"\r\n" + GET]):
        wire = talk(*pieces)
        assert wire.told.count(b"200 OK") == 1 + limits.MOST_QUEUED
        assert wire.told.count(b"connection: close") == 1
        assert wire.closed
    assert talk((GET + b"\r\n") * 17).told.count(b"200 OK") == 17
    assert not talk((GET + b"\r\n") * 17).closed


CHUNKED = b"POST /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


def test_little_comes_around_a_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: 3.3 GB for one connection with trailers without end."""
    for endless in (
        b"0\r\n" + b"a:b\r\n" * 4000,
        b"0\r\na: " + b"x" * 20_000,
        b"1;" + b"x" * 20_000,
    ):
        assert not talk(CHUNKED, endless[:9000]).closed
        assert talk(CHUNKED, endless[:9000], endless[9000:]).closed
    small = CHUNKED + b"1\r\nx\r\n" * 5000
    for body in (small, CHUNKED + b"1000\r\n" + bytes(4096) + b"\r\n"):
        wire = talk(
            *(body[start : start + 999] for start in range(0, len(body), 999)),
            b"0\r\na: b\r\n\r\n",
            GET + b"\r\n",
        )
        assert wire.told.count(b"200 OK") == 2
        assert not wire.closed
    kept = list[bytes]()
    monkeypatch.setattr(HttpToolsProtocol, "on_header", lambda _, name, value: kept.append(name))
    talk(CHUNKED + b"0\r\na: b\r\n\r\n")
    assert kept == [b"host", b"transfer-encoding"]


def read(*pieces: Message, announced: str = "0", limit: BodyLimits | None = None) -> Message:
    async def reading() -> Message:
        left = list(pieces)

        async def receive() -> Message:
            if not left:
                await asyncio.sleep(10)
            return left.pop(0)

        headers = [(b"content-length", announced.encode())]
        again = await whole_body(headers, receive, limit or BodyLimits(size=10, seconds=0.1))
        return await again()

    return asyncio.run(reading())


def piece(body: bytes, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_is_handed_on_whole() -> None:
    assert read(piece(b"12345", True), piece(b"67890", False))["body"] == b"1234567890"


@pytest.mark.parametrize(
    ("pieces", "announced", "status"),
    [
        ([piece(b"12345", True), piece(b"678901", False)], "0", 413),
        ([piece(b"", False)], "11", 413),
        ([piece(b"", False)], "-1", 413),
        ([piece(b"1", True)], "5", 408),
        ([piece(b"1", True), {"type": "http.disconnect"}], "5", 400),
    ],
)
def test_a_body_that_is_too_long_slow_or_cut(
    pieces: list[Message], announced: str, status: int
) -> None:
    with pytest.raises(Refused) as refused:
        read(*pieces, announced=announced)
    assert refused.value.status == status
