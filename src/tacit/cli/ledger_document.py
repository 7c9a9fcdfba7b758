"""`tacit ledger show --out`: the book as a document that an officer forwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tacit import __version__
from tacit.cli.ledger_show import COLUMNS, HEADS, entry_rows, spent_rows
from tacit.ledger.statement.document import Document, Section, TextTable

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book

READING = (
    (
        "Each line is a charge: it was written before any noise was drawn, and stays whatever "
        "came of it. `total` is what all charges up to it cost together, which is at most "
        "their sum."
    ),
    (
        "`epsilon` bounds what anybody can find out about one person, whatever else he knows. Less "
        "is safer; `tacit plan` says in odds what a number means."
    ),
    (
        "`delta` is what any outcome may be likelier with one's data beyond e^epsilon times. "
        "`unit` says whom it is about: `user` is all of a person, `rating` one rating, `value` "
        "only how high it was."
    ),
    "An evaluation compares with raw ratings for the owner alone and publishes nothing.",
)
NOT = (
    "Data of the same people that were used without this ledger.",
    (
        "Entries that were taken away together with every later one: a statement made in between "
        "exposes that, as it carries the head of the book of its day."
    ),
)


def book_document(books: Sequence[Book]) -> Document:
    """All populations of a ledger; every chain is replayed for it."""
    checked = [book.verify() for book in books]
    sections = [_population(book) for book in books]
    heads = tuple((check.population, str(check.entries), check.head) for check in checked)
    return Document(
        title="The book of privacy spent",
        lead="What was charged for whom, what it costs together, and what is left.",
        notice="",
        cards=tuple(_cards(books)),
        warn=False,
        sections=(
            *sections,
            ("How to read it", READING),
            (
                "How it was checked",
                (
                    (
                        "The chain of hashes, its seal and all totals were computed anew for this "
                        "page. `tacit ledger verify` does it again."
                    ),
                    TextTable(("population", "entries", "head"), heads),
                ),
            ),
            ("What a book cannot show", (NOT,)),
        ),
        annex=(),
        footer=f"Made with tacit {__version__} by `tacit ledger show`.",
    )


def _cards(books: Iterable[Book]) -> Iterable[tuple[str, str]]:
    from tacit.ledger.account.rounded import down, up

    for book in books:
        for total in book.spent().units:
            if not total.entries and total.cap is None:
                continue
            label = f"epsilon spent on {book.population!r}, unit {total.unit}"
            yield up(total.epsilon), f"{label}, at delta {total.delta:g}"
            if total.left is not None:
                yield (down(max(total.left, 0.0)), f"left of a cap of {total.cap:g}")


def _population(book: Book) -> Section:
    entries = tuple(_texts(row) for row in entry_rows(book.entries()))
    total_rows = tuple(_texts(row) for row in spent_rows(book.spent().units))
    return (
        f"Population {book.population}",
        (TextTable(HEADS, total_rows), TextTable(COLUMNS, entries)),
    )


def _texts(row: Iterable[object]) -> tuple[str, ...]:
    return tuple("\u2013" if cell is None else str(cell) for cell in row)
