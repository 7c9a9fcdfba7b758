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
    table_options,
    usual_method_option,
)
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, say, table

if TYPE_CHECKING:
    from tacit.data.schema import Schema
    from tacit.evaluation.forecast import Forecast
    from tacit.evaluation.plan_report import Outlook

LABEL = 22
"""Letters before what a line says."""
NAMES = {
    "people/level": "how high people rate on the whole",
    "weights/weights": "how often each item is rated",
    "effects": "how much each item is liked",
    "covariance": "which items are liked together",
    "sweep": "how items answer to tastes, better with each",
    "tastes": "how much tastes for features of items differ",
    "implied": "what a choice of items says of tastes",
    "agreement": "how far to believe that",
    "choice": "how widely people differ",
    "popularity": "how often each item is rated or liked",
    "gram": "which items are liked together (a Gram matrix)",
    "along": "how much of it is popularity alone",
}
"""What a release is about, by how its name begins."""
RMSE = (
    "RMSE is how far a predicted rating usually is off, in points of the scale from {low:g} to "
    "{high:g}; lost is how much of it privacy adds. Less is better."
)
RECALL = (
    "Recall@20 is the share of what a person likes, and the model was not told, that is among "
    "its twenty suggestions; kept is how much of it privacy leaves. More is better."
)

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
@table_options
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
        from tacit.evaluation.report.charts import check_picture

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
        from tacit.evaluation.report.charts import save_figure

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
    from tacit.cli.options import parse_scale
    from tacit.errors import SettingError
    from tacit.evaluation.planning import schema_of
    from tacit.fitting.check import check_likes, check_values
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
    from tacit.cli.options import declared_scale, read_data
    from tacit.engine import make_engine
    from tacit.errors import SettingError
    from tacit.fitting.price import seen_pattern
    from tacit.fitting.start import align

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
    facts = {"duplicates": "last", "scale": declared_scale(request)}
    data, items = read_data(request["ratings"], request | facts)
    execution = replace(order.how, engine=order.runs_on)
    engine = make_engine(data, execution, printed=order.calibration != "sound")
    catalogue = align(order, data.schema, data, items, engine)
    return data.schema, catalogue, seen_pattern(order, data.schema, engine)


def counted_or_read(items: str | None, columns: tuple[str, ...]) -> Catalogue | None:
    """How many items there are, or the catalogue in a file; None without either."""
    from tacit.cli.options import parse_columns
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


# Output of `tacit plan` on a terminal.


def print_plan(
    outlook: Outlook, users: int | None, schema: Schema, *, in_letters: bool = False
) -> None:
    """What an attacker gains and what accuracy is lost, and then how the budget is spent."""
    facts = outlook.facts
    people = "people" if users is None else f"{users:,} people"
    say(f"{facts['method']} for {people} and {facts['items']:,} items, unit {facts['unit']}\n")
    likes = outlook.forecast is not None and outlook.forecast.metric != "rmse"
    _attacker(facts["attacker"], likes=likes)
    if outlook.forecast is not None:
        _forecast(outlook.forecast, schema, in_letters=in_letters)
    elif facts["expected"] is not None:
        e, unit = facts["expected"], schema.unit_width
        _line(
            "expected RMSE",
            f"{unit * e['private']:.3f} on one invented population of this shape; "
            f"{unit * e['twin']:.3f} without noise, {unit * e['own_mean']:.3f} from one's own "
            "mean alone",
        )
        say(RMSE.format(low=schema.low, high=schema.high))
    if facts["better_list"]:
        say()
        _line("for lists", facts["better_list"])
    say("\nHow the budget is spent, for specialists:")
    for sentence in facts["story"]:
        say(f"- {sentence}")
    for sentence in facts["unknown"]:
        say(f"- NOT KNOWN HERE: {sentence}")
    say()
    _releases(facts["releases"])
    _outlay(facts["outlay"])
    say("nothing was spent")


def _line(label: str, text: str) -> None:
    say(f"{label:{LABEL}}{text}")


def _about(release: str) -> str | None:
    """What a release is about, in plain words; None where nobody said."""
    for prefix, text in NAMES.items():
        if release.startswith(prefix):
            return text
    return None


def _releases(releases: list[dict[str, Any]]) -> None:
    rows = [
        (
            e["release"],
            _about(e["release"]),
            f"as {e['instead']}" if e["instead"] else f"{100 * e['share']:.1f} %",
            f"{e['noise_sd']:.4g}",
            e["items_above"],
        )
        for e in releases
    ]
    table(("release", "about", "of the budget", "noise sd", "items above it"), rows)
    say(
        "Noise sd is how far noise usually moves a released number; items above it are those "
        "whose number is likely larger, so that something is learned of them."
    )
    say()
    bounds = dict[str, list[str]]()
    for release in releases:
        bounds.setdefault(release["bound"], []).append(release["release"])
    for bound, names in bounds.items():
        _line("one unit may add", f"{bound} ({', '.join(names)})")
    if any("L2 norm" in bound for bound in bounds):
        _line(
            "",
            "an L2 norm is the length of a list of numbers: the root of the sum of their squares",
        )


def _outlay(facts: dict[str, Any]) -> None:
    rank = facts["rank"]
    user_factors = f"{rank} directions of taste (rank)" if rank else "no tastes"
    _line(
        "takes",
        f"{facts['rounds']} rounds, {user_factors}, {size(facts['released_bytes'])} released"
        + ("" if facts["seconds"] is None else f", {duration(facts['seconds'])}")
        + (
            ""
            if facts["memory_bytes"] is None
            else f" and {size(facts['memory_bytes'])} of memory on one core"
        ),
    )


def _attacker(gain: dict[str, Any] | None, *, likes: bool) -> None:
    if gain is None:
        say(
            "NOT PRIVATE: with --calibration none nothing is noised, and an attacker may "
            "learn everything"
        )
    elif not gain["proven"]:
        _line(
            "attacker",
            "nothing is proven: the noise is as printed, and what it claims no theorem here backs",
        )
    else:
        from tacit.ledger.account.odds import in_chances
        from tacit.ledger.account.rounded import up
        from tacit.ledger.statement.words import as_likes

        text = gain["words"]
        _line("attacker", as_likes(text) if likes else text)
        if gain["odds_times"] is not None:
            _line(
                "in odds",
                f"whatever odds he gave it before, they grow at most {up(gain['odds_times'], 3)} "
                f"times, {in_chances(gain['odds_rare'])}",
            )


def _forecast(forecast: Forecast, schema: Schema, *, in_letters: bool) -> None:
    from tacit.evaluation.cost import NAME
    from tacit.evaluation.report import curve

    rated = forecast.metric == "rmse"
    noun = "ratings" if rated else "likes"
    say()
    say(
        "Forecast: nine data sets in ten of this shape should lie from the one to the other "
        f"(by the model {NAME!r})"
    )
    table(("epsilon", *curve.headings(forecast)), [curve.cells(line) for line in forecast.lines])
    rmse = RMSE.format(low=schema.low, high=schema.high)
    say(rmse if rated else RECALL)
    if forecast.each is None:
        say(f"- surer with --each, the number of {noun} a person")
    if forecast.spread is None and rated:
        say("- RMSE itself is surer with --spread, the RMSE of a person's own mean")
    if forecast.popular_share is None and not rated:
        say(
            "- surer with --popular-share, recall of the most liked items beside recall without "
            "privacy"
        )
    if in_letters:
        say()
        say(curve.in_letters(forecast))


def size(count: float) -> str:
    """`12 kB`, `1.4 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """`under a second`, `12 s`, `5 minutes`, `2.1 hours`."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
