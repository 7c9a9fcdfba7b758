"""Operating a federation, with real processes: two aggregators on one database, one
recommender, upgrades."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import threading
import time

import numpy as np
import pytest
from forked import Forked
from patience import PATIENCE
from ports import free_port

from tacit.errors import Failure, StorageError
from tacit.federation.server.store import ServerStore, Transaction

# ------------------------------------------------------------------ two processes, one database


class Balancer:
    """One address for several: connections go to them in turn, and past one that is down."""

    def __init__(self, ports: list[int]) -> None:
        self._ports, self._open = ports, list[socket.socket]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        for first in itertools.count():
            try:
                near = self._listener.accept()[0]
            except OSError:
                return
            self._open.append(near)
            for k in range(len(self._ports)):
                with contextlib.suppress(OSError):
                    far = socket.create_connection(
                        ("127.0.0.1", self._ports[(first + k) % len(self._ports)])
                    )
                    self._open.append(far)
                    for pair in ((near, far), (far, near)):
                        self._threads.append(threading.Thread(target=_pipe, args=pair))
                        self._threads[-1].start()
                    break

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in (self._listener, *self._open):
            each.close()


def _pipe(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)


def uploads(f, role: str) -> int:
    lines = [line for line in f.get(role, "/metrics").splitlines() if "_uploads_total" in line]
    return int(float(lines[0].split()[1])) if lines else 0


def test_two_aggregators_on_one_database_count_everything_once(federation, postgres, small) -> None:
    """Messages of a round go to either; then one of the two is killed, and the other goes
    on alone."""
    f = federation(small.ratings, **small.faultless)
    f.store = {"aggregator": postgres.database()}
    f.home["second"], f.pin["second"] = (f.home["aggregator"], f.pin["aggregator"])  # one identity
    f.port["second"] = free_port()
    f.url["second"] = f"http://127.0.0.1:{f.port['second']}"
    direct, balancer = (f.url["aggregator"], Balancer([f.port["aggregator"], f.port["second"]]))
    counted: list[int] = []
    try:
        f.start("aggregator", wait=False)
        arguments = [*f._arguments("aggregator")]
        arguments[arguments.index("--port") + 1] = str(f.port["second"])
        watch = arguments.index("--watch-port") + 1
        arguments[watch] = str(f.watch["second"])
        words = ["federate", "aggregator", *arguments]
        f.processes["second"] = Forked(words, f.folder / "second.log")
        for role in (
            "aggregator",
            "second",
        ):  # they make the tables of one database at the same time
            f.ready(role)
        f.url["aggregator"] = f"http://127.0.0.1:{balancer.port}"
        f.start("recommender")

        def kill_one() -> None:
            f.url["aggregator"] = direct
            counted.extend([uploads(f, "aggregator"), uploads(f, "second")])
            f.kill("second")

        f.train_through(lambda: None, lambda: None, kill_one)
    finally:
        balancer.close()
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
    assert min(counted) > 0  # both took some
    assert (
        postgres.psql(f.store["aggregator"], "SELECT count(*) FROM round WHERE status = 'revealed'")
        == f"{small.rounds}\n"
    )


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_transactions_of_two_processes_take_turns(postgres, tmp_path, kind) -> None:
    """Without a lock, looking and then writing loses changes, and two attempts of one round
    could both be revealed."""
    location = str(tmp_path / "store") if kind == "sqlite" else postgres.database()
    steps = (("CREATE TABLE counter (n INTEGER)", "INSERT INTO counter VALUES (0)"),)
    stores = [ServerStore(location, steps, "test") for _ in range(2)]

    def add(session: Transaction) -> None:
        ((n,),) = session.run("SELECT n FROM counter")
        time.sleep(0.001)
        session.run("UPDATE counter SET n = ?", n + 1)

    def many(store: ServerStore) -> None:
        for _ in range(25):
            store.write_blocking(add)

    threads = [threading.Thread(target=many, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores[0].write_blocking(lambda s: s.run("SELECT n FROM counter")) == [(50,)]
    for store in stores:
        store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_one_process_alone_conducts(postgres, tmp_path, monkeypatch, kind) -> None:
    """Two recommenders on one store would key one round twice; the second waits for the
    first, and then gives up."""
    from tacit.federation.server import store as module

    monkeypatch.setattr(module, "HANDOVER", 0.3)
    location = str(tmp_path / "store") if kind == "sqlite" else postgres.database()
    steps = (("CREATE TABLE x (n INTEGER)",),)
    first = ServerStore(location, steps, "test", exclusive=True)
    with pytest.raises(StorageError, match="another process"):
        ServerStore(location, steps, "test", exclusive=True)
    first.close()
    ServerStore(location, steps, "test", exclusive=True).close()


def test_two_servers_cannot_share_one_database(tmp_path, monkeypatch) -> None:
    """They must not collude, and their tables would collide. Who is refused holds nothing."""
    from tacit.federation.server import store as module
    from tacit.federation.server.aggregator import MIGRATIONS as AGGREGATOR
    from tacit.federation.server.recommender import MIGRATIONS as RECOMMENDER

    monkeypatch.setattr(module, "HANDOVER", 0.3)
    place = tmp_path / "store"
    ServerStore(place, AGGREGATOR, "aggregator").close()
    with pytest.raises(StorageError, match="another server") as seen:
        ServerStore(place, RECOMMENDER, "recommender", exclusive=True)
    ServerStore(place, AGGREGATOR, "aggregator", exclusive=True).close()
    assert seen.value.__traceback__ is not None  # and so is the refused one


# ------------------------------------------------------------------ upgrades


NEWER = """
import tacit.federation.server.{role} as m
m.MIGRATIONS += (("CREATE TABLE of_a_newer_version (x TEXT)",),)
from tacit.cli.main import main; main()
"""


@pytest.mark.parametrize("role", ["aggregator", "recommender"])
def test_a_newer_version_migrates_its_store_with_a_round_open(federation, small, role) -> None:
    f = federation(small.ratings, **small.faultless)
    f.start()

    def upgrade() -> None:
        f.processes[role].terminate()
        assert f.processes[role].wait(PATIENCE) in (0, -15)
        f.main[role] = NEWER.format(role=role)
        f.start(role)

    f.train_through(upgrade)
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
    f.kill(role)
    del f.main[role]
    f.start(role, wait=False)  # there is no way back, and it says so
    assert f.processes[role].wait(PATIENCE) == 2
    assert "made by a newer version" in f.log(role)


def test_a_device_of_another_protocol_version_is_told_so(federation, small) -> None:
    from tacit.federation.device.client import Conversation, KnownServer, fetch_task
    from tacit.federation.protocol.http import Web
    from tacit.federation.protocol.keys import new_exchange
    from tacit.federation.protocol.wire import Join, pack

    f = federation(small.ratings, method="popularity", cohort=2, least=2)
    f.start()

    async def run() -> None:
        async with Web() as web:
            recommender = KnownServer(f.url["recommender"], f.pin["recommender"])
            await recommender.learn(web)
            made, aggregator = await fetch_task(web, recommender)
            await aggregator.learn(web)
            link = Conversation(web, recommender, aggregator, new_exchange()[0])
            await link.enrol()
            join = Join(task=made.task.name, stamp=time.time_ns()).model_dump(mode="json")
            with pytest.raises(Failure, match="another version of the protocol"):
                await link.call(recommender, "/v1/join", pack(join | {"version": 2}))

    asyncio.run(run())
    assert f.get("recommender", "/healthz")["protocol"] == 1


def test_a_recommender_of_another_protocol_version_stops_before_any_round(
    federation, small
) -> None:
    f = federation(small.ratings, method="popularity", cohort=2, least=2)
    f.main["recommender"] = """
import tacit.federation.server.remote as m
pack = m.pack
m.pack = lambda header, payload=b"": pack({**header.model_dump(mode="json"), "version": 2}, payload)
from tacit.cli.main import main; main()
"""
    f.start("aggregator")
    f.start("recommender", wait=False)
    until = time.monotonic() + PATIENCE
    while "training stopped" not in f.log("recommender"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert "another version of the protocol" in f.log("recommender")
    with pytest.raises(OSError, match="503"):  # and its health says so
        f.get("recommender", "/healthz")
