"""`tacit synthesize`: people who may be published, because nobody is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, say


@click.command(cls=Command)
@click.argument("model")
@click.option(
    "--people", type=click.IntRange(1), required=True, metavar="N", help="How many to invent."
)
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    help="A .parquet or .csv file whose name says that they are invented.",
)
@click.option(
    "--each",
    type=click.FloatRange(1),
    metavar="K",
    help="Ratings a person, on average; else as the model releases it.",
)
@click.option(
    "--spread",
    type=click.FloatRange(0),
    metavar="S",
    help="How widely that differs: the sd of its logarithm.",
)
@click.option(
    "--lean",
    type=click.FloatRange(0),
    metavar="L",
    help="How much more people rate what they like; 0 is not at all.",
)
@click.option(
    "--step",
    type=click.FloatRange(0),
    metavar="S",
    help="Steps of the scale, such as 1 or .5; 0 for any number.",
)
@click.option(
    "--times", metavar="FIRST,LAST", help="Two dates (YYYY-MM-DD) between which to invent times."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed gives the same people: nothing here is secret.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@json_option
def synthesize(model: str, out: str, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Draw invented people with ratings from MODEL. Costs no budget: nothing but the model is
    read, so its promise holds of them."""
    from tacit.model.model import load
    from tacit.model.synthesize import synthesize as invent
    from tacit.model.synthesize import writable

    writable(out)
    period = _period(options.pop("times"))
    may_write(out, overwrite)
    invented = invent(load(model), period=period, **options)
    invented.write(out)
    if as_json:
        print_json({"out": out, "ratings": len(invented.ratings), **invented.facts})
        return
    say(
        f"{invented.ratings.n_users:,} invented people with {len(invented.ratings):,} ratings "
        f"written to {out}"
    )
    promise = invented.facts["promise"]
    say(
        f"They are as private as the model: ({promise['epsilon']:g}, {promise['delta']:g}) "
        f"for a {promise['unit']}, at no further cost."
    )
    if "releases" in promise:
        say(
            f"The model builds on {promise['releases'] - 1} earlier: who is in all of them "
            f"bears {_together(promise)}."
        )
    for name, text in invented.facts["assumed"].items():
        say(f"{name}: {text}")


def _together(promise: Mapping[str, Any]) -> str:
    """What a chain of releases costs."""
    epsilon = promise["chain_epsilon"]
    if epsilon is None or promise["uncovered"]:
        return "more than any epsilon covers"
    return f"epsilon {epsilon:.4g} at delta {promise['delta']:g}"


def _period(dates: str | None) -> tuple[int, int] | None:
    """Two dates as seconds."""
    from tacit.errors import SettingError

    if dates is None:
        return None
    try:
        ends = [
            int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
            for text in dates.split(",")
        ]
        first, last = ends
    except ValueError:
        raise SettingError(
            "--times is not two dates", remedy="give them as --times 2024-01-01,2024-12-31"
        ) from None
    return first, last
