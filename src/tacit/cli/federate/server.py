"""What both servers are told on the command line: where they listen, what they keep, whom they
enrol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.federate.secret import insecure_option, secret_in, token_file_option, token_of
from tacit.cli.options import F, proxies_option, several

if TYPE_CHECKING:
    from tacit.federation.protocol.keys import Identity
    from tacit.federation.server.enrolment import Terms
    from tacit.serving.http.limits import Limits

server_options: Callable[[F], F] = several(
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    click.option("--port", type=int, required=True, help="Port to listen on."),
    click.option(
        "--watch-port",
        type=int,
        help="Port of /metrics and /healthz for operators; without it no metrics.",
    ),
    click.option(
        "--watch-host", default="127.0.0.1", show_default=True, help="Address of that port."
    ),
    click.option(
        "--home",
        required=True,
        metavar="DIR",
        help="Folder of this server's keys (mode 0600) and store.",
    ),
    click.option(
        "--store",
        metavar="FILE|URL",
        help="Where messages are kept: a file in --home, or postgresql://…",
    ),
    click.option(
        "--store-file",
        metavar="FILE",
        help="A file with the store's address, which may hold a password.",
    ),
    click.option("--token", metavar="TEXT", help="Devices need this to enrol."),
    token_file_option,
    click.option(
        "--tickets",
        is_flag=True,
        help="Devices need a one-time ticket of this server (`tacit federate ticket`).",
    ),
    click.option(
        "--attest",
        metavar="COMMAND",
        help="Your own check of a device that enrols: JSON on its input, exit status 0 admits.",
    ),
    click.option(
        "--most-devices",
        type=int,
        default=10_000_000,
        show_default=True,
        help="Devices that may enrol in all.",
    ),
    click.option(
        "--enrol-rate", type=float, default=2000.0, show_default=True, help="New devices a second."
    ),
    click.option(
        "--origins",
        multiple=True,
        metavar="ORIGIN",
        help="Pages that may take part, as https://HOST; again for more.",
    ),
    insecure_option,
    proxies_option,
    click.option("--tls-cert", metavar="FILE", help="Certificate chain (PEM)."),
    click.option("--tls-key", metavar="FILE", help="Its private key (PEM)."),
    click.option(
        "--rate",
        type=float,
        default=50.0,
        show_default=True,
        help="Requests a second of one device.",
    ),
    click.option(
        "--body-limit",
        type=int,
        default=64,
        show_default=True,
        metavar="MB",
        help="Longest message.",
    ),
    click.option(
        "--rotate-key", is_flag=True, help="Take a new exchange key; no device has to enrol again."
    ),
)


def identity_of(o: dict[str, Any]) -> Identity:
    """The server's keys, with a new exchange key if that was asked for."""
    from tacit.federation.protocol.keys import Identity

    server_identity = Identity(Path(o["home"]) / "identity.json")
    if o["rotate_key"]:
        server_identity.rotate()
    return server_identity


def location_of(o: dict[str, Any], role: str) -> str:
    """Where the server's store is."""
    if o["store_file"]:
        return secret_in(o["store_file"], "store")
    return o["store"] or str(Path(o["home"]) / f"{role}.sqlite")


def terms_of(o: dict[str, Any]) -> Terms:
    """On which devices enrol here."""
    from tacit.federation.server.attest import Attest
    from tacit.federation.server.enrolment import Terms

    attest = Attest(o["attest"]) if o["attest"] else None
    return Terms(token_of(o), o["tickets"], attest)


def limits_of(o: dict[str, Any]) -> Limits:
    """The limits of a server, from its options."""
    from tacit.serving.http.limits import Limits

    return Limits(
        body=o["body_limit"] << 20,
        rate=o["rate"],
        enrol_rate=o["enrol_rate"],
        devices=o["most_devices"],
    )
