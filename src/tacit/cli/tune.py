"""`tacit tune`: settings or a method chosen by a charged selection, or on public ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    book_options,
    check_data,
    data_options,
    json_option,
    ledger_options,
    method_options,
    note,
    parse_settings,
    promise_options,
    read_data,
    run_options,
)
from tacit.cli.overwrite import asked_to_replace, reserve_model
from tacit.cli.show import after_writing, print_json, say, table
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.evaluation.tune import Chosen, Contestant, Tuning


@click.command(cls=Command)
@click.argument("ratings")
@click.option(
    "--method",
    "methods",
    metavar="A,B",
    help="Methods to choose among: bayes unless said, ease with --positive.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME=X,Y",
    help="Values of a setting to choose among, as often as needed.",
)
@promise_options
@click.option(
    "--trials",
    type=float,
    metavar="N",
    help="Trials to expect: three for each candidate unless said.",
)
@click.option(
    "--law",
    type=click.Choice(["geometric", "logarithmic"]),
    default="geometric",
    show_default=True,
    help="Of the secret number of trials.",
)
@click.option(
    "--keep-apart",
    metavar="10%",
    help="Ratings that no trial sees, for `tacit evaluate --release`.",
)
@click.option(
    "--public-data",
    is_flag=True,
    help="I say that these ratings are public: compare for free, publish no model.",
)
@click.option(
    "--seeds",
    default=3,
    show_default=True,
    type=click.IntRange(1, 100),
    help="With --public-data: how many splits.",
)
@click.option("--out", metavar="MODEL", help="Folder for the model that won.")
@click.option("--overwrite", is_flag=True, help="Replace the model in --out.")
@book_options
@data_options
@run_options
@ledger_options
@json_option
def tune(
    ratings: str, methods: str | None, sweeps: Sequence[str], as_json: bool, **options: Any
) -> None:
    """Choose a method or settings on RATINGS and publish the model that won.

    The ledger is charged for the whole search before it begins; how many candidates there are
    costs nothing more. With --public-data nothing is charged.
    """
    from tacit.evaluation.tune import candidates
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE

    refuse_no_effect()
    if options["engine"] == "spark":
        raise SettingError("a tuning runs on one machine", remedy="leave --engine out")
    usual = DEFAULT if options["positive"] is None else DEFAULT_POSITIVE
    names = [name.strip() for name in (methods or usual).split(",")]
    grid = candidates(names, _swept(sweeps))
    if options["settings"]:
        raise SettingError(
            "--set does not say among which values to choose",
            remedy="use --sweep NAME=VALUE, with one value for what is fixed",
        )
    if options["public_data"]:
        _public(ratings, grid, options, as_json=as_json)
    else:
        _private(ratings, grid, options, as_json=as_json)


def _private(
    ratings: str, grid: tuple[Contestant, ...], options: dict[str, Any], *, as_json: bool
) -> None:
    from tacit.data.held_out import parse_held_out
    from tacit.evaluation.tune import prepared, several
    from tacit.fitting.check import check

    if not options["out"]:
        raise SettingError(
            "a tuning publishes the model that won",
            remedy="give --out MODEL; or --public-data, if the ratings are public",
        )
    held_out = options["keep_apart"]
    tuning = prepared(
        grid,
        users=options["users"],
        trials=options["trials"],
        law=options["law"],
        apart=None if held_out is None else parse_held_out(held_out),
        **method_options(options),
    )
    several(grid)
    for candidate in grid:
        candidate_order = check(tuning.method_of(candidate), people=options["users"])
        check_data(candidate_order, ratings, options)
    order = tuning.order
    assert order.budget is not None
    options["overwrite"] |= asked_to_replace(options["out"])
    with reserve_model(options["out"], options["overwrite"]) as reservation:
        order.book.check(
            (tuning.event,),
            unit=order.unit,
            budget=(order.budget.epsilon, order.budget.delta),
            limit=options["max_ratings"],
        )
        data, items = read_data(ratings, options)
        if items is None:
            note("without --items the set of item ids comes from the file and is assumed public")
        outcome = tuning.run(data, items=items, users=options["users"])
        outcome.model.save_reserved(reservation, overwrite=options["overwrite"])
    with after_writing(f"the model is written to {options['out']}"):
        _print_choice(outcome, tuning, options["out"], as_json=as_json)


def _print_choice(choice: Chosen, tuning: Tuning, out: str, *, as_json: bool) -> None:
    """What was chosen, and what it cost."""
    from tacit.evaluation.tune import FLATTERED

    promise, score = choice.model.statement, choice.score
    if as_json:
        print_json(
            {
                "model": out,
                "method": choice.candidate.method,
                "settings": dict(choice.candidate.settings),
                "score": {score.name: score.value, "note": FLATTERED},
                "trial": {"epsilon": tuning.trials.fit.epsilon, "delta": tuning.trials.fit.delta},
                "statement": promise.to_facts(),
            }
        )
        return
    score_text = "lost in noise" if score.value is None else f"{score.value:.3f}"
    say(f"chosen: {choice.candidate.label}")
    say(f"its noisy score: {score.name} {score_text} ({FLATTERED})")
    say(
        f"certified: ({promise.epsilon:g}, {promise.delta:g})-differentially private, unit "
        f"{promise.unit}, the whole search included; charged as entry {promise.book_number} "
        f"of {promise.population!r}"
    )
    say(
        f"each fit had epsilon {tuning.trials.fit.epsilon:.4g}; keep to yourself how long "
        "this took: it shows how many there were"
    )
    say(f"\nmodel written to {out}")


def _public(
    ratings: str, grid: tuple[Contestant, ...], options: dict[str, Any], *, as_json: bool
) -> None:
    from tacit.evaluation.tune_public import PUBLIC, tune_public
    from tacit.fitting.check import check

    arguments = method_options(options)
    for candidate in grid:
        check(candidate.make(**arguments), people=options["users"])
    data, items = read_data(ratings, options)
    ranking = tune_public(
        data, grid, items=items, users=options["users"], seeds=options["seeds"], **arguments
    )
    best = ranking[0].candidate
    if as_json:
        lines = [
            {
                "method": entry.candidate.method,
                "settings": dict(entry.candidate.settings),
                entry.metric: entry.mean,
                f"{entry.metric}_se": entry.error,
                "runs": len(entry.scores),
            }
            for entry in ranking
        ]
        print_json({"note": PUBLIC, "candidates": lines})
        return
    rows = [
        [
            entry.candidate.label,
            f"{entry.mean:.4f}",
            None if entry.error is None else f"{entry.error:.4f}",
        ]
        for entry in ranking
    ]
    table(["method", ranking[0].metric, "standard error"], rows)
    say(f"\n{PUBLIC}")
    flags = "".join(f" --set {k}={v}" for k, v in best.settings.items())
    say(f"next: tacit fit RATINGS --method {best.method}{flags} …")


def _swept(sweeps: Sequence[str]) -> dict[str, list[Any]]:
    """`factors=5,20` as a name and its values."""
    sweep: dict[str, list[Any]] = {}
    for text in sweeps:
        name, sign, values = text.partition("=")
        if not sign or not name or not values:
            raise SettingError(
                f"--sweep {text} is not NAME=VALUE,VALUE", remedy="for example --sweep factors=5,20"
            )
        sweep[name.strip()] = [
            parse_settings((f"{name}={value}",), "--sweep")[name.strip()]
            for value in values.split(",")
        ]
    return sweep
