"""`tacit federate device|fleet`: one device, or many."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.federate.secret import insecure_option, papers_of, papers_options, token_file_option
from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    F,
    columns_option,
    json_option,
    note,
    read_table,
    several,
    table_options,
)
from tacit.cli.show import say
from tacit.units import UNITS

if TYPE_CHECKING:
    from tacit.federation.device.policy import Policy

policy_options: Callable[[F], F] = several(
    click.option(
        "--cap",
        default=10.0,
        show_default=True,
        help="Epsilon to spend in all; a task over it is refused.",
    ),
    click.option("--cap-delta", default=1e-5, show_default=True, help="At this delta."),
    click.option(
        "--cap-unit",
        type=click.Choice(UNITS),
        default="user",
        show_default=True,
        help="Whom the cap protects; a task that protects less is refused.",
    ),
    click.option(
        "--own-epsilon",
        type=float,
        metavar="X",
        help="Reveal at most this in one training: the device adds less of itself.",
    ),
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
        help="Refuse noise of devices alone that counts on more.",
    ),
    click.option(
        "--accept-noise",
        multiple=True,
        type=click.Choice(["servers", "devices", "both"]),
        help="Who may add the noise; both and servers unless said. May be repeated.",
    ),
    click.option(
        "--accept-unbounded", is_flag=True, help="Take part in `paper` or noiseless training."
    ),
    click.option("--token", metavar="TEXT", help="For enrolment, where the servers ask for it."),
    token_file_option,
    papers_options,
    insecure_option,
    click.option(
        "--pin",
        metavar="HEX",
        help="The recommender's identity; without it the first one seen is kept.",
    ),
    click.option(
        "--aggregator-pin", metavar="HEX", help="The other server's identity; kept in the same way."
    ),
    click.option("--ca", metavar="FILE", help="Certificates to trust."),
    click.option(
        "--task",
        metavar="HEX",
        help="Which training, where the recommender has several; its first unless said.",
    ),
)


@click.command(cls=Command)
@click.option("--recommender", "url", required=True, metavar="URL")
@click.option(
    "--ratings",
    required=True,
    metavar="FILE",
    help="Your own ratings: columns item, rating, timestamp.",
)
@click.option(
    "--home", required=True, metavar="DIR", help="Folder of this device's key, ledger and memory."
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
    "--rotate-key", "rotate", is_flag=True, help="Take a new key first; the device stays enrolled."
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
    from tacit.federation.device.person import Person

    refuse_no_effect()
    person = Person(
        url,
        ratings,
        Path(home),
        _policy(o),
        papers=papers_of(o)[0],
        pin=o["pin"],
        aggregator_pin=o["aggregator_pin"],
        ca=o["ca"],
        rounds=rounds,
        rotate=rotate,
        insecure=o["insecure"],
        task=o["task"],
    )
    model = person.run()
    if not as_json:
        _tell_spent(Path(home))
    if count is None or model is None:
        return
    from tacit.cli.show import print_json, print_lines
    from tacit.data.reading.personal import read_personal

    inputs = model.own(read_personal(ratings), source=ratings)
    lines = model.recommend_own(inputs.own, count)
    if as_json:
        print_json(
            {"recommendations": [line.__dict__ for line in lines], "unknown": inputs.unknown}
        )
    else:
        print_lines(lines)


@click.command(cls=Command)
@click.option("--home", required=True, metavar="DIR", help="Folder of the device.")
@json_option
def spent(home: str, as_json: bool) -> None:
    """What your device has spent: booked, and really, by its own answers."""
    from dataclasses import asdict

    from tacit.cli.show import print_json
    from tacit.federation.device.person import spent as spent_at

    if as_json:
        print_json(asdict(spent_at(Path(home))))
    else:
        _tell_spent(Path(home))


def _tell_spent(home: Path) -> None:
    from tacit.federation.device.person import spent as spent_at

    spending = spent_at(home)
    note(
        f"booked: epsilon {spending.booked:.4g} of {spending.cap:g} at delta {spending.delta:g} "
        "per "
        f"{spending.unit}, after {spending.answers:,} answers"
    )
    note(
        f"really spent: epsilon {spending.realised:.4g} for your whole self, by what your "
        "answers came to; it follows from your ratings, so keep it to yourself"
    )


@click.command(cls=Command)
@click.option("--recommender", "url", required=True, metavar="URL")
@click.option(
    "--data",
    required=True,
    metavar="RATINGS",
    help="A ratings file or folder: one device for each person.",
)
@click.option("--devices", type=int, metavar="N", help="Only the first N people.")
@click.option("--scale", metavar="LOW,HIGH")
@columns_option
@table_options
@click.option("--rounds", type=int, metavar="N", help="Leave after answering N rounds.")
@click.option(
    "--vanish", default=0.0, show_default=True, help="Chance of leaving a round unanswered."
)
@click.option("--book", metavar="FILE", help="Where the devices' ledgers are kept.")
@policy_options
@json_option
def fleet(url: str, data: str, as_json: bool, **o: Any) -> None:
    """Many real devices in one process, for tests and trials."""
    import asyncio

    from tacit.federation.device.fleet import run_fleet
    from tacit.federation.protocol.long_running import leave_what_is_loaded

    refuse_no_effect()
    ratings = read_table(data, o)
    try:
        import uvloop

        run: Any = uvloop.run
    except ImportError:  # slower, the same
        run = asyncio.run
    leave_what_is_loaded()
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
            papers=papers_of(o),
            ca=o["ca"],
            aggregator_pin=o["aggregator_pin"],
            insecure=o["insecure"],
            task=o["task"],
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
        say(", ".join(f"{name.replace('_', ' ')}: {value:,}" for name, value in facts.items()))
    for message in sorted(set(report.failed))[:5]:
        note(message)


def _policy(o: dict[str, Any]) -> Policy:
    from tacit.federation.device.policy import Policy

    accepted = o["accept_noise"]
    noise = {"noise": tuple(accepted)} if accepted else {}
    return Policy(
        epsilon=o["cap"],
        delta=o["cap_delta"],
        least=o["smallest_cohort"],
        honest=o["believe_honest"],
        accept_unbounded=o["accept_unbounded"],
        unit=o["cap_unit"],
        asked=_training_epsilon(o["own_epsilon"]),
        **noise,
    )


def _training_epsilon(epsilon: float | None) -> float | None:
    """What one training may reveal at most, if it was said."""
    from tacit.errors import SettingError

    if epsilon is not None and not (isfinite(epsilon) and epsilon > 0):
        raise SettingError(
            "--own-epsilon is not a number above 0",
            remedy="to reveal nothing, let the training pass",
        )
    return epsilon
