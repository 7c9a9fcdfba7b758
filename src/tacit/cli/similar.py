"""`tacit similar`: more like this."""

from __future__ import annotations

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option


@click.command(cls=Command)
@click.argument("model")
@click.argument("item")
@click.option(
    "-n", "count", default=10, show_default=True, type=click.IntRange(1), help="How many."
)
@json_option
def similar(model: str, item: str, count: int, as_json: bool) -> None:
    """Items most like ITEM (an id or a title), from MODEL alone."""
    from tacit.cli.show import print_json, table
    from tacit.model.model import load

    neighbours = load(model).similar(item, count)
    if as_json:
        print_json({"similar": [{"item": i, "title": t, "closeness": c} for i, t, c in neighbours]})
    elif all(i == t for i, t, _ in neighbours):  # a model without titles
        table(("item", "closeness"), [(i, f"{c:.3f}") for i, _, c in neighbours])
    else:
        table(("item", "title", "closeness"), [(i, t, f"{c:.3f}") for i, t, c in neighbours])
