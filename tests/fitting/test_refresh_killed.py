"""A calendar that is killed at any of its durable steps goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fitting.calendars import EVERYBODY, Owner

from tacit.errors import SettingError
from tacit.fitting import refresh as conductor
from tacit.fitting.diary import Diary


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


@pytest.fixture(autouse=True)
def rehearsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invented people are tried by the tests of rehearsals."""
    monkeypatch.setattr(conductor, "rehearse", lambda *a, **k: None)


class Killed(BaseException):
    """The process is gone."""


def killing(monkeypatch: pytest.MonkeyPatch, at: int, after: bool) -> Callable[[], int]:
    """Die at the step `at` of all durable steps, before or after it was taken."""
    steps = 0

    def dying(step: Callable) -> Callable:
        def taken(*given: object, **named: object) -> object:
            nonlocal steps
            steps += 1
            if steps == at and not after:
                raise Killed
            found = step(*given, **named)
            if steps == at:
                raise Killed
            return found

        return taken

    monkeypatch.setattr(Diary, "put", dying(Diary.put))
    for name in ("pay", "begin_week", "end_week"):
        monkeypatch.setattr(conductor, name, dying(getattr(conductor, name)))
    return lambda: steps


STEPS = 29
"""Durable steps of two releases: three to begin and pay, thirteen for each."""


def test_a_year_has_as_many_steps_as_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = Owner(tmp_path, horizon=2)
    taken = killing(monkeypatch, 0, False)
    owner.next()
    owner.next()
    assert taken() == STEPS


FULL = bool(os.environ.get("TACIT_FULL"))
KILLS = [(at, False) for at in range(1, STEPS + 1)]
KILLS += [(at, True) for at in range(1 if FULL else STEPS, STEPS + 1)]
"""After a step is before the next one, but for what happens between them."""


@pytest.mark.parametrize(("at", "after"), KILLS)
def test_a_kill_loses_nothing_and_releases_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, after: bool
) -> None:
    owner = Owner(tmp_path, horizon=2)
    killed = False
    stored: dict[str, bytes] = {}
    with monkeypatch.context() as patched:
        killing(patched, at, after)
        try:
            owner.next()
            owner.next()
        except Killed:
            killed = True
            stored = {str(file): file.read_bytes() for file in owner.out.rglob("*.noisy.npy")}
    published = owner.released()
    while len(list((owner.out / "releases").glob("*"))) < 2:
        owner.next()
    assert killed
    assert owner.charges() == 1
    for place, data in stored.items():
        assert Path(place).read_bytes() == data
    after_all = owner.released()
    assert {k: after_all[k] for k in published} == published
    with pytest.raises(SettingError, match="all 2 releases"):
        owner.next()


def test_a_week_is_resumed_with_the_ratings_it_was_begun_with(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        killing(patched, 9, True)
        with pytest.raises(Killed):
            owner.next()
    other = replace(EVERYBODY, value=EVERYBODY.value[::-1].copy())
    with pytest.raises(SettingError, match="other ratings"):
        owner.next(other)
    assert owner.next().week == 1
