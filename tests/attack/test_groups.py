"""Garbage is contained: a round in several sums, of which one cheat spoils one. Each sum is a
release, over at least the least cohort and with noise of its own."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import Failure, SettingError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.agreed.scheme import Attempt
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.packing import mask, packed, round_key
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import Opening, Sum, Upload, digest, pack, to_words, unpack
from tacit.federation.server.store import ServerStore
from tacit.federation.server.unmask import Opened, unmask
from tacit.federation.server.uploads import MIGRATIONS, Key, Uploads
from tacit.rounds.state import State

PEOPLE, LEAST, ITEMS = 40, 10, 50
EACH = 1000
"""What everybody gives to every number, in steps."""
NAMES = [f"{k:032x}" for k in range(PEOPLE)]
STATE = pack_state(State(people=float(PEOPLE)).packed())


def task(**changes) -> Task:
    facts = {
        "method": "popularity",
        "epsilon": 20.0,
        "delta": 1e-4,
        "low": 1,
        "high": 5,
        "people": PEOPLE,
        "cohort": PEOPLE,
        "least": LEAST,
        "items": catalogue_facts(Catalogue([f"i{k}" for k in range(ITEMS)])),
    } | changes
    return Task(**facts)


class Round:
    """The first round of a task, in which everybody gives the same, but for cheats."""

    def __init__(self, folder, **changes) -> None:
        self.made = assemble(task(**changes))
        self.store = ServerStore(folder / "store", MIGRATIONS, "aggregator")
        self.uploads = Uploads(self.store, 2)
        self.key = round_key(b"m" * 32, self.made.task.name, 0, "ab" * 16, digest(STATE))
        self.opening = Opening(
            task=self.made.task.name,
            round=0,
            attempt=0,
            parts=self.made.layouts(0),
            least=LEAST,
            groups=self.made.task.groups,
        )

    def upload(self, each: int) -> bytes:
        header = Upload(task=self.made.task.name, round=0, attempt=0, least=LEAST)
        out = []
        for part in self.made.layouts(0):
            shape = (part.size, part.width)
            masked = to_words(np.full(shape, each, np.int64), part.bits)
            masked += mask(self.key, part.name, *shape, part.bits)
            out.append(packed(masked, part.bits))
        return pack(header, b"".join(out))

    def revealed(self, cheats=(), arrived: int = PEOPLE) -> bytes:
        async def work() -> bytes:
            await self.uploads.open(self.opening, pack(self.opening))
            key = Key(self.made.task.name, 0, 0)
            fair, foul = self.upload(EACH), self.upload(5 << 25)
            bodies = {name: foul if name in cheats else fair for name in NAMES[:arrived]}
            await asyncio.gather(
                *(self.uploads.keep(key, name, LEAST, body) for name, body in bodies.items())
            )
            found = await self.uploads.reveal(key, False)
            assert found is not None
            assert await self.uploads.reveal(key, False) == found
            return found

        return asyncio.run(work())

    def open(self, found: bytes) -> Opened:
        none = dict.fromkeys(NAMES, np.zeros(0, np.uint32))
        publics = dict.fromkeys(NAMES, bytes(32))
        attempt = Attempt(0, 0, "ab" * 16, "cd" * 16, none, publics)
        told = self.made.scheme.brief(attempt, self.made.state(unpack_state(STATE)), None, b"")
        return unmask(self.made, attempt, told, found, lambda _: self.key, float(PEOPLE))

    def mean(self, opened: Opened) -> float:
        """Of what one person gave, as the release has it; and how sure that is."""
        part = self.made.round(0).parts[0]
        steps = opened.released[part.name].value * part.bound.steps
        return float(steps.mean()) / PEOPLE

    def sure(self, groups: int, arrived: int = PEOPLE) -> float:
        """Six deviations of that mean."""
        round_ = self.made.round(0)
        path = f"{round_.name}/{round_.parts[0].name}"
        deviation = self.made.noise_sd(path, arrived, groups)
        return 6 * deviation / arrived / ITEMS**0.5


@pytest.fixture
def begin(tmp_path):
    made = []

    def open_(**changes) -> Round:
        made.append(Round(tmp_path / str(len(made)), **changes))
        return made[-1]

    yield open_
    for each in made:
        each.store.close()


def test_one_cheat_spoils_the_only_sum(begin) -> None:
    round_ = begin()
    opened = round_.open(round_.revealed(cheats=NAMES[:1]))
    assert opened.spoilt
    assert round_.mean(opened) == 0


@pytest.mark.parametrize("cheats", [1, 2, 3])
def test_of_several_sums_a_cheat_spoils_its_own(begin, cheats) -> None:
    round_ = begin(groups=4)
    bad = NAMES[:cheats]
    opened = round_.open(round_.revealed(cheats=bad))
    assert not opened.spoilt
    assert set(bad) <= set(opened.out)
    assert len(opened.out) <= cheats * PEOPLE // 4
    left = PEOPLE - len(opened.out)
    groups = left // LEAST
    assert round_.mean(opened) == pytest.approx(EACH, abs=round_.sure(groups, left))


def test_without_cheats_nobody_is_left_out_and_the_noise_is_that_of_all(begin) -> None:
    round_ = begin(groups=4)
    opened = round_.open(round_.revealed())
    assert not opened.out
    part = round_.made.round(0).parts[0]
    path = f"{round_.made.round(0).name}/{part.name}"
    one = round_.made.noise_sd(path, PEOPLE)
    found = opened.released[part.name].sd * part.bound.steps
    assert found == pytest.approx(2 * one)
    assert round_.mean(opened) == pytest.approx(EACH, abs=round_.sure(4))


@pytest.mark.parametrize(
    ("arrived", "sizes"), [(40, [10] * 4), (39, [13] * 3), (25, [13, 12]), (19, [19])]
)
def test_no_group_is_smaller_than_the_least_cohort(begin, arrived, sizes) -> None:
    round_ = begin(groups=4)
    header, _ = unpack(Sum, round_.revealed(arrived=arrived))
    assert list(header.cohorts) == sizes
    assert header.cohort == arrived


def test_chance_says_who_is_summed_with_whom(begin) -> None:
    found = []
    for _ in range(2):
        header, payload = unpack(Sum, begin(groups=4).revealed())
        assert header.cohorts == (10,) * 4
        found.append(bytes(payload[:160]))
    assert found[0] != found[1]


def test_every_sum_has_a_noise_of_its_own(begin) -> None:
    """Both halves of two equal groups would else differ by nothing."""
    round_ = begin(groups=2)
    _, payload = unpack(Sum, round_.revealed())
    size = len(payload) // 2
    one, other = payload[:size], payload[size:]
    assert bytes(one[320:]) != bytes(other[320:])


@pytest.mark.parametrize("change", ["twice", "small", "many", "short", "long"])
def test_an_answer_that_is_not_of_this_round_is_refused(begin, change) -> None:
    round_ = begin(groups=2)
    header, payload = unpack(Sum, round_.revealed())
    body = bytearray(payload)
    told = header
    if change == "twice":  # somebody in both sums
        half = len(body) // 2
        body[half : half + 16] = body[:16]
    if change == "small":
        told = header.model_copy(update={"cohorts": (5, 35)})
    if change == "many":
        told = header.model_copy(update={"cohorts": (20, 20, 0)})
    if change == "short":
        del body[-8:]
    if change == "long":
        body += bytes(8)
    with pytest.raises(Failure):
        round_.open(pack(told, bytes(body)))


def test_groups_that_cannot_be_filled_or_summed_are_refused() -> None:
    with pytest.raises(SettingError, match="groups of 10"):
        assemble(task(groups=5))
    with pytest.raises(SettingError, match="no groups"):
        assemble(task(groups=2, method="one-bit", settings={"rounds": 1}, delta=0))
