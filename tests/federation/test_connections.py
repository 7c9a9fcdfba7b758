"""Connections that say nothing: they end, and keep nobody out."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Callable

import pytest
import uvicorn

from tacit.serving.http import lines

HEADER_SECONDS = 1.0
"""For headers to come, in these tests."""


async def app(scope, receive, send) -> None:
    """Answers everything."""
    headers = [(b"content-length", b"4")]
    start = {"type": "http.response.start", "status": 200, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": b"fine"})


@pytest.fixture
def port(monkeypatch):
    monkeypatch.setattr(lines, "HEADER_SECONDS", HEADER_SECONDS)
    monkeypatch.setattr(lines, "MOST_CONNECTIONS", 20)
    config = uvicorn.Config(
        app,
        port=0,
        http=lines.Patience,
        ws="none",  # as our servers have it
        log_level="error",
        lifespan="off",
        timeout_keep_alive=60,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not hung up."""
    connection.settimeout(0.01)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


def until(true: Callable[[], bool]) -> None:
    """Wait for what must come, however busy the machine is."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def read_answer(connection: socket.socket) -> None:
    """Wait for the end of an answer."""
    seen = b""
    while not seen.endswith(b"fine"):
        part = connection.recv(1000)
        assert part, seen
        seen += part


def test_half_sent_headers_keep_nobody_out_and_end(port) -> None:
    """Seen: 1,200 of them stayed open."""
    slow = []
    for _ in range(40):
        slow.append(socket.create_connection(("127.0.0.1", port)))
        slow[-1].sendall(b"POST /v1/join HTTP/1.1\r\nhost: x\r\n")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
        assert answer.read() == b"fine"
    until(lambda: sum(is_open(each) for each in slow) <= 20)
    until(lambda: not any(is_open(each) for each in slow))
    until(lambda: not lines._silent)
    for each in slow:
        each.close()


def test_a_second_request_has_to_come_whole_too(port) -> None:
    connection = socket.create_connection(("127.0.0.1", port))
    whole = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
    connection.sendall(whole)
    read_answer(connection)
    time.sleep(1.5 * HEADER_SECONDS)  # idle between two requests
    connection.sendall(whole)
    read_answer(connection)
    connection.sendall(whole[:10])
    until(lambda: not is_open(connection))
    connection.close()
