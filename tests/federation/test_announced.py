"""What a round announces is canonical, and kept: packed twice it is equal, and a store gives
back the bytes that were written first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.errors import Failure
from tacit.federation.agreed.assembled import assemble
from tacit.federation.agreed.scheme import Attempt, Briefing
from tacit.federation.device.client import TurnedDown
from tacit.federation.device.part import _deliver
from tacit.federation.protocol.arrays import pack_state, unpack_state
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import digest
from tacit.federation.server import conductor
from tacit.federation.server.recommender import MIGRATIONS
from tacit.federation.server.rounds import Rounds, StoredBriefing
from tacit.federation.server.store import ServerStore

KINDS = st.sampled_from(["<f4", "<f8", "<i1", "<i4", "<i8", "<u4", "<u8", "|b1"])
STATES = st.dictionaries(
    st.text("abcxyz. 09_é", min_size=1, max_size=12),
    KINDS.flatmap(
        lambda kind: arrays_of.arrays(
            kind, arrays_of.array_shapes(min_dims=0, min_side=0, max_side=4)
        )
    ),
    max_size=6,
)


@given(STATES, st.randoms())
def test_packing_is_canonical(state, random) -> None:
    packed = pack_state(state)
    assert pack_state(unpack_state(packed)) == packed
    names = list(state)
    random.shuffle(names)
    assert pack_state({name: state[name] for name in names}) == packed


@dataclass(frozen=True)
class Says(Briefing):
    """Tells what it is given."""

    words: dict[str, bytes]
    alike: bool = False
    seeds: tuple[str, ...] = ("ab" * 8,)

    def payload(self, device: str) -> bytes:
        return self.words[device]

    def digest(self, device: str) -> str:
        return digest(self.words[device])

    def rows(self, layout, device):
        raise NotImplementedError

    def taken_off(self, layout, sum_, arrived):
        raise NotImplementedError


def attempt(number: int = 0, *devices: str) -> Attempt:
    none = np.zeros(0, np.uint32)
    names = devices or ("aa", "bb")
    return Attempt(
        0, number, "ab" * 8, "cd" * 8, dict.fromkeys(names, none), dict.fromkeys(names, bytes(32))
    )


@pytest.fixture
def rounds(tmp_path):
    store = ServerStore(tmp_path / "store", MIGRATIONS, "recommender")
    task = Task(
        method="popularity",
        calibration="none",
        low=1,
        high=5,
        people=4,
        cohort=4,
        least=2,
        items=catalogue_facts(Catalogue(("a", "b"))),
    )
    yield Rounds(assemble(task), store)
    store.close()


def begin(
    rounds: Rounds, where: Attempt, told: Briefing, most: int | None = None
) -> StoredBriefing:
    """What is written of an attempt after `most` more devices were told, or all of them."""

    async def run() -> StoredBriefing:
        kept = await rounds.begin(where, told)
        left = [each for each in where.joined if each not in kept.payloads]
        if left[:most]:
            await rounds.record_briefing(where, kept, left[:most])
        return kept

    return asyncio.run(run())


@pytest.mark.parametrize("alike", [True, False])
def test_what_was_announced_first_is_announced_again(rounds, alike) -> None:
    first = Says({"aa": b"one", "bb": b"one" if alike else b"two"}, alike)
    begin(rounds, attempt(), first)
    other = Says({"aa": b"other", "bb": b"other"}, alike, ("ef" * 8,))
    again = begin(rounds, attempt(), other)
    for device in ("aa", "bb"):
        assert again.payload(device) == first.payload(device)
        assert again.digest(device) == first.digest(device)
    assert again.seeds == first.seeds


def test_a_second_attempt_tells_all_the_same_if_all_are_alike(rounds) -> None:
    begin(rounds, attempt(), Says({"aa": b"one", "bb": b"one"}, True))
    later = Says({"bb": b"two", "cc": b"two"}, True)
    assert begin(rounds, attempt(1, "bb", "cc"), later).payload("cc") == b"one"


def test_a_second_attempt_deals_anew_if_each_is_told_its_own(rounds) -> None:
    begin(rounds, attempt(), Says({"aa": b"one", "bb": b"two"}))
    later = Says({"bb": b"three", "cc": b"four"})
    found = begin(rounds, attempt(1, "bb", "cc"), later)
    assert found.payload("bb") == b"three"


def test_those_who_were_told_before_a_restart_are_told_the_same(rounds) -> None:
    """A recommender that died in the middle of its calls: nobody was told the rest yet."""
    where = attempt(0, "aa", "bb", "cc")
    words = {"aa": b"one", "bb": b"two", "cc": b"three"}
    kept = begin(rounds, where, Says(words), most=2)
    assert set(kept.payloads) == {"aa", "bb"}
    again = begin(rounds, where, Says(dict.fromkeys(words, b"other")))
    found = [again.payload(each) for each in ("aa", "bb", "cc")]
    assert found == [b"one", b"two", b"other"]
    assert [again.digest(each) for each in words] == [digest(each) for each in found]
    third = begin(rounds, where, Says(dict.fromkeys(words, b"third")))
    assert dict(third.payloads) == dict(again.payloads)


def test_telling_twice_is_telling_once(rounds) -> None:
    """As after a commit whose answer was lost."""
    where, told = attempt(), Says({"aa": b"one", "bb": b"two"})

    async def run() -> StoredBriefing:
        kept = await rounds.begin(where, told)
        await rounds.record_briefing(where, kept, ["aa", "bb"])
        await rounds.record_briefing(where, kept, ["aa", "bb"])
        return kept

    assert asyncio.run(run()).payloads == told.words


def test_devices_that_list_everything_are_told_apart(monkeypatch) -> None:
    monkeypatch.setattr(conductor, "ROWS", 10)
    monkeypatch.setattr(conductor, "TOGETHER", 3)
    sizes = {"aa": 9, "bb": 2, "cc": 40, "dd": 1, "ee": 1, "ff": 1, "gg": 1}
    joined = {name: np.zeros(size, np.uint32) for name, size in sizes.items()}
    where = Attempt(0, 0, "ab" * 8, "cd" * 8, joined, {})
    active = conductor.Active(where, StoredBriefing(Says({}), (), {"gg": b""}, {}))
    parts = conductor.together(active)
    assert parts == [["aa"], ["bb"], ["cc"], ["dd", "ee", "ff"]]


@pytest.mark.parametrize("empty", [(0,), (0, 1), (2,), (0, 1, 2)])
def test_devices_that_list_nothing_are_told_like_all(empty) -> None:
    """Seen: where the first of a round had listed nothing the training stopped, for
    everybody."""
    joined = {
        name: np.arange(0 if place in empty else 5, dtype=np.uint32)
        for place, name in enumerate(("aa", "bb", "cc"))
    }
    where = Attempt(0, 0, "ab" * 8, "cd" * 8, joined, {})
    active = conductor.Active(where, StoredBriefing(Says({}), (), {}, {}))
    assert conductor.together(active) == [["aa", "bb", "cc"]]


def test_what_an_older_version_wrote_as_one_is_told(rounds) -> None:
    told = Says({"aa": b"one", "bb": b"two"})
    begin(rounds, attempt(), told, most=0)
    blob = pack_state({name: np.frombuffer(each, np.uint8) for name, each in told.words.items()})
    rounds.store.write_blocking(
        lambda s: s.run("UPDATE announced SET told = ?, digest = ?", blob, digest(blob))
    )
    other = Says({"aa": b"other", "bb": b"other"})
    assert begin(rounds, attempt(), other).payloads == told.words


@pytest.mark.parametrize("alike", [True, False])
def test_a_damaged_announcement_is_never_sent(rounds, alike) -> None:
    told = Says({"aa": b"one", "bb": b"one"}, alike)
    begin(rounds, attempt(), told)
    table = "announced" if alike else "announced_some"
    rounds.store.write_blocking(lambda s: s.run(f"UPDATE {table} SET told = ?", b"two"))
    with pytest.raises(Failure, match="damaged"):
        begin(rounds, attempt(), told)


@pytest.mark.parametrize(("status", "counted"), [(409, True), (410, False)])
def test_a_device_that_was_counted_goes_on(status, counted) -> None:
    class Lost:
        """A link of a device that has lost what it sent."""

        aggregator = None

        async def call(self, *_):
            raise TurnedDown(status)

    assert asyncio.run(_deliver(Lost(), b"", 5.0)) is counted
