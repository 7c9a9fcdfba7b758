"""What the speed of a federation rests on: connections that stay open, group commits,
frames written by hand."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tacit.errors import Failure, SettingError
from tacit.federation.device.client import Away, KnownServer, fetch_task
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import Identity
from tacit.federation.protocol.wire import Opening, PartLayout, ascending
from tacit.federation.server import remote
from tacit.federation.server.remote import RemoteAggregator
from tacit.federation.server.store import ServerStore


class Scripted:
    """A server that answers each request with the next bytes of a script and counts its
    connections."""

    def __init__(self, *script: bytes, pause: float = 0.0) -> None:
        self.script, self.pause = list(script), pause
        self.connections = 0
        self.heads = list[str]()
        self.bodies = list[bytes]()

    async def __aenter__(self) -> Scripted:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.script:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    int(x.split(":")[1])
                    for x in head.splitlines()
                    if x.startswith("content-length")
                )
                self.heads.append(head)
                self.bodies.append(await reader.readexactly(length))
                await asyncio.sleep(self.pause)
                writer.write(self.script.pop(0))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def answer(body: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


def test_one_connection_serves_many_requests() -> None:
    async def run() -> tuple[int, list[bytes], list[bytes]]:
        async with (
            Scripted(answer(b"one"), answer(b"two"), answer(b"three")) as server,
            Web() as web,
        ):
            found = [(await web.post(server.url, "/x", bytes([k]), {})).body for k in range(3)]
            return server.connections, found, server.bodies

    assert asyncio.run(run()) == (1, [b"one", b"two", b"three"], [b"\x00", b"\x01", b"\x02"])


def test_requests_at_the_same_time_do_not_meet() -> None:
    async def run() -> int:
        async with Scripted(*[answer(b"fine")] * 5, pause=0.05) as server, Web() as web:
            await asyncio.gather(*(web.get(server.url, "/x") for _ in range(5)))
            return server.connections

    assert asyncio.run(run()) == 5


def test_status_headers_and_chunks_are_read() -> None:
    chunked = (
        b"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\nTacit-MAC: "
        b"ab\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )

    async def run() -> object:
        async with Scripted(chunked) as server, Web() as web:
            return await web.post(server.url + "/base", "/x", b"", {"tacit-key": "k"}), server.heads

    found, heads = asyncio.run(run())  # type: ignore[misc]
    assert (found.status, found.headers["tacit-mac"], found.body) == (409, "ab", b"abcde")
    assert heads[0].startswith("POST /base/x HTTP/1.1\r\nhost: 127.0.0.1:")
    assert "\r\ntacit-key: k\r\n" in heads[0]


def test_a_server_that_wants_to_close_gets_a_new_connection() -> None:
    async def run() -> int:
        async with (
            Scripted(answer(b"", more="Connection: close\r\n"), answer(b"")) as server,
            Web() as web,
        ):
            for _ in range(2):
                await web.get(server.url, "/x")
            return server.connections

    assert asyncio.run(run()) == 2


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next() -> None:
    async def run() -> bytes:
        async with (
            Scripted(answer(b"late"), answer(b"right"), pause=0.15) as server,
            Web(seconds=0.05) as web,
        ):
            with pytest.raises(TimeoutError):
                await web.get(server.url, "/x")
            web._seconds = 5.0
            return (await web.get(server.url, "/x")).body

    assert asyncio.run(run()) == b"right"


@pytest.mark.parametrize(
    "script", [b"SMTP ready\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b""]
)
def test_what_is_no_whole_answer_is_an_os_error(script) -> None:
    async def run() -> None:
        async with Scripted(script) as server, Web(seconds=5.0) as web:
            await web.get(server.url, "/x")

    with pytest.raises(OSError):
        asyncio.run(run())


def test_nobody_there_is_an_os_error() -> None:
    async def run() -> None:
        async with Web() as web:
            await web.get("http://127.0.0.1:1", "/x")

    with pytest.raises(OSError):
        asyncio.run(run())


@pytest.mark.parametrize(
    "url", ["ftp://host", "host:80", "http://", "http://host:port", "http://a b\n"]
)
def test_what_is_no_address_is_refused(url) -> None:
    with pytest.raises(SettingError):
        asyncio.run(Web().get(url, "/x"))


def test_works_that_come_together_are_one_commit(tmp_path) -> None:
    store = ServerStore(
        tmp_path / "s.sqlite", (("CREATE TABLE n (k INTEGER PRIMARY KEY)",),), "test"
    )

    async def run() -> None:
        def work(k: int):
            return store.write(lambda s: s.run("INSERT INTO n VALUES (?)", k))

        await asyncio.gather(*(work(k) for k in range(100)))

    before = store.commits
    asyncio.run(run())
    together = store.commits - before
    asyncio.run(run_alone(store))  # another loop, after the first has ended
    count = store.write_blocking(lambda s: s.run("SELECT COUNT(*) FROM n"))[0][0]
    store.close()
    assert together == 1
    assert count == 101


async def run_alone(store: ServerStore) -> None:
    await store.write(lambda s: s.run("INSERT INTO n VALUES (100)"))


def test_state_is_what_safetensors_reads() -> None:
    from safetensors.numpy import load

    state = {
        "f": np.arange(6.0).reshape(2, 3),
        "g": np.arange(8, dtype=np.float32)[::2],
        "k": np.zeros((0, 4), np.int32),
        "w": np.arange(3, dtype=np.uint32),
        "x": np.arange(3, dtype=np.uint64),
        "b": np.array([True, False]),
        "u": np.arange(5, dtype=np.uint8),
        "i": np.arange(2),
    }
    packed = pack_state(state)
    for found in (load(packed), unpack_state(packed)):
        assert set(found) == set(state)
        assert all(
            found[n].dtype == a.dtype and np.array_equal(found[n], a) for n, a in state.items()
        )


@pytest.mark.parametrize(
    ("rows", "fine"),
    [
        ([], True),
        ([9], True),
        ([10], False),
        ([0, 3, 9], True),
        ([0, 3, 3], False),
        ([3, 0], False),
        ([0, 10], False),
    ],
)
def test_rows_ascend_inside_the_array(rows, fine) -> None:
    assert ascending(np.array(rows, np.uint32), 10) == fine


# who is away for a moment, or lets a proxy speak, is asked again


@pytest.mark.parametrize("status", ["408 Slow", "429 Much", "503 Away"])
def test_an_aggregator_that_is_busy_is_asked_again(tmp_path, monkeypatch, status) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.001)
    identity = Identity(tmp_path / "one.json")
    layout = PartLayout(name="x", size=1, width=1, bits=32)
    opening = Opening(task="ab" * 8, round=0, attempt=0, least=2, parts=(layout,))

    async def run() -> int:
        busy = answer(b"{}", status)
        async with Scripted(busy, busy, answer(b"{}", "403 No")) as server:
            other = RemoteAggregator(server.url, identity.public.hex(), identity)
            with pytest.raises(Failure, match="403"):
                await other.open(opening)
            await other.stop()
            return len(server.bodies)

    assert asyncio.run(run()) == 3


def test_a_proxy_that_speaks_for_a_server_is_no_server() -> None:
    """A device that asks for keys in the middle of a training would else leave for good."""
    page = answer(b"<html>Bad gateway</html>", "502 Bad Gateway")

    async def run() -> None:
        async with Scripted(page, page) as server, Web() as web:
            known = KnownServer(server.url, "ab" * 32)
            with pytest.raises(Away):
                await known.learn(web)
            with pytest.raises(Away):
                await fetch_task(web, known)

    asyncio.run(run())
