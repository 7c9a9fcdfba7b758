"""Options that servers and devices share: secrets, which come from files, and doing without
TLS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import several

if TYPE_CHECKING:
    from tacit.federation.device.client import Papers

token_file_option = click.option(
    "--token-file",
    metavar="FILE",
    help="A file with the token: a command line can be seen by other users.",
)
insecure_option = click.option(
    "--insecure",
    is_flag=True,
    help="Allow other machines without TLS, as behind a proxy that has it.",
)
papers_options = several(
    click.option(
        "--ticket-file",
        metavar="FILE",
        help="One-time tickets of the recommender, one a line; a device takes the first.",
    ),
    click.option(
        "--aggregator-ticket-file",
        metavar="FILE",
        help="One-time tickets of the aggregator, in the same way.",
    ),
    click.option(
        "--evidence-file", metavar="FILE", help="Text for the operators' own checks (--attest)."
    ),
)


def token_of(o: dict[str, Any]) -> str | None:
    """The enrolment token, from its file or from the command line."""
    from tacit.errors import SettingError

    token: str | None = o["token"]
    if o["token_file"] is None:
        return token
    if token is not None:
        raise SettingError("--token and --token-file are given", remedy="give one of them")
    return secret_in(o["token_file"], "token")


def secret_in(path: str, kind: str) -> str:
    """What a file holds, which is not empty."""
    from tacit.errors import SettingError

    try:
        secret = Path(path).read_text().strip()
    except OSError as error:
        raise SettingError(f"the {kind} file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingError(f"the {kind} file {path} is not a text in UTF-8") from None
    if not secret:
        raise SettingError(f"the {kind} file {path} is empty")
    return secret


def papers_of(o: dict[str, Any]) -> list[Papers]:
    """What each device shows when it enrols: the k-th one the k-th tickets."""
    from tacit.errors import SettingError
    from tacit.federation.device.client import Papers

    token = token_of(o)
    evidence = ""
    if o["evidence_file"]:
        evidence = secret_in(o["evidence_file"], "evidence")
    tickets, aggregator_tickets = _lines(o["ticket_file"]), _lines(o["aggregator_ticket_file"])
    if tickets and aggregator_tickets and len(tickets) != len(aggregator_tickets):
        raise SettingError(
            f"there are {len(tickets)} tickets of the recommender and {len(aggregator_tickets)} of "
            "the aggregator",
            remedy="a device needs one of each",
        )
    count = max(len(tickets), len(aggregator_tickets), 1)
    tickets, aggregator_tickets = tickets or [None] * count, aggregator_tickets or [None] * count
    return [
        Papers(token, ticket, aggregator, evidence)
        for ticket, aggregator in zip(tickets, aggregator_tickets, strict=True)
    ]


def _lines(path: str | None) -> list[str | None]:
    return list(secret_in(path, "ticket").split()) if path else []
