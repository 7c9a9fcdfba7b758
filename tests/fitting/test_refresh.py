"""A calendar in its folder: one charge, releases in order, whoever was counted is counted no
more, and no crash and no backup changes that."""

from __future__ import annotations

import functools
import json
import operator
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest
from tests.fitting.calendars import DAY, EVERYBODY, Owner

from tacit.data.catalogue import Catalogue
from tacit.data.packed import open_pack
from tacit.data.packed.packed import write_pack
from tacit.data.ratings import Notes
from tacit.errors import BookError, BudgetError, DataError, Failure, ModelError, SettingError
from tacit.fitting import refresh as conductor
from tacit.fitting.counted import Counted, names_of
from tacit.fitting.fixed import Periods
from tacit.ledger.book.advisories import affected
from tacit.ledger.book.book import open_book
from tacit.model.verify import verify
from tacit.rounds.calendar import Calendar
from tacit.testing import inject_bits


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


@pytest.fixture(autouse=True)
def rehearsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invented people are tried by the tests of rehearsals."""
    monkeypatch.setattr(conductor, "rehearse", lambda *a, **k: None)


# ---------------------------------------------------------------- the usual way


def test_a_calendar_is_charged_once_and_its_models_are_signed(owner: Owner) -> None:
    for week in (1, 2, 3):
        made = owner.next()
        assert made.week == week
        assert made.model.statement.schedule is not None
        assert made.model.statement.schedule.week == week
        assert made.model.statement.certified == "certified"
        assert verify(made.model, ledger=owner.ledger).holds
    assert owner.charges() == 1
    assert open_book(owner.ledger).spent()["user"].epsilon <= 2.0
    open_book(owner.ledger).verify()
    with pytest.raises(SettingError, match="all 3 releases"):
        owner.next()


def test_the_statement_says_what_the_calendar_is(owner: Owner) -> None:
    made = owner.next().model
    told = " ".join(str(made.statement).split())
    assert "release 1 of 3" in verify(made, ledger=owner.ledger).page()
    assert "This is release 1 of 3 of a fixed calendar" in told
    assert "each covers 1 days, from 1970-01-01 on" in told
    assert "Each person is counted once in all of them" in told


def test_each_person_is_counted_in_the_week_of_her_first_rating(owner: Owner) -> None:
    for _ in range(3):
        owner.next()
    counted = [len(owner.names(week)) for week in (1, 2, 3)]
    assert counted == [7, 5, 4]
    assert len(set(functools.reduce(operator.iadd, map(owner.names, (1, 2, 3)), []))) == 16


def test_the_list_of_the_counted_shows_no_id(owner: Owner) -> None:
    owner.next()
    kept = b"".join(file.read_bytes() for file in owner.out.rglob("*") if file.is_file())
    assert b"early" not in kept
    assert b"often" not in kept
    assert (owner.out / "private").stat().st_mode & 0o077 == 0


def test_more_times_count_only_what_is_new(tmp_path: Path) -> None:
    owner = Owner(tmp_path, times=2)
    for _ in range(3):
        owner.next()
    often = [name for name in owner.names(1) if name in owner.names(2)]
    assert len(often) == 1
    assert often[0] not in owner.names(3)


def test_a_release_that_was_made_is_given_again(owner: Owner) -> None:
    first = owner.next()
    owner.next()
    before = owner.released()
    again = owner.next(week=1)
    assert again.model.shared.digest() == first.model.shared.digest()
    assert owner.released() == before


def test_without_days_each_table_is_a_period(tmp_path: Path) -> None:
    owner = Owner(tmp_path, periods=None)
    bare = replace(EVERYBODY, time=None)
    assert owner.next(bare).week == 1
    assert len(owner.names(1)) == 16
    owner.next(bare)
    assert owner.names(2) == []


def test_a_week_without_people_is_released_like_any_other(owner: Owner) -> None:
    some = EVERYBODY.take(EVERYBODY.time >= DAY)
    assert owner.next(some).week == 1
    assert owner.names(1) == []


# ------------------------------------------------------- a row too many is refused


def test_a_row_offered_once_too_often_is_refused() -> None:
    counted = Counted(Calendar(5))
    counted.count(["a", "b"])
    with pytest.raises(Failure, match="once too often"):
        counted.count(["c", "a"])
    with pytest.raises(Failure, match="twice in one release"):
        counted.count(["c", "c"])


def test_people_come_back_only_after_the_gap() -> None:
    counted = Counted(Calendar(6, 2, 3))
    counted.count(["a"])
    assert not counted.may_count("a")
    counted.count([])
    assert not counted.may_count("a")
    counted.count([])
    counted.count(["a"])
    assert not counted.may_count("a")


def test_a_restart_counts_nobody_again(owner: Owner) -> None:
    owner.next()
    before = set(owner.names(1))
    owner.next(replace(EVERYBODY, time=EVERYBODY.time * 0 + DAY + 1))
    assert not before & set(owner.names(2))


def test_people_without_ids_are_refused(owner: Owner) -> None:
    bare = replace(EVERYBODY, notes=Notes(numbered=True))
    with pytest.raises(DataError, match="no ids of their own"):
        owner.next(bare)
    assert owner.charges() == 0


def test_ratings_that_stay_in_their_file_are_refused_before_the_charge(owner: Owner) -> None:
    place = owner.folder / "everybody.tacit"
    write_pack(EVERYBODY, place)
    with pytest.raises(SettingError, match="all of them at once"):
        owner.next(open_pack(place))
    assert owner.charges() == 0


def test_a_folder_from_a_backup_is_refused(owner: Owner) -> None:
    owner.next()
    shutil.copytree(owner.out, owner.folder / "backup")
    owner.next()
    shutil.rmtree(owner.out)
    shutil.copytree(owner.folder / "backup", owner.out)
    entries = len(open_book(owner.ledger).entries())
    with pytest.raises(BookError, match="older than the book"):
        owner.next()
    assert len(open_book(owner.ledger).entries()) == entries


def test_a_book_from_a_backup_is_refused(owner: Owner) -> None:
    owner.next()
    shutil.copy(owner.ledger, owner.folder / "old")
    owner.next()
    shutil.copy(owner.folder / "old", owner.ledger)
    for beside in owner.folder.glob("ledger.sqlite-*"):
        beside.unlink()
    before = owner.released()
    with pytest.raises(BookError, match="older than the calendar"):
        owner.next()
    assert owner.released() == before


def test_a_book_from_before_the_charge_is_refused(owner: Owner) -> None:
    open_book(owner.ledger).cap(5.0, 1e-6, "user")
    shutil.copy(owner.ledger, owner.folder / "old")
    owner.next()
    shutil.copy(owner.folder / "old", owner.ledger)
    with pytest.raises(BookError, match="not in the book"):
        owner.next()


def test_a_copy_that_drew_its_own_noise_goes_no_further(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A week that was begun is copied and resumed twice: one copy releases it, and what the
    other has drawn for the same people may not get into any later release."""
    owner.next()
    copy = Owner(owner.folder)
    copy.out = owner.folder / "copy"

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(conductor.Releases, "_run", killed)
        with pytest.warns(UserWarning, match="stays charged"), pytest.raises(KeyboardInterrupt):
            owner.next()
    shutil.copytree(owner.out, copy.out)
    with monkeypatch.context() as patched:
        patched.setattr(conductor, "end_week", killed)
        with pytest.warns(UserWarning, match="stays charged"), pytest.raises(KeyboardInterrupt):
            copy.next()
    assert owner.next().week == 2
    released = "releases/02"  # synchronised, as published things are
    shutil.copytree(owner.out / released, copy.out / released)
    with pytest.raises(BookError, match="another copy"):
        copy.next()
    assert owner.next().week == 3


def test_calendars_that_did_not_say_what_was_kept_are_named(owner: Owner) -> None:
    owner.next()
    entries = open_book(owner.ledger).entries()
    named = "copied-calendar"
    assert not any(named in words for _, words in affected(entries))
    old = [entry.model_copy(update={"left": None}) for entry in entries]
    found = [entry.kind for entry, words in affected(old) if named in words]
    assert found == ["reserve"]


def test_a_list_that_somebody_shortened_is_refused(owner: Owner) -> None:
    owner.next()
    place = owner.out / "private" / "01" / "people.json"
    listed = json.loads(place.read_text())
    listed["names"] = listed["names"][:-1]
    place.write_text(json.dumps(listed))
    with pytest.raises(BookError, match="sealed"):
        owner.next()


def test_sums_that_somebody_changed_are_refused(owner: Owner) -> None:
    owner.next()
    place = next((owner.out / "private" / "01").glob("*.sums.npy"))
    np.save(place, np.load(place) + 1)
    with pytest.raises(ModelError, match="changed"):
        owner.next()


# --------------------------------------------------------- what cannot be promised


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": 3.0},
        {"horizon": 4},
        {"times": 2},
        {"users": 17},
        {"items": Catalogue([f"i{k}" for k in range(13)])},
        {"periods": Periods(date(1970, 1, 1), 2)},
        {"periods": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_was_fixed_stays_fixed(owner: Owner, changed: dict[str, object]) -> None:
    owner.next()
    with pytest.raises(SettingError, match="began with"):
        owner.next(**changed)
    assert owner.charges() == 1


def test_other_columns_are_refused(owner: Owner) -> None:
    owner.next()
    notes = Notes(columns=("user from name, item from film",))
    with pytest.raises(SettingError, match="columns"):
        owner.next(replace(EVERYBODY, notes=notes))


def test_releases_come_in_order(owner: Owner) -> None:
    with pytest.raises(SettingError, match="not the next"):
        owner.next(week=2)
    assert owner.charges() == 0
    owner.next()
    with pytest.raises(SettingError, match="not the next"):
        owner.next(week=3)


def test_a_period_that_is_not_over_is_refused(tmp_path: Path) -> None:
    owner = Owner(tmp_path, periods=Periods(date(1970, 1, 1), 20_000))
    owner.next()
    with pytest.raises(SettingError, match="not over"):
        owner.next()


def test_nothing_is_charged_for_a_calendar_that_begins_later(tmp_path: Path) -> None:
    owner = Owner(tmp_path, periods=Periods(date(2900, 1, 1), 7))
    with pytest.raises(SettingError, match="not over"):
        owner.next()
    assert owner.charges() == 0


def test_time_that_runs_backwards_is_refused(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    owner.next()

    class Past(datetime):
        @classmethod
        def now(cls, zone: object = None) -> datetime:
            return datetime(2001, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(conductor, "datetime", Past)
    with pytest.raises(SettingError, match="clock"):
        owner.next()


def test_a_charge_that_a_cap_refuses_begins_nothing(owner: Owner) -> None:
    open_book(owner.ledger).cap(1.0, 1e-6, "user")
    with pytest.raises(BudgetError):
        owner.next()
    assert owner.next(epsilon=0.5).week == 1


def test_injected_bits_are_never_called_private(owner: Owner) -> None:
    with inject_bits(bytes):
        assert owner.next().model.statement.certified == "not private"
    assert owner.next().model.statement.certified == "not private"


def test_a_calendar_needs_a_catalogue(owner: Owner) -> None:
    with pytest.raises(SettingError, match="public catalogue"):
        owner.next(items=None)


def test_times_are_needed_where_days_decide(owner: Owner) -> None:
    with pytest.raises(SettingError, match="no times"):
        owner.next(replace(EVERYBODY, time=None))


def test_keyed_names_differ_by_key() -> None:
    assert names_of(["a"], b"1") != names_of(["a"], b"2")
    assert names_of(["a", "b"], b"1")[0] == names_of(["a"], b"1")[0]
