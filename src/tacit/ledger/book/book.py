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
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.data.held_out import HeldOut
from tacit.errors import BookError, BudgetError, SettingError
from tacit.ledger.account.event import EVENTS, Event
from tacit.ledger.book import advisories
from tacit.ledger.book.chain import (
    Chain,
    append,
    damaged,
    describe_location,
    keyed,
    load,
    sealed_populations,
)
from tacit.ledger.book.entry import Entry, Relation, genesis
from tacit.ledger.book.receipts import SHOWN_DELTA, Receipt, RunningCost, Spent, Verified, running
from tacit.ledger.book.rules import BookState, admit, check_cap, check_details, checked, replay
from tacit.ledger.book.store import Session, Store, check_names, open_store
from tacit.ledger.software import software
from tacit.page import escaped
from tacit.redaction import one_line
from tacit.units import UNITS, Unit
from tacit.validation import Suggesting, behind, by_name

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Book", "Receipt", "RunningCost", "Spent", "Verified", "open_book"]
DOMAIN = b"tacit statement key 1"
"""Sets this use of the book's key apart from its seal."""
NONCE = 16
"""Bytes."""
ROUNDING = 1e-9
"""On totals that were added up in another order."""
REMEDY = (
    "charge the population that these people belong to, or give --other-people if they "
    "are other people, which the book will note"
)


@by_name
def open_book(location: str | Path | None = None, population: str = "default") -> Book:
    """The book of `population` at a path or URL, or at the default place. Nothing is
    created before the first entry."""
    check_names(location, population)
    return Book(open_store(location), population)


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
        """All entries, after replaying them and checking hashes, seals and caps."""
        with self.store.read() as session:
            return [] if session is None else load(self.store, session, self.population).entries

    @by_name
    def spent(self) -> Spent:
        """Per unit that has entries or a cap; `user` always."""
        return _spent_per_unit(replay(self.entries()))

    @property
    def head(self) -> str:
        """Hash of the last entry; of the empty chain (`genesis`) before the first."""
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
            state.apply(entry)
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
        """Remember whose data are charged here: a warning, a
        refusal beside a cap, or with `other_people` an entry, if another population has
        them, or is one of `beside`, whose releases this one builds on."""
        with self.store.write() as session:
            chain = load(self.store, session, self.population)
            matching = marks_known_to(self.store, session, self.population, data)
            unresolved = unsettled(self.store, session, chain, matching)
            admit_people(
                self.store,
                session,
                chain,
                same_data=unresolved,
                built_on=unsettled(self.store, session, chain, beside),
                other_people=other_people,
            )
            session.remember(fresh_mark(self.store, self.population, data), self.population)
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
        """Ed25519 signature with the ledger's secret key."""
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


# The signing key of a ledger: Ed25519, derived from the key file beside it.
#
# Whoever holds the book's key can sign, nobody else; the public half may be given to anyone,
# and `tacit verify MODEL --key FILE` needs nothing more.
@dataclass(frozen=True)
class Signature:
    """Who signed, and the signature; both in hexadecimal."""

    signer: str
    signature: str


def sign(secret: bytes, message: bytes) -> Signature:
    """Sign with the key that follows from a book's secret."""
    key = _private(secret)
    return Signature(_public(key), key.sign(message).hex())


def public_key(secret: bytes) -> str:
    """Public half of a ledger's secret, in hexadecimal."""
    return _public(_private(secret))


def _private(secret: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    seed = HKDF(SHA256(), 32, salt=None, info=DOMAIN).derive(secret)
    return Ed25519PrivateKey.from_private_bytes(seed)


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


# Marks of data: they reveal to the owner that the same people's data were charged under another
# name.
#
# A mark is a keyed hash under a fresh nonce, added by every fit. Who holds the key can compare
# data with every mark; who reads the book without it learns neither that two fits had the same
# people nor that they had not. Marks are for the owner alone: a refusal that rests on them
# depends on who is in the data (docs/sharp-edges.md).
def fresh_mark(store: Store, population: str, data: bytes) -> str:
    """A new mark, unlike every other mark of the same data."""
    return _mark(store, population, data, secrets.token_hex(NONCE))


def marks_known_to(store: Store, session: Session, population: str, data: bytes) -> list[str]:
    """Other populations that were charged for these data."""
    matching = set[str]()
    for mark, name in session.marks():
        if name == population or name in matching or not isinstance(mark, str):
            continue
        nonce = mark.partition(":")[0]
        if mark == _mark(store, population, data, nonce):
            matching.add(name)
    return sorted(matching)


def _mark(store: Store, population: str, data: bytes, nonce: str) -> str:
    domain = b"tacit data " + nonce.encode()
    return f"{nonce}:{keyed(store, population, domain, data)}"


# Checks that `verify` repeats for every entry.
def recheck(state: BookState, entry: Entry, location: str) -> None:
    """Refuse an entry that should not have been admitted after those before it."""
    if entry.kind == "commit":
        if entry.of not in state.reserved:
            raise damaged(location, f"entry {entry.number} commits an entry that reserves nothing")
        check_details(state.reserved[entry.of], entry.events)
    if entry.kind != "reserve" or entry.evaluation:
        return
    for unit, total in state.totals().items():
        if total > state.caps[unit][0] * (1 + ROUNDING):
            raise damaged(location, f"entry {entry.number} overspends the cap per {unit}")
        noted = entry.totals.get(unit)
        if entry.version == software() and (noted is None or abs(noted - total) > ROUNDING * total):
            raise damaged(
                location,
                f"the total per {unit} noted in entry {entry.number} is not the sum of the entries",
            )


# Whose people: which other populations a release touches, and whether a cap lets it.
#
# Guarantee: where a cap holds here or there, neither the same data under another name nor a
# release that builds on another population's is charged before the owner has said that these
# are other people, which is an entry. A refusal that rests on marks depends on who is in the
# data and is for the owner alone (docs/sharp-edges.md).


def unsettled(store: Store, session: Session, chain: Chain, names: Iterable[str]) -> list[str]:
    """Those of `names` that neither ledger declares to be other people than this chain's."""
    declared = {name for entry in chain.entries for name in entry.others or ()}
    candidates = sorted(set(names) - declared - {chain.population})
    return [
        name
        for name in candidates
        if not _declares_other_people(store, session, name, chain.population)
    ]


def admit_people(
    store: Store,
    session: Session,
    chain: Chain,
    *,
    same_data: Sequence[str],
    built_on: Sequence[str],
    other_people: bool,
    write: bool = True,
) -> None:
    """Refuse a second population beside a cap, or record the owner's declaration.

    `same_data`: populations charged for the same data; `built_on`: populations whose releases this
    one builds on."""
    other_populations = tuple(sorted({*same_data, *built_on}))
    if not other_populations:
        return
    if other_people:
        if write:
            append(store, session, chain, {"kind": "people", "others": other_populations})
        return
    if not _capped(store, session, [chain.population, *other_populations]):
        return
    reason = (
        f"the same data were charged to {listed(same_data)}"
        if same_data
        else f"this fit builds on a release of {listed(built_on)}"
    )
    raise BudgetError(
        f"{reason}, and a cap holds: under another name nothing would count",
        place=describe_location(store, chain.population),
        remedy=REMEDY,
    )


def listed(populations: Iterable[str]) -> str:
    """Quoted names for a message."""
    return ", ".join(repr(name) for name in populations)


def _declares_other_people(store: Store, session: Session, name: str, of: str) -> bool:
    return any(of in (entry.others or ()) for entry in load(store, session, name).entries)


def _capped(store: Store, session: Session, names: Iterable[str]) -> bool:
    return any(
        entry.kind == "cap" for name in names for entry in load(store, session, name).entries
    )


opened = behind(open_book)
