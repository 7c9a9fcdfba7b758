"""Options that several commands share, and how they become arguments. Imports nothing heavy."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tacit.cli.lines import fitted
from tacit.errors import SettingError
from tacit.redaction import one_line
from tacit.rounds.options import NAMES, How, What, describe_options

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.engine.spark.table import SparkRatings
    from tacit.fitting.order import Order

    AnyType = click.ParamType[Any]
else:
    AnyType = click.ParamType  # that of older clicks is not generic

F = TypeVar("F", bound=Callable[..., Any])


def several(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Options in the order in which help lists them."""

    def wrap(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return wrap


class Positive(AnyType):
    """`--positive` alone, or with the lowest rating that is a like."""

    name = "MIN"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | bool:
        """True for any rating, or the lowest one that is a like."""
        if value in (True, "any"):
            return True
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number; put --positive after the file", param, ctx)


def _addresses(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    from ipaddress import ip_address

    from tacit.errors import SettingError

    for address in given:
        try:
            ip_address(address)
        except ValueError:
            raise SettingError(
                f"--trusted-proxy {address} is no address", remedy="for example 10.0.0.7"
            ) from None
    return given


proxies_option = click.option(
    "--trusted-proxy",
    multiple=True,
    metavar="ADDRESS",
    callback=_addresses,
    help="A proxy before this server: it may hold as many connections as there are.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
positive_option = click.option(
    "--positive",
    type=Positive(),
    is_flag=False,
    flag_value="any",
    metavar="[MIN]",
    help="Likes only: a table without ratings, or ratings of MIN and more.",
)
written_options: Callable[[F], F] = several(
    click.option(
        "--header",
        type=click.Choice(["yes", "no"]),
        help="Whether line 1 names the columns; it does unless you say no, and then --columns "
        "has their numbers.",
    ),
    click.option(
        "--delimiter",
        metavar="MARK",
        help="What divides the fields of a line, such as ';' or tab; else the header shows it, "
        "and without one it is a comma (a tab in .tsv).",
    ),
    click.option(
        "--dates",
        type=click.Choice(["iso", "dmy", "mdy"]),
        help="How dates are written: iso (2005-09-06, or seconds since 1970) unless you say "
        "day first or month first.",
    ),
    click.option(
        "--decimal", type=click.Choice([".", ","]), help="The decimal mark; a point unless said."
    ),
    click.option(
        "--encoding", metavar="NAME", help="utf-8 unless said; such as latin-1 or cp1252."
    ),
)
"""How a table of text is written, where nothing but its rows would show it."""
WRITTEN = ("header", "delimiter", "dates", "decimal", "encoding")
columns_option = click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=NAME",
    help="Which column is user, item, rating or time, by name or number; of the "
    "catalogue: item, title, tags. time=none reads none.",
)
table_options: Callable[[F], F] = several(
    click.option(
        "--layout", metavar="NAME", help="Name the file's layout instead of detecting it."
    ),
    written_options,
)
"""What is declared of a file of ratings; every command that reads one takes it."""
TABLE = ("layout", *WRITTEN)
data_options: Callable[[F], F] = several(
    click.option(
        "--scale",
        metavar="LOW,HIGH",
        help="Lowest and highest possible rating; known layouts imply it.",
    ),
    click.option(
        "--items",
        metavar="FILE",
        help="Public catalogue: ids, titles, years, genres. Free accuracy, but `ease` "
        "learns from likes alone and uses neither years nor genres.",
    ),
    click.option(
        "--users",
        type=int,
        metavar="N",
        help="About how many people there are, as anybody may know; else 1 % of the "
        "budget counts them.",
    ),
    positive_option,
    click.option(
        "--duplicates",
        type=click.Choice(["last", "mean", "error"]),
        default="last",
        show_default=True,
        help="What a second rating of one item by one person means.",
    ),
    columns_option,
    table_options,
)
shape_options: Callable[[F], F] = several(
    click.option(
        "--items", metavar="FILE|COUNT", help="The public catalogue, or how many items there are."
    ),
    click.option(
        "--columns",
        multiple=True,
        metavar="ROLE=NAME",
        help="Which column of --items is item, title or tags, and of --ratings user, item, "
        "rating or time; as `fit` has it.",
    ),
    positive_option,
    click.option(
        "--scale", default="1,5", show_default=True, metavar="LOW,HIGH", help="The rating scale."
    ),
    click.option(
        "--each",
        type=click.FloatRange(1),
        metavar="K",
        help="Ratings (or likes) a person, on average, if something public says it.",
    ),
    click.option(
        "--spread",
        type=click.FloatRange(0, min_open=True),
        metavar="S",
        help="RMSE of a person's own mean, if something public says it.",
    ),
    click.option(
        "--popular-share",
        type=click.FloatRange(0, min_open=True),
        metavar="F",
        help="For lists: recall of the most liked items as a share of recall without privacy, "
        "if something public says it.",
    ),
)
"""The public shape of ratings that nobody has shown."""
usual_method_option = click.option(
    "--method", metavar="NAME", help="The method; the default of `fit` unless said."
)


class EngineOption(click.Option):
    """`--engine`, whose help names the engines that are installed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The usual line, and the names."""
        from tacit.engine import engines

        record = super().get_help_record(ctx)
        return record and (record[0], f"{record[1]} One of {', '.join(engines())}.")


class MethodOption(click.Option):
    """`--method`, whose help names all methods, those of other packages too."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The usual line, and the names."""
        from tacit.methods import names

        record = super().get_help_record(ctx)
        return record and (record[0], f"{record[1]} One of {', '.join(names())}.")


SAID = describe_options(What) | describe_options(How)
"""Every option that the command line says, as `tacit.rounds.options` declares it."""


def declared(group: str) -> list[Callable[[F], F]]:
    """The options of a group."""
    decorators = []
    for name, (option, default) in SAID.items():
        if option.group != group:
            continue
        arguments: dict[str, Any] = {"help": option.help, "metavar": option.metavar}
        if option.kind is bool:
            arguments = {"help": option.help, "is_flag": True}
        elif option.many:
            arguments["multiple"] = True
        else:
            arguments |= {"type": option.kind, "default": default, "show_default": option.show}
        if name == "engine":
            arguments["cls"] = EngineOption
        flag = option.flag or name.replace("_", "-")
        decorators.append(click.option(f"--{flag}", name, **arguments))
    return decorators


run_options: Callable[[F], F] = several(
    *declared("run"),
    click.option("--max-ratings", type=int, metavar="K", help="Use at most K ratings of a person."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the method; its page in docs/methods lists them.",
    ),
)
ledger_options: Callable[[F], F] = several(*declared("ledger"))
promise_options: Callable[[F], F] = several(*declared("promise"))
book_options: Callable[[F], F] = several(*declared("book"))


def method_options(options: dict[str, Any]) -> dict[str, Any]:
    """Of all options of a command, those that a method takes, as it takes them."""
    names = [name for name in (*NAMES[What], *NAMES[How]) if name in options]
    values = {name: options[name] for name in names}
    for name, (option, _) in SAID.items():
        if option.many and name in values:
            values[name] = parse_settings(values[name], f"--{name}") or None
    return values


def check_data(order: Order, path: str, options: dict[str, Any]) -> None:
    """Refuse, before a rating is read, data options that a unit cannot be kept with."""
    from tacit.data.read import marks_absent
    from tacit.fitting.check import check_values

    # A table of likes alone has no values: its people and rows are what they are.
    positive = options["positive"]
    thresholded = positive is not None and (positive is not True or order.unit == "value")
    away = options.get("engine") == "spark"  # such a path may be elsewhere
    absent = not away and marks_absent(path, options["layout"])
    if thresholded or absent:
        check_values(order, positive=thresholded, absent=absent)


def read_data(path: str, options: dict[str, Any]) -> tuple[Any, Catalogue | None]:
    """The ratings and the public catalogue that the data options name; the owner is told
    what was noticed."""
    from dataclasses import replace

    from tacit.data.inputs import as_catalogue
    from tacit.data.reading.columns import of_ratings
    from tacit.fitting.location import placed

    columns = parse_columns(options.get("columns") or ())
    items = as_catalogue(options["items"] or None, columns)
    ratings = placed(
        path,
        options.get("engine"),
        threads=options.get("threads"),
        items=items,
        scale=parse_scale(options["scale"]),
        duplicates=options["duplicates"],
        positive=options["positive"],
        users=options["users"],
        layout=options["layout"],
        columns=of_ratings(columns),
        memory=options.get("memory"),
        **as_written(options),
    )
    if items is not None:
        tell_items(items)
    if options.get("max_ratings") is not None:
        ratings = replace(
            ratings, schema=ratings.schema.declare(max_ratings=options["max_ratings"])
        )
    note_reading(ratings, options["duplicates"])
    return ratings, items


def as_written(options: dict[str, Any]) -> dict[str, Any]:
    """How a table is written, as `tacit.read` takes it."""
    said = {name: options.get(name) for name in WRITTEN}
    if said["header"] is not None:
        said["header"] = said["header"] == "yes"
    return said


def declared_scale(options: dict[str, Any]) -> str | None:
    """The scale of a file of ratings where somebody has said it: the default is for people whom
    nobody has shown."""
    source = click.get_current_context().get_parameter_source("scale")
    return None if source is click.core.ParameterSource.DEFAULT else options["scale"]


def read_table(path: str, options: dict[str, Any]) -> Ratings:
    """The ratings of a file beside which no catalogue is given; the owner is told what was
    noticed."""
    from tacit.data.read import read

    ratings = read(
        path,
        parse_scale(options["scale"]),
        layout=options["layout"],
        columns=parse_columns(options["columns"]) or None,
        **as_written(options),
    )
    note_reading(ratings, "last")
    return ratings


def tell_items(items: Catalogue) -> None:
    """What was read of a catalogue, and what was not: its features are free accuracy."""
    note(f"items: {items!r}")
    if items.unread:
        names = ", ".join(f"`{name}`" for name in items.unread)
        tags = f"TAGS+{items.unread[0]}" if items.tags else items.unread[0]
        joined = ", TAGS being the column that is read now" if items.tags else ""
        note(f"items: not read: {names}; --columns tags={tags} takes it as tags{joined}")
    if len(items) > 1 and len(items.tags) >= len(items):
        note(
            f"items: {len(items.tags):,} tags for {len(items):,} items: a tag that one item "
            "alone has tells nothing of others; is it the right column?"
        )
    alike = len(items.titles or ()) - len(set(items.titles or ()))
    if alike:
        note(
            f"items: {alike:,} have a title that another item has too: lists and own files "
            "tell such items apart by id alone"
        )


def note_reading(ratings: Ratings | SparkRatings, duplicates: str) -> None:
    """What was noticed in reading. Counts are of private rows: for the owner only."""
    from tacit.data.inputs import people_told
    from tacit.data.layouts import layouts
    from tacit.data.ratings import format_count

    notes, schema = ratings.notes, ratings.schema
    known_layouts = layouts()
    if notes.layout in known_layouts:
        note(
            f"read as {known_layouts[notes.layout].title}, ratings from {schema.low:g} to "
            f"{schema.high:g}"
        )
    if notes.columns:
        scale = f"on a scale from {schema.low:g} to {schema.high:g}"
        if schema.positive is not None:
            scale = "as likes"
            if schema.source != "likes":
                scale += f": {schema.positive:g} and more"
        note(f"{notes.columns[0]}, {scale}")
        for rival in notes.columns[1:]:
            note(rival)
    counts = list(notes.messages)
    noun = "rating" if schema.positive is None else "like"
    if _spans_little(ratings):
        counts.append(
            f"all ratings lie within half of the scale from {schema.low:g} to "
            f"{schema.high:g}: is --scale right? A scale that is too wide costs accuracy"
        )
    counts += people_told(ratings)
    if notes.duplicates:
        counts.append(
            f"merged {format_count(notes.duplicates, f'duplicate {noun}')} (--duplicates "
            f"{duplicates})"
        )
    if notes.dropped_items:
        counts.append(
            f"dropped {format_count(notes.dropped_items, noun)} of items outside the catalogue"
        )
    for count in counts:
        note(f"{count}; for the owner only")


def tell_packed(ratings: Ratings | SparkRatings) -> None:
    """What a cluster noticed in rows that it has read since."""
    from tacit.data.ratings import Ratings

    if isinstance(ratings, Ratings):
        return
    for line in ratings.noticed():
        note(f"{line}; for the owner only")


def _spans_little(ratings: Ratings | SparkRatings) -> bool:
    """Whether the ratings use less than half of their scale. Those on a cluster or in a packed
    file are not looked through for it."""
    from tacit.data.ratings import Ratings

    schema = ratings.schema
    if type(ratings) is not Ratings or schema.positive is not None:
        return False
    if not len(ratings.value):
        return False
    used = float(ratings.value.max()) - float(ratings.value.min())
    return 0 < used < (schema.high - schema.low) / 2


def note(text: str) -> None:
    """One line for the person at the terminal, kept out of what a pipe reads."""
    click.echo(fitted(f"note: {one_line(text)}", sys.stderr), err=True)


# Texts of options as values, with our own errors. Imports nothing heavy.


def parse_scale(text: str | None) -> tuple[float, float] | None:
    """`LOW,HIGH` as two numbers."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        raise SettingError(
            f"--scale {text} is not LOW,HIGH", remedy="for stars from 1 to 5: --scale 1,5"
        ) from None
    return low, high


def parse_settings(pairs: tuple[str, ...], option: str = "--set") -> dict[str, Any]:
    """`--set name=value`: numbers where they look like numbers."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, value = pair.split("=", 1) if "=" in pair else ("", "")
        if not name.strip():
            raise SettingError(
                f"{option} {pair} is not NAME=VALUE", remedy="for example: --set even=30"
            )
        if name.strip() in settings:
            raise SettingError(f"{option} says {name.strip()} twice", remedy="say it once")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value.strip()
    return settings


def parse_texts(pairs: tuple[str, ...], option: str) -> dict[str, str]:
    """`NAME=TEXT`, as it is written."""
    texts = {}
    for pair in pairs:
        name, mark, text = pair.partition("=")
        if not mark or not name.strip():
            raise SettingError(
                f"{option} {pair} is not NAME=TEXT", remedy=f'for example: {option} by="A library"'
            )
        texts[name.strip()] = text.strip()
    return texts


def parse_columns(pairs: tuple[str, ...]) -> dict[str, str | int | None] | None:
    """`--columns user=customer,rating=4`: names, or numbers counted from 1; `time=none` for
    a column that is not to be read."""
    columns: dict[str, str | int | None] = {}
    for pair in (part for text in pairs for part in text.split(",")):
        role, mark, name = pair.partition("=")
        if not mark or not role.strip() or not name.strip():
            raise SettingError(
                f"--columns {pair} is not ROLE=NAME",
                remedy="for example: --columns user=customer,rating=stars",
            )
        role, name = role.strip(), name.strip()
        if role in columns:
            raise SettingError(
                f"--columns names two columns for {role}",
                remedy="name one; tags of a catalogue are joined: tags=style+region",
            )
        if role == "time" and name.lower() == "none":
            columns[role] = None
        else:
            columns[role] = int(name) if name.isdigit() else name
    return columns or None
