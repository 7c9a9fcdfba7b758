"""What stands of a model's promise: asked of a key, of a book, or of nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tacit.cli.options import several

if TYPE_CHECKING:
    from tacit.model.model import Model
    from tacit.model.verify import ModelVerdict

check_options = several(
    click.option(
        "--key",
        metavar="FILE",
        help="The owner's public key (`tacit ledger key`); no book is needed.",
    ),
    click.option(
        "--ledger", metavar="FILE|URL", help="The book; TACIT_HOME holds the default one."
    ),
)


def ask(model: Model, ledger: str | None, key: str | None) -> ModelVerdict:
    """Check a model by the key, if one is given, and else by the book; by both if both are
    given."""
    from tacit.model.verify import verify

    return verify(model, ledger=ledger, key=key)


def ask_quietly(model: Model) -> ModelVerdict:
    """Check a model by the default ledger, if that one knows anything of it: a stranger's
    model is no error."""
    from tacit.errors import TacitError
    from tacit.ledger.book.book import open_book
    from tacit.model.verify import ModelVerdict, verify_with_book

    statement = model.statement
    population = statement.population or "default"
    try:
        book = open_book(None, population)
        if population in book.populations():
            return verify_with_book(model, book)
        reason = "the default ledger does not know its population"
    except TacitError as error:
        reason = error.message
    return ModelVerdict(False, reason, statement)
