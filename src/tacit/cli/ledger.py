"""`tacit ledger`: the book of what was spent."""

from __future__ import annotations

from typing import Any

import click

from tacit.cli.options import json_option, ledger_options
from tacit.cli.show import say


@click.group()
def ledger() -> None:
    """The book: what was spent on whom, for what, and what is left."""


@ledger.command()
@ledger_options
@json_option
def show(population: str, ledger: str | None, as_json: bool) -> None:
    """List the entries of a population and what they cost together."""
    from tacit.cli.show import print_json, table
    from tacit.ledger.book.book import open_book

    book = open_book(ledger, population)
    entries, spent = book.entries(), book.spent()
    if as_json:
        print_json(
            {
                "population": population,
                "head": book.head,
                "entries": [e.model_dump(mode="json") for e in entries],
                "spent": [each.__dict__ for each in spent.units],
            }
        )
        return
    if not entries:
        say(f"the book of {population!r} is empty")
        return
    table(
        ("#", "time", "entry", "unit", "method", "epsilon", "delta", "purpose"),
        [_row(entry) for entry in entries],
    )
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
    table(
        (
            "unit",
            "fits",
            "epsilon spent",
            "at delta",
            "cap",
            "left",
            "unbounded",
        ),
        rows,
    )


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"


def _row(entry: Any) -> tuple[object, ...]:
    budget = entry.budget or entry.cap or (None, None)
    shown = [None if x is None else f"{x:g}" for x in budget]
    return (
        entry.number,
        entry.time[:19].replace("T", " "),
        entry.kind,
        entry.unit,
        entry.method,
        *shown,
        entry.purpose,
    )


@ledger.command()
@click.option(
    "--epsilon",
    type=float,
    required=True,
    help="All fits together may cost this much.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option(
    "--unit", default="user", show_default=True, metavar="user|rating|value"
)
@click.option("--note", default="", help="Why: it stays in the book.")
@click.option(
    "--accept-unbounded",
    is_flag=True,
    help="Set it although earlier entries cannot be counted.",
)
@ledger_options
@json_option
def cap(
    epsilon: float,
    delta: float,
    unit: Any,
    note: str,
    accept_unbounded: bool,
    population: str,
    ledger: str | None,
    as_json: bool,
) -> None:
    """Set, raise or lower the cap of a population; itself an entry."""
    from tacit.cli.show import print_json
    from tacit.ledger.book.book import open_book

    book = open_book(ledger, population)
    book.cap(epsilon, delta, unit, note, accept_unbounded=accept_unbounded)
    left = next(
        (each.left for each in book.spent().units if each.unit == unit), None
    )
    if as_json:
        print_json(
            {
                "population": population,
                "epsilon": epsilon,
                "delta": delta,
                "unit": unit,
                "left": left,
            }
        )
        return
    say(
        f"the cap of {population!r} is now epsilon {epsilon:g} at delta {delta:g}, unit {unit}"
    )
    if left is not None:
        say(
            f"left under it: epsilon {left:.4g}"
            if left > 0
            else "nothing is left under it: no fit will pass"
        )


@ledger.command()
@ledger_options
@json_option
def verify(population: str, ledger: str | None, as_json: bool) -> None:
    """Replay the chain of hashes and the totals; name the first entry that is wrong."""
    from tacit.cli.show import print_json
    from tacit.ledger.book.book import open_book

    found = open_book(ledger, population).verify()
    if as_json:
        print_json(
            {"verified": True, "entries": found.entries, "head": found.head}
        )
    else:
        say(f"verified: {found.entries} entries, head {found.head[:16]}")


@ledger.command()
@click.option(
    "--version",
    metavar="V",
    help="Entries made by this version; else by versions with a known defect.",
)
@ledger_options
@json_option
def affected(
    version: str | None, population: str, ledger: str | None, as_json: bool
) -> None:
    """Entries whose promise is touched by a known privacy defect."""
    from tacit.cli.show import print_json, table
    from tacit.ledger.book.book import open_book

    found = open_book(ledger, population).affected(version)
    if as_json:
        print_json(
            {
                "affected": [
                    {"entry": e.model_dump(mode="json"), "why": why}
                    for e, why in found
                ]
            }
        )
    elif not found:
        say("no entry is affected by a known defect")
    else:
        table(
            ("#", "method", "version", "why"),
            [(e.number, e.method, e.version, why) for e, why in found],
        )
