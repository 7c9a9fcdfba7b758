"""`tacit ledger`: the book of what was spent."""

from __future__ import annotations

from typing import Any

import click

from tacit.cli.grouped import GroupedCommands
from tacit.cli.moot import refuse_moot
from tacit.cli.options import json_option, ledger_options, may_write
from tacit.cli.show import say

LESS = (
    "; together with what was spent it adds up to the cap, because several releases cost "
    "less than the sum of their epsilons"
)


@click.group(cls=GroupedCommands)
def ledger() -> None:
    """The book: what was spent on whom, for what, and what is left."""


@ledger.command()
@ledger_options
@json_option
@click.pass_context
def show(
    context: click.Context, population: str, ledger: str | None, as_json: bool
) -> None:
    """List the fits of every population, or of the one that --population names, and what
    they cost together."""
    from tacit.cli.ledger_show import facts, show_population, warn_unknown
    from tacit.cli.show import print_json
    from tacit.ledger.book.book import open_book

    source = context.get_parameter_source("population")
    named = source is not click.core.ParameterSource.DEFAULT
    book = open_book(ledger, population)
    known = book.populations()
    if named:
        warn_unknown(book)
    if as_json:
        print_json({**facts(book), "populations": known})
        return
    names = [population] if named or not known else known
    for place, name in enumerate(names):
        if place:
            say()
        show_population(open_book(ledger, name))


@ledger.command()
@click.option(
    "--out", metavar="FILE", help="Write it there; printed otherwise."
)
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@click.option(
    "--ledger",
    metavar="FILE|URL",
    help="The book; TACIT_HOME holds the default one.",
)
@json_option
def key(
    out: str | None, overwrite: bool, ledger: str | None, as_json: bool
) -> None:
    """The public key of the ledger: give it to whoever shall check your models with
    `tacit verify MODEL --key FILE`."""
    from pathlib import Path

    from tacit.cli.show import print_json
    from tacit.errors import StorageError
    from tacit.ledger.book.book import open_book

    refuse_moot()
    if out is not None:
        may_write(out, overwrite)
    signer = open_book(ledger).signer
    if out is not None:
        try:
            Path(out).write_text(f"{signer}\n", "ascii")
        except OSError as error:
            raise StorageError(
                f"the key cannot be written ({error.strerror})", place=out
            ) from None
    if as_json:
        print_json({"key": signer, "out": out})
    else:
        say(signer if out is None else f"public key written to {out}")


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
            f"left under it: epsilon {left:.4g}{LESS if left < epsilon else ''}"
            if left > 0
            else "nothing is left under it: no fit will pass"
        )


@ledger.command()
@ledger_options
@json_option
def verify(population: str, ledger: str | None, as_json: bool) -> None:
    """Replay the chain of hashes and the totals; name the first entry that is wrong."""
    from tacit.cli.ledger_show import warn_unknown
    from tacit.cli.show import print_json
    from tacit.ledger.book.book import open_book

    book = open_book(ledger, population)
    warn_unknown(book)
    found = book.verify()
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
    from tacit.cli.ledger_show import warn_unknown
    from tacit.cli.show import print_json, table
    from tacit.ledger.book.book import open_book

    book = open_book(ledger, population)
    warn_unknown(book)
    found = book.affected(version)
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
