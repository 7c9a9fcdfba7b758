"""Behaviours that cross two features, with real processes: tickets of another training, a pause of
one of them, sums that a restart must not forget."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from patience import PATIENCE

from tacit.cli.federate.admin import admin
from tacit.data.sample import sample
from tacit.federation.device.client import Conversation, KnownServer, TurnedDown, fetch_task
from tacit.federation.device.device import Device
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import new_exchange
from tacit.federation.protocol.packing import packed_size
from tacit.federation.protocol.wire import Announcement, Join, Upload, pack, unpack
from tacit.methods import find
from tacit.model.model import load


class Crosser:
    """A device that has joined two trainings of one recommender."""

    def __init__(self, f: Any, web: Web) -> None:
        self.f, self.web = f, web

    async def joined(self, name: str, link: Conversation) -> Announcement:
        join = Join(task=name, stamp=link.stamp())
        found = await link.call(link.recommender, "/v1/join", pack(join))
        return unpack(Announcement, found)[0]

    async def run(self, names: tuple[str, str]) -> dict[str, int]:
        recommender = KnownServer(self.f.url["recommender"], self.f.pin["recommender"])
        await recommender.learn(self.web)
        first, aggregator = await fetch_task(self.web, recommender, name=names[0])
        second, _ = await fetch_task(self.web, recommender, name=names[1])
        await aggregator.learn(self.web)
        links = [
            Conversation(self.web, recommender, aggregator, new_exchange()[0]) for _ in range(2)
        ]
        for link in links:
            await link.enrol()
        told = {
            name: await asyncio.gather(*(self.joined(name, link) for link in links))
            for name in names
        }
        (one, _), (other, _) = told[names[0]], told[names[1]]
        good = Upload(
            task=names[0],
            round=one.round,
            attempt=one.attempt,
            least=one.least,
            ticket=one.ticket,
            layouts=first.agreed(0),
        )
        wrong = {
            "its ticket": {"ticket": other.ticket},
            "its layouts": {"layouts": second.agreed(0)},
            "its round": {"task": names[1]},
        }
        got = {}
        for what, change in wrong.items():
            body = pack(good.model_copy(update=change), bytes(first.bytes_of(0)))
            try:
                await links[0].call(aggregator, "/v1/upload", body)
                got[what] = 200
            except TurnedDown as refused:
                got[what] = refused.status
        return got


def test_nothing_of_one_training_is_good_for_another(federation, tmp_path) -> None:
    ratings = sample(people=2, ratings=40, seed=8)
    also = tmp_path / "also.toml"
    also.write_text(f"[[training]]\nmethod = 'bias'\nout = '{tmp_path / 'bias'}'\n")
    f = federation(ratings, cohort=2, least=2, seconds=60, also=also)
    f.start()
    names = {method: name for name, method in f.get("recommender", "/v1/tasks")["tasks"].items()}

    async def run() -> dict[str, int]:
        async with Web() as web:
            return await Crosser(f, web).run((names["popularity"], names["bias"]))

    got = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert got["its ticket"] == 403
    assert got["its layouts"] == 403
    assert got["its round"] in (400, 403)


def test_who_sits_out_sits_out_after_a_restart_too(federation, monkeypatch, full) -> None:
    """Several sums of a round, a cheat in one of them, and a recommender that dies."""
    if not full:
        pytest.skip("only with scripts/test --full")
    people = 24
    ratings = sample(people=people, ratings=500, seed=8)
    whole = Device._weighted_integers

    def cheat(self, part, layout, given, count):
        found = whole(self, part, layout, given, count)
        return found + (1 << layout.bits - 2) if self.label == 3 else found

    monkeypatch.setattr(Device, "_weighted_integers", cheat)
    f = federation(ratings, method="bias", cohort=people, least=people // 2, groups=2)
    f.start()

    async def run() -> Any:
        fleet = asyncio.create_task(f.fleet())
        await f.reached(2, fleet)
        await asyncio.to_thread(f.kill, "recommender")
        await asyncio.to_thread(f.start, "recommender")
        return await fleet

    report = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    f.published()
    assert len(report.failed) == people // 2
    assert all("sits out" in each for each in report.failed)
    told = f.model().statement.settings
    assert not any("taken as nothing" in line for line in told)


def test_a_pause_of_one_training_outlives_a_death_and_hinders_no_other(
    federation, tmp_path, full
) -> None:
    if not full:
        pytest.skip("only with scripts/test --full")
    ratings = sample(people=12, ratings=200, seed=8)
    also = tmp_path / "also.toml"
    also.write_text(f"[[training]]\nmethod = 'bias'\nout = '{tmp_path / 'bias'}'\n")
    f = federation(ratings, cohort=12, least=12, also=also)
    f.start()
    names = {method: name for name, method in f.get("recommender", "/v1/tasks")["tasks"].items()}
    keys = [new_exchange()[0] for _ in range(12)]

    def order(what: str) -> None:
        where = ["--server", "recommender", "--home"]
        place = [*where, str(f.home["recommender"]), "--task", names["bias"]]
        done = CliRunner().invoke(admin, [what, *place])
        assert done.exit_code == 0, done.output

    def status() -> dict[str, Any]:
        return f.get("recommender", f"/v1/status/{names['bias']}")

    async def run() -> None:
        until = time.monotonic() + PATIENCE
        await asyncio.to_thread(order, "pause")
        while not (await asyncio.to_thread(status))["paused"]:
            assert time.monotonic() < until
        # the attempt under way is finished, and no other begins
        assert not (await f.fleet(task=names["bias"], privates=keys, rounds=1)).failed
        await asyncio.to_thread(f.kill, "recommender")
        await asyncio.to_thread(f.start, "recommender")
        assert not (await f.fleet(privates=keys)).failed
        found = await asyncio.to_thread(status)
        assert found["paused"]
        assert not found["finished"]
        await asyncio.to_thread(order, "resume")
        again = await f.fleet(task=names["bias"], privates=keys)
        assert not again.failed

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
    f.published(task=names["bias"])
    twin = find("bias")(calibration="none", engine="federated")
    expected = twin.fit(ratings, users=12).model_.shared.arrays
    found = load(tmp_path / "bias").shared.arrays
    assert all(np.array_equal(found[n], expected[n]) for n in expected)


async def odd_rows(f: Any) -> int:
    """A device of a printed round joins, and counts its rows in words; what it is told."""
    async with Web() as web:
        recommender = KnownServer(f.url["recommender"], f.pin["recommender"])
        await recommender.learn(web)
        made, aggregator = await fetch_task(web, recommender)
        await aggregator.learn(web)
        link = Conversation(web, recommender, aggregator, new_exchange()[0])
        await link.enrol()
        rows = np.arange(2, dtype="<u4").tobytes()
        join = Join(task=made.task.name, stamp=link.stamp(), items=True)
        found = await link.call(recommender, "/v1/join", pack(join, rows))
        told = unpack(Announcement, found)[0]
        layouts = made.layouts(told.round)
        upload = Upload(
            task=told.task,
            round=told.round,
            attempt=told.attempt,
            least=told.least,
            ticket=told.ticket,
            rows=(2,) * len(layouts),
            layouts=made.agreed(told.round),
        ).model_dump(mode="json")
        upload["rows"] = ["2"] * len(layouts)
        words = b"".join(rows + bytes(packed_size(2 * each.width, each.bits)) for each in layouts)
        try:
            await link.call(aggregator, "/v1/upload", pack(upload, words))
        except TurnedDown as refused:
            return refused.status
        return 200


def test_a_count_that_is_no_number_stops_no_round(federation, small) -> None:
    """Seen: it passed as one when it came and not when it was summed, so that no round of a
    printed scheme was ever revealed again."""
    odd = small.faultless | {"cohort": 13, "least": 12, "seconds": 2}
    f = federation(small.ratings, **odd)
    f.start()

    async def run() -> tuple[int, Any]:
        fleet = asyncio.create_task(f.fleet())
        return await odd_rows(f), await fleet

    status, report = asyncio.run(asyncio.wait_for(run(), 60))
    assert status == 400
    assert not report.failed
    f.published()
