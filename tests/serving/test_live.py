"""`tacit serve` as it runs: real sockets, signals, a real client."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.model.model import load
from tacit.model.shared import Shared

ROOT = Path(__file__).parents[2]
SCRIPT = """
import {{ loadModel }} from '{module}';
const model = await loadModel('{base}');
const at = (title) => model.items.findIndex((item) => item.title === title);
const person = model.person(new Map([[at('Alien'), 5], [at('Heat'), 2]]));
const list = person.rank({{ n: 8 }});
console.log(JSON.stringify({{ items: model.items.length, error: model.error,
  list: list.map((line) => [model.items[line.item].id, line.rating]) }}));
"""


@dataclass
class Live:
    """A running server."""

    process: subprocess.Popen[str]
    port: int
    metrics: int
    log: Path
    model: Path

    def get(self, path: str, *, port: int | None = None, **headers: str) -> tuple[int, bytes]:
        """One request over a connection of its own."""
        wire = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        wire.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = wire.getresponse()
        body = answer.read()
        wire.close()
        return answer.status, body


@pytest.fixture(scope="module")
def live(shelf_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    home = tmp_path_factory.mktemp("live")
    model = Path(shutil.copytree(shelf_folder / "stars", home / "stars"))
    log = home / "log"
    command = [sys.executable, "-c", "from tacit.cli.main import main; main()", "serve", str(model)]
    options = ["--port", "0", "--metrics-port", "0", "--recommend"]
    with open(log, "w") as err:
        process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
        )
    assert process.stdout is not None
    said = [process.stdout.readline(), process.stdout.readline()]
    assert "serving stars at http://127.0.0.1:" in said[0], log.read_text()
    ports = [int(line.rstrip("/\n").replace("/metrics", "").rsplit(":", 1)[1]) for line in said]
    yield Live(process, ports[0], ports[1], log, model)
    process.kill()
    process.wait()
    process.stdout.close()


def test_metrics_have_a_port_of_their_own(live: Live) -> None:
    assert live.get("/healthz")[0] == 200
    status, text = live.get("/metrics", port=live.metrics)
    assert status == 200
    assert b"tacit_serve_requests_total" in text
    assert live.get("/metrics")[0] == 404
    assert live.get("/model", port=live.metrics)[0] == 404


def test_the_log_has_no_query(live: Live) -> None:
    live.get("/models?who=alice")
    limit = time.monotonic() + 60
    while "/models" not in live.log.read_text():  # written after the answer
        assert time.monotonic() < limit
        time.sleep(0.02)
    lines = live.log.read_text().splitlines(keepends=True)
    whole = [json.loads(line) for line in lines if line.endswith("\n")]
    assert any(line.get("path") == "/models" for line in whole)
    assert "alice" not in live.log.read_text()


def test_javascript_loads_it_and_lists_as_python_does(live: Live) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    module = ROOT / "web" / "js" / "model" / "load.js"
    base = f"http://127.0.0.1:{live.port}/models/stars/"
    script = SCRIPT.format(module=module.as_uri(), base=base)
    done = subprocess.run(
        [node, "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    model = load(live.model)
    lines = model.recommend({"Alien": 5, "Heat": 2}, 8)
    assert told["items"] == len(model.shared.catalogue)
    found = dict(told["list"])
    for line in lines[:5]:
        assert found[line.item] == pytest.approx(line.rating, abs=3e-3)


def changed(place: Path, by: float) -> str:
    """Another model of the same items in the same place."""
    model = load(place)
    shared = model.shared
    arrays = {**shared.arrays, "baseline": shared.arrays["baseline"] + np.float32(by)}
    facts = (shared.numbers, shared.schema, shared.catalogue, shared.settings)
    new = Shared(shared.method, shared.personal, arrays, *facts)
    new.save(place, model.statement.to_json(), overwrite=True)
    return new.digest()


def test_no_request_is_dropped_while_models_change(live: Live) -> None:
    seen: list[Any] = []
    stop = threading.Event()

    def client() -> None:
        wire = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
        while not stop.is_set():
            try:
                wire.request("GET", "/models")
                listed = json.loads(wire.getresponse().read())["models"][0]
                wire.request("GET", "/" + listed["model"])
                answer = wire.getresponse()
                seen.append((answer.status, listed["digest"].encode() in answer.read()))
            except Exception as error:  # noqa: BLE001 - any fault is what this test looks for
                seen.append(error)
                break
        wire.close()

    clients = [threading.Thread(target=client) for _ in range(3)]
    for each in clients:
        each.start()
    for step in (0.1, 0.2, 0.3):
        digest = changed(live.model, step)
        live.process.send_signal(signal.SIGHUP)
        limit = time.monotonic() + 60
        while digest.encode() not in live.get("/models")[1]:
            assert time.monotonic() < limit
            time.sleep(0.02)
    digest = changed(live.model, 0.5)  # found without a signal
    limit = time.monotonic() + 60
    while digest.encode() not in live.get("/models")[1]:
        assert time.monotonic() < limit
        time.sleep(0.05)
    while len(seen) <= 20 and any(each.is_alive() for each in clients):
        time.sleep(0.05)
    stop.set()
    for each in clients:
        each.join()
    assert len(seen) > 20
    assert set(seen) == {(200, True)}


def test_a_stop_lets_it_end_well(live: Live) -> None:
    live.process.send_signal(signal.SIGTERM)
    assert live.process.wait(60) in (0, -signal.SIGTERM)
    assert "Traceback" not in live.log.read_text()
