"""`tacit verify`: is this model the one in the book?"""

from __future__ import annotations

import click

from tacit.cli.options import json_option
from tacit.cli.show import say


@click.command()
@click.argument("model")
@click.option(
    "--ledger",
    metavar="FILE|URL",
    help="The book; TACIT_HOME holds the default one.",
)
@json_option
def verify(model: str, ledger: str | None, as_json: bool) -> None:
    """Check MODEL against the ledger: whole, unchanged, paid for, and the book not older
    than the model's statement."""
    from tacit.cli.show import print_json
    from tacit.ledger.book.book import open_book
    from tacit.ledger.statement.statement import check_against
    from tacit.model.model import load

    fitted = load(model)  # checks every digest
    statement = fitted.statement
    book = open_book(ledger, statement.population or "default")
    known, words = check_against(statement, book)
    entry = book.find(fitted.shared.digest())
    if known and (entry is None or entry.number != statement.book_number):
        known, words = (
            False,
            "its charge is in the book, but the book knows another model for it, or none",
        )
    if as_json:
        print_json({"verified": known, "words": words})
    else:
        say(f"{'verified' if known else 'NOT VERIFIED'}: {words}")
    if not known:
        raise SystemExit(1)
