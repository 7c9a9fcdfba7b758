"""The chain of hashes that holds a book together, and the seal on its end.

Guarantee: what `load` returns is one unbroken chain from the genesis of a population to the
last entry that was sealed (HMAC-SHA-256 under the key beside the book, over the number of
entries and the last hash of every population). An edit, a removal, a swap or a cut is
found, and the first bad entry is named. A row that is not under the seal is set aside: it is
not counted and hinders no charge. A proof beside each entry (a MAC) says that it was sealed,
so an older seal that is put back does not make a charge such a row.
"""

from __future__ import annotations

import difflib
import hashlib
import hmac
import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from tacit.errors import BookError
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.cost import Cost, Tuned
from tacit.ledger.account.rounded import up
from tacit.ledger.book import rules
from tacit.ledger.book.entry import Entry, canonical, genesis, sha256, write
from tacit.ledger.book.rules import BookState
from tacit.ledger.book.store import FORMAT, Session, Store
from tacit.ledger.software import software
from tacit.notices import noted, notice
from tacit.redaction import one_line
from tacit.units import UNITS

PROVEN = 2
"""Format of the first seals whose entries have proofs."""
_DELTA = 1e-6
"""At which a total is told where no cap gives a delta."""
_MOST = 1e300
"""Infinity, for JSON."""


@dataclass(frozen=True)
class Stray:
    """A row under no seal, as it may be shown: whoever wrote it, Tacit did not."""

    population: str
    number: str


@dataclass(frozen=True)
class Seal:
    """What the key has signed of all populations of a store."""

    heads: dict[str, Any]
    """Number of entries and last hash."""
    totals: dict[str, Any]
    """What was spent; absent where a version of before sealed."""
    proven: bool
    """Whether every entry under it has a proof."""


@dataclass(frozen=True)
class Chain:
    """The entries of one population, read and extended inside one transaction."""

    population: str
    entries: list[Entry]
    seal: Seal
    strays: tuple[Stray, ...] = ()

    @property
    def head(self) -> str:
        """Hash of the last entry; of the empty chain (`genesis`) before the first."""
        return self.entries[-1].hash if self.entries else genesis(self.population)


def load(store: Store, session: Session, population: str) -> Chain:
    """Replay and check everything that is under the seal. Rows that are not are set aside."""
    location = describe_location(store, population)
    seal = _sealed(store, session, location)
    count, last_hash = seal.heads.get(population, (0, genesis(population)))
    rows = list(session.rows(population))
    try:
        entries = _under_seal(population, rows, count, last_hash, location)
        _check_end(store, session, population, seal, entries, rows, location)
    except BookError as error:
        if population not in seal.totals:
            raise
        raise BookError(
            f"{error.message}; what is under its seal stays spent: "
            f"{format_totals(seal.totals[population])}",
            place=error.place,
            remedy=error.remedy,
        ) from None
    whole = {(entry.number, entry.hash) for entry in entries}
    strays = []
    for number, text, stored in rows:
        if (number, stored) in whole and _matches(text, stored):
            whole.remove((number, stored))
        else:
            strays.append(_stray(population, number))
    return Chain(population, entries, seal, tuple(strays))


def sealed_populations(store: Store, session: Session) -> list[str]:
    """Every population that had entries when the book was sealed."""
    return sorted(_sealed(store, session, store.place).heads)


def strays_elsewhere(store: Store, session: Session) -> list[Stray]:
    """Rows of populations that were never charged."""
    sealed_names = sealed_populations(store, session)
    names = [name for name in session.populations() if name not in sealed_names]
    return [_stray(name, row[0]) for name in names for row in session.rows(name)]


def append(store: Store, session: Session, chain: Chain, draft: dict[str, Any]) -> Entry:
    """Write one more entry and seal it, in the transaction of `session`."""
    if not chain.entries:
        tell_begun(store.place, chain.population, sorted(chain.seal.heads))
    entry = Entry(
        number=len(chain.entries) + 1,
        population=chain.population,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        version=software(),
        previous=chain.head,
        **draft,
    )
    text, digest = write(entry)
    entry = entry.model_copy(update={"hash": digest})
    total = sealed_total(rules.replay([*chain.entries, entry]))
    sealed = canonical(
        {
            "format": FORMAT,
            "heads": {**chain.seal.heads, chain.population: (entry.number, digest)},
            "totals": {**chain.seal.totals, chain.population: total},
        }
    )
    key = _key(store, describe_location(store, chain.population), create=session.head() is None)
    proofs = [
        (
            pending.population,
            pending.number,
            pending.hash,
            _proof(key, pending.population, pending.number, pending.hash),
        )
        for pending in (*_unproven(store, session, chain), entry)
    ]
    session.append(
        chain.population, entry.number, text, digest, (sealed, _seal(key, sealed)), proofs
    )
    return entry


def _unproven(store: Store, session: Session, chain: Chain) -> list[Entry]:
    """All entries of all populations, once, where a version of before has sealed them."""
    unproven = list[Entry]()
    for name in () if chain.seal.proven else chain.seal.heads:
        with suppress(BookError):  # a damaged neighbour hinders nobody
            unproven += load(store, session, name).entries
    return unproven


def _under_seal(
    population: str, rows: list[tuple[Any, Any, Any]], count: int, last: str, location: str
) -> list[Entry]:
    """From the last sealed entry back to the first: each is the text that has the hash which
    the one after it names, so no other row can stand in its place."""
    texts = {(number, stored): text for number, text, stored in rows if _matches(text, stored)}
    entries = list[Entry]()
    expected = last
    for number in range(count, 0, -1):
        text = texts.get((number, expected))
        if text is None:
            raise _first_fault(population, rows, count, location)
        entries.append(_parse(text, expected, location, number))
        expected = entries[-1].previous
    return entries[::-1]


def _check_end(
    store: Store,
    session: Session,
    population: str,
    seal: Seal,
    entries: list[Entry],
    rows: list[tuple[Any, Any, Any]],
    location: str,
) -> None:
    """Refuse a seal that is older than an entry: somebody put it back, to take back charges."""
    hashes = {entry.hash for entry in entries}
    after = len(entries) + 1
    key = store.key()
    for number, stored, mac in session.proofs(population):
        if key is None or stored in hashes:
            continue
        expected = _proof(key, population, number, stored)
        if isinstance(mac, str) and hmac.compare_digest(mac.encode(), expected.encode()):
            raise damaged(location, f"entry {number} was sealed, and its seal is of before it")
    if seal.proven or not seal.heads:
        return
    # Sealed by a version of before: what follows its head may have been sealed as well.
    last = entries[-1].hash if entries else genesis(population)
    for number, text, stored in rows:
        if number == after and _matches(text, stored) and f'"previous":"{last}"' in text:
            raise damaged(location, f"entry {after} is not under its seal")


def _matches(text: object, stored: object) -> bool:
    return isinstance(text, str) and sha256(text) == stored


def _stray(population: object, number: object) -> Stray:
    return Stray(one_line(str(population))[:80], one_line(str(number))[:40])


def _first_fault(
    population: str, rows: list[tuple[Any, Any, Any]], count: int, location: str
) -> BookError:
    """Which of the sealed entries is the first that is not as it was."""
    previous = genesis(population)
    for number in range(1, count + 1):
        matches = [row for row in rows if row[0] == number]
        if not matches:
            cut = not any(isinstance(row[0], int) and number <= row[0] <= count for row in rows)
            detail = f": it was truncated, {count} entries were sealed" if cut else ""
            return damaged(location, f"entry {number} is missing{detail}")
        faults = [_fault(population, number, previous, *row[1:], location) for row in matches]
        if None not in faults:
            return damaged(location, str(faults[0]))
        previous = matches[faults.index(None)][2]
    return damaged(location, f"entry {count} was edited or replaced")


def _fault(
    population: str, number: int, previous: str, text: Any, stored: Any, location: str
) -> str | None:
    """What is wrong with a row after the one whose hash is `previous`."""
    if not _matches(text, stored):
        return f"entry {number} was edited: its text does not match its hash"
    try:
        entry = _parse(text, stored, location, number)
    except BookError as error:
        return error.message
    if (entry.number, entry.population) != (number, population):
        return f"entry {number} is out of order: it was written as another entry"
    if entry.previous != previous:
        return (
            f"entry {max(1, number - 1)} was edited or replaced: entry {number} follows another one"
        )
    return None


def describe_location(store: Store, population: str) -> str:
    """A population of a store, as errors name it."""
    return f"{store.place}, population {population}"


def damaged(location: str, defect: str) -> BookError:
    """The error for a book that does not replay."""
    return BookError(
        f"the book is damaged: {defect}",
        place=location,
        remedy="restore the book and its key from a backup, and compare it with the "
        "statements made since",
    )


def keyed(store: Store, population: str, domain: bytes, data: bytes) -> str:
    """HMAC under the book's key, which is made if there is none yet."""
    return hmac.new(
        _key(store, describe_location(store, population), create=True),
        domain + b"\0" + data,
        hashlib.sha256,
    ).hexdigest()


def _sealed(store: Store, session: Session, location: str) -> Seal:
    sealed = session.head()
    if sealed is None:
        if session.populations():
            raise damaged(location, "its seal is missing")
        if store.had_entries():
            raise damaged(
                location, "it has no entry, but its key has sealed some: all of them were removed"
            )
        return Seal({}, {}, proven=True)
    text, mac = (str(sealed[0]), str(sealed[1]))  # a damaged file may hold anything
    if not hmac.compare_digest(mac.encode(), _seal(_key(store, location), text).encode()):
        raise damaged(location, "its seal was edited, or its key belongs to another book")
    facts: dict[str, Any] = json.loads(text)
    return Seal(facts["heads"], facts.get("totals", {}), proven=facts["format"] >= PROVEN)


def _seal(key: bytes, text: str) -> str:
    return _mac(key, b"tacit head\0", text)


def _proof(key: bytes, population: str, number: object, digest: object) -> str:
    """That an entry was sealed, also where the seal itself is put back to an older one."""
    return _mac(key, b"tacit entry\0", canonical([population, str(number), str(digest)]))


def _mac(key: bytes, domain: bytes, text: str) -> str:
    return hmac.new(key, domain + text.encode(), hashlib.sha256).hexdigest()


def _key(store: Store, location: str, create: bool = False) -> bytes:
    key = store.key(create=create)
    if key is None:
        raise BookError(
            "the key of the book is missing", place=location, remedy="restore it from a backup"
        )
    return key


def _parse(text: str, stored: str, location: str, number: int) -> Entry:
    try:
        return Entry.model_validate({**json.loads(text), "hash": stored})
    except (ValueError, TypeError, ValidationError):
        raise BookError(
            f"entry {number} is of a kind that this version does not know: the book was "
            "made by a newer version",
            place=location,
            remedy="upgrade tacit",
        ) from None


# What the seal says was spent, so that a charge stays counted when its entry is gone.
#
# The seal carries, for every population and unit, the composed cost of all sealed entries as an
# accountant takes it. It is not read where the entries are whole; where one was changed or
# removed, it is what remains true.


def sealed_total(state: BookState) -> dict[str, Any]:
    """The totals of a book as plain data."""
    return {
        unit: {
            **_plain(state.tally(unit).cost),
            "uncovered": state.tally(unit).uncovered,
            "releases": state.counts[unit],
            "cap": state.caps.get(unit),
        }
        for unit in UNITS
        if unit == "user" or unit in state.caps or state.counts[unit]
    }


def format_totals(total: dict[str, Any]) -> str:
    """`user: epsilon 2.8 at delta 1e-06 over 7 releases`, for each unit."""
    return "; ".join(_format_unit(unit, unit_total) for unit, unit_total in total.items())


def _format_unit(unit: str, unit_total: dict[str, Any]) -> str:
    delta = unit_total["cap"][1] if unit_total["cap"] else _DELTA
    releases = f"{unit_total['releases']} release{'s' * (unit_total['releases'] != 1)}"
    epsilon = up(epsilon_of(_cost(unit_total), delta))
    text = f"{unit}: epsilon {epsilon} at delta {delta:g} over {releases}"
    return (
        f"{text}, {unit_total['uncovered']} more without a bound"
        if unit_total["uncovered"]
        else text
    )


def _plain(cost: Cost) -> dict[str, Any]:
    return {
        "mu2": min(cost.mu2, _MOST),
        "draws": cost.draws,
        "pure": sorted((min(epsilon, _MOST), times) for epsilon, times in cost.pure.items()),
        "sampled": sorted((*coin, times) for coin, times in cost.sampled.items()),
        "renyi": min(cost.renyi, _MOST),
        "tuned": sorted((*search, times) for search, times in cost.tuned.items()),
    }


def _cost(unit_total: dict[str, Any]) -> Cost:
    return Cost(
        mu2=unit_total["mu2"],
        draws=unit_total["draws"],
        pure=dict(unit_total["pure"]),
        sampled={
            (multiplier, chance): times for multiplier, chance, times in unit_total["sampled"]
        },
        renyi=unit_total["renyi"],
        tuned={Tuned(*search): times for *search, times in unit_total["tuned"]},
    )


# A book or a population that is begun: its place or its name may be mistyped.


def tell_begun(location: str, population: str, populations: list[str]) -> None:
    """Notify, before the first entry of a population is written, that a new account begins.

    `populations` are the others in this ledger. In Python the first one begins without a notice."""
    if not populations:
        noted(f"a new ledger is begun at {location}, without a cap")
        return
    message = (
        f"a new population {population!r} is begun, without a cap and apart from the others; "
        f"{suggest_population(population, populations)}"
    )
    noted(message)
    notice(message)


def suggest_population(population: str, populations: list[str]) -> str:
    """Phrase for an error: which existing population may have been meant."""
    near = difflib.get_close_matches(population, populations, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(repr(name) for name in populations)}"
