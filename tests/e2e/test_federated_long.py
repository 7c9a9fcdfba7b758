"""Many printed rounds over HTTP equal `simulate` bit for bit with the noise off, also when
people come and go: fifty with `--full`, fifteen without."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE

from tacit.data.catalogue import Catalogue
from tacit.data.sample import sample
from tacit.engine.printed import PrintedFederated as Federated
from tacit.methods import find
from tacit.methods.base import Public
from tacit.noise.release import NoNoise

PEOPLE = 16
ROUNDS = 50 if os.environ.get("TACIT_FULL") else 15
STAY = ROUNDS // 6
"""How many rounds some people stay."""
LATE = ROUNDS // 5
"""After so many rounds others come."""


def simulated(ratings, settings: dict[str, Any], groups) -> np.ndarray:
    """The item profiles after all rounds in one process, with these people in each."""
    method = find("mf-federated")(calibration="none", **settings)
    public = Public(ratings.schema.declare(PEOPLE), Catalogue(ratings.items), "user", "none")
    engine = Federated(ratings, 1, groups=groups)
    state = method.first_state(public).after(people=float(PEOPLE))
    for round_ in method.plan(public).rounds:
        state = round_.absorb(state, engine.run(round_, state, NoNoise()))
    return method.finish(public, state).arrays["loadings"]


class Visitors:
    """Writes down who came to which round: handed to a fleet as its question whether a
    device vanishes."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))

    def counted_from(self, first: int) -> Callable[[int, Any], bool]:
        def ask(place: int, told: Any) -> bool:
            self.seen[told.round][told.attempt].add(first + place)
            return False

        return ask

    @property
    def groups(self) -> list[np.ndarray]:
        return [np.array(sorted(tries[max(tries)])) for _, tries in sorted(self.seen.items())]


async def come_and_go(f, visitors: Visitors) -> None:
    """Eight stay, four leave after `STAY` rounds each, four come when `LATE` are over."""

    async def late() -> None:
        while (await asyncio.to_thread(f.get, "recommender", "/v1/status"))["round"] < LATE:
            await asyncio.sleep(0.02)
        await f.fleet(first=12, devices=4, vanish=visitors.counted_from(12))

    await asyncio.gather(
        f.fleet(first=0, devices=8, vanish=visitors.counted_from(0)),
        f.fleet(first=8, devices=4, rounds=STAY, vanish=visitors.counted_from(8)),
        late(),
    )


def test_many_rounds_of_everybody_equal_simulate(federation) -> None:
    ratings = sample(people=PEOPLE, ratings=320, seed=4)
    settings = {"factors": 6, "rounds": ROUNDS, "scheme": "S2"}
    f = federation(ratings, method="mf-federated", cohort=PEOPLE, least=PEOPLE, set=settings)
    f.start()
    f.train()
    everybody = [np.arange(PEOPLE)] * ROUNDS
    assert np.array_equal(
        f.model().shared.arrays["loadings"], simulated(ratings, settings, everybody)
    )


@pytest.fixture
def changing(federation):
    """Rounds of at most seven devices, with people who leave and people who come late."""
    ratings = sample(people=PEOPLE, ratings=320, seed=4)
    settings = {"factors": 6, "rounds": ROUNDS, "scheme": "S3", "cohort": 7}
    f, visitors = (
        federation(ratings, method="mf-federated", cohort=7, least=5, set=settings),
        Visitors(),
    )
    f.start()
    asyncio.run(asyncio.wait_for(come_and_go(f, visitors), PATIENCE))
    f.published()
    return (f.model().shared.arrays["loadings"], ratings, settings, visitors.groups)


def test_many_rounds_with_joins_and_leaves_equal_simulate(changing) -> None:
    item_factors, ratings, settings, groups = changing
    early, late = (set(np.concatenate(groups[:LATE])), set(np.concatenate(groups[-LATE:])))
    assert late - early, "somebody came"
    assert early - late, "somebody left"
    assert np.array_equal(item_factors, simulated(ratings, settings, groups))
    other = [groups[0][:-1], *groups[1:]]  # one person less in one round shows
    assert not np.array_equal(item_factors, simulated(ratings, settings, other))
