"""`tacit evaluate`: what privacy costs, in tables, files and a page, for the owner."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    check_data,
    data_options,
    json_option,
    ledger_options,
    method_options,
    note,
    parse_settings,
    read_data,
    run_options,
)
from tacit.cli.overwrite import may_write
from tacit.cli.release import release_options, run_release
from tacit.cli.show import counted_progress, print_json, say, table

if TYPE_CHECKING:
    from tacit.evaluation.api import EvaluationRequest
    from tacit.evaluation.result import Evaluation

SPLIT = (
    "time (the latest tenth of all ratings) or a date, 2001-06-30: one cut for everybody, as "
    "in use. Random shares, 90/10 unless said, let the future in and flatter. Also probe (of "
    "each person's latest), people (some take no part; with --positive unless said)."
)
TOLD = ("rmse", "mae", "recall@20", "ndcg@20", "overlap@30")
"""Metrics of the table; --json and --csv have all."""
NOT_REPEATED = (
    "out",
    "report",
    "csv",
    "people",
    "overwrite",
    "as_json",
    "processes",
    "threads",
    "ledger",
    "population",
    "owner_only",
)
"""Options that change no number of a report."""


@click.command(cls=Command)
@click.argument("ratings")
@click.option(
    "--method",
    "methods",
    metavar="A,B",
    help="Methods to compare: bayes unless said, ease with --positive.",
)
@click.option(
    "--epsilon",
    "epsilons",
    default="1",
    show_default=True,
    metavar="X,Y",
    help="Budgets to compare.",
)
@click.option(
    "--unit",
    "units",
    metavar="user|rating|value",
    help="Whom the promise is about; several with commas.",
)
@click.option("--split", metavar="HOW", help=SPLIT)
@click.option(
    "--until",
    metavar="DATE",
    help="Only ratings before this day: what a smaller service would have seen.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME=A,B",
    help="Compare values of a setting, as often as needed.",
)
@click.option(
    "--seeds",
    default=3,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="How many splits and draws of noise.",
)
@click.option("--folds", type=int, metavar="K", help="K-fold instead of random splits.")
@click.option(
    "--hold",
    default=600,
    show_default=True,
    type=int,
    help="With --split people: how many are held out.",
)
@click.option(
    "--fold-in",
    default=80.0,
    show_default=True,
    type=float,
    help="Per cent of their ratings given.",
)
@click.option(
    "--listed",
    default=600,
    show_default=True,
    type=click.IntRange(1),
    help="People of a split whose lists are made.",
)
@click.option(
    "--public",
    metavar="FILE",
    help="Ratings of people who are public, for the fits that make use of them (bayes).",
)
@click.option(
    "--public-items",
    metavar="FILE",
    help="With --public: the catalogue of their ids, whose titles tell whether they mean the "
    "same items.",
)
@click.option(
    "--days/--no-days",
    default=None,
    help="Ask for each prediction on the day of its rating; unless told, where --split goes by "
    "time.",
)
@click.option(
    "--twin/--no-twin", default=True, show_default=True, help="Also the non-private twin."
)
@click.option(
    "--reference/--no-reference",
    default=True,
    show_default=True,
    help="Also the best non-private model, to compare with.",
)
@click.option(
    "--processes",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Fits that run side by side.",
)
@click.option(
    "--out", metavar="FOLDER", help="Keep every fit's numbers: what was ended goes on where it was."
)
@click.option(
    "--report", metavar="PAGE.html", help="A page to read and to show: one file, no script."
)
@click.option("--csv", metavar="FILE.csv", help="The table with all metrics.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there already.")
@click.option("--people", metavar="FILE.parquet", help="Person by person: personal values.")
@click.option(
    "--owner-only", is_flag=True, help="Allow it on a capped book: the table stays with the owner."
)
@release_options
@data_options
@run_options
@ledger_options
@json_option
def evaluate(ratings: str, as_json: bool, **options: Any) -> None:
    """Compare methods on RATINGS against raw held-back ratings. NOT PRIVATE: for the owner only."""
    refuse_no_effect()
    if options["release"]:
        run_release(ratings, options, as_json=as_json)
        return
    from tacit.cli.show import print_json

    request = _build_request(ratings, options)
    if options["engine"] == "spark":
        evaluate_on_cluster(request, ratings, options, as_json=as_json)
        return
    _check_files(options)
    likes = options["positive"] is not None
    for order in request.check(options["users"], likes=likes):
        check_data(order, ratings, options)
    for reason in request.left_out:
        note(f"left out: {reason}")
    data, items = read_data(ratings, options)
    if request.public is not None:
        note(request.public.agreement(items))
    if items is None:
        note("without --items no public features are used; a fit that has them is another one")
    with counted_progress("evaluate") as bar:
        evaluation = request.run(
            data,
            items,
            out=options["out"],
            processes=options["processes"],
            progress=bar,
            owner_only=options["owner_only"],
        )
    if evaluation.facts["lets_the_future_in"]:
        note("a random split lets the future in; --split time does not")
    if evaluation.facts["by_day"]:
        note("each question was asked on the day of its rating; --no-days asks without")
    _write(evaluation, ratings, options)
    if as_json:
        print_json(evaluation.to_json())
    else:
        _print(evaluation)


def _build_request(ratings: str, options: dict[str, Any]) -> EvaluationRequest:
    """The evaluation of these ratings that the options name."""
    from tacit.cli.people import public_people
    from tacit.evaluation.api import EvaluationRequest
    from tacit.evaluation.arms import Grid
    from tacit.evaluation.protocol import HeldBack
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE

    likes = options["positive"] is not None
    methods = options["methods"] or (DEFAULT_POSITIVE if likes else DEFAULT)
    shared = method_options(options)
    calibrations = _names(shared.pop("calibration"))
    units: tuple[Any, ...] = (None,)
    if options["units"]:
        units = _names(options["units"])
    grid = Grid(
        _names(methods),
        _numbers(options["epsilons"]),
        units,
        calibrations,
        _sweeps(options["sweeps"]),
        parse_settings(options["settings"]),
        shared,
        options["twin"],
    )
    protocol = HeldBack(
        options["split"] or ("people" if likes else "90/10"),
        options["seeds"],
        options["folds"],
        options["hold"],
        options["fold_in"] / 100,
        options["until"],
        options["days"],
        options["listed"],
    )
    public = None
    if options["public"] is not None:
        public = public_people(ratings, options["public"], None, options)
    return EvaluationRequest(grid, protocol, reference=options["reference"], public=public)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[float, ...]:
    from tacit.errors import SettingError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise SettingError(
            f"--epsilon {text} is not a list of numbers", remedy="for example 0.1,1,10"
        ) from None


def _sweeps(pairs: tuple[str, ...]) -> dict[str, list[Any]]:
    """`factors=5,20`: numbers where they look like numbers."""
    sweeps: dict[str, list[Any]] = {}
    for pair in pairs:
        name, _, values = pair.partition("=")
        choices = [
            parse_settings((f"{name}={value}",), "--sweep")[name.strip()]
            for value in values.split(",")
            if value.strip()
        ]
        if not choices:
            parse_settings(("",), "--sweep")
        sweeps[name.strip()] = choices
    return sweeps


def _check_files(options: dict[str, Any]) -> None:
    """What cannot be written, or drawn, is refused before anything is computed."""
    from tacit.evaluation.result import writable

    writable(options["report"], ".html")
    writable(options["csv"], ".csv")
    writable(options["people"], ".parquet")
    for name in ("report", "csv", "people"):
        if options[name]:
            may_write(options[name], options["overwrite"], f"--{name}")
    if options["report"]:
        from tacit.evaluation.report.charts import plotting

        plotting()


def _write(evaluation: Evaluation, ratings: str, options: dict[str, Any]) -> None:
    if options["report"]:
        evaluation.write_report(options["report"], repeat(NOT_REPEATED))
        note(f"wrote {options['report']}, for the owner only")
    if options["csv"]:
        evaluation.write_csv(options["csv"])
        note(f"wrote {options['csv']}, for the owner only")
    if options["people"]:
        evaluation.write_people(options["people"])
        note(f"wrote {options['people']}: personal values, for the owner only")


def _print(evaluation: Evaluation) -> None:
    from tacit.cli.show import table
    from tacit.evaluation.report.story import metric_columns, table_rows, units_compared

    noun = "ratings" if evaluation.metric == "rmse" else "likes"
    say(f"NOT PRIVATE: compared with raw held-back {noun}, for the owner only")
    metrics = metric_columns(evaluation, TOLD)
    for index, unit in enumerate(units_compared(evaluation)):
        if index:
            say()
        heads, lines = table_rows(evaluation, metrics, unit)
        table(heads, lines)
    if evaluation.reference is not None:
        from tacit.evaluation.report.story import reference_words

        say(reference_words(evaluation))
    from tacit.evaluation.report.story import list_words

    for sentence in list_words(evaluation):
        say(sentence)


# The running command as text, for pages that record how they were made.
def repeat(left_out: Collection[str]) -> str:
    """The command that is running, with all options that were given but those left out."""
    import shlex

    from click.core import ParameterSource

    context = click.get_current_context()
    arguments = ["tacit", str(context.info_name)]
    for option in context.command.params:
        name = option.name or ""
        value = context.params.get(name)
        source = context.get_parameter_source(name)
        if isinstance(option, click.Argument):
            arguments.append(str(value))
        elif source is ParameterSource.COMMANDLINE and name not in left_out:
            arguments += _format_option(option, value)
    return shlex.join(arguments)


def _format_option(option: click.Parameter, value: Any) -> list[str]:
    """One option as it is typed."""
    if value is True:
        return [option.opts[0]]
    if value is False:
        return [option.secondary_opts[0]] if option.secondary_opts else []
    if isinstance(value, tuple):
        return [word for element in value for word in (option.opts[0], str(element))]
    if isinstance(value, float):
        return [option.opts[0], f"{value:g}"]
    return [option.opts[0], str(value)]


# `tacit evaluate --engine spark`: the table of a comparison that ran on a cluster.


def evaluate_on_cluster(
    request: EvaluationRequest, ratings: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Compare on the cluster; the twin is fitted in one piece, on one machine, and left out."""
    from tacit.evaluation.api import EvaluationRequest
    from tacit.evaluation.cluster import check, compare
    from tacit.fitting.publish import book_evaluation
    from tacit.methods import find

    check(request.how, likes=options["positive"] is not None)
    cluster_request = EvaluationRequest(
        replace(request.grid, twin=False), request.how, reference=False
    )
    cluster_request.check(options["users"], likes=False)
    note("left out: twins and baselines, which need one machine")
    for reason in cluster_request.left_out:
        note(f"left out: {reason}")
    data, items = read_data(ratings, options)
    with counted_progress("evaluate") as bar:
        comparison = compare(
            data,
            cluster_request.arms,
            request.how,
            items=items,
            ready=partial(
                book_evaluation,
                options["ledger"],
                options["population"],
                owner_only=options["owner_only"],
            ),
            progress=bar,
        )
    if as_json:
        print_json(comparison.to_json())
        return
    say("NOT PRIVATE: compared with raw held-back ratings, for the owner only")
    heads = ["method", "unit", "epsilon", "rmse", "mae", "runs"]
    rows = [
        [
            cell["method"],
            cell["unit"],
            f"{cell['epsilon']:g}",
            f"{cell['rmse']:.4f}",
            f"{cell['mae']:.4f}",
            cell["runs"],
        ]
        for cell in comparison.cells
    ]
    table(heads, rows)
    for name in dict.fromkeys(cell["method"] for cell in comparison.cells):
        advice = find(name).better_list
        if advice:
            say(f"{advice}.")
