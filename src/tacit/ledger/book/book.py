"""The book: an append-only ledger of one population, charged before any noise is drawn.

Guarantee: a reservation is checked against every cap and written in one exclusive, durable
transaction, so however many processes charge at once and whenever they die, no cap is
overspent; a crash can only waste budget. Every call replays the whole chain of hashes and
its seal (`tacit.ledger.book.chain`), so damage is found before the book is used again. Rows
under no seal are set aside: `verify` shows them, no total has them and no charge waits for them.

What the seal cannot do. Who can write the book *and read its key* can write another history
that verifies. Who can write the book without the key can put back an older copy of the
whole file, which verifies as well. Both are exposed by statements made in between: a
statement carries the hash and number of its entry, and `contains` does not know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tacit.data.held_out import HeldOut
from tacit.errors import BookError, BudgetError, SettingError
from tacit.ledger.account.event import EVENTS, Event
from tacit.ledger.book import advisories
from tacit.ledger.book.chain import append, describe_location, load, sealed_populations
from tacit.ledger.book.entry import Entry, Relation, genesis
from tacit.ledger.book.marks import fresh, known_to
from tacit.ledger.book.people import admit_people, listed, unsettled
from tacit.ledger.book.receipts import SHOWN_DELTA, Receipt, RunningCost, Spent, Verified, running
from tacit.ledger.book.recheck import recheck
from tacit.ledger.book.rules import BookState, admit, check_cap, check_details, checked, replay
from tacit.ledger.book.signing import Signature, public_key, sign
from tacit.ledger.book.store import Store, check_names, open_store
from tacit.page import escaped
from tacit.redaction import one_line
from tacit.units import UNITS, Unit
from tacit.validation import Suggesting, behind, by_name

__all__ = ["Book", "Receipt", "RunningCost", "Spent", "Verified", "open_book"]


@by_name
def open_book(location: str | Path | None = None, population: str = "default") -> Book:
    """The book of `population` at a path or URL, or at the default place. Nothing is
    created before the first entry."""
    check_names(location, population)
    return Book(open_store(location), population)


opened = behind(open_book)


class Book(Suggesting):
    """See the module. Holds no connection: it may be shared by threads and carried over a fork."""

    def __init__(self, store: Store, population: str) -> None:
        self.store, self.population = store, population
        self.place = describe_location(store, population)

    def __repr__(self) -> str:
        return f"Book({self.population!r} at {self.store.place})"

    def _repr_html_(self) -> str:
        return f"<p><b>{escaped(self)}</b></p>{self.spent()._repr_html_()}"

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
        relation: Relation | None = None,
        token: str | None = None,
        starts: Iterable[tuple[str, int]] = (),
        apart: HeldOut | None = None,
    ) -> Receipt:
        """Charge `events` before they happen. What is reserved counts as spent for ever.

        `limit` is the most ratings of one person that the plan uses, for group privacy. An
        evaluation is booked once per population: a second one returns the first receipt.
        `token` names the request: a second one with the same token and the same events gets
        the entry that the first one made, so that a crash or a lost connection between the
        charge and its receipt does not charge twice.
        """
        checked_events = checked(events, unit, budget)
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            state = replay(chain.entries)
            if token is not None and (existing := state.tokens.get(token)) is not None:
                if (existing.events, existing.unit) != (checked_events, unit):
                    raise BookError(
                        f"entry {existing.number} was made by this request, for other events",
                        place=self.place,
                    )
                return _receipt(existing)
            totals = admit(state, checked_events, unit, limit, accept_unbounded, owner_only)
            draft: dict[str, Any] = {
                "kind": "reserve",
                "unit": unit,
                "events": checked_events,
                "limit": limit,
                "budget": budget,
                "totals": totals,
                "purpose": _text(purpose),
                "method": _text(method),
                "accepted": accept_unbounded,
                "owner_only": owner_only,
                "relation": relation,
                "token": token,
                "starts": tuple(starts) or None,
                "apart": apart,
            }
            if state.evaluation is not None and all(
                event.kind == "evaluation" for event in checked_events
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
            replay(self.entries()),
            checked(events, unit, budget),
            unit,
            limit,
            accept_unbounded,
            owner_only,
        )

    def commit(
        self, receipt: Receipt, artefact: str, events: Iterable[Event] | None = None
    ) -> Receipt:
        """Append what a reservation led to: the SHA-256 of the artefact, and the rounds
        that filled an envelope."""
        if not re.fullmatch(r"[0-9a-f]{64}", artefact):
            raise SettingError("an artefact is named by its SHA-256, 64 hexadecimal digits")
        details = EVENTS.validate_python(tuple(events or ()))
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            state = replay(chain.entries)
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
            commitment = state.committed.get(receipt.number)
            if commitment is not None:
                if (commitment.artefact, commitment.events) == (artefact, details):
                    return _receipt(commitment)
                raise BookError(f"entry {receipt.number} already has its outcome", place=self.place)
            check_details(reserved, details)
            draft = {
                "kind": "commit",
                "of": receipt.number,
                "artefact": artefact,
                "events": details,
            }
            return _receipt(append(self.store, session, chain, draft))

    @by_name
    def cap(
        self,
        epsilon: float,
        delta: float = SHOWN_DELTA,
        unit: Unit = "user",
        note: str = "",
        *,
        accept_unbounded: bool = False,
    ) -> Receipt:
        """Set, raise or lower the cap of `unit`: an entry too. A cap below what is spent
        stops all spending."""
        check_cap(epsilon, delta, unit, note, accept_unbounded)
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            uncovered = replay(chain.entries).tally(unit).uncovered
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
            return [] if session is None else load(self.store, session, self.population).entries

    @by_name
    def spent(self) -> Spent:
        """Per unit that has entries or a cap; `user` always."""
        return _spent_per_unit(replay(self.entries()))

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
        state = replay(self.entries())
        number = state.made.get(artefact)
        return None if number is None else state.reserved[number]

    def verify(self) -> Verified:
        """Replay the chain, the seal, every total and every envelope; the first bad entry
        is named in a BookError."""
        with self.store.read() as session:
            chain = None if session is None else load(self.store, session, self.population)
        entries = chain.entries if chain else []
        state = BookState()
        for entry in entries:
            state.after(entry)
            try:
                recheck(state, entry, self.place)
            except BudgetError as error:
                raise BookError(
                    f"entry {entry.number} should not have been admitted: {error}", place=self.place
                ) from error
        head = entries[-1].hash if entries else genesis(self.population)
        strays = chain.strays if chain else ()
        return Verified(self.population, len(entries), head, _spent_per_unit(state), strays)

    def fingerprint(
        self, data: bytes, *, other_people: bool = False, beside: Iterable[str] = ()
    ) -> str | None:
        """Remember whose data are charged here (`tacit.ledger.book.marks`): a warning, a
        refusal beside a cap, or with `other_people` an entry, if another population has
        them, or is one of `beside`, whose releases this one builds on."""
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            matching = known_to(self.store, session, self.population, data)
            unresolved = unsettled(self.store, session, chain, matching)
            admit_people(
                self.store,
                session,
                chain,
                same_data=unresolved,
                built_on=unsettled(self.store, session, chain, beside),
                other_people=other_people,
            )
            session.remember(fresh(self.store, self.population, data), self.population)
        if not unresolved or other_people:
            return None
        return (
            f"the same data are known under the population {listed(unresolved)}; one "
            "group of people should have one book"
        )

    def check_people(self, beside: Iterable[str], *, other_people: bool = False) -> None:
        """Raise what `fingerprint` would raise for releases of `beside` that a fit builds
        on, and write nothing."""
        with self.store.read() as session:
            if session is None:
                return
            chain = load(self.store, session, self.population)
            admit_people(
                self.store,
                session,
                chain,
                same_data=(),
                built_on=unsettled(self.store, session, chain, beside),
                other_people=other_people,
                write=False,
            )

    def running(self, receipt: Receipt, unit: Unit, delta: float) -> RunningCost:
        """What this population had spent at `unit` when a reservation was made, that one
        included. Later entries do not change it."""
        return running(self.entries()[: receipt.number], unit, delta)

    def populations(self) -> list[str]:
        """Every population that has an entry at this place, or is known to have had one."""
        with self.store.read() as session:
            if session is None:
                return []
            return sealed_populations(self.store, session)

    def sign(self, message: bytes) -> Signature:
        """Sign as this book."""
        return sign(self._secret(), message)

    @property
    def signer(self) -> str:
        """The public half of the signing key, which anybody may know."""
        return public_key(self._secret())

    def _secret(self) -> bytes:
        secret = self.store.key(create=False)
        if secret is None:
            raise BookError(
                "the book has no key before its first entry",
                place=self.place,
                remedy="name another one with --ledger, or fit a model first",
            )
        return secret

    def affected(self, version: str | None = None) -> list[tuple[Entry, str]]:
        """Reservations made by versions with a known privacy-relevant defect, each with the
        advisory's words.

        With `version`, all reservations made by that version.
        """
        return advisories.affected(self.entries(), version)


def _spent_per_unit(state: BookState) -> Spent:
    units = [unit for unit in UNITS if unit == "user" or unit in state.caps or state.counts[unit]]
    return Spent(tuple(state.spent(unit, SHOWN_DELTA) for unit in units))


def _receipt(entry: Entry) -> Receipt:
    return Receipt(entry.population, entry.number, entry.hash)


def _text(text: str) -> str:
    """As the book keeps it: one line, which no terminal obeys."""
    return text if text.isprintable() else one_line(text)
