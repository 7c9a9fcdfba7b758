"""Every book at one place, for whoever checks all of them."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import BookError, SettingError
from tacit.ledger.book import chain
from tacit.ledger.book.book import Book, open_book
from tacit.ledger.book.chain import Stray, damaged, suggest_population
from tacit.ledger.book.postgres import PostgresStore, rights
from tacit.ledger.book.store import open_store


def books_at(location: str | Path | None, population: str | None = None) -> list[Book]:
    """The books of all populations at a place, or of the one that is named. A place or a
    population without an entry is an error: there is nothing that could be found whole."""
    book = open_book(location, population or "default")
    populations = book.populations()
    if not populations:
        raise BookError(
            "there is no book here: nothing was ever charged at this place",
            place=book.store.place,
            remedy="name the book with --ledger, or its folder with TACIT_HOME",
        )
    if population is None:
        return [open_book(location, name) for name in populations]
    if population not in populations:
        raise BookError(
            f"this ledger has no population {population!r}",
            place=book.store.place,
            remedy=suggest_population(population, populations),
        )
    return [book]


def strays_elsewhere(book: Book) -> list[Stray]:
    """Rows of populations that were never charged at the place of a book."""
    with book.store.read() as session:
        return [] if session is None else chain.strays_elsewhere(book.store, session)


def grant(location: str | Path | None, role: str) -> list[str]:
    """Let a role of a PostgreSQL database charge the ledger there and read it, and do nothing
    else to it; the statements that were run. By the owner of its tables."""
    store = open_store(location)
    if not isinstance(store, PostgresStore):
        raise SettingError(
            "roles are of a ledger in PostgreSQL; who may write a file may do anything to it",
            remedy="name one with --ledger postgresql://...",
        )
    with store.read() as looking:
        if looking is None or not chain.sealed_populations(store, looking):
            raise BookError(
                "there is no book here: nothing was ever charged at this place",
                place=store.place,
                remedy="set a cap first: tacit ledger cap",
            )
    with store.write() as session:
        chain.sealed_populations(store, session)  # under the key of this machine
        session.grant(role)
    return [f"{statement};" for statement in rights(role)]


def check_parts(book: Book) -> None:
    """Refuse a ledger that lost its marks of data, or its guards against changes: its chain
    may be whole all the same."""
    with book.store.read() as session:
        missing = [] if session is None else session.lacks()
    if missing:
        raise damaged(
            book.store.place,
            f"its chain is whole, but {', '.join(missing)} is missing: somebody changed its tables",
        )
