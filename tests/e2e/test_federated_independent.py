"""A device that was written from docs/protocol.md alone takes part beside Tacit's own."""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path

import numpy as np
from patience import PATIENCE

from tacit.data.sample import sample
from tacit.methods import find

sys.path.insert(0, str(Path(__file__).parents[1] / "federation"))
device = importlib.import_module("independent_device")
PEOPLE = 5
OTHERS = 2
"""Of them, who are devices of the second implementation."""


def test_it_interoperates(federation) -> None:
    ratings = sample(people=PEOPLE, ratings=120, seed=8)
    f = federation(ratings, method="popularity", cohort=PEOPLE, least=PEOPLE)
    f.start()
    others = []
    for person in range(PEOPLE - OTHERS, PEOPLE):
        cells = ratings.row(person)
        items = [ratings.items[item] for item in ratings.item[cells]]
        own = dict(zip(items, ratings.value[cells].tolist(), strict=True))
        pin = f.pin["recommender"]
        others.append(device.Device(f.url["recommender"], pin, own))

    async def run() -> None:
        for each in others:
            await asyncio.to_thread(each.enrol)
        fleet = asyncio.create_task(f.fleet(devices=PEOPLE - OTHERS))
        parts = (asyncio.to_thread(each.take_part) for each in others)
        await asyncio.gather(*parts)
        assert not (await fleet).failed

    asyncio.run(asyncio.wait_for(run(), PATIENCE))
    f.published()
    twin = find("popularity")(calibration="none", engine="federated")
    expected = twin.fit(ratings, users=PEOPLE).model_.shared
    found = f.model().shared
    assert found.numbers == expected.numbers
    for name, array in expected.arrays.items():
        assert np.array_equal(found.arrays[name], array)
