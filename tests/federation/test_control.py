"""What an operator orders through the store, and how a training obeys."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from click.testing import CliRunner

from tacit.cli.federate import federate
from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import SettingError, StorageError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.protocol.keys import Identity, new_exchange
from tacit.federation.protocol.task import Task
from tacit.federation.server import book, rounds, training, uploads
from tacit.federation.server.conductor import Conductor
from tacit.federation.server.gate import Gate
from tacit.federation.server.recommender import MIGRATIONS
from tacit.federation.server.store import ServerStore
from tacit.federation.server.training import Operation, Training
from tacit.serving.http.limits import Limits
from tacit.serving.http.watch import Metrics

TASK = Task(
    method="popularity",
    calibration="none",
    low=1,
    high=5,
    people=4,
    cohort=4,
    least=2,
    items=catalogue_facts(Catalogue(("a", "b"))),
)


class Silent:
    """An aggregator that takes every order and never has a sum."""

    def __init__(self) -> None:
        self.opened, self.closed = [], []

    async def open(self, opening) -> None:
        self.opened.append(opening)

    async def close(self, closing):
        self.closed.append(closing)
        if not closing.give_up:
            await asyncio.sleep(60)

    async def enrolment(self) -> str:
        return "open"

    async def tickets(self) -> bytes:
        return new_exchange()[1]


class Server:
    """A recommender without a port."""

    def __init__(self, folder) -> None:
        self.store = ServerStore(folder / "recommender.sqlite", MIGRATIONS, "recommender")
        self.identity = Identity(folder / "identity.json")
        self.gate = Gate("recommender", self.identity, self.store, Limits())
        self.aggregator = Silent()
        self.how = Operation("", "", folder / "model")

    def begin(self) -> tuple[Conductor, Training]:
        made = assemble(TASK)
        conductor = Conductor(
            made,
            self.store,
            self.identity,
            self.aggregator,
            lambda _: bytes(32),
            0.01,
            self.gate.metrics,
        )
        return conductor, Training(self.gate, conductor, self.how, self.aggregator)

    def order(self, name: str, value: str = "") -> None:
        def work(session):
            if name == "retries":
                training.retry_round(session, TASK.name)
            else:
                training.place_order(session, TASK.name, name, value)

        self.store.write_blocking(work)


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "LOOK_SECONDS", 0.02)
    made = Server(tmp_path)
    yield made
    made.store.close()


async def until(true, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def enter(conductor: Conductor) -> list[asyncio.Future[bytes]]:
    """Two devices wait for a round."""
    import numpy as np

    found = [conductor.lobby.enter(name * 16, np.zeros(0, np.uint32), 0) for name in ("aa", "bb")]
    conductor.lobby.stir()
    return found


def test_a_paused_training_opens_no_round_until_it_goes_on(server) -> None:
    async def run() -> None:
        server.order("paused", "yes")
        conductor, training = server.begin()
        running = asyncio.create_task(training.conduct())
        await until(lambda: not conductor.going.is_set())
        await asyncio.sleep(0.1)
        assert not server.aggregator.opened
        server.order("paused", "no")
        await until(lambda: server.aggregator.opened)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


def test_an_aborted_training_tells_everybody_why_and_stays_aborted(server) -> None:
    async def run() -> None:
        conductor, training = server.begin()
        running = asyncio.create_task(training.conduct())
        await until(lambda: server.aggregator.opened)
        waiting = enter(conductor)
        await until(lambda: conductor.active is not None)
        server.order("aborted", "the catalogue was wrong")
        await until(lambda: conductor.stopped is not None)
        await asyncio.wait_for(running, 60)
        assert conductor.stopped == "the catalogue was wrong"
        assert server.aggregator.closed[-1].give_up
        assert all(each.done() for each in waiting)
        assert server.gate.ready  # no fault of the server
        again, training = server.begin()  # a restart
        await asyncio.wait_for(training.conduct(), 60)
        assert again.stopped == "the catalogue was wrong"
        assert len(server.aggregator.opened) == 1

    asyncio.run(run())


def test_a_training_expires(server) -> None:
    async def run() -> None:
        server.order("expires", str(time.time() + 0.2))
        conductor, training = server.begin()
        await asyncio.wait_for(training.conduct(), 60)
        assert conductor.stopped == "its time is over"

    asyncio.run(run())


def test_an_attempt_is_given_up_when_that_is_ordered(server) -> None:
    async def run() -> None:
        conductor, training = server.begin()
        running = asyncio.create_task(training.conduct())
        await until(lambda: server.aggregator.opened)
        enter(conductor)
        await until(lambda: conductor.active is not None)
        server.order("retries")
        await until(lambda: any(c.give_up for c in server.aggregator.closed))
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


def test_orders_are_given_on_the_command_line(server, tmp_path) -> None:
    conductor, _ = server.begin()
    asyncio.run(conductor.rounds.standing())  # the training is in the store
    where = ["--server", "recommender", "--home", str(tmp_path)]

    def ask(*words: str):
        done = CliRunner().invoke(federate, ["admin", *words, *where])
        assert done.exit_code == 0, (done.output, done.exception)
        return done.output

    ask("pause")
    ask("expire", "--hours", "2")
    ask("retry")
    ask("abort", "--reason", "a  test\nof it")
    (found,) = json.loads(ask("list", "--json"))["trainings"]
    assert found["orders"]["paused"] is True
    assert found["orders"]["aborted"] == "a test of it"
    assert found["orders"]["retries"] == 1
    assert found["orders"]["expires"] > time.time() + 7000
    assert "round 0" in ask("list")
    ask("resume")
    assert not server.store.write_blocking(lambda s: training.standing_orders(s, TASK.name)).paused


def test_devices_are_banned_on_the_command_line_by_id_or_label(server, tmp_path) -> None:
    made = book.new_tickets(2)

    def work(session):
        book.keep_tickets(session, made, "shop", 1)
        book.use_ticket(session, made[0], "cc" * 16)

    server.store.write_blocking(work)
    where = ["--server", "recommender", "--home", str(tmp_path)]
    run = CliRunner().invoke
    asked = ["admin", "ban", *where, "dd" * 16, "--label", "shop"]
    assert run(federate, asked).exit_code == 0
    assert server.store.write_blocking(book.banned) == {"cc" * 16, "dd" * 16}
    undo = ["admin", "ban", *where, "dd" * 16, "--undo"]
    assert run(federate, undo).exit_code == 0
    assert server.store.write_blocking(book.banned) == {"cc" * 16}
    wrong = run(federate, ["admin", "ban", *where, "nobody"])
    assert isinstance(wrong.exception, SettingError)


def test_an_order_needs_a_training_that_is_there(server) -> None:
    with pytest.raises(SettingError, match="0 trainings"):
        server.store.write_blocking(lambda s: training.find_training(s, "ab"))


def test_an_aggregator_lists_its_rounds(tmp_path) -> None:
    store = ServerStore(tmp_path / "a", uploads.MIGRATIONS, "aggregator")
    try:
        for number, status in enumerate(("given up", "revealed", "open")):
            row = ("ab" * 16, number // 2, number, b"", 2, status)
            store.write_blocking(
                lambda s, row=row: s.run("INSERT INTO round VALUES (?, ?, ?, ?, ?, ?, NULL)", *row)
            )
        (found,) = store.write_blocking(uploads.standing)
        assert found == ("ab" * 16, 1, 1, 1, 1, 0)
    finally:
        store.close()


def test_a_histogram_is_as_prometheus_reads_it() -> None:
    metrics = Metrics("recommender")
    for value in (0.02, 0.5, 1e6):
        metrics.observe("phase_seconds", value, 'phase="opening"')
    lines = metrics.text().splitlines()
    name = 'tacit_recommender_phase_seconds_bucket{phase="opening",le='
    assert f'{name}"0.01"}} 0' in lines
    assert f'{name}"0.03"}} 1' in lines
    assert f'{name}"1"}} 2' in lines
    assert f'{name}"+Inf"}} 3' in lines
    assert 'tacit_recommender_phase_seconds_count{phase="opening"} 3' in lines


# what is away for a moment ends no training


def failing(times: int, work):
    """The work, which finds no room so many times."""
    left = iter(range(times))

    def first(*given):
        if next(left, None) is not None:
            raise StorageError("no space left on the device")
        return work(*given)

    return first


def test_a_key_file_that_cannot_be_written_is_awaited(server, monkeypatch) -> None:
    monkeypatch.setattr(rounds, "PAUSE", 0.01)
    hold = failing(3, server.identity.hold)
    monkeypatch.setattr(server.identity, "hold", hold)

    async def run() -> None:
        conductor, _ = server.begin()
        under_way = asyncio.create_task(conductor.run())
        waiting = enter(conductor)
        await until(lambda: all(each.done() for each in waiting))
        assert not under_way.done()
        under_way.cancel()
        await asyncio.gather(under_way, return_exceptions=True)

    asyncio.run(run())


def test_a_model_that_cannot_be_written_is_written_later(server, monkeypatch) -> None:
    """The rounds are paid for; health says that something is wrong until it is there."""
    monkeypatch.setattr(rounds, "PAUSE", 0.01)
    written, seen = [], []

    def write(*_):
        seen.append(server.gate.ready)
        written.append(True)

    monkeypatch.setattr(training, "publish", failing(2, write))

    async def run() -> None:
        conductor, one = server.begin()

        async def over():
            return conductor.loop.state

        monkeypatch.setattr(conductor, "run", over)
        await one.conduct()
        assert conductor.stopped is None

    asyncio.run(run())
    assert written == [True]
    assert seen == [False]
    assert server.gate.ready
