"""Devices with good tickets that send garbage: any rows, any words, any report, any slice, any
number of rows held. Sums may be out of range; no training stops, and no server has a fault."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE

from tacit.federation.agreed.assembled import Assembled
from tacit.federation.device.client import Away, Conversation, KnownServer, TurnedDown, fetch_task
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import new_exchange
from tacit.federation.protocol.packing import packed_size
from tacit.federation.protocol.wire import Announcement, Join, PartLayout, Upload, pack, unpack

SOUND = {"calibration": "sound", "epsilon": 30, "delta": 1e-5}
LOCAL = {"calibration": "sound", "epsilon": 4}
PAPER = {"calibration": "paper", "epsilon": 1.0, "accept_unbounded": True}
HUA = {"factors": 4, "rounds": 3, "cohort": 14}
SHIN = {"rank": 3, "projection": 8, "rounds": 3}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mf-federated S2": ({"calibration": "none"}, HUA | {"scheme": "S2"}),
    "mf-federated S3": (PAPER | {"unit": "value"}, HUA | {"scheme": "S3"}),
    "bayes": (SOUND, {}),
    "als": (SOUND, {}),
    "one-bit": (LOCAL, {}),
    "one-bit-projected": (LOCAL, {}),
    "one-bit-projected printed": (PAPER, SHIN),
    "one-bit-naive": (LOCAL, {}),
}
"""By method (its first word): how it is trained, and its settings."""
ODD = (0, 1, 7, -1, 2**53, 2**63 - 1, -(2**63))
"""Words of a report."""


class Garbage:
    """Makes uploads that pass the gate and mean nothing."""

    def __init__(self, made: Assembled, seed: str) -> None:
        self.made = made
        self.rng = random.Random(seed)

    def rows(self, size: int) -> bytes:
        """Some rows, none, or all of them."""
        count = self.rng.choice((0, 1, 3, size))
        found = self.rng.sample(range(size), count)
        return np.sort(np.array(found, "<u4")).tobytes()

    def part(self, layout: PartLayout) -> tuple[bytes, int]:
        """A part of a payload, and how many rows it has."""
        if layout.report:
            words = [self.rng.choice(ODD) for _ in range(2)]
            return np.array(words, "<i8").tobytes(), 0
        rows = self.rows(layout.size) if layout.sparse else b""
        count = len(rows) // 4 if layout.sparse else layout.size
        length = packed_size(count * layout.width, layout.bits)
        bits = count * layout.width * layout.bits
        words = self.rng.choice((0, (1 << bits) - 1, self.rng.getrandbits(bits) if bits else 0))
        return rows + words.to_bytes(length, "little"), count

    def upload(self, told: Announcement) -> bytes:
        layouts = self.made.layouts(told.round)
        parts = [self.part(each) for each in layouts]
        counts = [count for (_, count), each in zip(parts, layouts, strict=True) if each.sparse]
        header = Upload(
            task=told.task,
            round=told.round,
            attempt=told.attempt,
            least=told.least,
            ticket=told.ticket,
            rows=tuple(counts),
            layouts=self.made.agreed(told.round),
        )
        return pack(header, b"".join(payload for payload, _ in parts))

    def join(self, link: Conversation, done: tuple[int, int]) -> bytes:
        shown = self.made.scheme.shows_items
        join = Join(
            task=self.made.task.name,
            stamp=link.stamp(),
            done=done,
            place=self.rng.choice((0, 5, 16, 19, 2**53 - 1)),
            holds=self.rng.choice((0, 1, 3, 2**31 - 1)),
            items=shown,
        )
        size = len(self.made.public.catalogue)
        return pack(join, self.rows(size) if shown else b"")


async def hostile(f: Any, seed: str) -> str:
    """A device that takes part in every round until it is told why there are no more."""
    async with Web() as web:
        recommender = KnownServer(f.url["recommender"], f.pin["recommender"])
        await recommender.learn(web)
        made, aggregator = await fetch_task(web, recommender)
        await aggregator.learn(web)
        link = Conversation(web, recommender, aggregator, new_exchange()[0])
        await link.enrol()
        garbage, done = Garbage(made, seed), (-1, -1)
        while True:
            try:
                body = garbage.join(link, done)
                found = await link.call(recommender, "/v1/join", body)
                told = unpack(Announcement, found)[0]
                done = (told.round, told.attempt)
                upload = garbage.upload(told)
                await link.call(aggregator, "/v1/upload", upload)
            except Away:
                await asyncio.sleep(0.05)
            except TurnedDown as refused:
                over = "the round is over" in refused.reason
                if refused.status == 410 and not over:
                    return refused.reason


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alone", [False, True])
def test_garbage_stops_no_training(federation, small, full, case, alone) -> None:
    """Beside honest devices; and in the local model, where one will do, without any."""
    local = case.startswith("one-bit")
    if alone and not local:
        pytest.skip("nobody is summed alone")
    if not full:
        pytest.skip("only with scripts/test --full")
    more, settings = CASES[case]
    f = federation(
        small.ratings,
        method=case.split()[0],
        cohort=14,
        least=1 if local else 12,
        seconds=2,
        gather=0.5,
        set=settings,
        aggregator=["--least", "1"],
        **more,
    )
    f.start()
    policy = Policy(epsilon=1000, delta=1e-5, accept_unbounded=True)

    async def run() -> list[str]:
        cheats = [asyncio.create_task(hostile(f, f"{case} {place}")) for place in range(2)]
        if not alone:
            assert not (await f.fleet(policy=policy)).failed
        return await asyncio.gather(*cheats)

    told = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert told == ["the training is over"] * 2
    f.published()
    for role in ("recommender", "aggregator"):
        assert '"fault"' not in f.log(role)
