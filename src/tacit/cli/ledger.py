"""`tacit ledger`: the book of what was spent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from tacit.cli.documents import check_document, document_options, write_document
from tacit.cli.grouped import GroupedCommands
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import json_option, ledger_options
from tacit.cli.overwrite import may_write
from tacit.cli.show import say

SHOWN = 20
"""Rows that are listed."""
LESS = (
    "; together with what was spent it adds up to the cap, because several releases cost "
    "less than the sum of their epsilons"
)


@click.group(cls=GroupedCommands)
def ledger() -> None:
    """The book: what was spent on whom, for what, and what is left."""


@ledger.command()
@document_options
@ledger_options
@json_option
@click.pass_context
def show(
    context: click.Context,
    population: str,
    ledger: str | None,
    out: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """List the fits of every population, or of the one that --population names, and what
    they cost together; or write them as a document to forward."""
    from tacit.cli.ledger_show import facts, show_population
    from tacit.cli.show import print_json
    from tacit.ledger.book.book import open_book
    from tacit.ledger.book.listing import books_at

    check_document(out, overwrite, as_json)
    named = _named(context, population) is not None
    if out is not None or ledger is not None or named:
        books = books_at(ledger, _named(context, population))
    if out is not None:
        from tacit.cli.ledger_show import book_document

        write_document(book_document(books), out)
        say(f"the book was written to {out}")
        return
    book = open_book(ledger, population)
    populations = book.populations()
    if as_json:
        print_json({**facts(book), "populations": populations})
        return
    names = [population] if named or not populations else populations
    for index, name in enumerate(names):
        if index:
            say()
        show_population(open_book(ledger, name))


@ledger.command()
@click.option("--out", metavar="FILE", help="Write it there; printed otherwise.")
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@click.option("--ledger", metavar="FILE|URL", help="The book; TACIT_HOME holds the default one.")
@json_option
def key(out: str | None, overwrite: bool, ledger: str | None, as_json: bool) -> None:
    """The public key of the ledger: give it to whoever shall check your models with
    `tacit verify MODEL --key FILE`."""
    from pathlib import Path

    from tacit.cli.show import print_json
    from tacit.errors import StorageError
    from tacit.ledger.book.book import open_book

    refuse_no_effect()
    if out is not None:
        may_write(out, overwrite)
    signer = open_book(ledger).signer
    if out is not None:
        try:
            Path(out).write_text(f"{signer}\n", "ascii")
        except OSError as error:
            raise StorageError(f"the key cannot be written ({error.strerror})", place=out) from None
    if as_json:
        print_json({"key": signer, "out": out})
    else:
        say(signer if out is None else f"public key written to {out}")


@ledger.command()
@click.option("--epsilon", type=float, required=True, help="All fits together may cost this much.")
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option("--unit", default="user", show_default=True, metavar="user|rating|value")
@click.option("--note", default="", help="Why: it stays in the book.")
@click.option(
    "--accept-unbounded", is_flag=True, help="Set it although earlier entries cannot be counted."
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
    from tacit.ledger.account.rounded import down, up
    from tacit.ledger.book.book import open_book

    book = open_book(ledger, population)
    book.cap(epsilon, delta, unit, note, accept_unbounded=accept_unbounded)
    current = next(total for total in book.spent().units if total.unit == unit)
    remaining = current.left
    if as_json:
        print_json(
            {
                "population": population,
                "epsilon": epsilon,
                "delta": delta,
                "unit": unit,
                "left": remaining,
            }
        )
        return
    say(f"the cap of {population!r} is now epsilon {epsilon:g} at delta {delta:g}, unit {unit}")
    if remaining is not None:
        say(
            f"left under it: epsilon {down(remaining)}{LESS if remaining < epsilon else ''}"
            if remaining > 0
            else f"nothing is left under it, epsilon {up(current.epsilon)} is spent already: "
            "no fit will pass"
        )


@ledger.command()
@ledger_options
@json_option
@click.pass_context
def verify(context: click.Context, population: str, ledger: str | None, as_json: bool) -> None:
    """Replay the chain of hashes and the totals of every population, or of the one that
    --population names; name the first entry that is wrong."""
    from tacit.cli.show import print_json
    from tacit.ledger.book.listing import books_at, check_parts, strays_elsewhere

    books = books_at(ledger, _named(context, population))
    checks = [book.verify() for book in books]
    strays = [stray for check in checks for stray in check.strays] + strays_elsewhere(books[0])
    check_parts(books[0])
    if as_json:
        print_json(
            {
                "verified": True,
                "entries": sum(check.entries for check in checks),
                "populations": [
                    {"population": check.population, "entries": check.entries, "head": check.head}
                    for check in checks
                ],
                "not_counted": [asdict(stray) for stray in strays[:SHOWN]],
                "rows_not_counted": len(strays),
            }
        )
        return
    for check in checks:
        entries = "entry" if check.entries == 1 else "entries"
        say(
            f"verified: population {check.population!r}, {check.entries} {entries}, "
            f"head {check.head[:16]}"
        )
    if strays:
        rows = "1 row is" if len(strays) == 1 else f"{len(strays)} rows are"
        say(f"not counted: {rows} under no seal; somebody wrote past Tacit:")
        for stray in strays[:SHOWN]:
            say(f"  population {stray.population!r}, number {stray.number}")
        if len(strays) > SHOWN:
            say(f"  and {len(strays) - SHOWN} more")


@ledger.command()
@click.argument("role")
@click.option("--ledger", metavar="URL", help="The book, in PostgreSQL.")
@click.option("--print", "only_print", is_flag=True, help="Print the SQL and run nothing.")
@json_option
def grant(role: str, ledger: str | None, only_print: bool, as_json: bool) -> None:
    """Let ROLE of a PostgreSQL database charge this ledger and read it, and do nothing else
    to it. For the owner of its tables, after the first charge."""
    from tacit.cli.show import print_json
    from tacit.ledger.book import listing
    from tacit.ledger.book.postgres import rights

    refuse_no_effect()
    statements = (
        [f"{right};" for right in rights(role)] if only_print else listing.grant(ledger, role)
    )
    if as_json:
        print_json({"role": role, "statements": statements, "run": not only_print})
        return
    for statement in statements:
        say(statement)


def _named(context: click.Context, population: str) -> str | None:
    """The population, if the caller named one; else all are meant."""
    source = context.get_parameter_source("population")
    default = source is click.core.ParameterSource.DEFAULT
    return None if default else population


@ledger.command()
@click.option(
    "--version",
    metavar="V",
    help="Entries made by this version; else by versions with a known defect.",
)
@ledger_options
@json_option
@click.pass_context
def affected(
    context: click.Context, version: str | None, population: str, ledger: str | None, as_json: bool
) -> None:
    """Entries whose promise is touched by a known privacy defect, of every population or of
    the one that --population names."""
    from tacit.cli.show import print_json, table
    from tacit.ledger.book.listing import books_at

    books = books_at(ledger, _named(context, population))
    pairs = [pair for book in books for pair in book.affected(version)]
    if as_json:
        print_json(
            {"affected": [{"entry": e.model_dump(mode="json"), "why": why} for e, why in pairs]}
        )
    elif not pairs and version is not None:
        say(f"no entry was made by version {version}")
    elif not pairs:
        say(
            "no entry is affected by a known defect; looked at "
            + ", ".join(repr(book.population) for book in books)
        )
    else:
        table(
            ("population", "#", "method", "version", "why"),
            [(e.population, e.number, e.method, e.version, why) for e, why in pairs],
        )
