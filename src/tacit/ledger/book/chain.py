"""The chain of hashes that holds a book together, and the seal on its end.

Guarantee: what `load` returns is one unbroken chain from the genesis of a population to the
last entry that was sealed (HMAC-SHA-256 under the key beside the book, over the number of
entries and the last hash of every population). An edit, a removal, a swap or a cut is
found, and the first bad entry is named.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from tacit.errors import BookError
from tacit.ledger.book.begun import tell_begun
from tacit.ledger.book.entry import Entry, canonical, genesis, sha256, write
from tacit.ledger.book.store import FORMAT, Session, Store
from tacit.ledger.software import software


@dataclass(frozen=True)
class Chain:
    """A population's entries, inside one transaction."""

    population: str
    entries: list[Entry]
    heads: dict[str, Any]
    """Of every population of the store: [number of entries, last hash]."""

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return self.entries[-1].hash if self.entries else genesis(self.population)


def load(store: Store, session: Session, population: str) -> Chain:
    """Replay and check everything."""
    place = where(store, population)
    entries = replay(population, session.rows(population), place)
    heads = _sealed(store, session, place)
    count, last = heads.get(population, (0, genesis(population)))
    if len(entries) < count:
        raise damaged(
            place,
            f"entry {len(entries) + 1} is missing: it was truncated, {count} entries were sealed",
        )
    if len(entries) > count:
        raise damaged(place, f"entry {count + 1} is not under its seal")
    if entries and entries[-1].hash != last:
        raise damaged(place, f"entry {count} was edited or replaced")
    return Chain(population, entries, heads)


def sealed_populations(store: Store, session: Session) -> list[str]:
    """Every population that has entries, or had some when the book was sealed."""
    heads = _sealed(store, session, store.place)
    return sorted({*heads, *session.populations()})


def append(store: Store, session: Session, chain: Chain, draft: dict[str, Any]) -> Entry:
    """Write one more entry and seal it, in the transaction of `session`."""
    if not chain.entries:
        tell_begun(store.place, chain.population, sorted(chain.heads))
    entry = Entry(
        number=len(chain.entries) + 1,
        population=chain.population,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        version=software(),
        previous=chain.head,
        **draft,
    )
    text, digest = write(entry)
    session.append(chain.population, entry.number, text, digest)
    sealed = canonical(
        {"format": FORMAT, "heads": {**chain.heads, chain.population: (entry.number, digest)}}
    )
    key = _key(store, where(store, chain.population), create=session.head() is None)
    session.set_head(sealed, _seal(key, sealed))
    return entry.model_copy(update={"hash": digest})


def replay(population: str, rows: Iterable[tuple[int, str, str]], place: str) -> list[Entry]:
    """Stored (number, text, hash) rows as entries, if each follows the one before."""
    entries: list[Entry] = []
    previous = genesis(population)
    for number, text, stored in rows:
        expected = len(entries) + 1
        if number != expected:
            raise damaged(place, f"entry {expected} is missing")
        if not isinstance(text, str) or sha256(text) != stored:
            raise damaged(place, f"entry {number} was edited: its text does not match its hash")
        entry = _parse(text, stored, place, number)
        if (entry.number, entry.population) != (number, population):
            raise damaged(place, f"entry {number} is out of order: it was written as another entry")
        if entry.previous != previous:
            raise damaged(
                place,
                f"entry {max(1, number - 1)} was edited or replaced: entry {number} "
                "follows another one",
            )
        entries.append(entry)
        previous = stored
    return entries


def where(store: Store, population: str) -> str:
    """A population of a store, as errors name it."""
    return f"{store.place}, population {population}"


def damaged(place: str, what: str) -> BookError:
    """The error for a book that does not replay."""
    return BookError(
        f"the book is damaged: {what}",
        place=place,
        remedy="restore the book and its key from a backup, and compare it with the "
        "statements made since",
    )


def keyed(store: Store, population: str, domain: bytes, data: bytes) -> str:
    """HMAC under the book's key, which is made if there is none yet."""
    return hmac.new(
        _key(store, where(store, population), create=True), domain + b"\0" + data, hashlib.sha256
    ).hexdigest()


def _sealed(store: Store, session: Session, place: str) -> dict[str, Any]:
    sealed = session.head()
    if sealed is None:
        if session.populations():
            raise damaged(place, "its seal is missing")
        if store.had_entries():
            raise damaged(
                place, "it has no entry, but its key has sealed some: all of them were removed"
            )
        return {}
    text, mac = (str(sealed[0]), str(sealed[1]))  # a damaged file may hold anything
    if not hmac.compare_digest(mac.encode(), _seal(_key(store, place), text).encode()):
        raise damaged(place, "its seal was edited, or its key belongs to another book")
    heads: dict[str, Any] = json.loads(text)["heads"]
    return heads


def _seal(key: bytes, text: str) -> str:
    return hmac.new(key, b"tacit head\0" + text.encode(), hashlib.sha256).hexdigest()


def _key(store: Store, place: str, create: bool = False) -> bytes:
    key = store.key(create=create)
    if key is None:
        raise BookError(
            "the key of the book is missing", place=place, remedy="restore it from a backup"
        )
    return key


def _parse(text: str, stored: str, place: str, number: int) -> Entry:
    try:
        return Entry.model_validate({**json.loads(text), "hash": stored})
    except (ValueError, TypeError, ValidationError):
        raise BookError(
            f"entry {number} is of a kind that this version does not know: the book was "
            "made by a newer version",
            place=place,
            remedy="upgrade tacit",
        ) from None
