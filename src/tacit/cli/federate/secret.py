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

    given: str | None = o["token"]
    if o["token_file"] is None:
        return given
    if given is not None:
        raise SettingError("--token and --token-file are given", remedy="give one of them")
    return secret_in(o["token_file"], "token")


def secret_in(path: str, what: str) -> str:
    """What a file holds, which is not empty."""
    from tacit.errors import SettingError

    try:
        found = Path(path).read_text().strip()
    except OSError as error:
        raise SettingError(f"the {what} file {path} cannot be read: {error.strerror}") from None
    if not found:
        raise SettingError(f"the {what} file {path} is empty")
    return found


def papers_of(o: dict[str, Any]) -> list[Papers]:
    """What each device shows when it enrols: the k-th one the k-th tickets."""
    from tacit.errors import SettingError
    from tacit.federation.device.client import Papers

    token = token_of(o)
    evidence = ""
    if o["evidence_file"]:
        evidence = secret_in(o["evidence_file"], "evidence")
    own, other = _lines(o["ticket_file"]), _lines(o["aggregator_ticket_file"])
    if own and other and len(own) != len(other):
        raise SettingError(
            f"there are {len(own)} tickets of the recommender and {len(other)} of the aggregator",
            remedy="a device needs one of each",
        )
    count = max(len(own), len(other), 1)
    own, other = own or [None] * count, other or [None] * count
    return [
        Papers(token, ticket, aggregator, evidence)
        for ticket, aggregator in zip(own, other, strict=True)
    ]


def _lines(path: str | None) -> list[str | None]:
    return list(secret_in(path, "ticket").split()) if path else []
