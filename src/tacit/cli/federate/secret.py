"""Options that servers and devices share: the enrolment token, and doing without TLS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

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


def token_of(o: dict[str, Any]) -> str | None:
    """The enrolment token, from its file or from the command line."""
    from tacit.errors import SettingError

    given: str | None = o["token"]
    if o["token_file"] is None:
        return given
    if given is not None:
        raise SettingError(
            "--token and --token-file are given", remedy="give one of them"
        )
    try:
        found = Path(o["token_file"]).read_text().strip()
    except OSError as error:
        raise SettingError(
            f"the token file {o['token_file']} cannot be read: {error.strerror}"
        ) from None
    if not found:
        raise SettingError(f"the token file {o['token_file']} is empty")
    return found
