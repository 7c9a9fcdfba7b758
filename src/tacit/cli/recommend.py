"""`tacit recommend`: one's own list, computed on one's own side."""

from __future__ import annotations

import time
from typing import Any

import click

from tacit.cli.options import json_option, note, parse_scale
from tacit.cli.show import say

TOLD = 20
"""Unknown items that are named."""


@click.command()
@click.argument("model")
@click.option(
    "--ratings",
    metavar="FILE",
    help="Your own ratings: columns item (id or title), rating, timestamp.",
)
@click.option(
    "-n",
    "count",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    help="Length of the list.",
)
@click.option(
    "--by",
    metavar="rating|liked|explore",
    help="Order by expected rating, chance of a like, or curiosity.",
)
@click.option(
    "--only",
    metavar="FILE",
    help="Recommend only the items that this file lists, one a line.",
)
@click.option(
    "--exclude",
    metavar="FILE",
    help="Leave out the items that this file lists.",
)
@click.option(
    "--people",
    metavar="RATINGS",
    help="Everyone's list, each from their own ratings (with --out).",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Where --people writes: .parquet or .csv, marked personal.",
)
@click.option(
    "--scale", metavar="LOW,HIGH", help="With --people: the scale of that file."
)
@json_option
def recommend(
    model: str, ratings: str | None, as_json: bool, **options: Any
) -> None:
    """Recommend from MODEL and one's own ratings. Costs no budget: nothing leaves this side."""
    from tacit.errors import DataError, SettingError
    from tacit.model.model import UnknownItem, load

    fitted = load(model)
    only, exclude = (
        _names(options[name], fitted) for name in ("only", "exclude")
    )
    if only == []:
        raise DataError(
            "it names no item of this model",
            place=options["only"],
            remedy="list ids or titles, one a line",
        )
    if options["people"]:
        if not options["out"]:
            raise SettingError(
                "--people needs --out",
                remedy="name a .parquet or .csv file for the lists",
            )
        from tacit.model.person.lists import write_lists

        count = write_lists(
            fitted,
            options["people"],
            options["out"],
            options["count"],
            by=options["by"],
            only=only,
            exclude=exclude,
            scale=parse_scale(options["scale"]),
        )
        if as_json:
            from tacit.cli.show import print_json

            print_json(
                {
                    "people": count,
                    "out": options["out"],
                    "note": "personal: give each to its own person only",
                }
            )
        else:
            say(
                f"{count:,} personal lists written to {options['out']}: give each to its "
                "own person only"
            )
        return
    if not ratings:
        raise SettingError(
            "--ratings is missing",
            remedy="give a csv with the columns item and rating",
        )
    from tacit.cli.show import print_json, print_lines
    from tacit.data.reading.personal import read_personal

    least = fitted.shared.schema.positive
    own, unknown = fitted.own(
        read_personal(ratings, likes=least is not None),
        source=ratings,
        asked=int(time.time()),
    )  # with timestamps in the file, ratings of one day share a shift
    if least is not None and not len(fitted.likes(own).items):
        note(
            f"none of these ratings is a like ({least:g} or more): the list is by popularity alone"
        )
    lines = fitted.recommend_own(
        own, options["count"], by=options["by"], only=only, exclude=exclude
    )
    if as_json:
        print_json(
            {
                "recommendations": [line.__dict__ for line in lines],
                "unknown": unknown,
            }
        )
        return
    if len(unknown) > TOLD:
        note(f"{len(unknown):,} items are not in this model, among them:")
    for name in unknown[:TOLD]:
        found = fitted.find(name)
        near = found.near if isinstance(found, UnknownItem) else ()
        note(
            f"{name!r} is not in this model"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )
    print_lines(lines, rated=fitted.personal.ranks_by != "score")


def _names(path: str | None, fitted: Any) -> list[str] | None:
    """The items that a file lists, those left out that the model does not know."""
    if path is None:
        return None
    from tacit.data.reading.personal import read_names
    from tacit.model.person.names import find_row

    names = [
        name for name in read_names(path) if name and name.lower() != "item"
    ]
    catalogue = fitted.shared.catalogue
    known = [name for name in names if find_row(catalogue, name) is not None]
    missing = set(names) - set(known)
    for name in sorted(missing)[:TOLD]:
        note(f"{path}: {name!r} is not in this model")
    if len(missing) > TOLD:
        note(f"{path}: and {len(missing) - TOLD:,} more are not in this model")
    return known
