"""What one enrolled device can try while others train: each message is refused by itself,
and the model is the one that the others make.

One training; the hostile device joins every round, does in it what follows, and comes with a
good upload when the round is over.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE
from tests.e2e.conftest import Federation

from tacit.data.sample import sample
from tacit.federation.device.client import Away, Conversation, KnownServer, TurnedDown, fetch_task
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import new_exchange
from tacit.methods import find

sys.path.insert(0, str(Path(__file__).parents[1] / "federation"))
other = importlib.import_module("independent")

PEOPLE = 8
SECONDS = 2
"""That a round waits for who joined it."""
WANTED = {
    "a ticket of another device": {403},
    "no ticket": {403},
    "another least cohort": {403},
    "other layouts": {403},
    "a payload cut short": {400},
    "a payload too long": {400},
    "a round that is not open": {404},
    "an attempt that is not open": {404},
    "another task": {404},
    "under another device's name": {401},
    "under a key that was never shown": {401},
    "the same join again": {409},
    "a join with an old stamp": {409},
    "a join from the year 2200": {409},
    "a join of another task": {404},
    "a join that holds more rows than there are": {200},
    "an upload when the round is over": {404, 410},
    "a sum asked for by a device": {401},
    "a round opened by a device": {401},
    "twenty joins at a time": {200, 425, 409},
}
"""What the servers say to each behaviour."""
OVER = {404, 410}
"""And what they say where the round was over before the message came."""


class Misuse:
    """An enrolled device with two more behind it."""

    def __init__(self, f: Federation, web: Web) -> None:
        self.f = f
        self.web = web
        self.said: dict[str, set[int]] = {}

    async def enter(self) -> None:
        url, pin = self.f.url["recommender"], self.f.pin["recommender"]
        recommender = KnownServer(url, pin)
        await recommender.learn(self.web)
        self.made, aggregator = await fetch_task(self.web, recommender)
        await aggregator.learn(self.web)
        keys = [new_exchange()[0] for _ in range(2)]
        self.link, self.second = (
            Conversation(self.web, recommender, aggregator, key) for key in keys
        )
        for each in (self.link, self.second):
            await each.enrol()

    async def status(
        self, link: Conversation, role: str, path: str, body: bytes
    ) -> tuple[int, bytes]:
        server = getattr(link, role)
        try:
            return 200, await link.call(server, path, body)
        except TurnedDown as refused:
            return refused.status, b""
        except Away as away:
            text = str(away)
            return (int(text) if text.isdigit() else 401), b""

    async def note(self, what: str, role: str, path: str, body: bytes, link: Any = None) -> bytes:
        status, answer = await self.status(link or self.link, role, path, body)
        self.said.setdefault(what, set()).add(status)
        return answer

    def join(self, **changes: Any) -> bytes:
        header = {"version": 1, "task": self.made.task.name}
        header |= {"stamp": self.link.stamp(), "done": list(self.done)}
        return other.frame(header | changes)

    async def training(self) -> None:
        """Join, misuse, and again, until it is over."""
        self.done = (-1, -1)
        while True:
            status, answer = await self.status(
                self.link, "recommender", "/v1/join", joined := self.join()
            )
            if status == 410:
                return
            if status != 200:
                await asyncio.sleep(0.05)
                continue
            told, payload = other.unframed(answer)
            await self.misuse(told, payload, joined)
            self.done = (told["round"], told["attempt"])

    async def misuse(self, told: dict, payload: bytes, joined: bytes) -> None:
        index = told["round"]
        layouts = [each.model_dump() for each in self.made.layouts(index)]
        zeros = {each["name"]: [0] * (each["size"] * each["width"]) for each in layouts}
        _, secret = other.exchanged(self.link.private, self.link.recommender.keys[told["key"]])
        good = other.upload(told, payload, secret, layouts, zeros)

        async def send(what: str, body: bytes, link: Any = None) -> None:
            await self.note(what, "aggregator", "/v1/upload", body, link)

        def changed(**members: Any) -> bytes:
            header, words = other.unframed(good)
            return other.frame(header | members, words)

        await send("a ticket of another device", good, self.second)
        await send("no ticket", changed(ticket=""))
        await send("another least cohort", changed(least=told["least"] - 1))
        await send("other layouts", changed(layouts="0" * 32))
        await send("a payload cut short", good[:-4])
        await send("a payload too long", good + b"0000")
        await send("a round that is not open", changed(round=index + 1))
        await send("an attempt that is not open", changed(attempt=7))
        await send("another task", changed(task="ab" * 16))
        link = self.link
        thief = Conversation(
            self.web, link.recommender, link.aggregator, self.second.private, link.name
        )
        await send("under another device's name", good, thief)
        stranger = Conversation(self.web, link.recommender, link.aggregator, new_exchange()[0])
        await send("under a key that was never shown", good, stranger)
        for what, path in (
            ("a sum asked for by a device", "/v1/close"),
            ("a round opened by a device", "/v1/open"),
        ):
            await self.note(what, "aggregator", path, good)
        await self.joins(joined)
        await self.wait_for_the_end(index)
        await send("an upload when the round is over", good)

    async def joins(self, joined: bytes) -> None:
        """Copies and clocks."""

        async def ask(what: str, body: bytes) -> None:
            await self.note(what, "recommender", "/v1/join", body)

        await ask("the same join again", joined)
        await ask("a join with an old stamp", self.join(stamp=1))
        far = 230 * 365 * 86400 * 10**9
        await ask("a join from the year 2200", self.join(stamp=far))
        await ask("a join of another task", self.join(task="ab" * 16))
        done = self.done
        await ask(
            "a join that holds more rows than there are",
            self.join(holds=2**31 - 1, done=list(done)),
        )
        many = (ask("twenty joins at a time", self.join(done=list(done))) for _ in range(20))
        await asyncio.gather(*many)

    async def wait_for_the_end(self, index: int) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = await asyncio.to_thread(self.f.get, "recommender", "/v1/status")
            if found["round"] > index or found["finished"]:
                return
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def misused(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Federation, dict[str, set[int]], Any]]:
    """A training of eight honest devices and the one."""
    ratings = sample(people=PEOPLE, ratings=200, seed=8)
    folder = tmp_path_factory.mktemp("misused")
    f = Federation(folder, ratings, method="bias", cohort=PEOPLE + 1, least=PEOPLE, seconds=SECONDS)

    async def run() -> dict[str, set[int]]:
        async with Web() as web:
            misuse = Misuse(f, web)
            await misuse.enter()
            fleet = asyncio.create_task(f.fleet())
            hostile = asyncio.create_task(misuse.training())
            assert not (await asyncio.wait_for(fleet, PATIENCE)).failed
            await asyncio.wait_for(hostile, PATIENCE)
            return misuse.said

    try:
        f.start()
        said = asyncio.run(run())
        f.published()
        yield f, said, ratings
    finally:
        f.stop()


@pytest.mark.parametrize("what", WANTED)
def test_it_is_refused_by_itself(misused, what: str) -> None:
    _, said, _ = misused
    assert said[what] <= WANTED[what] | OVER, said[what]
    assert said[what] & WANTED[what]


def test_nothing_else_was_tried(misused) -> None:
    assert misused[1].keys() == WANTED.keys()


def test_the_model_is_the_one_of_the_others(misused) -> None:
    f, _, ratings = misused
    twin = find("bias")(calibration="none", engine="federated")
    expected = twin.fit(ratings, users=PEOPLE).model_.shared.arrays
    found = f.model().shared.arrays
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name
    for role in ("recommender", "aggregator"):
        assert '"failed"' not in f.log(role)
