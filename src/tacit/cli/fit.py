"""`tacit fit`: train a private model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import (
    MethodOption,
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
    tell_packed,
)
from tacit.cli.overwrite import asked_to_replace, reserve_model
from tacit.cli.people import leave_out, named, public_people, refuse_forgotten, tell_found
from tacit.cli.show import after_writing, say

LARGE = 10.0
"""Above this epsilon the documentation asks for a cap and a reason in writing."""


def _tell_large(epsilon: float | None) -> None:
    """Say what a large epsilon is worth before it is paid."""
    if epsilon is not None and epsilon > LARGE:
        note(
            f"epsilon {epsilon:g} is above {LARGE:g}: it promises little to anybody. Set a "
            "cap and write down why (docs/choosing-epsilon.md)"
        )


@click.command(cls=Command)
@click.argument("ratings")
@click.option(
    "--method", cls=MethodOption, metavar="NAME", help="bayes unless said, ease with --positive."
)
@promise_options
@click.option(
    "--out",
    required=True,
    metavar="MODEL",
    help="Folder for the model; appears whole or not at all.",
)
@click.option("--overwrite", is_flag=True, help="Replace the model in --out.")
@click.option(
    "--start",
    metavar="MODEL",
    help="Build on an earlier model of this ledger; only new rounds are charged.",
)
@click.option(
    "--public",
    metavar="FILE",
    help="Ratings of people who are public: believed as far as they fit, free.",
)
@click.option(
    "--public-are", metavar="TEXT", help="With --public: who they are, for the statement."
)
@click.option(
    "--public-items",
    metavar="FILE",
    help="With --public: the catalogue of their ids, whose titles tell whether they mean the "
    "same items.",
)
@click.option(
    "--keep-apart",
    metavar="10%",
    help="Ratings that the fit is not shown, for `tacit evaluate --release`.",
)
@click.option(
    "--without",
    metavar="FILE",
    help="People to leave out, one id a line: those who asked to be forgotten.",
)
@click.option(
    "--budgets",
    metavar="FILE",
    help="Columns user, epsilon: people who want less revealed than the rest.",
)
@book_options
@data_options
@run_options
@ledger_options
@json_option
def fit(
    ratings: str,
    out: str,
    overwrite: bool,
    start: str | None,
    keep_apart: str | None,
    public: str | None,
    public_are: str | None,
    budgets: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model from RATINGS (csv, tsv, parquet, or a known layout; a file or a folder).

    The ledger is charged before any noise is drawn. The model may be published; its
    statement says what was promised.
    """
    from tacit.data.held_out import parse_held_out
    from tacit.data.reading.budgets import read_budgets
    from tacit.fitting.check import check, check_funds
    from tacit.fitting.run import fit as run
    from tacit.ledger.statement.story import brief
    from tacit.model.model import load

    # Bad use fails before a rating is read.
    refuse_no_effect()
    method = build_method(options)
    _tell_large(method.epsilon)
    earlier = load(start) if start is not None else None
    without = options["without"]
    gone = () if without is None else named(without)
    public_users = None
    if public is not None or public_are is not None:
        public_users = public_people(ratings, public, public_are, options)
        refuse_forgotten(gone, public_users, without)
    order = check(
        method,
        people=options["users"],
        start=earlier,
        keep_apart=None if keep_apart is None else parse_held_out(keep_apart),
        public=public_users,
        budgets=None if budgets is None else read_budgets(budgets),
    )
    overwrite = overwrite or asked_to_replace(out)
    with reserve_model(out, overwrite) as reservation:
        check_funds(order, options["max_ratings"])
        check_data(order, ratings, options)
        if options["positive"] is None and method.better_list:
            note(method.better_list)
        if order.calibration == "none":
            note("without noise nothing is charged: this fit leaves no entry in the book")
        if options["purpose"]:
            note("--purpose stands in the published statement too: it should name nobody")
        data, items = read_data(ratings, options)
        if without is not None:
            data = leave_out(data, gone, without, listed=items is not None)
            if start is not None:
                note(
                    "--without takes nobody out of the model that --start names: who was in its "
                    "fit is still in it"
                )
        if order.budgets is not None:
            tell_found(order.budgets, data, budgets or "")
        from tacit.cli.show import print_json, progress

        if data.schema.positive is not None:
            _tell_likes(method, data.schema, options)
        if public_users is not None:
            note(public_users.agreement(items))
        if items is None:
            note("without --items the set of item ids comes from the file and is assumed public")
        with progress(f"fit {method.name}") as bar:
            model = run(
                method,
                data,
                items=items,
                progress=bar,
                order=order,
                paying=lambda: tell_packed(data),
            )
        model.save_reserved(reservation, overwrite=overwrite)
    with after_writing(f"the model is written to {out}"):
        size = sum(file.stat().st_size for file in Path(out).iterdir())
        promise = model.statement
        if as_json:
            print_json(
                {
                    "model": out,
                    "digest": model.shared.digest(),
                    "bytes": size,
                    "arrays_bytes": model.shared.nbytes,
                    "statement": promise.to_facts(),
                }
            )
        else:
            summary = (
                f"\nmodel written to {out} ({size:,} bytes); `tacit statement {out}` prints "
                "the whole promise"
            )
            say("\n".join([*brief(promise), summary]))


def _tell_likes(method: Any, schema: Any, options: dict[str, Any]) -> None:
    """What likes are to a method, and to a scale."""
    from tacit.data.schema import LIKES
    from tacit.fitting.check import of_high_ratings

    if schema.source != LIKES:
        message = of_high_ratings(method, schema)
        if message:
            note(message)
    elif options["scale"]:
        note("--scale says nothing of a table without ratings")


def build_method(options: dict[str, Any], **overrides: Any) -> Any:
    """The method that the options describe, with its settings."""
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE, find

    name = options.get("method") or (
        DEFAULT if options.get("positive") is None else DEFAULT_POSITIVE
    )
    arguments = method_options(options) | overrides
    return find(name)(**arguments, **parse_settings(options.get("settings", ())))
