"""The same federation with PostgreSQL stores, which restart in the middle of it."""

from __future__ import annotations

import asyncio

import numpy as np
from patience import PATIENCE

from tacit.data.sample import sample
from tacit.methods import find

PEOPLE = 12


def test_a_database_that_restarts_mid_round_changes_nothing(federation, postgres) -> None:
    ratings = sample(people=PEOPLE, ratings=200, seed=8)
    settings = {"factors": 4, "rounds": 8, "cohort": PEOPLE}
    f = federation(ratings, method="mf-federated", cohort=PEOPLE, least=PEOPLE, set=settings)
    f.store = {name: postgres.database() for name in ("recommender", "aggregator")}
    f.start()

    async def run() -> None:
        fleet = asyncio.create_task(f.fleet())
        await f.reached(2, fleet)
        await asyncio.to_thread(postgres.restart)
        report = await asyncio.wait_for(fleet, PATIENCE)
        assert not report.failed, report.failed[:3]

    asyncio.run(run())
    f.published()
    expected = (
        find("mf-federated")(calibration="none", **settings).fit(ratings, users=PEOPLE).model_
    )
    assert np.array_equal(f.model().shared.arrays["loadings"], expected.shared.arrays["loadings"])
