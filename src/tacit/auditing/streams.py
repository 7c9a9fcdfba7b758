"""A hunt over pairs of streams: the same calendar with and without one person, with the same
public state in every round, and how far all releases together move.

What is measured is exact: integers as they are mixed before the noise. A calendar's promise
stands on this number staying below what its event says, whoever the person is, whenever she
comes and however often she is offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.canaries import Ground
from tacit.auditing.verdict import AttackFinding, Target, make_finding
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings, aligned
from tacit.engine.threads import ExactSums
from tacit.fitting.counted import Counted, names_of
from tacit.fitting.price import facts
from tacit.fitting.refresh import check_calendar
from tacit.fitting.totals import Totals, stationary_now
from tacit.ledger.account import account
from tacit.ledger.account.event import Event, Gaussian
from tacit.ledger.account.gaussian import epsilon_at
from tacit.methods.base import Method
from tacit.methods.streamed import FORMS
from tacit.noise.continual import Weeks, mixed
from tacit.rounds.calendar import Calendar, acts_like, calendar_events
from tacit.rounds.loop import Loop
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Released, Round, Stationary

Whole = NDArray[np.int64]
STREAMS = "worst streams"
WEEKS = 8
"""Releases of a calendar that is hunted through."""
HUNTED = 3
"""People who are tried, those with most ratings."""


@dataclass(frozen=True)
class Moved:
    """How far one person moves a part of all releases together."""

    name: str
    distance: float
    """In steps, by the L2 norm."""
    allowed: float
    """What the event says."""

    @property
    def is_covered(self) -> bool:
        """Whether the promise covers it."""
        return self.distance <= self.allowed


class StreamHunt:
    """One calendar, run in memory beside the same one without a person. Nothing is booked or
    published: for invented people, and for tests."""

    def __init__(
        self,
        method: Method,
        items: Catalogue,
        calendar: Calendar,
        tables: Sequence[Ratings],
        *,
        users: int,
        enforced: bool = True,
    ) -> None:
        order = check_calendar(method, users)
        assert order.budget is not None
        self.calendar = calendar
        self.enforced = enforced
        self.tables = [aligned(table, items) for table in tables]
        schema = self.tables[0].schema.declare(users)
        public = facts(order, schema, items, None)
        rule = replace(public, budget=acts_like(order.budget, calendar))
        self.first: AnyState = order.method.first_state(rule)
        self.plan: Plan = order.method.plan(rule)
        self.events: Mapping[str, Event] = calendar_events(self.plan, order.budget, calendar)

    def hunt(self, person: str) -> list[Moved]:
        """How far every part moves for this person, over all weeks."""
        differences: dict[str, list[Whole]] = {n: [] for n in self.events}
        self._sums: dict[str, list[Whole]] = {n: [] for n in self.events}
        self._noisy: dict[str, list[Whole]] = {n: [] for n in self.events}
        self._steady: dict[str, list[Stationary]] = {}
        participation = Counted(self.calendar)
        state = self.first
        for week, table in enumerate(self.tables, 1):
            present = self._admitted(participation, table)
            without, _ = present.without([person])
            over = {"elapsed": week / self.calendar.horizon}
            if week > 1:
                over["before"] = state.people
            state = self._week(week, present, without, state.after(**over), differences)
        return [
            _measure_move(self.events[name], moves, self.calendar)
            for name, moves in differences.items()
        ]

    def _admitted(self, participation: Counted, table: Ratings) -> Ratings:
        """Who is counted; where the list is switched off, everybody who is offered."""
        if not self.enforced:
            return table
        admission = participation.admit(table, names_of(table.users, b"hunt"), None)
        participation.count(admission.names)
        return admission.ratings

    def _week(
        self,
        week: int,
        present: Ratings,
        without: Ratings,
        state: AnyState,
        differences: dict[str, list[Whole]],
    ) -> AnyState:
        weeks = Weeks(self.events, self.calendar, week)
        totals = Totals(weeks)
        engines = ExactSums(present, 1), ExactSums(without, 1)

        def ask(round_: Round, state: AnyState) -> dict[str, Released]:
            released: dict[str, Any] = {}
            sums_with, sums_without = (engine.sums(round_, state) for engine in engines)
            for part in round_.parts:
                name = f"{round_.name}/{part.name}"
                differences[name].append(sums_with[part.name] - sums_without[part.name])
                self._sums[name].append(sums_with[part.name])
                noised = weeks.noised(name, self._sums[name])
                self._noisy[name].append(noised)
                stationary = stationary_now(round_, part, state)
                past = self._steady.setdefault(name, [])
                released[part.name] = totals.released(round_, part, state, self._noisy[name], past)
                past.append(Stationary() if stationary is None else stationary)
            return released

        loop = Loop(self.plan, state)
        loop.run(ask)
        return loop.state


def calendar_pair(target: Target, ground: Ground) -> list[AttackFinding]:
    """The pair of streams that a calendar of the method tells apart best: the busiest of the
    invented people, each offered in every week. No statistics."""
    if target.method not in FORMS or target.calibration != "sound":
        return []
    if target.unit != "user":
        return []
    people = replace(ground.people, time=None)
    week = np.arange(people.n_users) % WEEKS
    busiest = np.argsort(-np.diff(people.ptr), kind="stable")[:HUNTED]
    always = np.isin(people.user, busiest)
    tables = [
        people.take((week[people.user] == week_index) | always) for week_index in range(WEEKS)
    ]
    hunt = StreamHunt(
        ground.method(target),
        Catalogue(list(people.items)),
        Calendar(WEEKS),
        tables,
        users=people.n_users,
    )
    found_all = {int(row): hunt.hunt(people.users[row]) for row in busiest}
    costs = {row: _mu(moves, hunt.events) for row, moves in found_all.items()}
    worst = max(costs, key=lambda row: costs[row])
    broken = sorted({m.name for moves in found_all.values() for m in moves if not m.is_covered})
    note = f"{WEEKS} releases of {people.n_users} invented people, one of them offered in each"
    if broken:
        note = f"BROKEN bounds: {', '.join(broken)}; {note}"
    finding = make_finding(
        target,
        STREAMS,
        epsilon_at(costs[worst], target.delta),
        proven=account.epsilon(tuple(hunt.events.values()), target.delta, unit="user"),
        note=note,
        witness=f"the person of row {worst}",
        box="white",
    )
    return [replace(finding, mistake=0.0)]


def _mu(moves: Sequence[Moved], events: Mapping[str, Event]) -> float:
    """What a pair of streams costs by the law of the noise that was drawn."""
    total = 0.0
    for move in moves:
        event = events[move.name]
        assert isinstance(event, Gaussian)
        total += (move.distance / event.sigma) ** 2
    return sqrt(total)


def _measure_move(event: Event, differences: Sequence[Whole], calendar: Calendar) -> Moved:
    """The norm over all releases, in exact integers."""
    assert isinstance(event, Gaussian)
    total = 0
    for week in range(1, len(differences) + 1):
        shift = mixed(differences[:week], calendar)
        total += sum(int(entry) ** 2 for entry in shift[shift != 0].tolist())
    return Moved(event.name, sqrt(total), event.sensitivity)
