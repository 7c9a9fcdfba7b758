"""`tacit fit`: train a private model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.moot import refuse_moot
from tacit.cli.options import (
    MethodOption,
    asked_to_replace,
    book_options,
    check_data,
    data_options,
    json_option,
    ledger_options,
    method_options,
    note,
    promise_options,
    read_data,
    run_options,
)
from tacit.cli.parse import parse_scale, parse_settings
from tacit.cli.show import say

if TYPE_CHECKING:
    from tacit.data.public import PublicPeople
    from tacit.data.ratings import Ratings


@click.command()
@click.argument("ratings")
@click.option(
    "--method",
    cls=MethodOption,
    metavar="NAME",
    help="bayes unless said, ease with --positive.",
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
    "--public-are",
    metavar="TEXT",
    help="With --public: who they are, for the statement.",
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
    from tacit.data.apart import parse_apart
    from tacit.data.reading.budgets import read_budgets
    from tacit.fitting.check import check, check_funds
    from tacit.fitting.run import fit as run
    from tacit.ledger.statement.brief import brief
    from tacit.model.model import load
    from tacit.model.shared import check_target

    # Bad use fails before a rating is read.
    refuse_moot()
    method = build_method(options)
    earlier = load(start) if start is not None else None
    order = check(
        method,
        people=options["users"],
        start=earlier,
        keep_apart=None if keep_apart is None else parse_apart(keep_apart),
        public=public_people(public, public_are, options)
        if public is not None or public_are is not None
        else None,
        budgets=None if budgets is None else read_budgets(budgets),
    )
    overwrite = overwrite or asked_to_replace(out)
    check_target(Path(out), overwrite=overwrite)
    check_funds(order, options["max_ratings"])
    check_data(order, ratings, options)
    data, items = read_data(ratings, options)
    if options["without"]:
        data = leave_out(data, options["without"])
    from tacit.cli.show import print_json, progress

    if items is None:
        note(
            "without --items the set of item ids comes from the file and is assumed public"
        )
    with progress(f"fit {method.name}") as bar:
        model = run(method, data, items=items, progress=bar, order=order)
    model.save(out, overwrite=overwrite)
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
        written = (
            f"\nmodel written to {out} ({size:,} bytes); `tacit statement {out}` prints "
            "the whole promise"
        )
        say("\n".join([*brief(promise), written]))


def public_people(
    path: str | None, who: str | None, options: dict[str, Any]
) -> PublicPeople:
    """The people of a file who are public. It may be of another layout than the ratings."""
    from tacit.data.public import PublicPeople
    from tacit.data.read import read
    from tacit.errors import SettingError

    if path is None:
        raise SettingError(
            "--public-are describes people whom nobody gave",
            remedy="give their ratings by --public, or leave --public-are out",
        )
    if options["positive"] is not None:
        raise SettingError(
            "public people rate, and --positive leaves no ratings",
            remedy="leave --public or --positive out",
        )
    return PublicPeople(read(path, parse_scale(options["scale"])), who or "")


def leave_out(data: Ratings, path: str) -> Ratings:
    """The ratings without the people that a file names. Who was found is the owner's to know."""
    from tacit.data.ratings import counted
    from tacit.data.reading.personal import read_names
    from tacit.errors import DataError

    named = {name for name in read_names(path) if name}
    if not named:
        raise DataError(
            "it names nobody", place=path, remedy="list ids, one a line"
        )
    left, found = data.without(named)
    if not len(left):
        raise DataError(
            "nobody is left", place=path, remedy="leave fewer people out"
        )
    note(
        f"left out {counted(found, 'person').replace('persons', 'people')} of "
        f"{len(named):,} named; for the owner only"
    )
    return left


def build_method(options: dict[str, Any], **more: Any) -> Any:
    """The method that the options describe, with its settings."""
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE, find

    name = options.get("method") or (
        DEFAULT if options.get("positive") is None else DEFAULT_POSITIVE
    )
    arguments = method_options(options) | more
    return find(name)(
        **arguments, **parse_settings(options.get("settings", ()))
    )
