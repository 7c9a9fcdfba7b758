"""Nonsense with a valid MAC: enrolled devices send messages of the right shape with wrong
members, lengths and bytes to every door of both servers. A hundred thousand with `--full`.

None may end in a status 500, memory stays small, and the training afterwards is the one that
nobody disturbed.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.federation.device.client import Conversation, KnownServer, fetch_task
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import head_tag, new_exchange, tag
from tacit.federation.protocol.wire import Join, Upload, pack
from tacit.methods import find

MESSAGES = 100_000
FEW = 1_000
DEVICES = 6
MOST_MEGABYTES = 300
PATIENCE = 1.0
"""Seconds for an answer: a join that is right waits for its round."""
DOORS = {
    "recommender": ("enrol", "rotate", "join", "task", "status", "model"),
    "aggregator": ("enrol", "rotate", "upload", "open", "close"),
}
WRONG: tuple[Any, ...] = (
    None,
    -1,
    0,
    1,
    2**31,
    2**63,
    2**64,
    10**30,
    1e308,
    1.5,
    True,
    "",
    "0",
    "ff" * 16,
    "\x00",
    "é",
    "x" * 5000,
    [],
    [[]],
    {},
    {"a": {}},
    [0] * 1000,
    [-1, -1],
    [2**62, 2**62],
)
"""Values that stand where another was meant."""


class Nonsense:
    """Makes messages from good ones."""

    def __init__(self, made: Any, seed: int) -> None:
        self.made = made
        self.rng = random.Random(seed)

    def body(self, door: str) -> bytes:
        """A message for this door, and something wrong with it, most of the time."""
        good = self._good(door)
        how = self.rng.randrange(8)
        if how == 0:
            return good
        if how == 1:
            return self.rng.randbytes(self.rng.choice((0, 1, 7, 64, 3000)))
        if how == 2:
            return good[: self.rng.randrange(len(good) + 1)]
        if how == 3:
            return good + self.rng.randbytes(self.rng.randrange(1, 400))
        if how == 4:
            return self._flipped(good)
        return self._member(good)

    def _good(self, door: str) -> bytes:
        task, rng = self.made.task, self.rng
        index = rng.randrange(len(self.made.plan.rounds))
        if door == "join":
            lists = any(p.sparse for p in self.made.layouts(0))
            join = Join(task=task.name, stamp=time.time_ns(), items=lists)
            rows = np.arange(rng.randrange(9), dtype=np.uint32)
            return pack(join, rows.tobytes() if lists else b"")
        if door in ("upload", "open", "close"):
            upload = Upload(
                task=task.name,
                round=index,
                attempt=rng.randrange(2),
                least=task.least,
                rows=(0,) * sum(p.sparse for p in self.made.layouts(index)),
                layouts=self.made.agreed(index),
            )
            words = rng.choice((0, 8, 64, 4096))
            return pack(upload, rng.randbytes(words))
        facts = {"public": rng.randbytes(32).hex()}
        if door == "rotate":
            facts |= {"stamp": str(time.time_ns()), "proof": "00" * 32}
        return json.dumps(facts).encode()

    def _flipped(self, good: bytes) -> bytes:
        changed = bytearray(good)
        for _ in range(self.rng.randrange(1, 6)):
            if changed:
                changed[self.rng.randrange(len(changed))] = self.rng.randrange(256)
        return bytes(changed)

    def _member(self, good: bytes) -> bytes:
        """One member of the header, or of the JSON, is another thing."""
        start, stop = good.find(b"{"), good.rfind(b"}") + 1
        try:
            facts = json.loads(good[start:stop])
        except ValueError:
            return good
        name = self.rng.choice(list(facts)) if facts else "more"
        how = self.rng.randrange(4)
        if how == 0:
            facts.pop(name, None)
        elif how == 1:
            facts["more"] = self.rng.choice(WRONG)
        else:
            facts[name] = self.rng.choice(WRONG)
        text = json.dumps(facts).encode()
        length = good[:start]
        if length and self.rng.random() < 0.8:  # a frame: its header's length
            length = length[:-4] + len(text).to_bytes(4, "little")
        return length + text + good[stop:]

    def headers(self, link: Conversation, server: KnownServer, path: str, body: bytes):
        """Those of an enrolled device; at times one of them is wrong."""
        from tacit.federation.protocol.keys import shared_secrets

        key = shared_secrets(link.private, server.keys[server.current]).mac
        made = {
            "tacit-device": link.name,
            "tacit-key": server.current,
            "tacit-head": head_tag(key, "POST", path, len(body)),
            "tacit-mac": tag(key, b"request", b"POST", path.encode(), body),
        }
        if self.rng.random() < 0.25:
            name = self.rng.choice(list(made))
            wrong = ("", "0", "zz", "00" * 32, "ff" * 500, "é".encode().hex())
            made[name] = self.rng.choice(wrong)
        return made


async def enrolled(f: Any, web: Web) -> tuple[Any, list[Conversation]]:
    recommender = KnownServer(f.url["recommender"], f.pin["recommender"])
    await recommender.learn(web)
    made, aggregator = await fetch_task(web, recommender)
    await aggregator.learn(web)
    links = []
    for _ in range(DEVICES):
        link = Conversation(web, recommender, aggregator, new_exchange()[0])
        await link.enrol()
        links.append(link)
    return made, links


async def fuzz(f: Any, count: int) -> Counter[int]:
    """So many messages; how often each status came."""
    seen: Counter[int] = Counter()
    async with Web() as web:
        made, links = await enrolled(f, web)

        async def one_device(place: int) -> None:
            link = links[place]
            nonsense = Nonsense(made, place)
            for _ in range(count // DEVICES):
                role = nonsense.rng.choice(list(DOORS))
                door = nonsense.rng.choice((*DOORS[role], "nowhere"))
                server = getattr(link, role)
                path = f"/v1/{door}"
                body = nonsense.body(door)
                headers = nonsense.headers(link, server, path, body)
                try:
                    answer = await asyncio.wait_for(
                        web.post(server.url, path, body, headers), PATIENCE
                    )
                    seen[answer.status] += 1
                except TimeoutError:
                    seen[0] += 1  # a join waits for its round
                except OSError:
                    seen[-1] += 1  # it hung up

        await asyncio.gather(*(one_device(n) for n in range(DEVICES)))
    return seen


def megabytes(process: Any) -> float:
    """The most memory that a process has had."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [x for x in text.splitlines() if x.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


@pytest.mark.parametrize("method", ["bias", "mf-federated"])
def test_nonsense_ends_in_refusals(federation, small, full, method) -> None:
    """With a plain round, and with a printed one, whose devices list their items."""
    if method != "bias" and not full:
        pytest.skip("one kind of round will do: the other with scripts/test --full")
    options = dict(small.faultless, seconds=4)
    if method == "bias":
        options |= {"method": "bias", "set": {}}
    f = federation(small.ratings, **options)
    f.start()
    count = (MESSAGES if full else FEW) // 2
    seen = asyncio.run(fuzz(f, count))
    assert sum(seen.values()) >= count - DEVICES
    logs = {role: f.log(role)[-1500:] for role in DOORS}
    assert not [status for status in seen if status >= 500], (seen, logs)
    assert seen[400] > count / 20
    for role in DOORS:
        assert megabytes(f.processes[role]) < MOST_MEGABYTES
        assert "fault" not in f.log(role)
    f.train()
    found = f.model().shared.arrays
    if method == "bias":
        twin = find("bias")(calibration="none", engine="federated")
        expected = twin.fit(small.ratings, users=12).model_.shared.arrays
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[n], expected[n]) for n in expected)
    else:
        assert np.array_equal(found["loadings"], small.expected)
