"""`tacit add-items`: new items from public features, at no cost."""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option
from tacit.cli.overwrite import asked_to_replace
from tacit.cli.show import say


@click.command(name="add-items", cls=Command)
@click.argument("model")
@click.argument("file")
@click.option(
    "--out",
    required=True,
    metavar="MODEL",
    help="Folder for the extended model; not MODEL itself, which was paid for.",
)
@click.option("--overwrite", is_flag=True, help="Replace a model that stands at --out.")
@json_option
def add_items(model: str, file: str, out: str, overwrite: bool, as_json: bool) -> None:
    """Extend MODEL with the items of FILE that it does not know, from their public features alone.

    Costs no budget and reads no rating. The new items have wider error bars. The extended
    model carries the statement of the one it was made from, and what it takes to find that
    one in it: `tacit verify` does.
    """
    from tacit.cli.show import print_json
    from tacit.data.reading.items import read_items
    from tacit.model.extend import add_items as extend
    from tacit.model.model import Model, load

    _check_apart(Path(model), Path(out))
    overwrite = overwrite or asked_to_replace(out)
    fitted = load(model)
    shared = extend(fitted.shared, read_items(file))
    Model(shared, fitted.statement).save(out, overwrite=overwrite)
    added = len(shared.catalogue) - len(fitted.shared.catalogue)
    if as_json:
        print_json({"added": added, "items": len(shared.catalogue), "out": out})
    else:
        noun = "item" if added == 1 else "items"
        say(
            f"{added:,} {noun} added from public features; the model has "
            f"{len(shared.catalogue):,} items now"
        )


def _check_apart(model: Path, out: Path) -> None:
    """The model that was paid for is not overwritten: without it nothing verifies."""
    from tacit.errors import SettingError

    if model.resolve() == out.resolve():
        raise SettingError(
            "--out is the model that was paid for, which must stay as it is",
            remedy="choose another --out",
        )
