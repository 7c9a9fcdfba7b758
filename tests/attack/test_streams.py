"""Pairs of streams that differ in one person: no part of a calendar moves by more than was
charged, however often she is offered; and where the list is switched off, it does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.auditing.streams import StreamHunt
from tacit.data.ratings import Ratings
from tacit.data.sample import sample, sample_catalogue
from tacit.rounds.calendar import Calendar

WEEKS = 4
MANY = 100_000
"""Declared, so that every stage of a plan is tried."""


def tables(people: int = 48) -> list[Ratings]:
    """Weeks of people, and one of them in every week."""
    whole = sample()
    whole = replace(whole, time=None)
    week = np.arange(whole.n_users) % WEEKS
    return [
        whole.take((whole.user < people) & ((week[whole.user] == t) | (whole.user == 7)))
        for t in range(WEEKS)
    ]


def hunted(name: str, calendar: Calendar, *, enforced: bool) -> list[float]:
    """By part, how far the person moves all releases, of what is allowed."""
    streams = tables()
    method = tacit.methods.find(name)(epsilon=5.0)
    hunt = StreamHunt(method, sample_catalogue(), calendar, streams, users=MANY, enforced=enforced)
    found = hunt.hunt(str(sample().users[7]))
    return [each.distance / each.allowed for each in found]


@pytest.mark.parametrize("name", ["popularity", "bias", "bayes", "ease"])
def test_no_person_moves_a_calendar_by_more_than_was_charged(name: str) -> None:
    once = hunted(name, Calendar(WEEKS), enforced=True)
    assert max(once) <= 1
    assert max(once) > 0.99  # the count of people, at least, is met exactly


def test_who_is_counted_twice_moves_no_more_than_twice_is_charged() -> None:
    found = hunted("popularity", Calendar(WEEKS, 2), enforced=True)
    assert 0.99 < max(found) <= 1


def test_without_the_list_the_hunt_finds_the_break() -> None:
    assert max(hunted("popularity", Calendar(WEEKS), enforced=False)) > 1.5


def test_the_audit_hunts_through_calendars() -> None:
    from tacit.auditing.audit import audit

    found = audit(["popularity", "als"], unit="user", quick=True, attacks=["calendar"])
    ours, other = found.findings
    assert not found.fell
    assert ours.attack == "worst streams"
    assert 0.5 < ours.measured <= ours.claimed
    assert other.attack == "none applies"
