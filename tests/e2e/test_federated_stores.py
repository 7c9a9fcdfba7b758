"""What a server loses or is given with real processes: clocks that jump in a training, a store that
comes back from an older copy, a task that is run again after its end, another server at an
address."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from patience import PATIENCE

from tacit.cli.federate.admin import admin
from tacit.errors import Failure
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.keys import Identity

JUMPY = """
import os, time
from pathlib import Path
from tacit.cli.main import main
from tacit.federation.server import recommender

class Jumpy:
    def __getattr__(self, name):
        return getattr(time, name)
    def time_ns(self):
        return time.time_ns() + int(Path(os.environ["JUMP"]).read_text()) * 10**9

recommender.time = Jumpy()
main()
"""
HOUR = 3600


def test_the_recommenders_clock_jumps_ahead_and_back(
    federation, small, tmp_path, monkeypatch
) -> None:
    """Seen: set back by more than five minutes it refused everybody until it caught up."""
    jump = tmp_path / "jump"
    jump.write_text("0")
    monkeypatch.setenv("JUMP", str(jump))
    f = federation(small.ratings, **small.faultless)
    f.main["recommender"] = JUMPY
    f.start()
    f.train_through(lambda: jump.write_text(str(HOUR)), lambda: jump.write_text(str(-HOUR)))
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)


MANY = 60
"""Rounds: so many that none of the two copies is made after the last."""
ENDS = {"a round was announced that is before one that was answered"}
"""What a device says by itself to a recommender that has forgotten its answers."""


def copied(f: Any, role: str, there: Path, back: bool = False) -> None:
    """A server's store, put aside or put back; its process is down."""
    there.mkdir(exist_ok=True)
    for path in f.home[role].glob(f"{role}.sqlite*"):
        if back:
            path.unlink()
    source, target = (there, f.home[role])[:: 1 if back else -1]
    for path in source.glob(f"{role}.sqlite*"):
        shutil.copy2(path, target / path.name)


def down(f: Any, role: str) -> None:
    f.processes[role].terminate()
    f.processes[role].wait(PATIENCE)


@pytest.mark.parametrize("role", ["recommender", "aggregator"])
def test_an_older_copy_of_a_store_ends_in_words_and_no_second_sum(
    federation, small, tmp_path, role, full
) -> None:
    """The recommender's: its round was revealed, so the aggregator opens it no more. The
    aggregator's, after the open rounds of the copy were given up: it does not know the round
    that is under way. Every device is told."""
    if not full:
        pytest.skip("only with scripts/test --full")
    long = {"factors": 4, "rounds": MANY, "cohort": 12}
    f = federation(small.ratings, **small.faultless | {"set": long})
    f.start()
    old = tmp_path / "old"

    def keep() -> None:
        down(f, role)
        copied(f, role, old)
        f.start(role)

    def restore() -> None:
        down(f, role)
        copied(f, role, old, back=True)
        if role == "aggregator":
            where = ["--server", role, "--home", str(f.home[role])]
            done = CliRunner().invoke(admin, ["give-up", *where])
            assert done.exit_code == 0, done.output
        f.start(role, wait=False)

    async def run() -> Any:
        fleet = asyncio.create_task(f.fleet())
        await f.reached(1, fleet)
        await asyncio.to_thread(keep)
        await f.reached(4, fleet)
        await asyncio.to_thread(restore)
        return await fleet

    report = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    if role == "aggregator" and not report.failed:
        f.published()  # it was between two rounds, and knew nothing of an open one
        return
    assert len(report.failed) == small.ratings.n_users
    assert all(each in ENDS or "stopped" in each for each in report.failed)
    assert any("stopped" in each for each in report.failed)
    assert not f.out.exists()


def test_a_task_is_not_run_again_after_its_end(federation, small, tmp_path, full) -> None:
    """A recommender that has lost its store, or says so, opens no round of a task whose sums
    the aggregator has revealed: devices are told, and pay nothing."""
    if not full:
        pytest.skip("only with scripts/test --full")
    f = federation(small.ratings, calibration="sound", epsilon=20.0, delta=1e-5, cohort=12, least=6)
    f.start()
    policy = Policy(epsilon=100.0, delta=1e-5)
    f.train(policy=policy)
    down(f, "recommender")
    for path in f.home["recommender"].glob("recommender.sqlite*"):
        path.unlink()
    f.out = tmp_path / "again"
    f.start("recommender", wait=False)

    async def again() -> Any:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return await f.fleet(policy=policy)
            except Failure:
                assert time.monotonic() < until
                await asyncio.sleep(0.2)

    report = asyncio.run(asyncio.wait_for(again(), PATIENCE))
    assert len(report.failed) == small.ratings.n_users
    assert all("refused to open" in each for each in report.failed)
    assert report.answered == 0
    assert not (tmp_path / "again").exists()


def test_another_server_at_the_aggregators_address_is_not_believed(federation, small, full) -> None:
    """It has the address, and a home of its own: the recommender stops in words, devices are
    told, and none of them hands a contribution over."""
    if not full:
        pytest.skip("only with scripts/test --full")
    f = federation(small.ratings, **small.faultless)
    f.start()

    def usurp() -> None:
        down(f, "aggregator")
        f.home["aggregator"] = f.folder / "usurper"
        Identity(f.home["aggregator"] / "identity.json")
        f.start("aggregator")

    async def run() -> Any:
        fleet = asyncio.create_task(f.fleet())
        await f.reached(2, fleet)
        await asyncio.to_thread(usurp)
        return await fleet

    report = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert len(report.failed) == small.ratings.n_users
    assert not f.out.exists()
