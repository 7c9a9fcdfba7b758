"""Connections that say nothing, speak slowly or do not read: they end, and keep nobody out; with
and without TLS."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
import uvicorn

from tacit.data.read import read
from tacit.fitting.run import fit
from tacit.methods import find
from tacit.serving.http import door
from tacit.serving.http.crowd import ConnectionCrowd, origin_of
from tacit.serving.http.door import CountedServer
from tacit.serving.http.plain import in_pieces

SECONDS = 1.0
"""For headers to come and answers to be read, in these tests."""
MOST = 24
"""Connections; three that are waited for from one address."""
BEGUN = b"POST /v1/join HTTP/1.1\r\nhost: x\r\n"
GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
LONG = b"GET /long HTTP/1.1\r\nhost: x\r\n\r\n"


async def app(scope, receive, send) -> None:
    """Answers everything, and /long with 16 MB."""
    body = bytes(16 << 20) if scope["path"] == "/long" else b"fine"
    headers = [(b"content-length", str(len(body)).encode())]
    send = in_pieces(send)
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Site:
    """A server in a thread, and who speaks to it."""

    def __init__(self, tls: tuple | None, proxies: tuple[str, ...] = ()) -> None:
        self.crowd = ConnectionCrowd(MOST, proxies)
        files = {} if tls is None else {"ssl_certfile": tls[1], "ssl_keyfile": tls[2]}
        config = uvicorn.Config(
            app, ws="none", log_level="error", lifespan="off", timeout_keep_alive=60, **files
        )
        self.context = None if tls is None else ssl.create_default_context(cafile=tls[0])
        listening = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.port = listening.getsockname()[1]
        self.server = CountedServer(config, self.crowd)
        self.thread = threading.Thread(target=self.server.run, args=([listening],))
        self.thread.start()
        until(lambda: self.server.started)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()

    def connect(self, source: str = "127.0.0.1", hello: bool = True) -> socket.socket:
        """A connection, behind a finished handshake if that is wanted."""
        made = socket.create_connection(("127.0.0.1", self.port), 60, (source, 0))
        if self.context is None or not hello:
            return made
        return self.context.wrap_socket(made, server_hostname="127.0.0.1")

    def ask(self, source: str) -> bytes:
        with self.connect(source) as connection:
            connection.sendall(GET)
            return read_answer(connection)


@pytest.fixture(params=["plain", "tls"])
def tls(request, tmp_path_factory, authority):
    """The authority, a certificate by it and its key, or nothing."""
    if request.param == "plain":
        return None
    return authority(tmp_path_factory.mktemp("tls"), "right")


@pytest.fixture
def site(monkeypatch, tls):
    monkeypatch.setattr(door, "HEADER_SECONDS", SECONDS)
    monkeypatch.setattr(door, "WRITE_SECONDS", SECONDS)
    made = Site(tls)
    yield made
    made.stop()


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not hung up; what it sends is passed over."""
    connection.settimeout(0.01)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True
    except OSError:
        return False


def until(true: Callable[[], bool]) -> None:
    """Wait for what must come, however busy the machine is."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def read_answer(connection: socket.socket) -> bytes:
    """Wait for the end of an answer."""
    seen = b""
    while not seen.endswith(b"fine"):
        part = connection.recv(1000)
        assert part, seen
        seen += part
    return seen


@pytest.mark.parametrize("kind", ["silent", "half a hello", "half a header"])
def test_silence_keeps_nobody_out_and_ends(site, kind) -> None:
    """Seen: connections before the hello were counted by nobody and lived for a minute."""
    held = []
    for _ in range(4 * MOST):
        held.append(site.connect(hello=kind == "half a header"))
        if kind == "half a hello":
            held[-1].sendall(b"\x16\x03\x01\x02" if site.context else BEGUN[:4])
        elif kind == "half a header":
            with contextlib.suppress(OSError):
                held[-1].sendall(BEGUN)
    assert site.crowd.count <= MOST
    for source in ("127.0.0.2", "127.0.0.1"):
        assert b"200 OK" in site.ask(source)
    until(lambda: not site.crowd.count)
    assert not any(is_open(each) for each in held)
    for each in held:
        each.close()


def test_who_does_not_read_keeps_nobody_out_and_is_ended(site) -> None:
    """Seen: an answer that nobody read was waited for without end."""
    held = []
    for _ in range(2 * MOST):
        held.append(site.connect())
        held[-1].sendall(LONG)
    for source in ("127.0.0.2", "127.0.0.1"):
        assert b"200 OK" in site.ask(source)
    until(lambda: not site.crowd.count)
    for each in held:
        each.close()


def test_who_reads_slowly_is_waited_for(site) -> None:
    """As long as some of an answer is read in time; here over three times that time."""
    with site.connect() as connection:
        connection.sendall(LONG)
        left = 16 << 20
        for _ in range(12):
            time.sleep(SECONDS / 4)
            some = 0
            while some < 1 << 20:
                some += len(connection.recv(1 << 16))
            left -= some
        while left > 0:
            part = connection.recv(1 << 20)
            assert part
            left -= len(part)


def test_the_rest_of_a_body_has_to_come_after_its_answer_too(site) -> None:
    """Seen: one byte after the answer, and nothing ended the connection any more."""
    with site.connect() as connection:
        connection.sendall(BEGUN + b"content-length: 1000000\r\n\r\n")
        read_answer(connection)
        connection.sendall(b"x")
        until(lambda: not is_open(connection))


def test_a_second_request_has_to_come_whole_too(site) -> None:
    with site.connect() as connection:
        connection.sendall(GET)
        read_answer(connection)
        time.sleep(1.5 * SECONDS)  # idle between two requests
        connection.sendall(GET)
        read_answer(connection)
        connection.sendall(GET[:10])
        until(lambda: not is_open(connection))


def test_one_address_has_a_share_and_a_proxy_has_none(tls) -> None:
    for proxies, expected in (((), MOST // 2), (("127.0.0.1",), MOST)):
        site = Site(tls, proxies)
        try:
            held = [site.connect(hello=False) for _ in range(2 * MOST)]
            until(lambda site=site, expected=expected: site.crowd.count == expected)
            for each in held:
                with contextlib.suppress(OSError):
                    each.sendall(b"\x16\x03\x01\x02" if tls else BEGUN)
            spoken = expected if proxies else MOST // 8
            until(lambda site=site, spoken=spoken: site.crowd.count == spoken)
            for each in held:
                each.close()
        finally:
            site.stop()


def test_an_address_that_waits_for_answers_gives_one_up_for_others() -> None:
    async def run() -> None:
        crowd, gone = ConnectionCrowd(16), []
        for number in range(16):
            seat = crowd.enter("10.0.0.1")
            seat.end = lambda number=number: gone.append(number)
            seat.work()
        assert crowd.enter("10.0.0.1") is None
        assert crowd.enter("10.0.0.2") is not None
        assert gone == [0]
        assert crowd.count == 16
        assert crowd.enter("10.0.0.3") is not None  # the one that says nothing goes first
        assert gone == [0]

    asyncio.run(run())


def test_addresses_as_budgets_know_them() -> None:
    assert origin_of("::ffff:10.0.0.1") == "10.0.0.1"
    assert origin_of("2001:db8::1%eth0") == origin_of("2001:db8::ffff:1") == "2001:db8::"
    assert origin_of("2001:db8:0:1::1") != origin_of("2001:db8::1")


FEW_FILES = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from pathlib import Path
from tacit.serving.app import Options, build
from tacit.serving.run import Place, run
model, cert, key = sys.argv[1:]
server = build([Path(model)], Options(logs=False, tls=bool(cert)))
run(server, Place(port=0, tls_cert=cert or None, tls_key=key or None),
    lambda page, metrics: print(json.dumps(page), flush=True))
"""


def test_a_page_with_few_files_is_served_through_silence(authority, tmp_path) -> None:
    """Seen: 2,600 connections without a hello, 2,048 files, and everybody was reset."""
    table = tmp_path / "table.csv"
    rows = [f"p{k},i{j},{1 + (k + j) % 5}\n" for k in range(9) for j in range(3)]
    table.write_text("user,item,rating\n" + "".join(rows))
    model = tmp_path / "model"
    made = find("popularity")(epsilon=1.0, ledger=str(tmp_path / "book"))
    fit(made, read(table, (1, 5)), users=9).save(model)
    ca, cert, key = authority(tmp_path, "right")
    context = ssl.create_default_context(cafile=ca)
    program = [sys.executable, "-c", FEW_FILES, str(model), str(cert), str(key)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(json.loads(process.stdout.readline()).rpartition(":")[2])
            held = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(200)]
            for source in ("127.0.0.2", "127.0.0.1"):
                for _ in range(5):
                    asked = http.client.HTTPSConnection(
                        "127.0.0.1",
                        port,
                        timeout=60,
                        source_address=(source, 0),
                        context=context,
                    )
                    asked.request("GET", "/models.json")
                    assert asked.getresponse().status in (200, 404)
                    asked.close()
            for each in held:
                each.close()
        finally:
            process.terminate()
