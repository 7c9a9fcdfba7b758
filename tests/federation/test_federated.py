"""The devices of a federation: what they send, what they refuse, whose turn it is."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound import RowClip, Rows
from tacit.data.catalogue import catalogue_facts
from tacit.data.sample import sample
from tacit.engine.federated import Federated
from tacit.errors import BudgetError, SettingError
from tacit.federation.agreed import expect
from tacit.federation.agreed.assembled import assemble
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol import arrays, wire
from tacit.federation.protocol.task import Task
from tacit.methods import find
from tacit.rounds.people import Turns
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State


def task(**changes) -> Task:
    ratings = sample(people=20, ratings=200, seed=1)
    from tacit.data.catalogue import Catalogue

    facts = {
        "method": "popularity",
        "epsilon": 5.0,
        "delta": 1e-4,
        "low": 1,
        "high": 5,
        "people": 20,
        "cohort": 20,
        "least": 10,
        "items": catalogue_facts(Catalogue(ratings.items)),
    } | changes
    return Task(**facts)


# ------------------------------------------------------------------ devices


def device(made=None, **policy) -> Device:
    made = made or assemble(task())
    return Device(
        made,
        0,
        np.array([1, 5], np.uint32),
        np.array([1.0, -1.0]),
        None,
        Policy(epsilon=50, delta=1e-4, **policy),
        b"s" * 32,
    )


def announcement(made, **changes) -> tuple[wire.Announcement, memoryview]:
    facts = {
        "task": made.task.name,
        "round": 0,
        "attempt": 0,
        "nonce": "ab" * 16,
        "key": "cd" * 16,
        "joined": 12,
        "least": 10,
        "enough": 9,
        "seconds": 10.0,
    } | changes
    state = (
        expect.form_before(made, facts["round"], State())
        if made.method.local
        else State(people=20.0)
    )
    return wire.Announcement(**facts), memoryview(arrays.pack_state(state.packed()))


def test_a_device_sends_the_same_words_for_a_round_that_is_run_again() -> None:
    one = device()
    told, payload = announcement(one.made)
    first = wire.unpack(wire.Upload, one.answer(told, payload, b"m" * 32))
    again = wire.unpack(
        wire.Upload, one.answer(told.model_copy(update={"attempt": 1}), payload, b"m" * 32)
    )
    assert bytes(first[1]) == bytes(again[1])
    assert (first[0].attempt, again[0].attempt) == (0, 1)
    assert one.turns == 1


def test_another_state_is_another_answer_that_must_be_paid() -> None:
    one = device()
    told, payload = announcement(one.made)
    one.answer(told, payload, b"m" * 32)
    other = memoryview(arrays.pack_state(State(people=21.0).packed()))
    assert one.has_answer(told, payload)
    assert not one.has_answer(told, other)


def test_what_a_device_sends_says_nothing_about_which_items_it_rated() -> None:
    """Sound: the same length for any ratings, and every word masked."""
    made = assemble(task())
    few, many = device(made), device(made)
    many.items, many.values = np.arange(100, dtype=np.uint32), np.ones(100)
    told, payload = announcement(made)
    assert len(few.answer(told, payload, b"m" * 32)) == len(many.answer(told, payload, b"n" * 32))


@pytest.mark.parametrize(
    "changes", [{"least": 2}, {"enough": 10}, {"joined": 3}, {"task": "ab" * 16}, {"round": 9}]
)
def test_a_device_refuses_a_round_that_is_not_the_tasks(changes) -> None:
    one = device()
    told, payload = announcement(one.made, **changes)
    with pytest.raises(SettingError):
        one.answer(told, payload, b"m" * 32)


@pytest.mark.parametrize(
    ("changes", "policy"),
    [
        ({}, {"least": 11}),
        ({"noise": "devices"}, {"honest": 0.5, "noise": ("devices",)}),
        ({"noise": "devices"}, {}),
    ],
)
def test_a_device_refuses_a_task_that_is_weaker_than_its_owner_accepts(changes, policy) -> None:
    with pytest.raises(SettingError):
        device(assemble(task(**changes)), **policy)


@pytest.mark.parametrize(
    "changes",
    [
        {"calibration": "none", "epsilon": None},
        {
            "method": "mf-federated",
            "calibration": "paper",
            "unit": "value",
            "settings": {"rounds": 2},
        },
    ],
)
def test_a_device_refuses_what_nothing_bounds(changes) -> None:
    with pytest.raises(BudgetError):
        device(assemble(task(**changes)))


def test_a_device_keeps_the_same_ratings_within_the_limit() -> None:
    made = assemble(task(max_ratings=1))
    assert list(device(made).items) == list(device(made).items)
    assert len(device(made).items) == 1


# ------------------------------------------------------------------ in one process


def test_turns_are_counted_and_cohorts_kept_small() -> None:
    ratings = sample(people=30, ratings=300, seed=2)
    engine = Federated(ratings, 1)
    seen = [engine._participants(Turns(k, 2, 10)) for k in range(6)]
    everyone = np.concatenate(seen)
    assert [len(each) for each in seen[:3]] == [10, 10, 10]
    assert np.bincount(everyone, minlength=30).max() <= 2


def test_people_come_and_go() -> None:
    ratings = sample(people=400, ratings=2000, seed=2)
    engine = Federated(ratings, 1, seed=1)
    seen = [engine._participants(Turns(k, 1000, None, 0.2, 0.2)) for k in range(20)]
    assert all(100 < len(each) < 300 for each in seen)
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize(
    "settings", [{}, {"factors": 3, "project": 64}, {"rounds": 4, "turns": 2, "cohort": 100}]
)
def test_sound_factorization_runs_and_is_paid_in_full(settings, tmp_path) -> None:
    ratings = sample(people=200, ratings=4000, seed=3)
    method = find("mf-federated")(
        epsilon=60.0, delta=1e-4, ledger=str(tmp_path / "book"), **settings
    ).fit(ratings, users=200)
    assert method.statement_.certified == "certified"
    assert method.statement_.epsilon <= 60


def test_a_projection_keeps_the_bound_of_its_part() -> None:
    from tacit.methods.factorization.federated import projected, signs

    matrix = signs(16, 40, 0)
    assert np.allclose((matrix**2).sum(axis=0), 1)
    rows = Rows(np.array([0, 2]), np.array([3, 5], np.uint32), np.array([[3.0, 4.0], [1.0, 0.0]]))
    round_ = Round("r", (Part("x", 40, RowClip(1.0), 2),), lambda b, s: {"x": rows}, lambda s, r: s)
    small = projected(round_, 16, 0)
    found = small.contribute(None, {})["x"]
    whole = small.parts[0].bound.apply(found)
    assert np.allclose(found.values, matrix[:, [3, 5]] @ rows.values)
    assert (whole.astype(float) ** 2).sum() <= (2.0**20) ** 2
