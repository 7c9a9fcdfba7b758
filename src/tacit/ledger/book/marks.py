"""Marks of data: whether the same people's data were charged under another name.

A mark is a keyed hash under a fresh nonce, added by every fit. Who holds the key can compare
data with every mark; who reads the book without it learns neither that two fits had the same
people nor that they had not. Marks are for the owner alone: a refusal that rests on them
depends on who is in the data (docs/sharp-edges.md).
"""

from __future__ import annotations

import secrets

from tacit.ledger.book.chain import keyed
from tacit.ledger.book.store import Session, Store

NONCE = 16
"""Bytes."""


def fresh(store: Store, population: str, data: bytes) -> str:
    """A new mark, unlike every other mark of the same data."""
    return _mark(store, population, data, secrets.token_hex(NONCE))


def known_to(store: Store, session: Session, population: str, data: bytes) -> list[str]:
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
