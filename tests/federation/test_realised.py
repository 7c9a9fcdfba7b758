"""What a device has really spent: the price of its own answers' norms, for its owner alone."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.federation.agreed.assembled import assemble
from tacit.federation.device import person
from tacit.federation.device.device import Realised, realised_event
from tacit.federation.device.person import MemorisedDevice
from tacit.federation.device.policy import Policy
from tacit.federation.protocol.arrays import pack_state
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import Announcement
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.event import Gaussian, Laplace, Skellam
from tacit.ledger.book.devices import DeviceBooks
from tacit.rounds.state import State

ITEMS = [f"i{k}" for k in range(30)]
FACTS = {"label": 3, "secret": "ab" * 32}
POLICY = Policy(epsilon=20, delta=1e-5)


def made(noise: str = "servers"):
    task = Task(
        method="popularity",
        epsilon=5.0,
        low=1,
        high=5,
        people=20,
        cohort=20,
        least=10,
        noise=noise,
        items=catalogue_facts(Catalogue(ITEMS)),
    )
    return assemble(task)


def told(found, **changes) -> Announcement:
    facts = {
        "task": found.task.name,
        "round": 0,
        "attempt": 0,
        "nonce": "ab" * 16,
        "key": "cd" * 16,
        "joined": 12,
        "least": 10,
        "enough": 9,
        "seconds": 9.0,
    } | changes
    return Announcement(**facts)


STATE = memoryview(pack_state(State(people=20.0).packed()))


@pytest.fixture
def device(tmp_path):
    def begin(found, rated: int = 3) -> MemorisedDevice:
        path = tmp_path / "mine.csv"
        lines = [f"{name},5" for name in ITEMS[:rated]]
        path.write_text("item,rating\n" + "\n".join(lines) + "\n")
        return MemorisedDevice(tmp_path, found, str(path), POLICY, FACTS)

    return begin


@pytest.mark.parametrize("noise", ["servers", "both"])
def test_it_is_the_price_of_the_norms_of_what_was_added(device, tmp_path, noise) -> None:
    found = made(noise)
    one = device(found)
    one.answer(told(found), STATE, b"m" * 32)
    round_ = found.round(0)
    given = round_.contribute(one._block(round_), State(people=20.0))
    events = []
    for part, layout in zip(round_.parts, found.layouts(0), strict=True):
        whole = one._weighted_integers(part, layout, given[part.name], 3)
        event = found.events[f"{round_.name}/{part.name}"]
        norm = sqrt(float((whole.astype(object) ** 2).sum()))
        assert 0 < norm <= event.sensitivity
        changed = {"sensitivity": norm}
        if isinstance(event, Skellam):
            changed["l1"] = float(np.abs(whole).sum())
        events.append(event.model_copy(update=changed))
    expected = epsilon(events, 1e-5)
    assert Realised(tmp_path).epsilon(1e-5) == pytest.approx(expected, rel=1e-6)
    assert expected <= found.price(1e-5)


def test_the_same_words_again_cost_nothing_and_a_restart_forgets_nothing(device, tmp_path) -> None:
    found = made()
    device(found).answer(told(found), STATE, b"m" * 32)
    before = Realised(tmp_path).epsilon(1e-5)
    again = device(found)  # a new process
    again.answer(told(found, attempt=1), STATE, b"m" * 32)
    assert Realised(tmp_path).answers == 1
    again.answer(told(found, nonce="ef" * 16), STATE, b"m" * 32)
    assert Realised(tmp_path).answers == 2
    assert Realised(tmp_path).epsilon(1e-5) > before


def test_a_contribution_of_nothing_costs_nothing() -> None:
    event = Gaussian(name="a", sensitivity=50.0, sigma=100.0, draws=3)
    assert realised_event(event, np.zeros((3, 1), np.int64)) is None


@pytest.mark.parametrize(
    ("event", "changed"),
    [
        (Gaussian(name="a", sensitivity=50.0, sigma=100.0, draws=2), {"sensitivity": 5.0}),
        (Laplace(name="a", sensitivity=50.0, scale=9.0, draws=2), {"sensitivity": 7.0}),
        (
            Skellam(name="a", sensitivity=50.0, l1=9e9, variance=9e4, draws=2),
            {"sensitivity": 5.0, "l1": 7.0},
        ),
    ],
)
def test_each_law_is_priced_by_its_own_norm(event, changed) -> None:
    found = realised_event(event, np.array([[3], [-4]]))
    for name, value in changed.items():
        assert getattr(found, name) == pytest.approx(value)
        assert getattr(found, name) >= value


def test_norms_are_summed_in_exact_integers() -> None:
    event = Gaussian(name="a", sensitivity=2.0**60, sigma=2.0**40, draws=2)
    found = realised_event(event, np.array([[2**40], [1]]))
    assert found.sensitivity >= 2.0**40
    assert found.sensitivity <= 2.0**40 * (1 + 1e-12)


def test_a_device_shows_what_it_booked_and_what_it_really_spent(device, tmp_path) -> None:
    found = made()
    one = device(found)
    books = DeviceBooks(1, (20.0, 1e-5), tmp_path / "ledger")
    for event in one.events(told(found), STATE):
        books.pay(event)
    books.close()
    one.answer(told(found), STATE, b"m" * 32)
    spent = person.spent(tmp_path)
    assert spent.answers == 1
    assert 0 < spent.realised <= spent.booked <= spent.cap == 20
