"""`tacit federate recommender|aggregator|identity`: the two servers, and their keys."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import BaseModel, ConfigDict

from tacit.cli.federate.secret import insecure_option, secret_in, token_file_option, token_of
from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import F, parse_scale, parse_settings, proxies_option, several
from tacit.cli.show import say
from tacit.errors import SettingError
from tacit.rounds.options import NOISE_FROM
from tacit.typed_file import read_toml

if TYPE_CHECKING:
    from tacit.federation.protocol.keys import Identity
    from tacit.federation.protocol.task import Task
    from tacit.federation.server.enrolment import Terms
    from tacit.federation.server.training import Operation
    from tacit.serving.http.limits import Limits
    from tacit.serving.http.plain import PlainRoutes
    from tacit.units import Unit

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
OWN = {
    "method": str,
    "epsilon": float,
    "delta": float,
    "unit": str,
    "calibration": str,
    "items": str,
    "scale": str,
    "users": int,
    "cohort": int,
    "least": int,
    "honest": float,
    "groups": int,
    "noise": str,
    "seconds": float,
    "gather": float,
    "out": str,
    "max-ratings": int,
    "set": dict,
    "seed": int,
    "purpose": str,
    "population": str,
    "accept-unbounded": bool,
}
"""The options that a training may have for itself, with the types of their values."""
NEEDED = ("method", "out")
FORGET = ("epsilon", "delta", "unit", "settings")
"""What another method does not take over from the command line."""
further_option = click.option(
    "--also",
    metavar="FILE",
    help="Further trainings: TOML, a [[training]] table of its own options for each.",
)


@click.command(cls=Command)
@click.option("--method", required=True, metavar="NAME", help="What is trained.")
@click.option("--epsilon", type=float, help="The budget of one person.")
@click.option("--delta", type=float, help="The smaller of 1e-6 and .1/people unless said.")
@click.option(
    "--unit",
    metavar="user|rating|value",
    help="Whom the promise is about: a person, or for `paper` what the paper claims.",
)
@click.option("--calibration", default="sound", show_default=True, metavar="sound|paper|none")
@click.option("--items", required=True, metavar="FILE", help="The public catalogue.")
@click.option(
    "--scale", required=True, metavar="LOW,HIGH", help="Lowest and highest possible rating."
)
@click.option("--users", required=True, type=int, metavar="N", help="Declared number of people.")
@click.option(
    "--cohort", required=True, type=int, metavar="N", help="At most this many devices in a round."
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
    "--groups",
    type=int,
    default=1,
    show_default=True,
    help="Sums of a round, each with its own noise: a cheat spoils one of them.",
)
@click.option(
    "--noise",
    type=click.Choice(["servers", "devices", "both"]),
    default=NOISE_FROM,
    show_default=True,
    help="Who adds it: each server a whole one, every device a share, or both.",
)
@click.option(
    "--seconds", type=float, default=60.0, show_default=True, help="For a device to answer a round."
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
@click.option("--max-ratings", type=int, metavar="K", help="Use at most K ratings of a person.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the method."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of initial factors; never of noise."
)
@click.option(
    "--purpose",
    default="",
    help="One line for the ledger and for the published statement. Name nobody in it.",
)
@click.option(
    "--population",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Whose book is charged.",
)
@click.option("--ledger", metavar="FILE|URL", help="The book; TACIT_HOME holds the default one.")
@click.option("--accept-unbounded", is_flag=True, help="Let `paper` be booked on a capped ledger.")
@click.option("--ca", metavar="FILE", help="Certificates to trust for the aggregator.")
@further_option
@server_options
def recommender(**o: Any) -> None:
    """Conduct a training, or several: enrol devices, announce rounds, publish the model."""
    from tacit.federation.server.recommender import recommender_app
    from tacit.federation.server.remote import RemoteAggregator

    refuse_no_effect()
    check_secure(o)
    identity = identity_of(o)
    pin = _pin(o["aggregator_pin"])
    also = [(_task(options), _operation(options)) for options in further(o)]
    aggregator = RemoteAggregator(o["aggregator"], pin, identity, o["ca"], o["insecure"])
    serve(recommender_app(_task(o), aggregator, _operation(o), also), o)


def _operation(o: dict[str, Any]) -> Operation:
    """How a training is run, beside what its task says."""
    from tacit.federation.server.publish import Charged
    from tacit.federation.server.training import Operation

    book = None
    if o["calibration"] != "none":
        book = Charged(o["ledger"], o["population"], o["accept_unbounded"])
    return Operation(
        location=location_of(o, "recommender"),
        aggregator_url=o["aggregator"],
        out=Path(o["out"]),
        limits=limits_of(o),
        terms=terms_of(o),
        gather=o["gather"],
        book=book,
    )


def _task(o: dict[str, Any]) -> Task:
    """The task that the options describe."""
    from tacit.data.catalogue import catalogue_facts
    from tacit.data.reading.items import read_items
    from tacit.errors import SettingError
    from tacit.federation.protocol.task import Task
    from tacit.fitting.check import usual_delta

    scale = parse_scale(o["scale"])
    if scale is None:
        raise SettingError("--scale is missing", remedy="for stars from 1 to 5: --scale 1,5")
    return Task(
        method=o["method"],
        settings=parse_settings(o["settings"]),
        seed=o["seed"],
        unit=o["unit"] or _unit(o["method"], o["calibration"]),
        calibration=o["calibration"],
        epsilon=o["epsilon"],
        delta=usual_delta(o["users"]) if o["delta"] is None else o["delta"],
        low=scale[0],
        high=scale[1],
        people=o["users"],
        max_ratings=o["max_ratings"],
        items=catalogue_facts(read_items(o["items"])),
        cohort=o["cohort"],
        least=o["least"],
        honest=o["honest"],
        noise=o["noise"],
        groups=o["groups"],
        seconds=o["seconds"],
        purpose=o["purpose"],
    )


def _unit(name: str, calibration: str) -> Unit:
    """The unit where none was named: a person, unless the method or its paper promises
    something else."""
    from tacit.methods import find

    method = find(name)
    if calibration == "paper" and method.paper_unit is not None:
        return method.paper_unit
    return "user" if "user" in method.units else method.units[0]


@click.command(cls=Command)
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

    refuse_no_effect()
    check_secure(o)
    app = aggregator_app(
        location_of(o, "aggregator"),
        identity_of(o),
        _pin(o["recommender_pin"]),
        limits_of(o),
        terms_of(o),
        o["least"],
    )
    serve(app, o)


@click.command(cls=Command)
@click.option("--home", required=True, metavar="DIR")
@click.option(
    "--rotate",
    is_flag=True,
    help="Take a new exchange key; running servers notice it by themselves.",
)
def identity(home: str, rotate: bool) -> None:
    """Make a server's keys if it has none, and print the identity that others pin."""
    from tacit.federation.protocol.keys import Identity

    server_identity = Identity(Path(home) / "identity.json")
    if rotate:
        server_identity.rotate()
    say(server_identity.public.hex())


def _pin(text: str) -> str:
    """An identity in hex, or a file that holds one."""
    from tacit.errors import SettingError

    pin = secret_in(text, "identity") if Path(text).is_file() else text
    if len(pin) != 64 or any(c not in "0123456789abcdef" for c in pin):
        raise SettingError(
            "an identity is 64 hexadecimal digits",
            remedy="`tacit federate identity` prints a server's",
        )
    return pin


# Options that both servers share: where they listen, what they store, whom they enrol.


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
    from tacit.federation.server.enrolment import Attest, Terms

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


# Listening: with TLS or on loopback, devices at one port and operators at another.


def check_secure(o: dict[str, Any]) -> None:
    """Refuse to listen for other machines without TLS, unless that is meant."""
    from tacit.errors import SettingError
    from tacit.federation.protocol.http import is_loopback

    if not (o["tls_cert"] or o["insecure"] or is_loopback(o["host"])):
        raise SettingError(
            "without TLS anybody on the way sees who takes part",
            remedy="--tls-cert and --tls-key, or --insecure behind a proxy that has them",
        )


def serve(app: PlainRoutes, o: dict[str, Any]) -> None:
    """uvicorn, which stops gracefully on SIGTERM and Ctrl-C."""
    import uvicorn

    from tacit.federation.protocol.long_running import leave_what_is_loaded, take_short_turns
    from tacit.serving.http.crowd import ConnectionCrowd, make_room, most_connections
    from tacit.serving.http.door import CountedServer, end_well
    from tacit.serving.http.headers import check_origin
    from tacit.serving.http.watch import start_logs

    app.origins = frozenset(check_origin(address) for address in o["origins"])
    start_logs()
    make_room()
    app.watch_port = o["watch_port"]
    config = uvicorn.Config(
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
    ports = [(o["host"], o["port"])]
    if o["watch_port"] is not None:
        ports.append((o["watch_host"], o["watch_port"]))
    leave_what_is_loaded()
    take_short_turns()
    end_well()
    crowd = ConnectionCrowd(most_connections(), o["trusted_proxy"])
    CountedServer(config, crowd).run([_listening(*address) for address in ports])


def _listening(host: str, port: int) -> socket.socket:
    """A socket for a server, or a word about why there is none."""
    from tacit.errors import SettingError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=4096)
    except OSError as error:
        raise SettingError(f"{host}:{port} cannot be listened on: {error.strerror}") from None


# `--also FILE`: further trainings of one recommender, each with its own options.
#
#     [[training]]
#     method = "popularity"
#     epsilon = 1.0
#     out = "models/popular"
#
# What a table does not say is as on the command line.


class Trainings(BaseModel):
    """The file of `--also`."""

    model_config = ConfigDict(extra="forbid")

    training: list[dict[str, Any]]


def further(o: dict[str, Any]) -> list[dict[str, Any]]:
    """The options of every further training."""
    if o["also"] is None:
        return []
    remedy = "TOML, with a [[training]] table for each, and nothing beside them"
    document = read_toml(Path(o["also"]), Trainings, SettingError, remedy)
    return [_training_options(o, table) for table in document.training]


def _training_options(o: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The options of one training: its own, and the others as on the command line."""
    for name, value in table.items():
        kind = OWN.get(name)
        if kind is None:
            raise SettingError(f"a training has no option `{name}` of its own")
        fine = isinstance(value, int | float) if kind is float else None
        if not (isinstance(value, kind) if fine is None else fine):
            raise SettingError(f"`{name}` of a training is not a {kind.__name__}")
    if any(name not in table for name in NEEDED):
        raise SettingError(f"a further training needs {' and '.join(NEEDED)}")
    overrides = {name.replace("-", "_"): value for name, value in table.items()}
    settings = overrides.pop("set", {})
    merged = {**o, **overrides}
    if overrides["method"] != o["method"]:
        merged |= {name: overrides.get(name) for name in FORGET}
    if settings or overrides["method"] != o["method"]:
        merged["settings"] = tuple(f"{k}={v}" for k, v in settings.items())
    return merged
