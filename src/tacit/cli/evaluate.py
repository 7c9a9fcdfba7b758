"""`tacit evaluate`: accuracy tables for the owner."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from tacit.cli.options import (
    check_data,
    data_options,
    json_option,
    ledger_options,
    method_options,
    parse_settings,
    read_data,
    run_options,
)
from tacit.cli.release import release_options, run_release
from tacit.cli.show import say


@click.command()
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
    "--unit", metavar="user|rating|value", help="Whom the promise is about."
)
@click.option(
    "--split",
    metavar="HOW",
    help="90/10 unless said, people with --positive; or 80/20, time, probe.",
)
@click.option(
    "--seeds",
    default=3,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="How many random splits.",
)
@click.option(
    "--folds", type=int, metavar="K", help="K-fold instead of random splits."
)
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
    "--days",
    is_flag=True,
    help="Ask for each prediction on the day of its rating (docs/results/bayes.md).",
)
@click.option(
    "--twin/--no-twin",
    default=True,
    show_default=True,
    help="Also the non-private twin.",
)
@click.option(
    "--owner-only",
    is_flag=True,
    help="Allow it on a capped book: the table stays with the owner.",
)
@release_options
@data_options
@run_options
@ledger_options
@json_option
def evaluate(
    ratings: str,
    methods: str | None,
    epsilons: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare methods on RATINGS against raw held-back ratings. NOT PRIVATE: for the owner only."""
    if options["release"]:
        run_release(ratings, epsilons, options, as_json=as_json)
        return
    from tacit.data.splits import parse_shares
    from tacit.errors import SettingError
    from tacit.evaluation.sweep import run
    from tacit.fitting.publish import book_evaluation

    how = options["split"] or (
        "90/10" if options["positive"] is None else "people"
    )
    if how not in ("time", "probe", "people"):
        parse_shares(how)
    if not 0 < options["fold_in"] < 100:
        raise SettingError(
            f"--fold-in {options['fold_in']:g} is not between 0 and 100 per cent"
        )
    arms = _arms(ratings, methods, epsilons, options)
    data, items = read_data(ratings, options)
    if options["days"] and data.time is None:
        raise SettingError(
            "--days needs times, and these ratings have none",
            remedy="leave --days out",
        )
    book = partial(
        book_evaluation,
        options["ledger"],
        options["population"],
        owner_only=options["owner_only"],
    )
    from tacit.cli.show import print_json, progress

    with progress("evaluate") as bar:
        cells = run(
            data,
            arms,
            split=how,
            seeds=options["seeds"],
            folds=options["folds"],
            hold=options["hold"],
            fold_in=options["fold_in"] / 100,
            items=items,
            days=options["days"],
            progress=bar,
            ready=book,
        )
    if as_json:
        print_json({"note": "NOT PRIVATE: for the owner only", "cells": cells})
    else:
        _print(cells)


def _arms(
    ratings: str, methods: str | None, epsilons: str, options: dict[str, Any]
) -> list[Any]:
    """Every method at every epsilon, and its twin; all checked before a rating is read."""
    from tacit.errors import SettingError
    from tacit.evaluation.sweep import Arm
    from tacit.fitting.check import check
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE, find

    try:
        budgets = [float(text) for text in epsilons.split(",")]
    except ValueError:
        raise SettingError(
            f"--epsilon {epsilons} is not a list of numbers",
            remedy="for example 0.1,1,10",
        ) from None
    names = (
        methods
        or (DEFAULT if options["positive"] is None else DEFAULT_POSITIVE)
    ).split(",")
    settings = parse_settings(options["settings"])
    shared = method_options(options)
    arms = []
    for name in names:
        cls = find(name.strip())
        wanted: list[tuple[str, float | None]] = [
            (options["calibration"], epsilon) for epsilon in budgets
        ]
        if options["calibration"] == "none":
            wanted = [("none", None)]
        elif options["twin"]:
            wanted.append(("none", None))
        for calibration, epsilon in wanted:

            def make(
                seed: int,
                cls: Any = cls,
                calibration: Any = calibration,
                epsilon: Any = epsilon,
            ) -> Any:
                asked = {
                    "calibration": calibration,
                    "epsilon": epsilon,
                    "seed": seed,
                }
                return cls(**(shared | asked), **settings)

            order = check(make(0), people=options["users"])
            check_data(order, ratings, options)
            arms.append(Arm(make, cls.name, order.unit, calibration, epsilon))
    return arms


def _print(cells: list[dict[str, Any]]) -> None:
    from tacit.cli.show import table

    metrics = [
        name
        for name in cells[0]
        if f"{name}_sd" in cells[0]
        and not name.startswith(("precision", "hit"))
    ]
    say("NOT PRIVATE: compared with raw held-back ratings, for the owner only")
    rows = []
    for cell in cells:
        budget = "twin" if cell["epsilon"] is None else f"{cell['epsilon']:g}"
        numbers = []
        for name in metrics:
            spread = (
                f" ± {cell[f'{name}_sd']:.4f}"
                if cell[f"{name}_sd"] is not None
                else ""
            )
            numbers.append(
                None if cell[name] is None else f"{cell[name]:.4f}{spread}"
            )
        rows.append(
            (
                cell["method"],
                cell["unit"],
                cell["calibration"],
                budget,
                *numbers,
                cell["runs"],
            )
        )
    table(("method", "unit", "calibration", "epsilon", *metrics, "runs"), rows)
