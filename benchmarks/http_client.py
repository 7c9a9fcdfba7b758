"""What a request costs a fleet with our own HTTP client, and with the libraries that people
would reach for. Prints CPU microseconds of the client's process a request.

    python benchmarks/http_client.py [--requests 20000] [--devices 200]

A library that is not installed is left out. The server is a process of its own and answers
every upload of 5 KB with 200 bytes. See docs/decisions/0009-http-client.md.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

BODY = bytes(5_000)
ANSWER = bytes(200)
HEADERS = {f"tacit-{name}": "0" * 64 for name in ("device", "key", "head", "mac")}
REPEATS = 3

Send = Callable[[], Awaitable[int]]


class _Answers(asyncio.Protocol):
    """Reads requests of one known length, and answers each."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.left = bytearray()

    def data_received(self, data: bytes) -> None:
        self.left += data
        while (end := self.left.find(b"\r\n\r\n")) >= 0:
            whole = end + 4 + len(BODY)
            if len(self.left) < whole:
                return
            del self.left[:whole]
            head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(ANSWER)}\r\n\r\n"
            self.transport.write(head.encode() + ANSWER)


def _serve(port: int) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(_Answers, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(run())


async def _ours(url: str) -> tuple[AbstractAsyncContextManager[Any], Send]:
    from tacit.federation.protocol.http import Web

    web = Web()

    async def send() -> int:
        return (await web.post(url, "/v1/upload", BODY, HEADERS)).status

    return web, send


async def _aiohttp(url: str) -> tuple[AbstractAsyncContextManager[Any], Send]:
    import aiohttp

    lines = aiohttp.TCPConnector(limit=0)
    session = aiohttp.ClientSession(connector=lines)

    async def send() -> int:
        path = f"{url}/v1/upload"
        async with session.post(path, data=BODY, headers=HEADERS) as answer:
            await answer.read()
            return answer.status

    return session, send


async def _httpx(url: str) -> tuple[AbstractAsyncContextManager[Any], Send]:
    import httpx

    limits = httpx.Limits(max_connections=None)
    client = httpx.AsyncClient(limits=limits)

    async def send() -> int:
        path = f"{url}/v1/upload"
        return (await client.post(path, content=BODY, headers=HEADERS)).status_code

    return client, send


CLIENTS = {"ours": _ours, "aiohttp": _aiohttp, "httpx": _httpx}


async def _cost(make: Any, url: str, requests: int, devices: int) -> float:
    """CPU seconds a request, the first of each connection left out."""
    closing, send = await make(url)
    async with closing:

        async def device(count: int) -> None:
            for _ in range(count):
                assert await send() == 200

        await asyncio.gather(*(device(1) for _ in range(devices)))
        before = time.process_time()
        each = requests // devices
        await asyncio.gather(*(device(each) for _ in range(devices)))
        return (time.process_time() - before) / (each * devices)


def main() -> None:
    """Measure every client that is there, in turns, and print the best of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--devices", type=int, default=200)
    asked = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.Process(target=_serve, args=(port,), daemon=True)
    server.start()
    time.sleep(1)
    best: dict[str, float] = {}
    for _ in range(REPEATS):
        for name, make in CLIENTS.items():
            url = f"http://127.0.0.1:{port}"
            run = _cost(make, url, asked.requests, asked.devices)
            try:
                found = asyncio.run(run)
            except ImportError:
                continue
            best[name] = min(found, best.get(name, found))
    server.terminate()
    for name, seconds in best.items():
        ratio = seconds / best["ours"]
        print(f"{name:8} {seconds * 1e6:7.0f} us a request  {ratio:5.1f} x")


if __name__ == "__main__":
    main()
