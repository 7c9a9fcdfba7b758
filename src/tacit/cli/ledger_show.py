"""`tacit ledger show`: one line a fit, with the running total, for every population."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.cli.show import say
from tacit.ledger.statement.document import Document, Section, TextTable

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book
    from tacit.ledger.book.entry import Entry
    from tacit.ledger.book.rules import UnitSpent

COLUMNS = ("#", "time", "entry", "unit", "method", "epsilon", "delta", "total", "purpose")
HEADS = ("unit", "fits", "epsilon spent", "at delta", "cap", "left", "unbounded")
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


def facts(book: Book) -> dict[str, Any]:
    """A population for a program."""
    return {
        "population": book.population,
        "head": book.head,
        "entries": [e.model_dump(mode="json") for e in book.entries()],
        "spent": [total.__dict__ for total in book.spent().units],
    }


def show_population(book: Book) -> None:
    """The fits of a population and what they cost together."""
    from tacit.cli.show import table

    entries, spending = book.entries(), book.spent()
    if not entries:
        say(f"the book of {book.population!r} is empty")
        return
    table(COLUMNS, list(entry_rows(entries)), title=f"population {book.population}")
    if any(entry.kind == "commit" for entry in entries):
        say("(numbers that are not listed record the model that came of a fit)")
    say()
    rows = spent_rows(spending.units)
    if rows:
        table(HEADS, rows)


def spent_rows(units: Iterable[UnitSpent]) -> list[tuple[object, ...]]:
    """What each unit has cost, under the columns of `HEADS`."""
    from tacit.ledger.account.rounded import down

    return [
        (
            total.unit,
            total.entries,
            _format_spent(total),
            f"{total.delta:g}",
            _number(total.cap),
            None if total.left is None else down(total.left),
            total.unbounded,
        )
        for total in units
        if total.entries or total.cap is not None
    ]


def entry_rows(entries: Iterable[Entry]) -> Iterable[tuple[object, ...]]:
    """One row a reservation, with what came of it; one for each cap and each note on
    people. The total is that of the row's unit, at the delta of its cap."""
    from tacit.ledger.book.receipts import SHOWN_DELTA
    from tacit.ledger.book.rules import BookState

    listed = list(entries)
    committed = {entry.of for entry in listed if entry.artefact}
    state = BookState()
    for entry in listed:
        state.apply(entry)
        if entry.kind == "commit" or entry.counted:
            continue
        total = None
        if entry.kind == "reserve" and not entry.evaluation and entry.unit:
            total = _total(entry, state.spent(entry.unit, SHOWN_DELTA))
        budget = entry.budget or entry.cap or (None, None)
        yield (
            entry.number,
            entry.time[:19].replace("T", " "),
            _kind(entry, entry.number in committed),
            entry.unit,
            entry.method,
            *(None if x is None else f"{x:g}" for x in budget),
            total,
            _describe_entry(entry),
        )


def _total(entry: Entry, spent: UnitSpent) -> str:
    """What was spent after an entry; a release without a bound is in no total."""
    if any(event.kind == "unbounded" for event in entry.events):
        return "no bound"
    return _format_spent(spent)


def _format_spent(spent: UnitSpent) -> str:
    from tacit.ledger.account.rounded import up

    suffix = f" + {spent.unbounded} without a bound" if spent.unbounded else ""
    return f"{up(spent.epsilon)}{suffix}"


def _kind(entry: Entry, committed: bool) -> str:
    if entry.kind != "reserve":
        return entry.kind
    if entry.evaluation:
        return "evaluation"
    return "fit" if committed else "fit, no model"


def _describe_entry(entry: Entry) -> str:
    if entry.kind == "people":
        return f"other people than {_names(entry.others or ())}"
    if entry.kind == "week":
        return f"release {entry.week} of the calendar of entry {entry.of}"
    return entry.purpose


def _names(populations: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in populations)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"


# `tacit ledger show --out`: the book as a document that an officer forwards.


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
