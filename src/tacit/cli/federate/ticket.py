"""`tacit federate ticket`: one-time tickets from a server's own book."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.federate.secret import secret_in
from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import F, json_option, note, several
from tacit.cli.show import print_json, say

if TYPE_CHECKING:
    from tacit.federation.server.store import ServerStore

ROLES = ("recommender", "aggregator")
DAYS = 30.0
"""For which a ticket is good unless said."""

store_options: Callable[[F], F] = several(
    click.option(
        "--server", "role", required=True, type=click.Choice(ROLES), help="Whose book it is."
    ),
    click.option("--home", metavar="DIR", help="Folder of that server's store."),
    click.option("--store", metavar="FILE|URL", help="Where its store is, if elsewhere."),
    click.option(
        "--store-file",
        metavar="FILE",
        help="A file with the store's address, which may hold a password.",
    ),
)


def open_store(o: dict[str, Any]) -> ServerStore:
    """The store of a server, which may be running: transactions take turns."""
    from pathlib import Path

    from tacit.errors import SettingError
    from tacit.federation.server import recommender, uploads
    from tacit.federation.server.store import ServerStore

    location = o["store"]
    if o["store_file"]:
        location = secret_in(o["store_file"], "store")
    if location is None and o["home"] is None:
        raise SettingError("--home is missing", remedy="or --store")
    role = o["role"]
    steps = {"recommender": recommender.MIGRATIONS, "aggregator": uploads.MIGRATIONS}
    return ServerStore(location or Path(o["home"]) / f"{role}.sqlite", steps[role], role)


@click.command(cls=Command)
@store_options
@click.option("--count", type=int, default=0, metavar="N", help="Make so many tickets.")
@click.option(
    "--label",
    default="default",
    show_default=True,
    help="For whom they are: a shop, an operator, a release.",
)
@click.option(
    "--days", type=float, default=DAYS, show_default=True, help="For which they are good."
)
@click.option(
    "--most",
    type=int,
    metavar="N",
    help="Devices that may enrol with the tickets of this label, in all.",
)
@click.option(
    "--revoke",
    "take_back",
    is_flag=True,
    help="Take back the label's tickets that nobody has used.",
)
@click.option("--out", metavar="FILE", help="Write the tickets there (mode 0600), one a line.")
@json_option
def ticket(as_json: bool, **o: Any) -> None:
    """One-time tickets with which devices enrol at this server; without --count, the book."""
    from tacit.federation.server import book

    refuse_no_effect()
    store = open_store(o)
    label = o["label"]
    tickets = list[str]()
    try:
        if o["take_back"]:
            gone = store.write_blocking(lambda s: book.revoke(s, label))
            note(f"{gone:,} tickets of {label} were taken back")
        if o["most"] is not None:
            store.write_blocking(lambda s: book.limit_label(s, label, o["most"]))
        if o["count"]:
            tickets = book.new_tickets(o["count"])
            store.write_blocking(lambda s: book.keep_tickets(s, tickets, label, o["days"]))
        labels = store.write_blocking(book.labels)
    finally:
        store.close()
    if o["out"] and tickets:
        _write(o["out"], tickets)
    elif tickets and not as_json:
        say("\n".join(tickets))
        return
    facts = [entry._asdict() for entry in labels]
    if as_json:
        ticket_facts = {} if o["out"] else {"tickets": tickets}
        print_json({"labels": facts, **ticket_facts})
        return
    for entry in labels:
        limit = "" if entry.most is None else f", at most {entry.most:,} devices"
        say(
            f"{entry.name}: {entry.made:,} tickets, {entry.used:,} used, "
            f"{entry.expired:,} expired{limit}"
        )


def _write(path: str, tickets: list[str]) -> None:
    """A file that is its owner's alone; one that is there is not overwritten."""
    from tacit.errors import SettingError

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror}") from None
    with os.fdopen(handle, "w") as file:
        file.write("".join(f"{line}\n" for line in tickets))
