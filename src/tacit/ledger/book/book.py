"""The book: an append-only ledger of one population, charged before any noise is drawn.

Guarantee: a reservation is checked against every cap and written in one exclusive, durable
transaction, so however many processes charge at once and whenever they die, no cap is
overspent; a crash can only waste budget. Every call replays the whole chain of hashes and
its seal (`tacit.ledger.book.chain`), so damage is found before the book is used again.

What the seal cannot do. Who can write the book *and read its key* can write another history
that verifies. Who can write the book without the key can put back an older copy of the
whole file, which verifies as well. Both are exposed by statements made in between: a
statement carries the hash and number of its entry, and `contains` does not know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from tacit.errors import BookError, BudgetError, SettingError
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import EVENTS, Event
from tacit.ledger.book import advisories
from tacit.ledger.book.chain import append, damaged, keyed, load, where
from tacit.ledger.book.entry import Entry, genesis
from tacit.ledger.book.rules import (
    ROUNDING,
    State,
    UnitSpent,
    admit,
    check_details,
)
from tacit.ledger.book.store import Store, open_store
from tacit.ledger.software import software
from tacit.shown import one_line
from tacit.units import UNITS, Unit

SHOWN_DELTA = 1e-6
"""At which totals are shown where no cap gives a delta."""


@dataclass(frozen=True)
class Receipt:
    """Proof of a reservation: what a statement carries."""

    population: str
    number: int
    hash: str


@dataclass(frozen=True)
class Spent:
    """What a population has spent, by unit."""

    units: tuple[UnitSpent, ...]

    def __getitem__(self, unit: Unit) -> UnitSpent:
        return next(each for each in self.units if each.unit == unit)


@dataclass(frozen=True)
class Verified:
    """A book that was replayed without a fault."""

    population: str
    entries: int
    head: str
    spent: Spent


def open_book(
    location: str | Path | None = None, population: str = "default"
) -> Book:
    """The book of `population` at a path or URL, or at the default place. Nothing is
    created before the first entry."""
    if not (
        0 < len(population) <= 200
        and population.isprintable()
        and population == population.strip()
    ):
        raise SettingError(
            "a population needs a name of 1 to 200 printable characters, without blanks at its ends"
        )
    return Book(open_store(location), population)


class Book:
    """See the module. Holds no connection: it may be shared by threads and carried over a fork."""

    def __init__(self, store: Store, population: str) -> None:
        self.store, self.population = store, population
        self.place = where(store, population)

    def reserve(
        self,
        events: Iterable[Event],
        *,
        unit: Unit,
        budget: tuple[float, float] | None,
        purpose: str,
        method: str,
        limit: int | None = None,
        accept_unbounded: bool = False,
        owner_only: bool = False,
    ) -> Receipt:
        """Charge `events` before they happen. What is reserved counts as spent for ever.

        `limit` is the most ratings of one person that the plan uses, for group privacy. An
        evaluation is booked once per population: a second one returns the first receipt.
        """
        asked = _checked(events, unit, budget)
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            state = _replay(chain.entries)
            totals = admit(
                state, asked, unit, limit, accept_unbounded, owner_only
            )
            draft: dict[str, Any] = {
                "kind": "reserve",
                "unit": unit,
                "events": asked,
                "limit": limit,
                "budget": budget,
                "totals": totals,
                "purpose": _text(purpose),
                "method": _text(method),
                "accepted": accept_unbounded,
                "owner_only": owner_only,
            }
            if state.evaluation is not None and all(
                event.kind == "evaluation" for event in asked
            ):
                return _receipt(state.evaluation)
            return _receipt(append(self.store, session, chain, draft))

    def check(
        self,
        events: Iterable[Event],
        *,
        unit: Unit,
        budget: tuple[float, float] | None,
        limit: int | None = None,
        accept_unbounded: bool = False,
        owner_only: bool = False,
    ) -> None:
        """Raise what `reserve` would raise now, and write nothing: to fail before any
        rating is read."""
        admit(
            _replay(self.entries()),
            _checked(events, unit, budget),
            unit,
            limit,
            accept_unbounded,
            owner_only,
        )

    def commit(
        self,
        receipt: Receipt,
        artefact: str,
        events: Iterable[Event] | None = None,
    ) -> Receipt:
        """Append what a reservation led to: the SHA-256 of the artefact, and the rounds
        that filled an envelope."""
        if not re.fullmatch(r"[0-9a-f]{64}", artefact):
            raise SettingError(
                "an artefact is named by its SHA-256, 64 hexadecimal digits"
            )
        details = EVENTS.validate_python(tuple(events or ()))
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            state = _replay(chain.entries)
            reserved = state.reserved.get(receipt.number)
            if (
                receipt.population != self.population
                or reserved is None
                or reserved.hash != receipt.hash
            ):
                raise BookError(
                    f"entry {receipt.number} is not the reservation of this receipt",
                    place=self.place,
                )
            done = state.committed.get(receipt.number)
            if done is not None:
                if (done.artefact, done.events) == (artefact, details):
                    return _receipt(done)
                raise BookError(
                    f"entry {receipt.number} already has its outcome",
                    place=self.place,
                )
            check_details(reserved, details)
            draft = {
                "kind": "commit",
                "of": receipt.number,
                "artefact": artefact,
                "events": details,
            }
            return _receipt(append(self.store, session, chain, draft))

    def cap(
        self,
        epsilon: float,
        delta: float,
        unit: Unit,
        note: str = "",
        *,
        accept_unbounded: bool = False,
    ) -> Receipt:
        """Set, raise or lower the cap of `unit`: an entry too. A cap below what is spent
        stops all spending."""
        if not (isfinite(epsilon) and epsilon > 0):
            raise SettingError(
                f"a cap of epsilon {epsilon:g} is not a positive, finite number"
            )
        if not 0 <= delta < 1:
            raise SettingError(
                f"a cap's delta is {delta:g}; it must be at least 0 and below 1"
            )
        _check_unit(unit)
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            uncovered = _replay(chain.entries).tally(unit).uncovered
            if uncovered and not accept_unbounded:
                raise BudgetError(
                    f"{uncovered} earlier entries have no bound per {unit}, so a cap "
                    "could not hold for them",
                    place=self.place,
                    remedy="give --accept-unbounded to cap all the rest",
                )
            draft: dict[str, Any] = {
                "kind": "cap",
                "unit": unit,
                "cap": (epsilon, delta),
                "purpose": _text(note),
                "accepted": accept_unbounded,
            }
            return _receipt(append(self.store, session, chain, draft))

    def entries(self) -> list[Entry]:
        """All entries, replayed and checked."""
        with self.store.read() as session:
            return (
                []
                if session is None
                else load(self.store, session, self.population).entries
            )

    def spent(self) -> Spent:
        """Per unit that has entries or a cap; `user` always."""
        return _spent(_replay(self.entries()))

    @property
    def head(self) -> str:
        """Hash of the last entry."""
        entries = self.entries()
        return entries[-1].hash if entries else genesis(self.population)

    def contains(self, head: str) -> bool:
        """Whether this hash was ever the head of the book. If a statement's is not, the
        book is an old or other one."""
        return head == genesis(self.population) or any(
            entry.hash == head for entry in self.entries()
        )

    def find(self, artefact: str) -> Entry | None:
        """The reservation that led to this artefact."""
        state = _replay(self.entries())
        numbers = [
            of
            for of, entry in state.committed.items()
            if entry.artefact == artefact
        ]
        return state.reserved[numbers[-1]] if numbers else None

    def verify(self) -> Verified:
        """Replay the chain, the seal, every total and every envelope; the first bad entry
        is named in a BookError."""
        entries = self.entries()
        state = State()
        for entry in entries:
            state.after(entry)
            try:
                self._recheck(state, entry)
            except BudgetError as error:
                raise BookError(
                    f"entry {entry.number} should not have been admitted: {error}",
                    place=self.place,
                ) from error
        head = entries[-1].hash if entries else genesis(self.population)
        return Verified(self.population, len(entries), head, _spent(state))

    def fingerprint(self, data: bytes) -> str | None:
        """Remember data by a keyed hash alone; a warning if the same data are known under
        another population."""
        with self.store.write() as session:
            load(self.store, session, self.population)
            mac = keyed(self.store, self.population, b"tacit data", data)
            others = [
                name for name in session.seen(mac) if name != self.population
            ]
            session.remember(mac, self.population)
        if not others:
            return None
        names = ", ".join(repr(name) for name in others)
        return (
            f"the same data are known under the population {names}; one group of "
            "people should have one book"
        )

    def affected(self, version: str | None = None) -> list[tuple[Entry, str]]:
        """Reservations made by versions with a known privacy-relevant defect, each with the
        advisory's words.

        With `version`, all reservations made by that version.
        """
        made = [
            entry
            for entry in self.entries()
            if entry.kind == "reserve" and not entry.evaluation
        ]
        if version is not None:
            return [
                (entry, f"made by version {version}")
                for entry in made
                if entry.version == version
            ]
        known = advisories.load()
        return [
            (e, f"{a.id}: {a.text}")
            for e in made
            for a in known
            if a.concerns(e.version, e.method)
        ]

    def _recheck(self, state: State, entry: Entry) -> None:
        if entry.kind == "commit":
            if entry.of not in state.reserved:
                raise damaged(
                    self.place,
                    f"entry {entry.number} commits an entry that reserves nothing",
                )
            check_details(state.reserved[entry.of], entry.events)
        if entry.kind != "reserve" or entry.evaluation:
            return
        for unit, total in state.totals().items():
            if total > state.caps[unit][0] * (1 + 1e-9):
                raise damaged(
                    self.place,
                    f"entry {entry.number} overspends the cap per {unit}",
                )
            noted = entry.totals.get(unit)
            if entry.version == software() and (
                noted is None or abs(noted - total) > 1e-9 * total
            ):
                raise damaged(
                    self.place,
                    f"the total per {unit} noted in entry {entry.number} is not the sum "
                    "of the entries",
                )


def _spent(state: State) -> Spent:
    shown = [
        unit
        for unit in UNITS
        if unit == "user" or unit in state.caps or state.counts[unit]
    ]
    return Spent(tuple(state.spent(unit, SHOWN_DELTA) for unit in shown))


def _receipt(entry: Entry) -> Receipt:
    return Receipt(entry.population, entry.number, entry.hash)


def _replay(entries: Iterable[Entry]) -> State:
    state = State()
    for entry in entries:
        state.after(entry)
    return state


def _checked(
    events: Iterable[Event], unit: Unit, budget: tuple[float, float] | None
) -> tuple[Event, ...]:
    """The events, if they cost no more than the plan's own budget."""
    _check_unit(unit)
    asked = EVENTS.validate_python(tuple(events))
    if not asked:
        raise SettingError("there is nothing to reserve")
    price = cost(asked, unit)
    if budget is not None and not price.unbounded:
        total = epsilon_of(price, budget[1])
        if total > budget[0] * ROUNDING:
            raise BudgetError(
                f"the plan's events cost epsilon {total:.9g} at delta {budget[1]:g}, more "
                f"than its {budget[0]:g}"
            )
    return asked


def _check_unit(unit: str) -> None:
    if unit not in UNITS:
        raise SettingError(
            f"the unit {unit!r} is unknown",
            remedy=f"choose one of {', '.join(UNITS)}",
        )


def _text(words: str) -> str:
    """As the book keeps it: one line, which no terminal obeys."""
    return one_line(words)
