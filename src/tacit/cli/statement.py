"""`tacit statement`: the promise."""

from __future__ import annotations

import click

from tacit.cli.options import json_option, note
from tacit.cli.promise import check_options
from tacit.cli.show import say


@click.command()
@click.argument("model")
@click.option(
    "--registry",
    is_flag=True,
    help="As a record with the fields of the OpenDP deployments registry.",
)
@click.option(
    "--deployment", default="", help="With --registry: name of the deployment."
)
@click.option(
    "--curator", default="", help="With --registry: who is responsible."
)
@click.option(
    "--date", default="", help="With --registry: date of publication."
)
@check_options
@json_option
def statement(
    model: str,
    registry: bool,
    deployment: str,
    curator: str,
    date: str,
    key: str | None,
    ledger: str | None,
    as_json: bool,
) -> None:
    """Print what MODEL promises, to whom, by which mechanism.

    It is checked against the ledger or the key; a promise that could not be checked is
    told as what the folder says of itself.
    """
    from tacit.cli.promise import ask, ask_quietly
    from tacit.cli.show import print_json
    from tacit.model.model import load

    fitted = load(model)
    asked = key is not None or ledger is not None
    verdict = ask(fitted, ledger, key) if asked else ask_quietly(fitted)
    promise = verdict.statement
    if registry:
        from tacit.ledger.statement.registry import registry_record

        print_json(
            registry_record(
                promise, deployment=deployment, curator=curator, date=date
            )
        )
    elif as_json:
        print_json(promise.to_facts())
    else:
        say(str(promise))
    if promise.certified != "not private" and not verdict.holds:
        note(f"not checked: {verdict.words}")
        if asked:
            raise SystemExit(1)
