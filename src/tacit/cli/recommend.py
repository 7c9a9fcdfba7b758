"""`tacit recommend`: one's own list, computed on one's own side."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    WRITTEN,
    as_written,
    json_option,
    note,
    parse_columns,
    parse_scale,
    written_options,
)
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, print_lines, say, table

if TYPE_CHECKING:
    from tacit.data.reading.columns import Columns
    from tacit.model.model import Model
    from tacit.model.person.base import Own
    from tacit.model.person.ratings import UserRatings
    from tacit.model.person.results import Explanation, Recommendation

LEAST = 0.005
"""A move that two digits show."""
TOLD = 20
"""Unknown items that are named."""


@click.command(cls=Command)
@click.argument("model")
@click.option(
    "--ratings",
    metavar="FILE",
    help="Your own ratings: columns item (id or title), rating, timestamp.",
)
@click.option(
    "-n", "count", default=10, show_default=True, type=click.IntRange(1), help="Length of the list."
)
@click.option(
    "--by",
    metavar="rating|liked|explore",
    help="Order by expected rating, chance of a like, or curiosity; unless given, by "
    "one's own taste and what many know.",
)
@click.option(
    "--only", metavar="FILE", help="Recommend only the items that this file lists, one a line."
)
@click.option("--exclude", metavar="FILE", help="Leave out the items that this file lists.")
@click.option(
    "--people", metavar="RATINGS", help="Everyone's list, each from their own ratings (with --out)."
)
@click.option(
    "--out", metavar="FILE", help="Where --people writes: .parquet or .csv, marked personal."
)
@click.option("--scale", metavar="LOW,HIGH", help="With --people: the scale of that file.")
@click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=NAME",
    help="Which column of that file is user, item, rating or time, by name or number.",
)
@written_options
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@click.option(
    "--engine",
    type=click.Choice(["threads", "spark"]),
    help="With --people: spark makes and writes the lists on a cluster.",
)
@click.option(
    "--explain",
    metavar="ITEM",
    help="Instead of a list: how each of your ratings and tastes moves one item.",
)
@json_option
def recommend(model: str, ratings: str | None, as_json: bool, **options: Any) -> None:
    """Recommend from MODEL and one's own ratings, or to anybody without them. Costs no
    budget: nothing leaves this side."""
    from tacit.errors import DataError
    from tacit.model.model import load

    refuse_no_effect()
    _check_use(ratings, options)
    fitted = load(model)
    only, exclude = (_names(options[name], fitted) for name in ("only", "exclude"))
    if only == []:
        raise DataError(
            "it names no item of this model",
            place=options["only"],
            remedy="list ids or titles, one a line",
        )
    if options["people"]:
        _everyone(fitted, options, only, exclude, as_json)
        return
    inputs = _read_user_ratings(fitted, ratings, parse_columns(options["columns"]))
    user_ratings, unknown = inputs.own, inputs.unknown
    if options["explain"]:
        _explain(fitted, user_ratings, options["explain"], as_json)
        return
    lines = fitted.recommend_own(
        user_ratings, options["count"], by=options["by"], only=only, exclude=exclude
    )
    if as_json:
        print_json({"recommendations": [_facts(line) for line in lines], "unknown": unknown})
        return
    tell_unknown(fitted, unknown)
    tell_user_factors(fitted, user_ratings)
    rated = fitted.rates
    low = user_ratings.items[user_ratings.values < 0].tolist() if rated else []
    print_lines(lines, rated=rated, low={fitted.label(row) for row in low})
    if rated and options["by"] is None:
        tell_order(lines)
    if len(lines) < options["count"]:
        tell_all(len(lines), bool(only))


def _facts(line: Recommendation) -> dict[str, Any]:
    """A line for another program."""
    moves = {share.name: share.points for share in line.moved}
    return line.__dict__ | {"moved": moves}


def _check_use(ratings: str | None, options: dict[str, Any]) -> None:
    """Options that would be passed over are refused."""
    from tacit.errors import SettingError

    if options["people"]:
        if not options["out"]:
            raise SettingError(
                "--people needs --out", remedy="name a .parquet or .csv file for the lists"
            )
        for name, value in (("ratings", ratings), ("explain", options["explain"])):
            if value:
                raise SettingError(
                    f"--{name} is for one person, --people for all", remedy="give one of them"
                )
        may_write(options["out"], options["overwrite"])
        return
    if options["columns"] and ratings is None:
        raise SettingError(
            "--columns is for the file of --ratings or --people",
            remedy="give one of them, or leave --columns out",
        )
    for name in ("out", "scale", "overwrite", "engine", *WRITTEN):
        if options[name]:
            raise SettingError(f"--{name} is for --people", remedy=f"leave --{name} out")


def _everyone(
    fitted: Model,
    options: dict[str, Any],
    only: list[str] | None,
    exclude: list[str] | None,
    as_json: bool,
) -> None:
    """Everyone's list, each from their own ratings."""
    from tacit.fitting.location import lists_on_cluster
    from tacit.model.person.lists import ListMaker, write_lists

    scale = parse_scale(options["scale"])
    columns = parse_columns(options["columns"])
    out = options["out"]
    people = options["people"]
    if options["engine"] == "spark":
        count = lists_on_cluster(
            ListMaker(fitted, options["count"], options["by"], fitted.allowed(only, exclude)),
            people,
            out,
            scale=scale,
            columns=columns,
            overwrite=options["overwrite"],
            **as_written(options),
        )
    else:
        count = write_lists(
            fitted,
            people,
            out,
            options["count"],
            by=options["by"],
            only=only,
            exclude=exclude,
            scale=scale,
            columns=columns,
            tell=note,
            **as_written(options),
        )
    if as_json:
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


def _read_user_ratings(fitted: Model, ratings: str | None, columns: Columns | None) -> UserRatings:
    """One's own ratings from a file; none at all without one."""
    from tacit.data.reading.personal import read_personal
    from tacit.data.schema import LIKES
    from tacit.model.person.ratings import likes_told, repeats

    if ratings is None:
        return fitted.own({})
    threshold = fitted.shared.schema.positive
    lines = read_personal(ratings, likes=threshold is not None, columns=columns)
    inputs = fitted.own(
        lines, source=ratings, asked=int(time.time())
    )  # with timestamps in the file, ratings of one day share a shift
    for message in repeats(inputs)[:TOLD]:
        note(message)
    if threshold is not None and not len(fitted.likes(inputs.own).items):
        note(
            f"none of these ratings is a like ({threshold:g} or more): the list is by popularity "
            "alone"
        )
        return inputs
    bare = all(line.rating is None for line in lines)
    if bare and threshold is not None and fitted.shared.schema.source != LIKES:
        note(
            f"all {len(lines):,} rows count as likes: no column was read as the rating "
            "(--columns rating=NAME says which it is)"
        )
    for message in likes_told(fitted.shared.schema, inputs.own):
        note(message)
    return inputs


def _explain(fitted: Model, user_ratings: Own, item: str, as_json: bool) -> None:
    """How each own rating, and each taste for a public feature, moves one item."""
    from tacit.errors import DataError
    from tacit.model.person.results import UnknownItem

    explanation = fitted.explain_own(user_ratings, item)
    if isinstance(explanation, UnknownItem):
        near = (
            f"did you mean {explanation.near[0]!r}?"
            if explanation.near
            else "give an id or a title"
        )
        raise DataError(f"{item!r} is not in this model", remedy=near)
    if as_json:
        shares = {name: dict(getattr(explanation, name)) for name in ("own", "features")}
        print_json(explanation.__dict__ | shares)
        return
    rated = fitted.rates
    start = "what everybody would be told"
    rows: list[list[object]] = [[start, f"{explanation.baseline:.2f}"]] if rated else []
    rows += [[share.name, f"{share.points:+.2f}"] for share in explanation.own]
    if rated:
        whose = "you" if explanation.own else "anybody"
        rows.append([f"expected for {whose}", f"{explanation.rating:.2f}"])
    table(["your ratings" if rated else "your likes", "moves it by"], rows, title=explanation.title)
    if explanation.features:
        say()
        table(
            ["the same, by your tastes", "moves it by"],
            [
                [name, f"{points:+.2f}"]
                for name, points in (*explanation.features, _unexplained(explanation))
            ],
        )
    elif not rated and not any(abs(share.points) >= LEAST for share in explanation.own):
        say("none of your likes moves it: its place is everybody's liking alone")


def _unexplained(explanation: Explanation) -> tuple[str, float]:
    """What tags do not account for, so that both tables say the same in all."""
    total = sum(share.points for share in explanation.own)
    tagged = sum(share.points for share in explanation.features)
    return "all else (how you rate in general, no tag)", total - tagged


def _names(path: str | None, fitted: Any) -> list[str] | None:
    """The items that a file lists, those left out that the model does not know."""
    if path is None:
        return None
    from tacit.data.reading.personal import read_names
    from tacit.model.person.ratings import find_row

    names = [name for name in read_names(path) if name and name.lower() != "item"]
    catalogue = fitted.shared.catalogue
    matched = [name for name in names if find_row(catalogue, name) is not None]
    missing = set(names) - set(matched)
    for name in sorted(missing)[:TOLD]:
        note(f"{path}: {name!r} is not in this model")
    if len(missing) > TOLD:
        note(f"{path}: and {len(missing) - TOLD:,} more are not in this model")
    return matched


# Notices beside a list: which ratings of the file count, whose list it is, and why it is short.


def tell_order(lines: list[Recommendation]) -> None:
    """Why a line may stand above one that is expected to be better, and what follows the ±."""
    expected = [line.rating for line in lines if line.rating is not None]
    if expected == sorted(expected, reverse=True):
        return
    note(
        "the order also counts what many know (--by rating goes by `expected` alone); ± is "
        "how far one rating usually lies from what is expected"
    )


def tell_all(count: int, only: bool) -> None:
    """Why a list is shorter than was asked, or empty."""
    which = "items that --only lists" if only else "items of this model"
    if count:
        note(f"these are all {which} that are neither rated nor left out")
    else:
        note(f"nothing is left: all {which} are rated already or left out")


def tell_unknown(fitted: Model, unknown: list[str]) -> None:
    """Which items the model does not know, and what may have been meant."""
    from tacit.model.person.results import UnknownItem

    if len(unknown) > TOLD:
        note(f"{len(unknown):,} items are not in this model, among them:")
    for name in unknown[:TOLD]:
        match = fitted.find(name)
        near = match.near if isinstance(match, UnknownItem) else ()
        note(f"{name!r} is not in this model" + (f"; did you mean {near[0]!r}?" if near else ""))


def tell_user_factors(fitted: Model, user_ratings: Own) -> None:
    """Whether the list is anybody's own."""
    if not len(user_ratings.items):
        note(
            "without your own ratings (--ratings FILE: columns item, rating) this is "
            "everybody's list"
        )
    elif not fitted.knows_tastes(user_ratings):
        noun = "ratings" if fitted.shared.schema.positive is None else "likes"
        note(
            f"this model ({fitted.shared.method}) has learned no tastes that your {noun} "
            f"touch: the order is everybody's. {_teaches(fitted)} teach it some"
        )


def _teaches(fitted: Model) -> str:
    """What would help: tags only where there are none and the method asks for them."""
    shared = fitted.shared
    if shared.catalogue.has_features or shared.schema.positive is not None:
        return "More people or a larger epsilon"
    return "More people, a larger epsilon or tags of the items"
