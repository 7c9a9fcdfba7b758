"""What the proof of a federation rests on (docs/proofs/federated.md), piece by piece."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
import pytest

import tacit.federation.server
from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.sample import sample
from tacit.errors import BudgetError, SettingError, StorageError
from tacit.federation.agreed import expect
from tacit.federation.agreed.assembled import assemble
from tacit.federation.device.device import Device
from tacit.federation.device.person import forgot
from tacit.federation.device.policy import Policy
from tacit.federation.protocol import arrays, packing, wire
from tacit.federation.protocol.task import Task
from tacit.rounds.state import State

ITEMS = sample(people=20, ratings=200, seed=1).items
POLICY = Policy(
    epsilon=500, delta=1e-4, honest=1.0, accept_unbounded=True, noise=("both", "servers", "devices")
)


def compact(device: Device) -> Device:
    """The same device without what it sent, as after a loss of its memory."""
    device.sent = None if device.sent is None else replace(device.sent, asked="")
    return device


def task(**changes) -> Task:
    facts = {
        "method": "popularity",
        "epsilon": 5.0,
        "delta": 1e-4,
        "low": 1,
        "high": 5,
        "people": 20,
        "cohort": 20,
        "least": 10,
        "items": catalogue_facts(Catalogue(ITEMS)),
    } | changes
    return Task(**facts)


def device(made, **changes) -> Device:
    found = Device(
        made, 0, np.array([1, 5], np.uint32), np.array([1.0, -1.0]), None, POLICY, b"s" * 32
    )
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def told(made, **changes) -> wire.Announcement:
    facts = {
        "task": made.task.name,
        "round": 0,
        "attempt": 0,
        "nonce": "ab" * 16,
        "key": "cd" * 16,
        "joined": 12,
        "least": made.task.least,
        "enough": made.task.enough,
        "seconds": 10.0,
    } | changes
    return wire.Announcement(**facts)


def state(people: float = 20.0) -> memoryview:
    return memoryview(arrays.pack_state(State(people=people).packed()))


def sent(found: Device, made, payload: memoryview, **changes) -> np.ndarray:
    """The words of the first part, as the aggregator sees them."""
    upload, words = wire.unpack(
        wire.Upload, found.answer(told(made, **changes), payload, b"m" * 32)
    )
    return wire.sections(made.layouts(0), upload.rows, words)[0][1].astype(np.int64)


def test_one_mask_never_covers_two_contributions() -> None:
    """A recommender that asks again under the same nonce with another state would show the
    aggregator, who holds both answers, the difference of two contributions with two small
    shares of noise. Here there is no noise at all."""
    made = assemble(task(calibration="none", epsilon=None))
    one = device(made)
    first = sent(one, made, state())
    one.values = np.array([-1.0, 1.0])  # the difference of these two is what must not show
    second = sent(one, made, state(people=21.0), attempt=1)
    bits = made.layouts(0)[0].bits
    distance = np.abs(wire.integers(wire.to_words(first - second, bits), bits)).astype(np.float64)
    assert np.median(distance) > 2.0 ** (
        bits - 4
    )  # two uniform masks are far apart; one mask gives a small number


def test_a_new_key_of_the_device_makes_new_words() -> None:
    made = assemble(task(noise="both"))
    one = device(made, key_name="first")
    first = sent(one, made, state())
    assert one.has_answer(told(made), state())
    one.key_name = "second"
    assert not one.has_answer(told(made), state())  # so it pays again
    assert not np.array_equal(first, sent(one, made, state()))


def test_a_device_that_starts_again_sends_the_very_words_it_wrote_down(tmp_path) -> None:
    from tacit.federation.device.person import MemorisedDevice

    made = assemble(task())
    mine = tmp_path / "mine.csv"
    mine.write_text(f"item,rating\n{ITEMS[1]},5\n{ITEMS[5]},1\n")
    facts = {"label": 7, "secret": "ab" * 32}
    first = MemorisedDevice(tmp_path, made, str(mine), POLICY, facts).answer(
        told(made), state(), b"m" * 32
    )
    again = MemorisedDevice(tmp_path, made, str(mine), POLICY, facts)
    assert again.has_answer(told(made), state())
    assert again.answer(told(made), state(), b"m" * 32) == first


@pytest.mark.filterwarnings("ignore::tacit.TacitNotice")
def test_a_device_whose_items_are_not_listed_takes_part_all_the_same(tmp_path) -> None:
    """Who stayed away would show the servers that she rated none of the catalogue."""
    from tacit.federation.device.person import MemorisedDevice

    made = assemble(task())
    answers = []
    for item in (ITEMS[1], "elsewhere"):
        (tmp_path / item).mkdir()
        mine = tmp_path / item / "mine.csv"
        mine.write_text(f"item,rating\n{item},5\n")
        facts = {"label": 7, "secret": "ab" * 32}
        one = MemorisedDevice(tmp_path / item, made, str(mine), POLICY, facts)
        answers.append(one.answer(told(made), state(), b"m" * 32))
    assert len(answers[0]) == len(answers[1])


def test_a_device_with_a_full_disk_says_so_and_sends_nothing(tmp_path, monkeypatch) -> None:
    from tacit.federation.device import person

    made = assemble(task())
    mine = tmp_path / "mine.csv"
    mine.write_text(f"item,rating\n{ITEMS[1]},5\n{ITEMS[5]},1\n")
    facts = {"label": 7, "secret": "ab" * 32}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    one = person.MemorisedDevice(tmp_path, made, str(mine), POLICY, facts)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space left"):
            one.answer(told(made), state(), b"m" * 32)
    again = person.MemorisedDevice(tmp_path, made, str(mine), POLICY, facts)
    assert not again.has_answer(told(made), state())
    assert again.answer(told(made), state(), b"m" * 32)


SILENCERS = {
    "an array cut short": {"weights.mean": np.ones(4)},
    "a number that is none": {"weights.mean": np.where(np.arange(len(ITEMS)) == 5, np.nan, 1.0)},
    "an array left out": {"weights.mean": None},
    "an array more": {"hidden": np.ones(3)},
    "another kind": {"weights.mean": np.ones(len(ITEMS), np.int64)},
}


@pytest.mark.parametrize("change", SILENCERS)
@pytest.mark.parametrize("rated", [[1, 2], [1, 5]])
def test_no_state_silences_only_those_who_rated_some_item(change, rated) -> None:
    """A recommender could else learn from who does not answer: here, who rated the items
    from 4 on."""
    made = assemble(task(method="bias", epsilon=50.0))
    index = len(made.plan.rounds) - 1
    good = expect.form_before(made, index, State()).packed()
    one = device(made)
    one.items = np.array(rated, np.uint32)
    bad = {n: a for n, a in (good | SILENCERS[change]).items() if a is not None}
    announced = told(made, round=index)
    with pytest.raises(SettingError, match="announced"):
        one.events(announced, memoryview(arrays.pack_state(bad)))
    assert one.answer(announced, memoryview(arrays.pack_state(good)), b"m" * 32)


TURNS, MANY = (
    {"factors": 2, "rounds": 5},
    {"people": 6000, "cohort": 6000, "least": 1000, "delta": 1e-4},
)


def test_a_device_takes_as_many_turns_as_were_priced_whatever_its_cap() -> None:
    """The price of the plan counts two of five rounds of factors: a third one would break
    the statement."""
    made = assemble(task(method="mf-federated", epsilon=5.0, settings=TURNS | {"turns": 2}, **MANY))
    one = device(made)
    before = len(made.plan.rounds) - 5
    one.ran |= {made.round(before).name, made.round(before + 3).name}
    assert not any(one.turns_left(before + k) for k in (1, 2, 4))
    assert one.turns_left(before + 3)  # the very round again: of its attempts one is revealed
    assert one.turns_left(0)
    with pytest.raises(BudgetError, match="turns"):
        one.events(told(made, round=before + 1, joined=2000), state())
    with pytest.raises(BudgetError, match="turns"):
        one.answer(told(made, round=before + 1, joined=2000), state(), b"m" * 32)


def test_turns_that_cannot_fill_the_rounds_are_refused_before_anything_is_paid() -> None:
    with pytest.raises(SettingError, match="cannot fill"):
        assemble(
            task(
                method="mf-federated",
                epsilon=5.0,
                settings=TURNS | {"turns": 2},
                **MANY | {"least": 4000},
            )
        )


@pytest.mark.parametrize("least", [1, 2, 7, 10, 33, 1000])
@pytest.mark.parametrize("honest", [0.05, 0.5, 0.9, 0.95, 1.0])
def test_honest_survivors_of_the_least_cohort_hold_enough_shares(least, honest) -> None:
    """The dishonest are at most the rest of the least cohort, rounded up; at least the
    person herself is honest."""
    found = task(least=least, cohort=1000, honest=honest)
    survivors = least - ceil((1 - honest) * least - 1e-9)
    assert found.enough <= max(1, survivors)


@pytest.mark.parametrize("cohort", [10, 1000])
def test_an_honest_sum_never_wraps(cohort) -> None:
    made = assemble(task(cohort=cohort))
    for index, round_ in enumerate(made.plan.rounds):
        for part, layout in zip(round_.parts, made.layouts(index), strict=True):
            assert made.span(round_, part) < 2.0 ** (layout.bits - 1)


def test_a_device_adds_its_share_whatever_is_announced() -> None:
    """The share follows from the task that the device assembled; a smaller one that is
    announced changes nothing."""
    made = assemble(task(epsilon=0.5, honest=0.5, noise="devices"))
    quiet = device(made)
    payload = state()
    layout = made.layouts(0)[0]
    quiet.items, quiet.values = quiet.items[:0], quiet.values[:0]
    key = packing.round_key(b"m" * 32, made.task.name, 0, "ab" * 16, wire.digest(payload))
    noise = []
    for attempt in range(30):
        words = sent(compact(quiet), made, payload, enough=1, attempt=attempt)
        cover = packing.mask(key, layout.name, *words.shape, layout.bits).astype(np.int64)
        noise.append(wire.integers(wire.to_words(words - cover, layout.bits), layout.bits).ravel())
    share = made.noise_sd(f"{made.round(0).name}/{layout.name}", 1)
    spread = np.concatenate(noise).std()
    assert 0.8 < spread / share < 1.2


@pytest.mark.parametrize("changes", [{"least": 9}, {"enough": 11}, {"joined": 9}])
def test_a_round_on_other_terms_than_the_tasks_is_not_answered(changes) -> None:
    """A smaller cohort hides a person less; more shares than the task counts on are noise
    that nobody adds."""
    made = assemble(task(noise="devices"))
    with pytest.raises(SettingError, match="cohort"):
        sent(device(made), made, state(), **changes)


def test_every_log_line_names_counts_and_no_device() -> None:
    """The facts that servers log have a closed list of names: none is a device, an item or
    a value."""
    allowed = {"round", "attempt", "joined", "bytes", "task", "rounds", "reason"}
    sources = [
        path.read_text() for path in Path(tacit.federation.server.__file__).parent.glob("*.py")
    ]
    calls = [call for text in sources for call in re.findall(r"\blog\(\"[^\"]*\"([^\n]*)", text)]
    assert len(calls) > 8
    assert {name for call in calls for name in re.findall(r"(\w+)=", call)} <= allowed


def test_a_device_that_lost_its_memory_takes_a_new_key() -> None:
    """Under the old one a round that is run again has the same mask: two answers under it
    would show their difference."""
    made = assemble(task())
    one = device(made)
    assert not forgot(False, one), "a new device has nothing to forget"
    assert forgot(True, one)
    one.answer(told(made), state(), b"m" * 32)
    assert not forgot(True, one)


def test_no_device_answers_a_round_before_one_that_it_answered() -> None:
    """An old announcement, played again, would meet the old mask with another state."""
    made = assemble(task(method="bias"))
    one = device(made)
    one.answer(told(made), state(), b"m" * 32)
    assert one.sent is not None
    one.sent = replace(one.sent, round=2)
    with pytest.raises(SettingError, match="before one that was answered"):
        one.events(told(made), state())
