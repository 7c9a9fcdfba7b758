"""`tacit federate recommender|aggregator|identity`: the two servers, and their keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.federate.further import further, further_option
from tacit.cli.federate.listen import check_secure, serve
from tacit.cli.federate.server import identity_of, limits_of, location_of, server_options, terms_of
from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.parse import parse_scale, parse_settings
from tacit.cli.show import say
from tacit.rounds.options import NOISE_FROM

if TYPE_CHECKING:
    from tacit.federation.protocol.task import Task
    from tacit.federation.server.training import Operation
    from tacit.units import Unit


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

    path = Path(text)
    pin = path.read_text().strip() if path.is_file() else text
    if len(pin) != 64 or any(c not in "0123456789abcdef" for c in pin):
        raise SettingError(
            "an identity is 64 hexadecimal digits",
            remedy="`tacit federate identity` prints a server's",
        )
    return pin
