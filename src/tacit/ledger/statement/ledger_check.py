"""A statement against the book that it says it was charged to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.ledger.statement.statement import Statement

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book


def check_against(statement: Statement, book: Book) -> tuple[bool, str]:
    """Whether the book knows the charge that a statement names, and what that means, in words."""
    number, head = statement.book_number, statement.book_head
    if number is None or head is None:
        return False, "the statement names no book: nothing was charged for it"
    if statement.population != book.population:
        return (
            False,
            (
                f"the statement belongs to the population {statement.population!r}, not "
                f"{book.population!r}"
            ),
        )
    entries = book.entries()
    if not entries and not book.populations():
        return False, (f"there is no such ledger: nothing was ever charged at {book.store.place}")
    if not 1 <= number <= len(entries):
        return False, (
            f"the statement was charged as entry {number}, but the book ends at entry "
            f"{len(entries)}: it was restored "
            "from an old copy, or it is another book. What was spent since that copy is "
            "missing from its totals"
        )
    entry = entries[number - 1]
    if entry.hash != head:
        return False, (
            f"entry {number} of the book is not the one that the statement names: the "
            "book was restored from an old "
            "copy and charged again, or was rewritten, or is another book"
        )
    filled = [
        event
        for commit in entries
        if commit.kind == "commit" and commit.of == number
        for event in commit.events
    ]
    listed, charged = statement.events, entry.events
    same = all(event in charged or event in filled for event in listed) and all(
        event in listed for event in charged if event.kind != "reserve" or not filled
    )
    certified = statement.certified == "certified"
    promise = (statement.epsilon, statement.delta) if certified else entry.budget
    if certified and any(event.kind in ("unbounded", "evaluation") for event in charged):
        return (
            False,
            (
                f"entry {number} is in the book, but nothing bounds it: the statement cannot "
                "be certified"
            ),
        )
    if not same or (entry.unit, entry.method, entry.budget, entry.apart) != (
        statement.unit,
        statement.method,
        promise,
        statement.apart,
    ):
        return (
            False,
            (
                f"entry {number} is in the book, but the statement promises something else "
                "than was charged"
            ),
        )
    return (
        True,
        (
            f"charged as entry {number} of the population {book.population!r}; the book has "
            f"{len(entries)} entries"
        ),
    )
