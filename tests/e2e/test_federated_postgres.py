"""The same federation with PostgreSQL stores, which restart in the middle of it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tacit.data.sample import sample
from tacit.methods import find

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres"
PEOPLE = 12


@pytest.fixture(scope="module")
def postgres():
    """A cluster in a short path (its socket's name is limited), readable by the unprivileged user that runs it."""
    parent = Path(tempfile.mkdtemp(prefix="tacit-pg-"))
    parent.chmod(0o755)
    folder = parent / "cluster"
    done = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(parent, ignore_errors=True)
        pytest.skip(f"no PostgreSQL here: {done.stderr.strip()[-200:]}")
    yield done.stdout.strip(), folder
    subprocess.run([SCRIPT, "stop", folder], check=False)
    shutil.rmtree(parent, ignore_errors=True)


def test_a_database_that_restarts_mid_round_changes_nothing(federation, postgres) -> None:
    url, folder = postgres
    ratings = sample(people=PEOPLE, ratings=200, seed=8)
    settings = {"factors": 4, "rounds": 8, "cohort": PEOPLE}
    f = federation(ratings, method="mf-federated", cohort=PEOPLE, least=PEOPLE, set=settings)
    for name in ("recommender", "aggregator"):
        subprocess.run(["psql", "-q", url, "-c", f"CREATE DATABASE {name}"], check=True, capture_output=True)
    f.store = {name: url.rsplit("/", 1)[0] + f"/{name}" for name in ("recommender", "aggregator")}
    f.start()

    async def run() -> None:
        fleet = asyncio.create_task(f.fleet())
        while (await asyncio.to_thread(f.get, "recommender", "/v1/status"))["round"] < 2:
            assert not fleet.done(), fleet.result()
            await asyncio.sleep(0.01)
        await asyncio.to_thread(subprocess.run, [SCRIPT, "restart", folder], check=True)
        report = await asyncio.wait_for(fleet, 60)
        assert not report.failed, report.failed[:3]

    asyncio.run(run())
    f.published()
    expected = find("mf-federated")(calibration="none", **settings).fit(ratings, users=PEOPLE).model_
    assert np.array_equal(f.model().shared.arrays["loadings"], expected.shared.arrays["loadings"])
