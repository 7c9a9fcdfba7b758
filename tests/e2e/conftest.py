"""A real federation: two server processes, real HTTP, real stores; devices are real too, in
this process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.data.ratings import Ratings

sys.path.insert(0, str(Path(__file__).parent))
from forked import MAIN, ONE_THREAD, Forked
from patience import PATIENCE
from ports import free_port


class Small:
    """A small training whose end is known: what a federation with faults must reach all the
    same."""

    def __init__(self) -> None:
        from tacit.data.sample import sample
        from tacit.methods import find

        people, self.rounds = 12, 6
        settings: dict[str, Any] = {"factors": 4, "rounds": self.rounds, "cohort": people}
        self.faultless = {
            "method": "mf-federated",
            "cohort": people,
            "least": people,
            "set": settings,
        }
        self.ratings = sample(people=people, ratings=200, seed=8)
        method = find("mf-federated")(calibration="none", **settings)
        self.expected = method.fit(self.ratings, users=people).model_.shared.arrays["loadings"]


@pytest.fixture(scope="session")
def small() -> Small:
    return Small()


class Federation:
    """Both servers over one folder. `start` and `kill` act on real processes."""

    def __init__(self, folder: Path, ratings: Ratings, **options: Any) -> None:
        from tacit.federation.protocol.keys import Identity

        self.folder = folder
        self.ratings = ratings
        self.options = options
        self.home = {role: folder / role for role in ("recommender", "aggregator")}
        self.pin = {
            role: Identity(home / "identity.json").public.hex() for role, home in self.home.items()
        }
        self.port = {role: free_port() for role in self.home}
        self.watch = {role: free_port() for role in (*self.home, "second")}
        """Ports of their metrics."""
        self.url = {role: f"http://127.0.0.1:{port}" for role, port in self.port.items()}
        self.processes: dict[str, Any] = {}
        self.items = folder / "items.csv"
        self.items.write_text("item\n" + "\n".join(ratings.items) + "\n")
        self.out = folder / "model"
        self.store: dict[str, str] = {}
        self.main: dict[str, str] = {}
        """Another program in place of a server's, for upgrades."""
        self.context: Any = None
        """How this process trusts the servers' certificates."""

    def start(self, *roles: str, wait: bool = True, forked: bool = True) -> None:
        """Without `forked` it is a program of its own, which costs a second."""
        for role in roles or ("aggregator", "recommender"):
            log = self.folder / f"{role}.log"
            words = ["federate", role, *self._arguments(role)]
            program = self.main.get(role, MAIN)
            if forked:
                self.processes[role] = Forked(words, log, program)
                continue
            with open(log, "ab") as out:
                self.processes[role] = subprocess.Popen(
                    [sys.executable, "-c", program, *words],
                    stdout=out,
                    stderr=out,
                    env=os.environ | ONE_THREAD,
                )
        if wait:
            for role in roles or ("aggregator", "recommender"):
                self.ready(role)

    def _arguments(self, role: str) -> list[str]:
        common = [
            "--port",
            str(self.port[role]),
            "--watch-port",
            str(self.watch[role]),
            "--home",
            str(self.home[role]),
            "--rate",
            "1000",
        ]
        if role in self.store:
            common += ["--store", self.store[role]]
        if role == "aggregator":
            return [
                *common,
                "--recommender-pin",
                self.pin["recommender"],
                *self.options.get("aggregator", []),
            ]
        o = {
            "method": "popularity",
            "calibration": "none",
            "cohort": 20,
            "least": 20,
            "seconds": 20,
            "gather": 0.2,
            "users": self.ratings.n_users,
            "scale": "1,5",
        } | {k: v for k, v in self.options.items() if k not in ("aggregator", "set")}
        flags = [
            part
            for name, value in o.items()
            for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        flags = [f for f in flags if f != "True"]
        for name, value in self.options.get("set", {}).items():
            flags += ["--set", f"{name}={value}"]
        if o["calibration"] != "none":
            flags += ["--ledger", str(self.folder / "book")]
        return [
            *common,
            *flags,
            "--items",
            str(self.items),
            "--aggregator",
            self.url["aggregator"],
            "--aggregator-pin",
            self.pin["aggregator"],
            "--out",
            str(self.out),
        ]

    def ready(self, role: str, seconds: float = PATIENCE) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.processes[role].poll() is not None:
                break
            try:
                if self.get(role, "/healthz")["ok"]:
                    return
            except (OSError, ValueError):
                time.sleep(0.1)
        raise AssertionError(
            f"the {role} did not start:\n{(self.folder / f'{role}.log').read_text()[-3000:]}"
        )

    def get(self, role: str, path: str) -> Any:
        import json

        url = self.url[role]
        if path == "/metrics":
            url = f"{url.split(':')[0]}://127.0.0.1:{self.watch[role]}"
        with urllib.request.urlopen(url + path, timeout=60, context=self.context) as answer:
            text = answer.read()
        return text.decode() if path == "/metrics" else json.loads(text)

    def kill(self, role: str) -> None:
        """SIGKILL: no farewell."""
        self.processes[role].send_signal(signal.SIGKILL)
        self.processes[role].wait()

    def stop(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            if process.poll() is None:
                process.kill()
                process.wait()

    def fleet(self, **options: Any) -> Any:
        from tacit.federation.device.fleet import run_fleet
        from tacit.federation.device.policy import Policy

        policy = options.pop("policy", None) or Policy(accept_unbounded=True)
        url, pin = self.url["recommender"], self.pin["recommender"]
        return run_fleet(url, self.ratings, pin=pin, policy=policy, **options)

    def train(self, seconds: float = PATIENCE, **options: Any) -> Any:
        """All devices until the model is published."""
        report = asyncio.run(asyncio.wait_for(self.fleet(**options), seconds))
        assert not report.failed, report.failed[:3]
        self.published(seconds)
        return report

    def train_through(self, *faults: Callable[[], Any], **options: Any) -> None:
        """All devices until the model is published, while the faults happen one by one,
        each a round later."""

        async def run() -> None:
            fleet = asyncio.create_task(self.fleet(**options))
            for number, fault in enumerate(faults, 1):
                await self.reached(number, fleet)
                await asyncio.to_thread(fault)
            report = await asyncio.wait_for(fleet, PATIENCE)
            assert not report.failed, report.failed[:3]

        asyncio.run(run())
        self.published()

    async def reached(self, number: int, fleet: asyncio.Task[Any]) -> None:
        """Until this round has begun. Where other work holds this process up the fleet may be
        done before it looks; one that has failed is not waited for."""
        while (await asyncio.to_thread(self.get, "recommender", "/v1/status"))["round"] < number:
            assert not (fleet.done() and fleet.result().failed), fleet.result()
            await asyncio.sleep(0.01)

    def published(self, seconds: float = PATIENCE, task: str = "") -> None:
        until = time.monotonic() + seconds
        path = "/v1/status" + (f"/{task}" if task else "")
        while not self.get("recommender", path)["published"]:
            assert time.monotonic() < until, (self.folder / "recommender.log").read_text()[-3000:]
            time.sleep(0.05)

    def model(self) -> Any:
        from tacit.model.model import load

        return load(self.out)

    def log(self, role: str) -> str:
        return (self.folder / f"{role}.log").read_text()


@pytest.fixture
def federation(tmp_path: Path) -> Iterator[Any]:
    """Make a federation over some ratings; it ends with the test."""
    made: list[Federation] = []

    def make(ratings: Ratings, **options: Any) -> Federation:
        folder = tmp_path / f"federation-{len(made)}"
        folder.mkdir()
        made.append(Federation(folder, ratings, **options))
        return made[-1]

    yield make
    for each in made:
        each.stop()
