"""Every book at one place, for whoever checks all of them."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import BookError
from tacit.ledger.book.begun import meant
from tacit.ledger.book.book import Book, open_book
from tacit.ledger.book.chain import damaged


def books_at(location: str | Path | None, population: str | None = None) -> list[Book]:
    """The books of all populations at a place, or of the one that is named. A place or a
    population without an entry is an error: there is nothing that could be found whole."""
    book = open_book(location, population or "default")
    known = book.populations()
    if not known:
        raise BookError(
            "there is no book here: nothing was ever charged at this place",
            place=book.store.place,
            remedy="name the book with --ledger, or its folder with TACIT_HOME",
        )
    if population is None:
        return [open_book(location, name) for name in known]
    if population not in known:
        raise BookError(
            f"this ledger has no population {population!r}",
            place=book.store.place,
            remedy=meant(population, known),
        )
    return [book]


def check_parts(book: Book) -> None:
    """Refuse a ledger that lost its marks of data, or its guards against changes: its chain
    may be whole all the same."""
    with book.store.read() as session:
        lost = [] if session is None else session.lacks()
    if lost:
        raise damaged(
            book.store.place,
            f"its chain is whole, but {', '.join(lost)} is missing: somebody changed its tables",
        )
