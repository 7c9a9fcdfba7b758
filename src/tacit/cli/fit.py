"""`tacit fit`: train a private model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tacit.cli.options import (
    data_options,
    json_option,
    ledger_options,
    note,
    parse_settings,
    read_data,
    run_options,
)


@click.command()
@click.argument("ratings")
@click.option(
    "--method",
    metavar="NAME",
    help="bayes unless said, ease with --positive; see docs/methods.md.",
)
@click.option(
    "--epsilon",
    type=float,
    help="The budget of this fit; `tacit plan` shows what it buys.",
)
@click.option(
    "--unit",
    metavar="user|rating|value",
    help="Whom the promise is about: a whole person unless said.",
)
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
    "--purpose", default="", help="One line for the ledger: what this fit is for."
)
@click.option(
    "--accept-unbounded",
    is_flag=True,
    help="Let a `paper` fit be booked on a capped ledger.",
)
@data_options
@run_options
@ledger_options
@json_option
def fit(
    ratings: str,
    out: str,
    overwrite: bool,
    start: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model from RATINGS (csv, tsv, parquet, or a known layout; a file or a folder).

    The ledger is charged before any noise is drawn. The model may be published; its
    statement says what was promised.
    """
    from tacit.fitting.run import check, check_funds
    from tacit.fitting.run import fit as run
    from tacit.model.shared import check_target

    method = build_method(options)
    order = check(
        method, people=options["users"]
    )  # bad use fails before a rating is read
    check_target(Path(out), overwrite=overwrite)
    earlier = _start(method, start) if start is not None else None
    check_funds(order, options["max_ratings"])
    data, items = read_data(ratings, options)
    from tacit.cli.show import print_json, progress

    if items is None:
        note(
            "without --items the set of item ids comes from the file and is assumed public"
        )
    with progress(f"fit {method.name}") as bar:
        model = run(method, data, items=items, progress=bar, start=earlier)
    model.save(out, overwrite=overwrite)
    size = sum(file.stat().st_size for file in Path(out).iterdir())
    if as_json:
        print_json(
            {
                "model": out,
                "digest": model.shared.digest(),
                "bytes": size,
                "arrays_bytes": model.shared.nbytes,
                "statement": model.statement.model_dump(mode="json"),
            }
        )
    else:
        click.echo(_summary(model.statement))
        if earlier is not None and order.budget is not None:
            click.echo(_total(method, order.unit))
        click.echo(
            f"\nmodel written to {out} ({size:,} bytes); `tacit statement {out}` prints "
            "the whole promise"
        )


def _start(method: Any, path: str) -> Any:
    """The model to start from, refused before a rating is read."""
    from tacit.fitting.start import check_start
    from tacit.model.model import load

    model = load(path)
    check_start(method, model)
    return model


def _total(method: Any, unit: Any) -> str:
    """What all entries of the book cost together: the earlier model was paid for in its own
    entry."""
    from tacit.ledger.book.book import open_book

    spent = open_book(method.ledger, method.population).spent()[unit]
    return (
        f"all {spent.entries} entries of {method.population!r} together: epsilon "
        f"{spent.epsilon:.3g} at delta "
        f"{spent.delta:g}, for someone who is in every one of them"
    )


def _summary(statement: Any) -> str:
    """Two lines: what stands, and what it cost."""
    if statement.certified == "certified":
        return (
            f"certified: ({statement.epsilon:g}, {statement.delta:g})-differentially "
            f"private, unit {statement.unit}; "
            f"charged as entry {statement.book_number} of {statement.population!r}"
        )
    if statement.certified == "claimed":
        return f"CLAIMED, NOT CERTIFIED: {statement.reason}"
    return f"NOT PRIVATE: {statement.reason}"


def build_method(options: dict[str, Any], **more: Any) -> Any:
    """The method that the options describe, with its settings."""
    from tacit.methods import DEFAULT, DEFAULT_POSITIVE, find

    name = options.get("method") or (
        DEFAULT if options.get("positive") is None else DEFAULT_POSITIVE
    )
    kept = (
        "epsilon",
        "delta",
        "unit",
        "calibration",
        "engine",
        "threads",
        "population",
        "ledger",
        "purpose",
        "accept_unbounded",
    )
    arguments = {key: options[key] for key in kept if key in options}
    arguments["devices"] = (
        parse_settings(options.get("devices", ()), "--devices") or None
    )
    return find(name)(
        **(arguments | more), **parse_settings(options.get("settings", ()))
    )
