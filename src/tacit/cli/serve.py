"""`tacit serve`: the model and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import proxies_option
from tacit.cli.show import say

if TYPE_CHECKING:
    from tacit.serving.names import PageNames

PORT = click.IntRange(0, 65535)
"""Numbers that a port may have."""


@click.command(cls=Command)
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--demo", is_flag=True, help="Fit on invented people and serve that.")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="Of the demonstration.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=PORT, default=8000, show_default=True, help="0 takes a free one.")
@click.option("--metrics-port", type=PORT, help="For Prometheus, on a port of its own.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Its address.")
@click.option("--root", default="", metavar="PATH", help="The prefix that a proxy leaves in paths.")
@click.option("--title", metavar="NAME", help="The name of the page.")
@click.option("--noun", metavar="ONE,MANY", help="What the page calls an item: product,products.")
@click.option(
    "--kind", metavar="ONE,MANY", help="What it calls a tag of an item: category,categories."
)
@click.option("--recommend", is_flag=True, help="Also compute lists for clients that send ratings.")
@click.option(
    "--federation",
    multiple=True,
    metavar="ORIGIN",
    help="Servers the page may join: the recommender, and again the aggregator.",
)
@click.option("--officer-token-file", metavar="FILE", help="Opens /officer to who has its token.")
@click.option(
    "--ledger", metavar="FILE|URL", help="The officer's book; TACIT_HOME has the default."
)
@click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "float16", "int8"]),
    default="auto",
    show_default=True,
    help="Of the arrays that browsers get; the error is stated.",
)
@click.option("--access-log/--no-access-log", default=True, help="Paths without their queries.")
@proxies_option
@click.option("--tls-cert", metavar="FILE", help="Certificate chain (PEM).")
@click.option("--tls-key", metavar="FILE", help="Its private key (PEM).")
@click.option(
    "--insecure",
    is_flag=True,
    help="Take the officer's token from other machines without TLS, as behind a proxy that has it.",
)
def serve(models: tuple[str, ...], **o: Any) -> None:
    """Serve each MODEL and the page on which people recommend to themselves.

    Folders are watched: a model that is fitted anew takes the old one's place without a stop.
    """
    import tempfile

    from tacit.errors import SettingError

    refuse_no_effect()
    if not models and not o["demo"]:
        raise SettingError("there is no model to serve", remedy="name a folder, or give --demo")
    if bool(o["tls_cert"]) != bool(o["tls_key"]):
        raise SettingError(
            "TLS needs both --tls-cert and --tls-key", remedy="give the other one too"
        )
    _check_root(o["root"])
    _check_tls(o["tls_cert"], o["tls_key"])
    _check_token(o)
    with tempfile.TemporaryDirectory(prefix="tacit-demo-") as folder:
        folders = [Path(model) for model in models]
        ledger = o["ledger"]
        if o["demo"]:
            book = Path(folder) / "ledger.sqlite"
            folders.append(_demo(Path(folder) / "demo", book, o["epsilon"]))
            ledger = ledger or str(book)
        _run(folders, ledger, o)


def _check_token(o: dict[str, Any]) -> None:
    """Refuse to take the officer's token from other machines without TLS, unless that is meant."""
    from tacit.errors import SettingError
    from tacit.federation.protocol.http import is_loopback

    if not o["officer_token_file"] or o["tls_cert"] or o["insecure"] or is_loopback(o["host"]):
        return
    raise SettingError(
        "without TLS anybody on the way reads the officer's token, and with it the book",
        remedy="give --tls-cert and --tls-key; or --insecure behind a proxy that ends TLS on a "
        "private network; or listen on --host 127.0.0.1",
    )


def _check_root(root: str) -> None:
    """Refuse a prefix that no path begins with."""
    from tacit.errors import SettingError

    if root and not root.startswith("/"):
        raise SettingError(f"--root {root} is no path", remedy=f"write --root /{root}")


def _check_tls(cert: str | None, key: str | None) -> None:
    """Refuse files that are no certificate and its key before anything else is done."""
    import ssl

    from tacit.errors import SettingError

    if cert is None or key is None:
        return
    for option, path in (("--tls-cert", cert), ("--tls-key", key)):
        if not Path(path).is_file():
            raise SettingError(
                f"{option}: there is no such file", place=path, remedy="name a PEM file"
            )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: b"")
    except OSError as error:  # ssl.SSLError is one
        raise SettingError(
            f"TLS cannot be used with these files: {error.strerror or error}",
            place=f"{cert}, {key}",
            remedy="give the certificate chain and its own key, both as PEM, the key "
            "without a password",
        ) from None


def _run(folders: list[Path], ledger: str | None, o: dict[str, Any]) -> None:
    from tacit.errors import SettingError

    try:
        from tacit.serving.app import Options, build
        from tacit.serving.names import names
        from tacit.serving.officer import Officer
        from tacit.serving.run import Place, run
    except ModuleNotFoundError as error:
        raise SettingError(
            f"serving needs {error.name}", remedy="pip install 'tacit[service]'"
        ) from None
    from tacit.serving.http.watch import start_logs

    officer = None
    if o["officer_token_file"]:
        officer = Officer.from_file(Path(o["officer_token_file"]), ledger)
    start_logs()
    server = build(
        folders,
        Options(
            recommend=o["recommend"],
            federation=o["federation"],
            root=o["root"],
            logs=o["access_log"],
            tls=bool(o["tls_cert"]),
            precision=o["precision"],
            officer=officer,
            names=names(o["title"], o["noun"], o["kind"], _usual(folders, o)),
        ),
    )
    address = Place(
        o["host"],
        o["port"],
        o["metrics_port"],
        o["metrics_host"],
        o["tls_cert"],
        o["tls_key"],
        o["trusted_proxy"],
    )

    def ready(page: str, metrics: str | None) -> None:
        names = ", ".join(server.shelf.models)
        say(f"serving {names} at {page}{o['root'].rstrip('/')}/")
        if metrics:
            say(f"metrics at {metrics}/metrics")

    run(server, address, ready)


def _demo(target: Path, book: Path, epsilon: float) -> Path:
    """A model of the demonstration's audience, with a book of its own that goes with it."""
    from tacit.cli.demo import fit_demo

    fit_demo(book, epsilon)[0].save(target)
    return target


def _usual(folders: list[Path], o: dict[str, Any]) -> PageNames:
    """The words of a page whose owner says nothing: films for the demonstration alone."""
    from tacit.serving.names import FILMS, PageNames

    return FILMS if o["demo"] and len(folders) == 1 else PageNames()
