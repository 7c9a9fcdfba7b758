"""Splits hold back what they say, lose nothing, and depend on nothing but the seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.data import splits
from tacit.data.ratings import Ratings
from tacit.data.sample import sample
from tacit.data.schema import Schema
from tacit.data.splits import Split
from tacit.errors import DataError, SettingError

HOWS = ["90/10", "time", "probe", "people"]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return sample(300, 9_000)


def cells(ratings: Ratings) -> set[tuple[str, int, float]]:
    """Every rating with the id of its person, whatever row that person is in."""
    people = [ratings.users[row] for row in ratings.user]
    return set(zip(people, ratings.item.tolist(), ratings.value.tolist(), strict=True))


def same(left: Split, right: Split) -> bool:
    pairs = zip(
        (left.train, left.fold_in, left.test), (right.train, right.fold_in, right.test), strict=True
    )
    return all(np.array_equal(a.item, b.item) and np.array_equal(a.ptr, b.ptr) for a, b in pairs)


def tiny(counts: list[int], time: list[int] | None = None) -> Ratings:
    total = sum(counts)
    return Ratings(
        schema=Schema(1, 5),
        users=[f"u{number}" for number in range(len(counts))],
        items=[str(number) for number in range(max(counts))],
        ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        item=np.concatenate([np.arange(count, dtype=np.uint32) for count in counts]),
        value=np.ones(total, dtype=np.float32),
        time=np.array(time, dtype=np.int64) if time is not None else None,
    )


@pytest.mark.parametrize("how", HOWS)
class TestEverySplit:
    def test_loses_and_repeats_nothing(self, ratings: Ratings, how: str) -> None:
        split = splits.make(ratings, how, hold=40)
        known = cells(split.train) | cells(split.fold_in)
        assert known | cells(split.test) == cells(ratings)
        assert not known & cells(split.test)

    def test_aligns_fold_in_and_test(self, ratings: Ratings, how: str) -> None:
        split = splits.make(ratings, how, hold=40)
        assert list(split.fold_in.users) == list(split.test.users)
        assert split.fold_in.n_users == split.test.n_users == len(split.test.users)

    def test_keeps_items_and_schema(self, ratings: Ratings, how: str) -> None:
        split = splits.make(ratings, how, hold=40)
        for part in (split.train, split.fold_in, split.test):
            assert part.items is ratings.items
            assert part.schema is ratings.schema

    def test_trains_on_nobody_without_ratings(self, ratings: Ratings, how: str) -> None:
        assert np.diff(splits.make(ratings, how, hold=40).train.ptr).min() >= 1

    def test_repeats_itself_for_one_seed(self, ratings: Ratings, how: str) -> None:
        assert same(
            splits.make(ratings, how, seed=4, hold=40), splits.make(ratings, how, seed=4, hold=40)
        )

    def test_ignores_the_values(self, ratings: Ratings, how: str) -> None:
        turned = replace(ratings, value=(6 - ratings.value).astype(np.float32))
        assert same(splits.make(ratings, how, hold=40), splits.make(turned, how, hold=40))


@pytest.mark.parametrize("how", ["90/10", "probe", "people"])
def test_another_seed_is_another_split(ratings: Ratings, how: str) -> None:
    assert not same(
        splits.make(ratings, how, seed=0, hold=40), splits.make(ratings, how, seed=1, hold=40)
    )


def test_per_rating_holds_back_its_share(ratings: Ratings) -> None:
    assert len(splits.per_rating(ratings, 0.25).test) == pytest.approx(0.25 * len(ratings), rel=0.1)


def test_per_rating_folds_in_what_it_trained_on(ratings: Ratings) -> None:
    split = splits.per_rating(ratings)
    assert cells(split.fold_in) == cells(split.train)


def test_a_person_held_back_whole_keeps_an_empty_row() -> None:
    split = splits.by_time(tiny([2, 2], [1, 2, 8, 9]), 0.5)
    assert split.train.users == ["u0"]
    assert np.diff(split.fold_in.ptr).tolist() == [2, 0]
    assert np.diff(split.test.ptr).tolist() == [0, 2]


def test_by_time_holds_back_the_latest(ratings: Ratings) -> None:
    split = splits.by_time(ratings, 0.1)
    assert split.train.time is not None
    assert split.test.time is not None
    assert len(split.test) == 900
    assert split.train.time.max() <= split.test.time.min()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.floats(0.05, 0.95))
def test_by_time_is_exact_among_equal_times(time: list[int], share: float) -> None:
    split = splits.by_time(tiny([len(time)], time), share)
    assert len(split.test) == round(share * len(time))
    if len(split.test) and len(split.train):
        assert split.train.time is not None
        assert split.test.time is not None
        assert split.train.time.max() <= split.test.time.min()


def test_probe_holds_back_a_third_of_the_nine_latest(ratings: Ratings) -> None:
    split = splits.probe(ratings)
    assert ratings.time is not None
    assert split.test.time is not None
    assert np.diff(split.test.ptr).max() <= 9
    candidates = np.minimum(np.diff(ratings.ptr), 9).sum()
    assert len(split.test) == pytest.approx(candidates / 3, rel=0.1)
    for person in range(ratings.n_users):
        ninth = np.sort(ratings.time[ratings.row(person)])[-9:].min()
        assert (split.test.time[split.test.row(person)] >= ninth).all()


@pytest.mark.parametrize("make", [splits.by_time, splits.probe])
def test_without_times_nothing_is_the_latest(ratings: Ratings, make: object) -> None:
    assert callable(make)
    with pytest.raises(DataError, match="no times"):
        make(replace(ratings, time=None))


def test_k_fold_holds_back_every_rating_once(ratings: Ratings) -> None:
    tests = [cells(split.test) for split in splits.k_fold(ratings, 5, seed=3)]
    assert sum(map(len, tests)) == len(ratings)
    assert set.union(*tests) == cells(ratings)
    assert {len(test) for test in tests} == {1_800}


@pytest.mark.parametrize("folds", [0, 1, 101])
def test_k_fold_refuses_at_once(ratings: Ratings, folds: int) -> None:
    with pytest.raises(SettingError, match="folds"):
        splits.k_fold(ratings, folds)


class TestPerPerson:
    def test_held_people_are_strangers_to_training(self, ratings: Ratings) -> None:
        split = splits.per_person(ratings, hold=40)
        assert split.test.n_users == 40
        assert not set(split.train.users) & set(split.test.users)

    def test_each_part_of_a_held_person_has_a_rating(self) -> None:
        split = splits.per_person(tiny([2] * 50), hold=40, fold_in=0.99)
        assert np.diff(split.fold_in.ptr).tolist() == [1] * 40
        assert np.diff(split.test.ptr).tolist() == [1] * 40

    def test_the_share_holds_for_each_person(self) -> None:
        split = splits.per_person(tiny([20] * 10), hold=5, fold_in=0.8)
        assert np.diff(split.fold_in.ptr).tolist() == [16] * 5

    def test_people_with_one_rating_stay_in_training(self) -> None:
        split = splits.per_person(tiny([1, 5, 1, 5, 1]), hold=2)
        assert set(split.test.users) == {"u1", "u3"}

    @pytest.mark.parametrize("hold", [0, -1, 3, 5, 600])
    def test_too_many_or_none_are_refused(self, hold: int) -> None:
        with pytest.raises(SettingError, match="held back"):
            splits.per_person(tiny([1, 5, 1, 5, 1]), hold=hold)


@pytest.mark.parametrize(
    ("text", "test"), [("90/10", 0.1), ("80/20", 0.2), (" 99.5 / 0.5 ", 0.005)]
)
def test_shares_are_parsed(text: str, test: float) -> None:
    assert splits.parse_shares(text) == pytest.approx(test)


@pytest.mark.parametrize(
    "text", ["100/0", "0/100", "90/20", "90", "", "a/b", "90/10/0", "-10/110", "nan/nan", "times"]
)
def test_bad_shares_are_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        splits.parse_shares(text)
    assert caught.value.remedy is not None
    assert "90/10" in caught.value.remedy


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_shares_outside_zero_to_one_are_refused(ratings: Ratings, share: float) -> None:
    with pytest.raises(SettingError, match="between 0 and 1"):
        splits.per_rating(ratings, share)


def test_a_negative_seed_is_refused(ratings: Ratings) -> None:
    with pytest.raises(SettingError, match="seed"):
        splits.per_rating(ratings, seed=-1)


def test_rows_stay_ascending(ratings: Ratings) -> None:
    def key(part: Ratings) -> NDArray[np.int64]:
        return part.user.astype(np.int64) * part.n_items + part.item

    for how in HOWS:
        split = splits.make(ratings, how, hold=40)
        assert all(
            (np.diff(key(part)) > 0).all() for part in (split.train, split.fold_in, split.test)
        )
