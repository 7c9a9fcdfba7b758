"""What passes by itself stops nobody: clocks that are off, keys that rotate in a round, a
store that is away."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

from tacit.errors import StorageError
from tacit.federation.device import client
from tacit.federation.protocol.keys import Identity
from tacit.federation.server import rounds
from tacit.federation.server.recommender import MIGRATIONS
from tacit.federation.server.store import ServerStore


@pytest.mark.parametrize("seconds", [-600, 3600])
def test_a_device_with_a_wrong_clock_takes_part(federation, small, monkeypatch, seconds) -> None:
    """Seen: five minutes off looped silently for ever."""

    class Wrong:
        """The module `time`, some minutes off."""

        def __getattr__(self, name):
            return getattr(time, name)

        def time_ns(self) -> int:
            return time.time_ns() + seconds * 10**9

    monkeypatch.setattr(client, "time", Wrong())
    f = federation(small.ratings, **small.faultless)
    f.start()
    f.train()
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)


def test_five_rotations_in_one_round_change_nothing(federation, small) -> None:
    f = federation(small.ratings, **small.faultless)
    f.start()

    def fault() -> None:
        for role in ("recommender", "aggregator"):
            identity = Identity(f.home[role] / "identity.json")
            for _ in range(5):
                identity.rotate()
        f.kill("recommender")
        f.start("recommender")

    f.train_through(fault, fault)
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)


def test_a_training_waits_for_its_store_as_long_as_it_takes(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(rounds, "PAUSE", 0.01)
    store = ServerStore(tmp_path / "store", MIGRATIONS, "recommender")
    asked = rounds.Rounds.__new__(rounds.Rounds)
    asked.store = store
    away = iter([True] * 5)
    plain = store.write

    async def shaky(work, **how):
        if next(away, False):
            raise StorageError("the store is away")
        return await plain(work, **how)

    monkeypatch.setattr(store, "write", shaky)
    found = asyncio.run(asked._execute(lambda s: s.run("SELECT 1")))
    assert found == [(1,)]
    store.close()
