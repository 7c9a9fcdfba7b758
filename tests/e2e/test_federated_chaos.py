"""Both servers die at random moments, by SIGKILL or by a graceful stop, and are started again:
the model is the one without kills, and nobody pays twice.

Every method that runs over the wire, on SQLite and on PostgreSQL: three hundred deaths with
`--full`, a few without.
"""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE

from tacit.data.sample import sample
from tacit.federation.device.policy import Policy
from tacit.ledger.book.devices import DeviceBooks
from tacit.methods import find

PEOPLE = 12
ROLES = ("recommender", "aggregator")
METHODS: dict[str, dict[str, Any]] = {
    "popularity": {},
    "bias": {},
    "bayes": {},
    "als": {},
    "mf-federated": {"factors": 4, "rounds": 6, "cohort": PEOPLE},
    "one-bit": {},
    "one-bit-projected": {},
    "one-bit-naive": {},
}
"""And their settings. The printed forms have rounds of their own: `test_federated_long`."""
STORES = ("sqlite", "postgres")
DEATHS = 19
"""Of each method on each store with `--full`: 304 in all."""
FEW = 3
LONGEST = 1.6
"""Seconds from a start to the next death, at most: a server is up after about one."""
LIMIT_SECONDS = 600
CERTIFIED = {"epsilon": 40.0, "delta": 1e-5}


@pytest.fixture(scope="module")
def ratings():
    return sample(people=PEOPLE, ratings=240, seed=8)


@pytest.fixture(params=STORES)
def stores(request, full) -> Callable[[], dict[str, str]]:
    """Makes the places where both servers of a new federation keep what they know."""
    if request.param == "sqlite":
        return dict
    if not full:
        pytest.skip("only with --full")
    server = request.getfixturevalue("postgres")
    return lambda: {role: server.database() for role in ROLES}


async def haunted(f: Any, rng: random.Random, deaths: int, **options: Any) -> int:
    """Train while servers die; how often they did."""
    fleet = asyncio.create_task(f.fleet(**options))
    died = 0
    while not fleet.done() and died < deaths:
        await asyncio.sleep(rng.uniform(0, LONGEST))
        role = rng.choice(ROLES)
        process = f.processes[role]
        if fleet.done() or process.poll() is not None:
            break
        process.send_signal(rng.choice((signal.SIGKILL, signal.SIGTERM)))
        await asyncio.to_thread(process.wait, PATIENCE)
        died += 1
        await asyncio.to_thread(f.start, role, wait=False)
    report = await asyncio.wait_for(fleet, LIMIT_SECONDS)
    assert not report.failed, report.failed[:3]
    for role in ROLES:
        await asyncio.to_thread(f.ready, role)
    await asyncio.to_thread(f.published)
    return died


def wanted(method: str, full: bool) -> int:
    """Without `--full` one method stands for all."""
    if not full and method != "bias":
        pytest.skip("only with --full")
    return DEATHS if full else FEW


@pytest.mark.parametrize("method", METHODS)
def test_deaths_do_not_change_a_bit(federation, ratings, stores, method, full) -> None:
    settings = METHODS[method]
    left = wanted(method, full)
    engine = "simulate" if find(method).local else "federated"
    twin = find(method)(calibration="none", engine=engine, **settings)
    expected = twin.fit(ratings, users=PEOPLE).model_.shared.arrays
    rng = random.Random(method)
    while left > 0:
        f = federation(ratings, method=method, cohort=PEOPLE, least=PEOPLE, set=settings)
        f.store |= stores()
        f.start()
        left -= max(1, asyncio.run(haunted(f, rng, left)))
        found = f.model().shared.arrays
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            assert np.array_equal(found[name], array), name
        f.stop()


@pytest.mark.parametrize(
    ("method", "more"), [("bias", {"groups": 2, "noise": "both"}), ("mf-federated", {})]
)
def test_deaths_cost_nobody_twice(federation, ratings, method, more, full, tmp_path: Path) -> None:
    """Also where a round is cut into groups, each with a noise of its own, of both servers
    and of every device."""
    deaths = wanted(method, full)
    settings = METHODS[method]
    f = federation(
        ratings,
        method=method,
        calibration="sound",
        cohort=PEOPLE,
        least=PEOPLE // 2,
        set=settings,
        **CERTIFIED,
        **more,
    )
    f.start()
    policy = Policy(epsilon=100.0, delta=CERTIFIED["delta"])
    book = tmp_path / "devices"
    rng = random.Random(method)
    died = asyncio.run(haunted(f, rng, deaths, policy=policy, book=book))
    assert died
    said = f.model().statement
    assert said.certified == "certified"
    assert said.epsilon <= CERTIFIED["epsilon"] * 1.001
    books = DeviceBooks(PEOPLE, (100.0, CERTIFIED["delta"]), book)
    try:
        spent = [books.spent(person) for person in range(PEOPLE)]
    finally:
        books.close()
    assert max(spent) <= said.epsilon * 1.001
    assert min(spent) > 0
