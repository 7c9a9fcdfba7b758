"""How servers start, and what their health says: tokens from files, TLS or loopback, printed
rounds as documented, a full disk."""

from __future__ import annotations

import asyncio
import http.client
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from tacit.cli.federate.serve import aggregator
from tacit.data.sample import sample
from tacit.errors import SettingError
from tacit.federation.device.client import Conversation, KnownServer, Papers, TurnedDown
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import Identity, new_exchange
from tacit.federation.server import gate as gates
from tacit.federation.server.gate import Gate
from tacit.federation.server.store import ServerStore
from tacit.federation.server.uploads import MIGRATIONS
from tacit.serving.http.limits import Limits


def test_printed_rounds_start_as_documented(federation) -> None:
    """Seen: only with `--unit value`, which nothing said."""
    f = federation(
        sample(people=4, ratings=20, seed=1),
        method="mf-federated",
        calibration="paper",
        epsilon=5,
        cohort=4,
        least=4,
    )
    f.start()
    assert f.get("recommender", "/v1/status")["stopped"] is None
    assert f.get("recommender", "/v1/task")["task"]["unit"] == "value"


def test_a_token_comes_from_a_file_and_is_not_on_the_command_line(federation, tmp_path) -> None:
    secret = tmp_path / "token"
    secret.write_text("open sesame\n")
    people = sample(people=2, ratings=10, seed=1)
    f = federation(people, aggregator=["--token-file", str(secret)])
    f.start("aggregator", forked=False)
    pid = f.processes["aggregator"].pid
    assert b"sesame" not in Path(f"/proc/{pid}/cmdline").read_bytes()

    async def run() -> int:
        async with Web() as web:
            server = KnownServer(f.url["aggregator"], f.pin["aggregator"])
            await server.learn(web)
            link = Conversation(web, server, server, new_exchange()[0])
            with pytest.raises(TurnedDown) as refused:
                await link.enrol(Papers(token="guess"))
            await link.enrol(Papers(token="open sesame"))
            return refused.value.status

    assert asyncio.run(run()) == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7"])
def test_a_server_without_tls_listens_on_loopback_alone(tmp_path, host) -> None:
    arguments = ["--port", "1", "--host", host]
    arguments += ["--home", str(tmp_path), "--recommender-pin", "ab" * 32]
    done = CliRunner().invoke(aggregator, arguments)
    assert isinstance(done.exception, SettingError)
    assert "TLS" in done.exception.message


def test_a_device_without_tls_speaks_to_loopback_alone() -> None:
    for host in ("http://192.0.2.7:80", "http://tacit.example"):
        with pytest.raises(SettingError, match="TLS"):
            asyncio.run(Web().get(host, "/v1/keys"))
    for host in ("http://localhost:1", "http://[::1]:1", "http://127.0.0.1:1"):
        with pytest.raises(OSError, match=r"Errno|Connect"):
            asyncio.run(Web().get(host, "/v1/keys"))


def test_health_says_so_when_the_disk_is_full(tmp_path, monkeypatch) -> None:
    store = ServerStore(tmp_path / "store", MIGRATIONS, "aggregator")
    gate = Gate("aggregator", Identity(tmp_path / "identity.json"), store, Limits())
    plain, full = store._database.execute, []

    def execute(text, values=()):
        if full and text.startswith(("UPDATE", "INSERT")):
            raise sqlite3.OperationalError("database or disk is full")
        return plain(text, values)

    monkeypatch.setattr(store._database, "execute", execute)
    monkeypatch.setattr(gates, "HEALTH_SECONDS", 60.0)
    assert asyncio.run(gate.is_well())
    full.append(True)
    with monkeypatch.context() as soon:
        soon.setattr(gates, "HEALTH_SECONDS", 0.5)
        assert not asyncio.run(gate.is_well())
    full.clear()
    assert asyncio.run(gate.is_well())
    store.close()


def test_metrics_are_not_on_the_port_of_the_devices(federation) -> None:
    f = federation(sample(people=2, ratings=10, seed=1))
    f.start("aggregator")

    def status(port: int, path: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path)
        found = connection.getresponse().status
        connection.close()
        return found

    paths = ("/metrics", "/healthz", "/v1/keys")
    devices = f.port["aggregator"]
    operators = f.watch["aggregator"]
    assert [status(devices, path) for path in paths] == [404, 200, 200]
    assert [status(operators, path) for path in paths] == [200, 200, 404]
