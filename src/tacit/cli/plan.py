"""`tacit plan`: what a budget buys, before it is spent."""

from __future__ import annotations

from typing import Any

import click

from tacit.cli.options import json_option, run_options
from tacit.cli.show import say


@click.command()
@click.option(
    "--method",
    metavar="NAME",
    help="The method; the default of `fit` unless said.",
)
@click.option(
    "--epsilon", type=float, required=True, help="The budget to look at."
)
@click.option(
    "--unit", metavar="user|rating|value", help="Whom the promise is about."
)
@click.option(
    "--users",
    type=click.IntRange(2),
    required=True,
    metavar="N",
    help="Declared number of people.",
)
@click.option(
    "--items",
    required=True,
    metavar="FILE|COUNT",
    help="The public catalogue, or how many items there are.",
)
@click.option(
    "--scale",
    default="1,5",
    show_default=True,
    metavar="LOW,HIGH",
    help="The rating scale.",
)
@click.option(
    "--forecast/--no-forecast",
    default=True,
    show_default=True,
    help="Also try it on synthetic people.",
)
@run_options
@json_option
def plan(
    epsilon: float,
    users: int,
    items: str,
    scale: str,
    forecast: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show the noise of every release, the expected error and what an attacker could gain.
    Spends nothing."""
    from tacit.cli.fit import build_method
    from tacit.cli.options import parse_scale
    from tacit.data.schema import Schema
    from tacit.evaluation.worth import worth
    from tacit.fitting.check import check

    method = build_method({**options, "epsilon": epsilon})
    check(method, people=users)
    low, high = parse_scale(scale) or (1.0, 5.0)
    schema = Schema(low, high, users=users, max_ratings=options["max_ratings"])
    found = worth(method, schema, _catalogue(items), try_it=forecast)
    from tacit.cli.show import print_json, table

    if as_json:
        print_json(found)
        return
    say(
        f"{found['method']} for {users:,} people and {found['items']:,} items, unit "
        f"{found['unit']}\n"
    )
    for sentence in found["story"]:
        say(f"- {sentence}")
    say()
    rows = [
        (
            e["release"],
            f"as {e['instead']}"
            if e["instead"]
            else f"{100 * e['share']:.1f} %",
            f"{e['noise_sd']:.4g}",
            e["bound"],
        )
        for e in found["releases"]
    ]
    table(
        ("release", "of the budget", "noise sd", "what one unit may add"), rows
    )
    gain = found["attacker"]
    say()
    if gain is None:
        say(
            "NOT PRIVATE: with --calibration none nothing is noised, and an attacker may "
            "learn everything"
        )
    else:
        say(
            "attacker              told apart with chance at most "
            f"{100 * gain['best_guess']:.1f} % "
            f"(a coin gives 50 %), advantage {gain['advantage']:.3f}"
        )
    if found["expected"] is not None:
        e = found["expected"]
        say(
            f"expected RMSE         {e['private']:.3f} on synthetic people of this shape; "
            f"{e['twin']:.3f} without noise, {e['own_mean']:.3f} from one's own mean alone"
        )
    say("nothing was spent")


def _catalogue(items: str) -> Any:
    from tacit.data.catalogue import Catalogue
    from tacit.errors import SettingError

    if items.isdigit():
        if not 1 <= int(items) <= 10_000_000:
            raise SettingError(
                f"--items {items} is out of range",
                remedy="give a file, or a count up to ten million",
            )
        return Catalogue([str(i) for i in range(int(items))])
    from tacit.data.reading.items import read_items

    return read_items(items)
