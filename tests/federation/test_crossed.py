"""Two things at a time that each went well alone: orders and an aggregator that is away, a slow
store and a training that was ended, one training's trouble and another's, clocks and keys."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time

import pytest
from tests.federation.test_control import Server, enter, until
from tests.federation.test_enrolment import Both

from tacit.errors import Failure, StorageError
from tacit.federation.device import client, person
from tacit.federation.device.person import Person
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.http import Answer
from tacit.federation.protocol.keys import new_exchange, public_of
from tacit.federation.server import training
from tacit.serving.http.watch import Lines

FOREVER = 3600.0


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(training, "ABANDON_SECONDS", 0.05)
    made = Server(tmp_path)
    yield made
    made.store.close()


def test_an_abort_is_obeyed_though_a_retry_waits_for_the_aggregator(server) -> None:
    """Seen: while it was away, the order to retry hid every order after it."""

    async def away(closing):
        await asyncio.sleep(FOREVER)

    async def run() -> None:
        conductor, one = server.begin()
        running = asyncio.create_task(one.conduct())
        await until(lambda: server.aggregator.opened)
        enter(conductor)
        await until(lambda: conductor.active is not None)
        server.aggregator.close = away
        server.order("retries")
        await asyncio.sleep(0.1)
        server.order("aborted", "the aggregator is gone")
        await asyncio.wait_for(running, 60)
        assert conductor.stopped == "the aggregator is gone"

    asyncio.run(run())


def test_a_slow_store_does_not_let_an_ended_training_begin(server, monkeypatch) -> None:
    """Seen: after a quarter of a second without orders it was charged, and a round opened."""
    plain = server.store.read

    async def slow(work, **how):
        await asyncio.sleep(0.5)
        return await plain(work, **how)

    async def run() -> None:
        server.order("aborted", "never mind")
        conductor, one = server.begin()
        monkeypatch.setattr(server.store, "read", slow)
        await asyncio.wait_for(one.conduct(), 60)
        assert conductor.stopped == "never mind"

    asyncio.run(run())
    assert not server.aggregator.opened


def test_a_model_that_is_written_heals_no_other_training(server, monkeypatch) -> None:
    """Seen: health was good again while another training of the server had stopped."""
    server.gate.troubles.add("another training")
    monkeypatch.setattr(training, "publish", lambda *_: None)

    async def run() -> None:
        conductor, one = server.begin()

        async def over():
            return conductor.loop.state

        monkeypatch.setattr(conductor, "run", over)
        await one.conduct()

    asyncio.run(run())
    assert not server.gate.ready
    assert server.gate.troubles == {"another training"}


def test_a_training_without_a_ledger_takes_no_other_model_for_its_own(server) -> None:
    server.how.out.mkdir()
    (server.how.out / "model.json").write_text("{}")

    async def run() -> str | None:
        conductor, one = server.begin()
        await one.conduct()
        return conductor.stopped

    assert "another training" in (asyncio.run(run()) or "")
    assert not server.aggregator.opened


class Ahead:
    """The module `time`, so many seconds ahead."""

    seconds = 0

    def __getattr__(self, name):
        return getattr(time, name)

    def time_ns(self) -> int:
        return time.time_ns() + self.seconds * 10**9


def test_a_key_that_was_taken_under_a_wrong_clock_is_not_the_last_one(
    tmp_path, monkeypatch
) -> None:
    """Seen: a device whose clock had been a year ahead could never take another key."""
    clock = Ahead()
    monkeypatch.setattr(client, "time", clock)
    servers = Both(tmp_path)
    link = servers.link()

    async def run() -> None:
        await link.enrol()
        clock.seconds = 365 * 86400
        second = await link.rotate(new_exchange()[0])
        clock.seconds = 0
        again = client.Conversation(
            link.web, link.recommender, link.aggregator, second.private, link.name
        )
        third = await again.rotate(new_exchange()[0])
        for role, gate in servers.gates.items():
            assert gate.publics[link.name] == public_of(third.private), role

    asyncio.run(run())
    for store in servers.stores.values():
        store.close()


def test_one_process_at_a_time_is_a_device(tmp_path) -> None:
    """Two would answer one round under one mask: with other ratings in the second file the
    aggregator would see how they differ."""
    second = Person("http://127.0.0.1:1", "mine.csv", tmp_path, Policy())
    with person.only_one(tmp_path), pytest.raises(StorageError, match="another process"):
        second.run()
    with pytest.raises(Failure, match="cannot be reached"):
        second.run()  # alone it gets as far as the address


class Restarting:
    """A recommender that is away, has no model yet, and then has one."""

    def __init__(self, *said: int) -> None:
        self.said = list(said)

    async def get(self, url: str, path: str, *limits: object) -> Answer:
        status = self.said.pop(0)
        if not status:
            raise ConnectionRefusedError
        return Answer(status, {}, b"")


def test_a_recommender_that_restarts_after_the_last_round_is_asked_again(monkeypatch) -> None:
    """Seen: a device that had done its part ended in an error."""
    monkeypatch.setattr(person, "MODEL_PAUSE", 0.0)
    known = client.KnownServer("http://127.0.0.1:1")

    def asked(*said: int) -> int:
        web = Restarting(*said)
        found = person._published(web, known, None, 1 << 20)  # type: ignore[arg-type]
        return asyncio.run(found).status

    assert asked(0, 404, 503, 0, 200) == 200
    monkeypatch.setattr(person, "MODEL_TRIES", 3)
    with pytest.raises(Failure, match="cannot be had"):
        asked(0, 404, 0)


def test_a_fault_is_logged_with_its_places_and_without_a_value() -> None:
    def told() -> None:
        secret = "five stars for Alien"
        raise ValueError(secret)

    try:
        told()
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "failed", (), sys.exc_info())
    text = Lines().format(record)
    assert "Alien" not in text
    assert "/" not in text
    facts = json.loads(text)
    assert facts["fault"] == "ValueError"
    assert len(facts["places"]) == 2
    assert all(each.startswith(__name__ + ":") for each in facts["places"])
