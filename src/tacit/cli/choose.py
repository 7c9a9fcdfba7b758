"""`tacit choose`: the epsilon for an accuracy, or the range worth considering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    declared_scale,
    json_option,
    ledger_options,
    method_options,
    parse_scale,
    parse_settings,
    read_data,
    run_options,
    shape_options,
    table_options,
    usual_method_option,
)
from tacit.cli.overwrite import may_write
from tacit.cli.show import progress, say
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.catalogue import Catalogue
    from tacit.data.ratings import Ratings
    from tacit.evaluation.choose import EpsilonChoice

OWN = ("epsilon",)
"""Options of a method that `choose` answers instead of taking."""


@click.command(cls=Command)
@click.option("--rmse", type=float, metavar="X", help="Find the epsilon for this RMSE.")
@click.option("--recall", type=float, metavar="X", help="Find the epsilon for this recall@20.")
@click.option(
    "--range",
    "by_range",
    is_flag=True,
    help="Find where lists of 30 keep 20 to 80 % (Xian et al. 2017).",
)
@usual_method_option
@click.option("--unit", metavar="user|rating", help="Whom the promise is about.")
@click.option(
    "--users", type=click.IntRange(1), metavar="N", help="About how many people there are."
)
@shape_options
@click.option(
    "--twin-reaches",
    "twin",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="What the model reaches without privacy, if something public says it.",
)
@click.option(
    "--ratings",
    metavar="FILE",
    help="With --range: look at these ratings instead of invented ones.",
)
@click.option(
    "--public-ratings",
    is_flag=True,
    help="With --ratings: they are public, so looking at them costs nobody anything.",
)
@click.option(
    "--owner-only",
    is_flag=True,
    help="With --ratings that are private: book it, and keep the answer to the owner.",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="With --range: how often each epsilon is tried.",
)
@click.option(
    "--plot",
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    help="Draw the curve: here in letters, or to FILE (svg, png, pdf).",
)
@click.option("--report", metavar="PAGE.html", help="Write the answer as a page of words.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there already.")
@table_options
@run_options
@ledger_options
@json_option
def choose(as_json: bool, plot: str | None, report: str | None, **options: Any) -> None:
    """Name the epsilon for an accuracy, as three candidates with what each means.

    From public shape alone, or on public or invented people: spends nothing. Private ratings
    are looked at only with --owner-only, which is booked as an evaluation.
    """

    refuse_no_effect()
    overwrite = options.pop("overwrite")
    _check_places(report, plot, overwrite)
    choice = answer(options)
    if plot is not None and plot != "-":
        from tacit.evaluation.report.charts import save_figure

        save_figure(choice.plot(), plot)
    if report is not None:
        from tacit.evaluation.report.charts import write

        write(report, choice.page().encode())
    if as_json:
        from tacit.cli.show import print_json

        print_json(choice.facts() | {"note": _note(options)})
        return
    _print(choice, _note(options), in_letters=plot == "-")


def _check_places(report: str | None, plot: str | None, overwrite: bool) -> None:
    """Refuse, before anything is computed, what could not be written."""
    from tacit.evaluation.report.charts import check_picture
    from tacit.evaluation.result import writable

    writable(report, ".html")
    if plot is not None and plot != "-":
        check_picture(plot)
    for path, name in ((report, "--report"), (plot, "--plot")):
        if path is not None and path != "-":
            may_write(path, overwrite, name)


def _note(options: dict[str, Any]) -> str:
    if options["ratings"] is not None and not options["public_ratings"]:
        return "NOT PRIVATE: made from private ratings, for the owner only"
    return "no private data was read and nothing was spent"


def _print(choice: EpsilonChoice, note: str, *, in_letters: bool) -> None:
    from tacit.cli.show import table
    from tacit.evaluation.deployments import DEPLOYMENTS
    from tacit.evaluation.report.choice import guesses, interval, percent, times, verdict
    from tacit.evaluation.report.curve import in_letters as letters
    from tacit.ledger.account.odds import but_for
    from tacit.ledger.statement.words import as_likes

    forecast = choice.forecast
    metric = "RMSE" if forecast.metric == "rmse" else "recall@20"
    say(verdict(choice))
    say()
    rows = [
        (
            candidate.name,
            f"{candidate.epsilon:g}",
            interval(candidate.expected),
            percent(candidate.chance if candidate.overlap is None else candidate.overlap),
            times(candidate.odds_times),
            guesses(candidate.best_guess),
            f"{candidate.ten:.3g}",
        )
        for candidate in choice.candidates
    ]
    table(
        (
            "candidate",
            "epsilon",
            f"{metric}, 9 in 10",
            "lists kept" if choice.goal == "range" else "goal met",
            "odds grow at most",
            "right guesses at most",
            "ten releases",
        ),
        rows,
    )
    say()
    unit = "person" if forecast.unit == "user" else forecast.unit
    say(f"about one {unit}; odds grow so {but_for(forecast.delta)}:")
    for candidate in choice.candidates:
        text = candidate.words if forecast.metric == "rmse" else as_likes(candidate.words)
        say(f"- {candidate.name}: {text}")
    if in_letters:
        say()
        say(letters(forecast))
    say()
    table(
        ("others chose", "for", "epsilon", "protected"),
        [(d.who, d.what, d.epsilon, d.about) for d in DEPLOYMENTS],
    )
    say(note)


# From the options of `tacit choose` to its answer, and what it refuses.


def answer(options: dict[str, Any]) -> EpsilonChoice:
    """The choice that the options ask for."""
    from tacit.evaluation.planning import choose

    goals = [options["rmse"], options["recall"], options["by_range"] or None]
    if sum(goal is not None for goal in goals) != 1:
        raise SettingError(
            "what to choose for is not clear", remedy="give one of --rmse X, --recall X and --range"
        )
    ratings, items = _looked_at(options)
    users = options["users"]
    if users is None and ratings is not None and options["public_ratings"]:
        users = ratings.n_users
    if users is None:
        raise SettingError(
            "how many people there are is not known", remedy="give --users, a declared number"
        )
    with progress("choose") as bar:
        return choose(
            options["method"],
            users=users,
            items=_items(options, ratings, items),
            rmse=options["rmse"],
            recall=options["recall"],
            by_range=options["by_range"],
            each=options["each"],
            scale=parse_scale(options["scale"]) or (1.0, 5.0),
            positive=options["positive"],
            spread=options["spread"],
            popular_share=options["popular_share"],
            twin=options["twin"],
            public=ratings,
            runs=options["runs"],
            tell=bar,
            **_asked_of_method(options),
        )


def _asked_of_method(options: dict[str, Any]) -> dict[str, Any]:
    selected = method_options(options)
    arguments = {name: value for name, value in selected.items() if name not in OWN}
    return arguments | parse_settings(options["settings"])


def _items(
    options: dict[str, Any], ratings: Ratings | None, catalogue: Catalogue | None
) -> int | Catalogue:
    source = options["items"]
    if catalogue is not None:
        return catalogue
    if ratings is not None and options["public_ratings"] and source is None:
        return ratings.n_items
    if source is None:
        raise SettingError(
            "how many items there are is not known", remedy="give --items a file or a count"
        )
    from tacit.cli.plan import counted_or_read

    items = counted_or_read(source, options["columns"])
    assert items is not None
    return items


def _looked_at(options: dict[str, Any]) -> tuple[Ratings | None, Catalogue | None]:
    """Ratings to try on. Private ones are booked as an evaluation before they are used, or
    refused."""
    if options["ratings"] is None:
        return None, None
    if not options["by_range"]:
        raise SettingError(
            "a forecast reads no ratings", remedy="leave --ratings out, or ask for --range"
        )
    public = options["public_ratings"]
    if not public and not options["owner_only"]:
        raise SettingError(
            "the range is a fact about the ratings that it is looked for on, and these may "
            "be private",
            remedy="leave --ratings out to use invented people; say --public-ratings if "
            "everybody may see them; or --owner-only to book it and keep the answer",
        )
    items = options["items"]
    item_file = None if items is None or items.isdigit() else items
    ratings_and_items = read_data(
        options["ratings"],
        options | {"duplicates": "last", "scale": declared_scale(options), "items": item_file},
    )
    if not public:
        from tacit.fitting.publish import book_evaluation

        book_evaluation(options["ledger"], options["population"], owner_only=True)
    return ratings_and_items
