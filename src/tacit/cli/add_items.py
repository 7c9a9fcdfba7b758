"""`tacit add-items`: new items from public features, at no cost."""

from __future__ import annotations

import click

from tacit.cli.options import json_option
from tacit.cli.show import say


@click.command(name="add-items")
@click.argument("model")
@click.argument("file")
@click.option(
    "--out",
    help="Where to write the extended model; MODEL itself unless given.",
)
@click.option(
    "--overwrite", is_flag=True, help="Replace a model that stands at --out."
)
@json_option
def add_items(
    model: str, file: str, out: str | None, overwrite: bool, as_json: bool
) -> None:
    """Extend MODEL with the items of FILE that it does not know, from their public features alone.

    Costs no budget and reads no rating. The new items have wider error bars. The extended
    model carries the same statement, and the digest of the model it was made from: that one
    is in the book, the extended one is not.
    """
    from tacit.cli.show import print_json
    from tacit.data.reading.items import read_items
    from tacit.model.extend import add_items as extend
    from tacit.model.model import Model, load

    known = load(model)
    shared = extend(known.shared, read_items(file))
    Model(shared, known.statement).save(
        out or model, overwrite=overwrite or out is None
    )
    added = len(shared.catalogue) - len(known.shared.catalogue)
    if as_json:
        print_json(
            {
                "added": added,
                "items": len(shared.catalogue),
                "out": out or model,
            }
        )
    else:
        noun = "item" if added == 1 else "items"
        say(
            f"{added:,} {noun} added from public features; the model has "
            f"{len(shared.catalogue):,} items now"
        )
