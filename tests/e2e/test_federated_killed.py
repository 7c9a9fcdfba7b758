"""A recommender that is killed at each of its transitions, as a real process: the model is
the one without kills."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

from tacit.federation.server.conductor import Stage

POINTS = (
    *(f"{step.value}" for step in Stage if step is not Stage.OVER),
    "after open",
    "after begin",
    "after record_briefing",
    "after record_briefing",  # some were called then, and others not
    "after close",
    "after advance",
    Stage.OVER.value,
)
"""One kill at each of these, in this order, as the training goes on."""
BEFORE_ANYBODY = 2
"""The first kills, which need no device."""
FEW = (POINTS[0], POINTS[1], "after record_briefing", "after close", Stage.OVER.value)
"""Those of them without `--full`: a restart takes some seconds."""
LIMIT_SECONDS = 400

KILLED = """
import os, signal
from pathlib import Path
from tacit.cli.main import main
from tacit.federation.server import conductor
from tacit.federation.server.conductor import Conductor
from tacit.federation.server.remote import RemoteAggregator
from tacit.federation.server.rounds import Rounds

conductor.TOGETHER = 2
left = Path(os.environ["KILL_POINTS"])

def reached(name):
    points = left.read_text().split("\\n")
    if points[0] == name:
        left.write_text("\\n".join(points[1:]))
        os.kill(os.getpid(), signal.SIGKILL)

def after(owner, name):
    plain = getattr(owner, name)
    async def wrapped(self, *given):
        found = await plain(self, *given)
        reached("after " + name)
        return found
    setattr(owner, name, wrapped)

enter = Conductor._enter
def watched(self, step):
    enter(self, step)
    reached(step.value)
Conductor._enter = watched
for name in ("begin", "record_briefing", "advance"):
    after(Rounds, name)
for name in ("open", "close"):
    after(RemoteAggregator, name)
main()
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request) -> dict[str, str]:
    """Where the recommender keeps its store."""
    if request.param == "sqlite":
        return {}
    return {"recommender": request.getfixturevalue("postgres").database()}


def train_and_restart(f, points: Path) -> int:
    """All devices until the model is published, while somebody starts the recommender again
    whenever it has died; how often that was."""

    async def run() -> int:
        fleet = asyncio.create_task(f.fleet())
        restarts = 0
        while not fleet.done() or points.read_text():
            if f.processes["recommender"].poll() is not None:
                await asyncio.to_thread(f.start, "recommender", wait=False)
                restarts += 1
            await asyncio.sleep(0.02)
        report = await fleet
        assert not report.failed, report.failed[:3]
        return restarts

    restarts = asyncio.run(asyncio.wait_for(run(), LIMIT_SECONDS))
    if f.processes["recommender"].poll() is not None:
        f.start("recommender")
    f.ready("recommender")
    f.published()
    return restarts


def test_a_kill_at_every_transition_changes_nothing(
    federation, small, place, tmp_path, monkeypatch, full
) -> None:
    if "postgres" in str(place) and not full:
        pytest.skip("half a minute: only with scripts/test --full")
    kills = POINTS if full else FEW
    points = tmp_path / "points"
    points.write_text("\n".join(kills))
    monkeypatch.setitem(os.environ, "KILL_POINTS", str(points))
    f = federation(small.ratings, **small.faultless)
    f.store |= place
    f.main["recommender"] = KILLED
    f.start("aggregator")
    for _ in range(BEFORE_ANYBODY):
        f.start("recommender", wait=False)
        f.processes["recommender"].wait(PATIENCE)
    f.start("recommender")
    restarts = train_and_restart(f, points)
    assert restarts == len(kills) - BEFORE_ANYBODY
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
