"""`tacit statement`: the promise."""

from __future__ import annotations

import click

from tacit.cli.options import json_option
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
@json_option
def statement(
    model: str,
    registry: bool,
    deployment: str,
    curator: str,
    date: str,
    as_json: bool,
) -> None:
    """Print what MODEL promises, to whom, by which mechanism."""
    from tacit.cli.show import print_json
    from tacit.model.model import load

    promise = load(model).statement
    if registry:
        from tacit.ledger.statement.registry import registry_record

        print_json(
            registry_record(
                promise, deployment=deployment, curator=curator, date=date
            )
        )
    elif as_json:
        print_json(promise.model_dump(mode="json"))
    else:
        say(str(promise))
