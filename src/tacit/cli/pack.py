"""`tacit pack`: ratings in a compact private file, for data larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tacit.cli.grouped import Command
from tacit.cli.options import (
    as_written,
    data_options,
    json_option,
    note_reading,
    parse_columns,
    parse_scale,
    tell_items,
)
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, progress, say


@click.command(cls=Command)
@click.argument("ratings")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    help="A name that ends in .tacit; readable by its owner alone.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@click.option(
    "--memory", metavar="SIZE", help="Memory to use, such as 4GB; most of the machine unless said."
)
@data_options
@json_option
def pack(
    ratings: str, out: str, overwrite: bool, memory: str | None, as_json: bool, **options: Any
) -> None:
    """Sort RATINGS by person once and keep them in a compact private file.

    Any command that reads ratings reads it; a fit on the engine threads streams it where it
    does not fit into memory.
    """
    from tacit.data.inputs import as_catalogue
    from tacit.data.pack import check_target
    from tacit.data.pack import pack as run
    from tacit.data.reading.columns import of_ratings

    target = Path(out)
    check_target(target, overwrite=True)
    may_write(out, overwrite)
    columns = parse_columns(options["columns"] or ())
    items = as_catalogue(options["items"] or None, columns)
    with progress("pack") as bar:
        packed = run(
            ratings,
            target,
            parse_scale(options["scale"]),
            items=items,
            duplicates=options["duplicates"],
            positive=options["positive"],
            users=options["users"],
            layout=options["layout"],
            columns=of_ratings(columns),
            memory=memory,
            **as_written(options),
            overwrite=True,
            progress=bar,
        )
    if items is not None:
        tell_items(items)
    note_reading(packed, options["duplicates"])
    size = target.stat().st_size
    facts = {
        "out": out,
        "people": packed.n_users,
        "items": packed.n_items,
        "ratings": len(packed),
        "bytes": size,
    }
    if as_json:
        print_json(facts)
        return
    say(
        f"{packed.n_users:,} people with {len(packed):,} ratings of {packed.n_items:,} items "
        f"written to {out} ({size:,} bytes)"
    )
    say("It holds ratings as they are: keep it as private as their source.")
