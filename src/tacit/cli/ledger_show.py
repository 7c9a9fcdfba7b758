"""`tacit ledger show`: one line a fit, with the running total, for every population."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tacit.cli.options import note
from tacit.cli.show import say

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book
    from tacit.ledger.book.entry import Entry

COLUMNS = (
    "#",
    "time",
    "entry",
    "unit",
    "method",
    "epsilon",
    "delta",
    "total",
    "purpose",
)


def warn_unknown(book: Book) -> None:
    """Say so if the ledger has other populations and not this one: a name may be mistyped."""
    known = book.populations()
    if not known or book.population in known:
        return
    near = difflib.get_close_matches(book.population, known, n=1)
    mean = f"did you mean {near[0]!r}?" if near else f"it has {_names(known)}"
    note(f"this ledger has no population {book.population!r}; {mean}")


def facts(book: Book) -> dict[str, Any]:
    """A population for a program."""
    return {
        "population": book.population,
        "head": book.head,
        "entries": [e.model_dump(mode="json") for e in book.entries()],
        "spent": [each.__dict__ for each in book.spent().units],
    }


def show_population(book: Book) -> None:
    """The fits of a population and what they cost together."""
    from tacit.cli.show import table

    entries, spent = book.entries(), book.spent()
    if not entries:
        say(f"the book of {book.population!r} is empty")
        return
    table(COLUMNS, list(_rows(entries)), title=f"population {book.population}")
    say()
    rows = [
        (
            each.unit,
            each.entries,
            f"{each.epsilon:.4g}",
            f"{each.delta:g}",
            _number(each.cap),
            _number(each.left),
            each.unbounded,
        )
        for each in spent.units
        if each.entries or each.cap is not None
    ]
    heads = (
        "unit",
        "fits",
        "epsilon spent",
        "at delta",
        "cap",
        "left",
        "unbounded",
    )
    if rows:
        table(heads, rows)


def _rows(entries: Iterable[Entry]) -> Iterable[tuple[object, ...]]:
    """One row a reservation, with what came of it; one for each cap and each note on
    people. The total is that of the row's unit, at the delta of its cap."""
    from tacit.ledger.book.receipts import SHOWN_DELTA
    from tacit.ledger.book.rules import BookState

    listed = list(entries)
    done = {entry.of for entry in listed if entry.artefact}
    state = BookState()
    for entry in listed:
        state.after(entry)
        if entry.kind == "commit" or entry.counted:
            continue
        total = None
        if entry.kind == "reserve" and not entry.evaluation and entry.unit:
            total = f"{state.spent(entry.unit, SHOWN_DELTA).epsilon:.4g}"
        budget = entry.budget or entry.cap or (None, None)
        yield (
            entry.number,
            entry.time[:19].replace("T", " "),
            _kind(entry, entry.number in done),
            entry.unit,
            entry.method,
            *(None if x is None else f"{x:g}" for x in budget),
            total,
            _told(entry),
        )


def _kind(entry: Entry, committed: bool) -> str:
    if entry.kind != "reserve":
        return entry.kind
    if entry.evaluation:
        return "evaluation"
    return "fit" if committed else "fit, no model"


def _told(entry: Entry) -> str:
    if entry.kind == "people":
        return f"other people than {_names(entry.others or ())}"
    if entry.kind == "week":
        return f"release {entry.week} of the calendar of entry {entry.of}"
    return entry.purpose


def _names(populations: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in populations)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"
