"""`tacit plan`: what a budget buys, before it is spent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    json_option,
    ledger_options,
    run_options,
    shape_options,
    usual_method_option,
)
from tacit.cli.overwrite import may_write
from tacit.cli.plan_page import print_plan
from tacit.cli.show import print_json

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.schema import Schema
    from tacit.fitting.order import Order
    from tacit.rounds.pattern import Pattern

    Facts = tuple[Schema, Catalogue, Pattern | None]


@click.command(cls=Command)
@usual_method_option
@click.option("--epsilon", type=float, required=True, help="The budget to look at.")
@click.option("--unit", metavar="user|rating|value", help="Whom the promise is about.")
@click.option(
    "--users",
    type=click.IntRange(1),
    metavar="N",
    help="About how many people there are, as anybody may know; else 1 % of the "
    "budget counts them.",
)
@shape_options
@click.option(
    "--start", metavar="MODEL", help="The earlier model of the ledger that the fit would build on."
)
@click.option(
    "--ratings",
    metavar="FILE",
    help="Unit value alone, where who rated what is public: the file that shows it.",
)
@click.option("--public", metavar="FILE", hidden=True)
@click.option("--row", metavar="X,Y", help="Epsilons to forecast for; a usual row unless said.")
@click.option(
    "--plot",
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    help="Draw the forecast: here in letters, or to FILE (svg, png, pdf).",
)
@click.option("--overwrite", is_flag=True, help="Replace a picture that is there already.")
@click.option(
    "--forecast/--no-forecast",
    default=True,
    show_default=True,
    help="Also forecast what privacy costs.",
)
@run_options
@ledger_options
@json_option
def plan(
    epsilon: float,
    items: str | None,
    scale: str,
    start: str | None,
    ratings: str | None,
    forecast: bool,
    as_json: bool,
    each: float | None,
    spread: float | None,
    popular_share: float | None,
    row: str | None,
    plot: str | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Show the noise of every release, what privacy will cost and what an attacker could
    gain. Reads no ratings and spends nothing.

    With the options of a fit, the noise is what that fit will draw, number by number. The cost
    is an interval that holds nine data sets in ten of this shape.
    """
    refuse_no_effect()
    if options.pop("public") is not None:
        _refuse_public()
    if plot is not None and plot != "-":
        from tacit.evaluation.report.files import check_picture

        check_picture(plot)
        may_write(plot, overwrite, "--plot")
    from tacit.cli.fit import build_method
    from tacit.evaluation.forecast import ROW
    from tacit.evaluation.plan_report import plan_report
    from tacit.fitting.check import check
    from tacit.model.model import load

    method = build_method({**options, "epsilon": epsilon})
    earlier = load(start) if start is not None else None
    order = check(method, people=options["users"], start=earlier)
    request = options | {"scale": scale, "items": items, "ratings": ratings}
    facts = _public(order, request)
    report = plan_report(
        method,
        facts[0],
        facts[1],
        start=earlier,
        pattern=facts[2],
        try_it=forecast,
        per_user=each,
        spread=spread,
        popular_share=popular_share,
        epsilons=ROW if row is None else parse_row(row),
    )
    if plot is not None and plot != "-":
        from tacit.evaluation.report.files import save_figure

        save_figure(report.plot(), plot)
    if as_json:
        print_json(report.facts)
        return
    print_plan(report, options["users"], facts[0], in_letters=plot == "-")


def _refuse_public() -> None:
    """A plan reads no ratings, and the forecast was never fitted to fits with them."""
    from tacit.errors import SettingError

    raise SettingError(
        "a fit with public people costs what it costs without them; how much better their "
        "prior predicts depends on the ratings, which a plan does not read",
        remedy="leave --public out; `tacit evaluate --public FILE` measures it",
    )


def parse_row(text: str) -> tuple[float, ...]:
    """`.5,1,2` as numbers above 0."""
    from tacit.errors import SettingError

    try:
        row = tuple(float(part) for part in text.split(","))
    except ValueError:
        row = ()
    if not row or not all(0 < epsilon < 1e4 for epsilon in row):
        raise SettingError(
            f"--row {text} is not a list of epsilons above 0", remedy="for example --row .5,1,2,5"
        )
    return row


def _public(order: Order, request: dict[str, Any]) -> Facts:
    """What a fit with these options would know before it draws, as a fit finds it."""
    from tacit.cli.parse import parse_scale
    from tacit.errors import SettingError
    from tacit.evaluation.planning import schema_of
    from tacit.fitting.check import check_values
    from tacit.fitting.likes import check_likes
    from tacit.fitting.start import both_catalogues

    threshold = request["positive"]
    # As `fit` does: a table of likes alone has no values.
    by_value = threshold is not None and (threshold is not True or order.unit == "value")
    check_values(order, positive=by_value)
    if request["ratings"] is not None:
        return _facts_of_ratings(order, request)
    scale = parse_scale(request["scale"]) or (1.0, 5.0)
    schema = schema_of(scale, request["users"], threshold).declare(
        max_ratings=request["max_ratings"]
    )
    check_likes(order, schema)
    catalogue = counted_or_read(request["items"], request["columns"])
    if order.start is not None:
        start = order.start.shared
        catalogue = both_catalogues(order.method, schema, start, catalogue, None)
    if catalogue is None:
        raise SettingError(
            "how many items there are is not known", remedy="give --items a file or a count"
        )
    return schema, catalogue, None


def _facts_of_ratings(order: Order, request: dict[str, Any]) -> Facts:
    """The same from a file of ratings, where who rated what is public."""
    from tacit.cli.options import read_data
    from tacit.engine import make_engine
    from tacit.errors import SettingError
    from tacit.fitting.align import align
    from tacit.fitting.price import seen_pattern

    if order.unit != "value":
        raise SettingError(
            f"at the unit {order.unit} who rated what is private, and a plan reads none of it",
            remedy="leave --ratings out; give --users and --items",
        )
    if request["items"] is not None and request["items"].isdigit():
        raise SettingError(
            "--items is a count, and --ratings shows the items",
            remedy="leave --items out, or give a file",
        )
    defaults = {"duplicates": "last", "layout": None}
    data, items = read_data(request["ratings"], request | defaults)
    execution = replace(order.how, engine=order.runs_on)
    engine = make_engine(data, execution, printed=order.calibration != "sound")
    catalogue = align(order, data.schema, data, items, engine)
    return data.schema, catalogue, seen_pattern(order, data.schema, engine)


def counted_or_read(items: str | None, columns: tuple[str, ...]) -> Catalogue | None:
    """How many items there are, or the catalogue in a file; None without either."""
    from tacit.cli.parse import parse_columns
    from tacit.data.inputs import as_catalogue
    from tacit.data.reading.columns import of_ratings
    from tacit.errors import SettingError
    from tacit.evaluation.planning import catalogue_of

    named = parse_columns(columns)
    rated = set(of_ratings(named) or {}) - {"item"}
    if named and (items is None or items.isdigit() or rated):
        raise SettingError(
            "--columns names columns of a catalogue here: item, title or tags",
            remedy="give --items FILE with it; a plan reads no ratings",
        )
    if items is None or not items.isdigit():
        return as_catalogue(items, named)
    return catalogue_of(int(items))
