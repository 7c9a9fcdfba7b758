"""A device that adds less of itself: its words, its book, and what it refuses."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import BudgetError, SettingError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import Announcement
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.personal import WHOLE
from tacit.rounds.state import State

ITEMS = [f"i{k}" for k in range(30)]


def made(noise: str = "servers", **more):
    task = Task(
        **{
            "method": "popularity",
            "epsilon": 5.0,
            "low": 1,
            "high": 5,
            "people": 20,
            "cohort": 20,
            "least": 10,
            "noise": noise,
            "items": catalogue_facts(Catalogue(ITEMS)),
        }
        | more
    )
    return assemble(task)


def device(found, **policy) -> Device:
    items = np.arange(3, dtype=np.uint32)
    values = np.full(3, 2.0)
    own = Policy(**{"epsilon": 20.0} | policy)
    return Device(found, 3, items, values, None, own, b"s" * 32)


def told(found) -> Announcement:
    return Announcement(
        task=found.task.name,
        round=0,
        attempt=0,
        nonce="ab" * 16,
        key="cd" * 16,
        joined=12,
        least=10,
        enough=9,
        seconds=9.0,
    )


STATE = memoryview(pack_state(State(people=20.0).packed()))


@pytest.mark.parametrize("noise", ["servers", "both"])
def test_it_adds_and_pays_no_more_than_its_owner_asked_for(noise) -> None:
    found = made(noise)
    one = device(found, asked=0.5)
    assert 0 < one.weight < WHOLE
    events = one.events(told(found), STATE)
    assert epsilon(events, 1e-5) <= 0.5
    assert epsilon(events, 1e-5) > 0.49
    round_ = found.round(0)
    given = round_.contribute(one._block(round_), State(people=20.0))
    for part, layout, event in zip(round_.parts, found.layouts(0), events, strict=True):
        whole = one._weighted_integers(part, layout, given[part.name], 3)
        length = sqrt(sum(int(each) ** 2 for each in whole.ravel()))
        assert 0 < length <= event.sensitivity
        all_of_it = device(found)._weighted_integers(part, layout, given[part.name], 3)
        assert np.abs(all_of_it).max() > event.sensitivity * 0.5


def test_a_task_over_the_cap_is_taken_part_in_with_less() -> None:
    found = made()
    with pytest.raises(BudgetError, match="too small"):
        device(found, epsilon=1.0)
    assert device(found, epsilon=1.0, asked=1.0).weight < WHOLE
    with pytest.raises(BudgetError):
        device(found, epsilon=1.0, asked=2.0)
    assert device(found, asked=99.0).weight == WHOLE


def test_its_words_look_like_all_others() -> None:
    found = made()
    sizes = {
        len(device(found, asked=asked).answer(told(found), STATE, b"m" * 32))
        for asked in (None, 0.3, 3.0)
    }
    assert len(sizes) == 1


def test_what_cannot_be_lessened_is_refused() -> None:
    with pytest.raises(SettingError, match="coin"):
        device(made(method="one-bit", noise="both"), asked=0.5)
    with pytest.raises(SettingError, match="whole person"):
        device(made(unit="rating"), asked=0.5, unit="rating")
