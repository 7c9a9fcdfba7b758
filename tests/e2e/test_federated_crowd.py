"""Connections that say nothing, or begin and never end, by the thousand: honest devices are
served all the same, with and without TLS. Ten thousand with `--full`."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
import urllib.request

import numpy as np
import pytest

CROWD = 10_000
FEW = 1_400
FILES = 600
"""That the servers of the small test may open: fewer than there are connections."""
SOME = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0})); "
MAIN = "from tacit.cli.main import main; main()"
BEGUN = b"POST /v1/join HTTP/1.1\r\nhost: x\r\ncontent-length: 90\r\n"


@pytest.fixture
def many_files():
    """This process holds the other ends."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    hard = before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def crowd(port: int, count: int) -> list[socket.socket]:
    """Every other one has begun a request; under TLS it has said no hello."""
    made = []
    for number in range(count):
        made.append(socket.create_connection(("127.0.0.1", port), timeout=60))
        if number % 2:
            with contextlib.suppress(OSError):
                made[-1].sendall(BEGUN)
    return made


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_a_silent_crowd_keeps_nobody_out(
    federation, small, full, many_files, secure, authority, tmp_path
) -> None:
    """The servers have files for fewer; a round goes on while the crowd comes back."""
    count = CROWD if full else FEW
    if many_files < count + 500:
        pytest.skip(f"this process may open {many_files} files only")
    options, trust = dict(small.faultless), {}
    if secure:
        ca, certificate, key = authority(tmp_path, "right")
        own = ["--tls-cert", str(certificate), "--tls-key", str(key)]
        options |= {"aggregator": own, "tls_cert": certificate, "tls_key": key, "ca": ca}
        trust = {"ca": str(ca)}
    f = federation(small.ratings, **options)
    if secure:
        f.url = {role: f"https://127.0.0.1:{port}" for role, port in f.port.items()}
        f.context = ssl.create_default_context(cafile=ca)
    if not full:
        some = SOME.format(FILES) + MAIN
        f.main |= {"recommender": some, "aggregator": some}
    f.start()
    held: list[socket.socket] = []

    def come() -> None:
        for each in held:
            each.close()
        held.clear()
        for role in ("recommender", "aggregator"):
            held.extend(crowd(f.port[role], count // 2))

    def served(role: str) -> bool:
        """Within half the time after which silence ends by itself."""
        for _ in range(5):
            # a line may be cut in the crowd, and a machine be slow: it comes anew then
            with contextlib.suppress(ConnectionError, TimeoutError):
                url = f"{f.url[role]}/healthz"
                with urllib.request.urlopen(url, timeout=5, context=f.context) as answer:
                    return answer.status == 200
            come()
        return False

    async def run() -> None:
        await asyncio.to_thread(come)
        for role in ("recommender", "aggregator"):
            assert await asyncio.to_thread(served, role)
        fleet = asyncio.create_task(f.fleet(**trust))
        while not fleet.done():
            await asyncio.to_thread(come)
            await asyncio.wait([fleet], timeout=2)
        assert not (await fleet).failed

    try:
        asyncio.run(asyncio.wait_for(run(), 600))
        f.published()
    finally:
        for each in held:
            each.close()
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
