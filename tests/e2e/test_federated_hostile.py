"""One enrolled device against everybody: the training goes on, or ends with a reason that
every device is told."""

from __future__ import annotations

import asyncio
import json
import time

import numpy as np
import pytest
from patience import PATIENCE

from tacit.errors import Failure
from tacit.federation.device.client import Away, Conversation, KnownServer, TurnedDown, fetch_task
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import new_exchange, public_of, rotation_proof, shared_secrets
from tacit.federation.protocol.wire import Upload, pack

P = 2**255 - 19
ORDER_8 = [
    bytes.fromhex(text)
    for text in (
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    )
]
LOW_ORDER = [
    *(n.to_bytes(32, "little") for n in (0, 1, P - 1, P, P + 1)),
    *ORDER_8,
    (2**255).to_bytes(32, "little"),
]
"""Points whose secret is zeros for every private key, in more than one spelling."""


class Hostile:
    """An enrolled device that does what it wants."""

    def __init__(self, f) -> None:
        self.f = f

    async def __aenter__(self):
        self.web = Web()
        recommender = KnownServer(self.f.url["recommender"], self.f.pin["recommender"])
        await recommender.learn(self.web)
        self.made, aggregator = await fetch_task(self.web, recommender)
        await aggregator.learn(self.web)
        private = new_exchange()[0]
        self.link = Conversation(self.web, recommender, aggregator, private)
        await self.link.enrol()
        return self

    async def __aexit__(self, *_) -> None:
        await self.web.close()

    async def status(self, server, path: str, body: bytes) -> int:
        try:
            await self.link.call(server, path, body)
        except TurnedDown as refused:
            return refused.status
        except Away as away:
            return int(str(away))
        return 200

    async def rotate(self, server, public: bytes, private: bytes, stamp) -> int:
        """A rotation to this key, proven with that one."""
        try:
            mac = shared_secrets(private, server.keys[server.current]).mac
        except ValueError:
            mac = bytes(32)
        facts = {
            "public": public.hex(),
            "stamp": stamp,
            "proof": rotation_proof(mac, self.link.name, stamp),
        }
        body = json.dumps(facts).encode()
        return await self.status(server, "/v1/rotate", body)


def test_one_device_cannot_end_a_training(federation, small) -> None:
    """Uploads without joining, to every attempt there could be, with any least cohort, and
    keys that keep no secret."""
    f = federation(small.ratings, **small.faultless)
    f.start()

    async def run() -> set[int]:
        async with Hostile(f) as h:
            link, made = h.link, h.made
            got = set()
            for server in (link.recommender, link.aggregator):
                for n, point in enumerate(LOW_ORDER):
                    found = await h.rotate(server, point, link.private, n)
                    assert found == 400, point.hex()
            fleet = asyncio.create_task(f.fleet())
            while not fleet.done():
                for index in range(len(made.plan.rounds)):
                    upload = Upload(
                        task=made.task.name,
                        round=index,
                        attempt=0,
                        least=made.task.least,
                        rows=(0,) * sum(p.sparse for p in made.layouts(index)),
                        layouts=made.agreed(index),
                    )
                    huge = upload.model_copy(update={"least": 1 << 62})
                    for each in (upload, huge):
                        got.add(await h.status(link.aggregator, "/v1/upload", pack(each)))
                await asyncio.sleep(0.05)
            assert not (await fleet).failed
            return got

    got = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert 403 in got
    assert not got & {200, 500}
    f.published()
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
    assert "out of range" not in f.log("recommender")


def test_a_rotation_is_proven_and_never_comes_back(federation, small) -> None:
    f = federation(small.ratings, **small.faultless)
    f.start()

    async def run() -> dict[str, int]:
        async with Hostile(f) as h:
            link = h.link
            server, first = link.aggregator, link.private
            second, third = new_exchange()[0], new_exchange()[0]
            now = time.time_ns()
            got = {
                "another's key": await h.rotate(server, public_of(second), third, now),
                "second": await h.rotate(server, public_of(second), second, now),
            }
            h.link = Conversation(h.web, link.recommender, server, second, link.name)
            got["back"] = await h.rotate(server, public_of(first), first, now + 1)
            h.link = link
            got["replayed"] = await h.rotate(server, public_of(second), second, now)
            return got

    assert asyncio.run(run()) == {"another's key": 401, "second": 200, "back": 200, "replayed": 409}


def test_devices_that_wait_are_told_of_an_end_and_why(federation, small) -> None:
    """The aggregator asks for more devices than the task: no round can be opened."""
    f = federation(small.ratings, **small.faultless, aggregator=["--least", "1000"])
    f.start("aggregator")
    f.start("recommender", wait=False)

    async def run():
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return await f.fleet()
            except Failure:
                assert time.monotonic() < until
                await asyncio.sleep(0.2)

    report = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert len(report.failed) == small.ratings.n_users
    assert all("stopped" in each and "refused to open" in each for each in report.failed)
    with pytest.raises(OSError, match="503"):
        f.get("recommender", "/healthz")
