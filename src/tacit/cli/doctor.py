"""`tacit doctor`: is this installation well?"""

from __future__ import annotations

import click

from tacit.cli.options import json_option


@click.command()
@click.option(
    "--ledger",
    metavar="FILE|URL",
    help="The book to look at; TACIT_HOME holds the default one.",
)
@click.option("--wipe", is_flag=True, help="Delete the caches of private data.")
@json_option
def doctor(ledger: str | None, wipe: bool, as_json: bool) -> None:
    """Versions, threads, BLAS, entropy, ledger health and caches."""
    from tacit.cli.health import examine, wipe_caches
    from tacit.cli.show import fact, print_json

    wiped = {"wiped": f"{wipe_caches()} cached files"} if wipe else {}
    found = wiped | examine(ledger)
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        fact(name, value)
