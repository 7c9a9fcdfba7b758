"""`tacit federate`: the two servers, one device, many devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tacit.cli.options import F, json_option, parse_scale, parse_settings, several

server_options: Callable[[F], F] = several(
    click.option(
        "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
    ),
    click.option("--port", type=int, required=True, help="Port to listen on."),
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
    click.option("--token", metavar="TEXT", help="Devices need this to enrol."),
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
        "--rotate-key",
        is_flag=True,
        help="Take a new exchange key; no device has to enrol again.",
    ),
)


@click.group()
def federate() -> None:
    """Train without holding ratings: devices, and two servers that must not collude."""


@federate.command()
@click.option("--method", required=True, metavar="NAME", help="What is trained.")
@click.option("--epsilon", type=float, help="The budget of one person.")
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option("--unit", default="user", show_default=True, metavar="user|rating")
@click.option(
    "--calibration", default="sound", show_default=True, metavar="sound|paper|none"
)
@click.option("--items", required=True, metavar="FILE", help="The public catalogue.")
@click.option(
    "--scale",
    required=True,
    metavar="LOW,HIGH",
    help="Lowest and highest possible rating.",
)
@click.option(
    "--users", required=True, type=int, metavar="N", help="Declared number of people."
)
@click.option(
    "--cohort",
    required=True,
    type=int,
    metavar="N",
    help="At most this many devices in a round.",
)
@click.option(
    "--least",
    required=True,
    type=int,
    metavar="N",
    help="A round with fewer devices is never revealed.",
)
@click.option(
    "--honest",
    type=float,
    default=0.9,
    show_default=True,
    help="Of the least cohort, shares that count.",
)
@click.option(
    "--seconds",
    type=float,
    default=60.0,
    show_default=True,
    help="For a device to answer a round.",
)
@click.option(
    "--gather",
    type=float,
    default=2.0,
    show_default=True,
    help="Seconds to wait for more than --least; one-bit*: for which reports are collected.",
)
@click.option(
    "--aggregator",
    required=True,
    metavar="URL",
    help="The other server, as this one and devices reach it.",
)
@click.option(
    "--aggregator-pin",
    required=True,
    metavar="HEX|FILE",
    help="Its identity, or its card as a file.",
)
@click.option("--out", required=True, metavar="MODEL", help="Folder for the model.")
@click.option(
    "--max-ratings", type=int, metavar="K", help="Use at most K ratings of a person."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the method.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Of initial factors; never of noise.",
)
@click.option("--purpose", default="", help="One line for the ledger.")
@click.option(
    "--population",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Whose book is charged.",
)
@click.option(
    "--ledger", metavar="FILE|URL", help="The book; TACIT_HOME holds the default one."
)
@click.option(
    "--accept-unbounded", is_flag=True, help="Let `paper` be booked on a capped ledger."
)
@click.option("--ca", metavar="FILE", help="Certificates to trust for the aggregator.")
@server_options
def recommender(**o: Any) -> None:
    """Conduct a training: enrol devices, announce rounds, publish the model."""
    from tacit.data.catalogue import catalogue_facts
    from tacit.data.reading.items import read_items
    from tacit.errors import SettingError
    from tacit.federation.protocol.task import Task
    from tacit.federation.server.recommender import RemoteAggregator, recommender_app

    scale = parse_scale(o["scale"])
    if scale is None:
        raise SettingError(
            "--scale is missing", remedy="for stars from 1 to 5: --scale 1,5"
        )
    task = Task(
        method=o["method"],
        settings=parse_settings(o["settings"]),
        seed=o["seed"],
        unit=o["unit"],
        calibration=o["calibration"],
        epsilon=o["epsilon"],
        delta=o["delta"],
        low=scale[0],
        high=scale[1],
        people=o["users"],
        max_ratings=o["max_ratings"],
        items=catalogue_facts(read_items(o["items"])),
        cohort=o["cohort"],
        least=o["least"],
        honest=o["honest"],
        seconds=o["seconds"],
        purpose=o["purpose"],
    )
    identity, location, limits = _server(o, "recommender")
    aggregator = RemoteAggregator(
        o["aggregator"], _pin(o["aggregator_pin"]), identity, o["ca"] or True
    )
    app = recommender_app(
        location,
        identity,
        task,
        aggregator,
        o["aggregator"],
        Path(o["out"]),
        limits,
        o["token"],
        o["gather"],
        (o["ledger"], o["population"]) if o["calibration"] != "none" else None,
        o["accept_unbounded"],
    )
    _serve(app, o)


@federate.command()
@click.option(
    "--recommender-pin",
    required=True,
    metavar="HEX|FILE",
    help="Identity of the server that may open rounds.",
)
@click.option(
    "--least",
    type=int,
    default=2,
    show_default=True,
    help="Sum no fewer devices, whatever is asked.",
)
@server_options
def aggregator(**o: Any) -> None:
    """Sum masked contributions; reveal one sum per round, never a small one."""
    from tacit.federation.server.aggregator import aggregator_app

    identity, location, limits = _server(o, "aggregator")
    app = aggregator_app(
        location, identity, _pin(o["recommender_pin"]), limits, o["token"], o["least"]
    )
    _serve(app, o)


@federate.command()
@click.option("--home", required=True, metavar="DIR")
@click.option(
    "--rotate",
    is_flag=True,
    help="Take a new exchange key; running servers notice it by themselves.",
)
def identity(home: str, rotate: bool) -> None:
    """Make a server's keys if it has none, and print the identity that others pin."""
    from tacit.federation.protocol.keys import Identity

    found = Identity(Path(home) / "identity.json")
    if rotate:
        found.rotate()
    click.echo(found.public.hex())


policy_options: Callable[[F], F] = several(
    click.option(
        "--cap",
        default=10.0,
        show_default=True,
        help="Epsilon to spend in all; a task over it is refused.",
    ),
    click.option("--cap-delta", default=1e-5, show_default=True, help="At this delta."),
    click.option(
        "--smallest-cohort",
        default=2,
        show_default=True,
        help="Refuse to hide among fewer devices.",
    ),
    click.option(
        "--believe-honest",
        default=0.95,
        show_default=True,
        help="Refuse noise that counts on more.",
    ),
    click.option(
        "--accept-unbounded",
        is_flag=True,
        help="Take part in `paper` or noiseless training.",
    ),
    click.option(
        "--token", metavar="TEXT", help="For enrolment, where the servers ask for it."
    ),
    click.option(
        "--pin",
        metavar="HEX",
        help="The recommender's identity; without it the first one seen is kept.",
    ),
    click.option(
        "--aggregator-pin",
        metavar="HEX",
        help="The other server's identity; kept in the same way.",
    ),
    click.option("--ca", metavar="FILE", help="Certificates to trust."),
)


@federate.command()
@click.option("--recommender", "url", required=True, metavar="URL")
@click.option(
    "--ratings",
    required=True,
    metavar="FILE",
    help="Your own ratings: columns item, rating, timestamp.",
)
@click.option(
    "--home",
    required=True,
    metavar="DIR",
    help="Folder of this device's key, ledger and memory.",
)
@click.option(
    "--recommend",
    "count",
    type=int,
    metavar="N",
    help="After the training: your own list of N items.",
)
@click.option("--rounds", type=int, metavar="N", help="Leave after answering N rounds.")
@click.option(
    "--rotate-key",
    "rotate",
    is_flag=True,
    help="Take a new key first; the device stays enrolled.",
)
@policy_options
@json_option
def device(
    url: str,
    ratings: str,
    home: str,
    count: int | None,
    rounds: int | None,
    rotate: bool,
    as_json: bool,
    **o: Any,
) -> None:
    """Take part with your own ratings, which never leave this device."""
    from tacit.federation.device.person import run_device

    model = run_device(
        url,
        ratings,
        Path(home),
        _policy(o),
        token=o["token"],
        pin=o["pin"],
        ca=o["ca"],
        rounds=rounds,
        aggregator_pin=o["aggregator_pin"],
        rotate=rotate,
    )
    if count is None or model is None:
        return
    from tacit.cli.show import print_json, print_lines
    from tacit.data.reading.personal import read_personal

    own, unknown = model.own(read_personal(ratings), source=ratings)
    lines = model.recommend_own(own, count)
    if as_json:
        print_json(
            {"recommendations": [line.__dict__ for line in lines], "unknown": unknown}
        )
    else:
        print_lines(lines)


@federate.command()
@click.option("--recommender", "url", required=True, metavar="URL")
@click.option(
    "--data",
    required=True,
    metavar="RATINGS",
    help="A ratings file or folder: one device for each person.",
)
@click.option("--devices", type=int, metavar="N", help="Only the first N people.")
@click.option("--scale", metavar="LOW,HIGH")
@click.option("--rounds", type=int, metavar="N", help="Leave after answering N rounds.")
@click.option(
    "--vanish",
    default=0.0,
    show_default=True,
    help="Chance of leaving a round unanswered.",
)
@click.option("--book", metavar="FILE", help="Where the devices' ledgers are kept.")
@policy_options
@json_option
def fleet(url: str, data: str, as_json: bool, **o: Any) -> None:
    """Many real devices in one process, for tests and trials."""
    import asyncio

    from tacit.data.read import read
    from tacit.federation.device.fleet import run_fleet

    ratings = read(data, parse_scale(o["scale"]))
    try:
        import uvloop

        run: Any = uvloop.run
    except ImportError:  # slower, the same
        run = asyncio.run
    report = run(
        run_fleet(
            url,
            ratings,
            devices=o["devices"],
            pin=o["pin"],
            policy=_policy(o),
            rounds=o["rounds"],
            vanish=o["vanish"],
            book=Path(o["book"]) if o["book"] else None,
            token=o["token"],
            ca=o["ca"],
            aggregator_pin=o["aggregator_pin"],
        )
    )
    facts = {
        "devices": report.devices,
        "answers": report.answered,
        "at_cap": report.at_cap,
        "failed": len(report.failed),
        "bytes_up": report.bytes_up,
        "bytes_down": report.bytes_down,
    }
    from tacit.cli.show import print_json

    if as_json:
        print_json(facts)
    else:
        click.echo(
            ", ".join(
                f"{name.replace('_', ' ')}: {value:,}" for name, value in facts.items()
            )
        )
    for message in sorted(set(report.failed))[:5]:
        click.echo(f"note: {message}", err=True)


def _policy(o: dict[str, Any]) -> Any:
    from tacit.federation.device.device import Policy

    return Policy(
        o["cap"],
        o["cap_delta"],
        o["smallest_cohort"],
        o["believe_honest"],
        o["accept_unbounded"],
    )


def _pin(text: str) -> str:
    """An identity in hex, or a file that holds one."""
    path = Path(text)
    found = path.read_text().strip() if path.is_file() else text
    from tacit.errors import SettingError

    if len(found) != 64 or any(c not in "0123456789abcdef" for c in found):
        raise SettingError(
            "an identity is 64 hexadecimal digits",
            remedy="`tacit federate identity` prints a server's",
        )
    return found


def _server(o: dict[str, Any], name: str) -> tuple[Any, str, Any]:
    from tacit.federation.protocol.keys import Identity
    from tacit.federation.server.gate import Limits

    identity = Identity(Path(o["home"]) / "identity.json")
    if o["rotate_key"]:
        identity.rotate()
    location = o["store"] or str(Path(o["home"]) / f"{name}.sqlite")
    return identity, location, Limits(body=o["body_limit"] << 20, rate=o["rate"])


def _serve(app: Any, o: dict[str, Any]) -> None:
    """uvicorn, which stops gracefully on SIGTERM and Ctrl-C."""
    import uvicorn

    from tacit.serving.http.watch import start_logs

    start_logs()
    uvicorn.run(
        app,
        host=o["host"],
        port=o["port"],
        log_level="warning",
        access_log=False,
        timeout_keep_alive=120,
        timeout_graceful_shutdown=5,
        ssl_certfile=o["tls_cert"],
        ssl_keyfile=o["tls_key"],
        backlog=4096,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
    )
