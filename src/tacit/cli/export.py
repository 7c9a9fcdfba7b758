"""`tacit export`: the published arrays for other systems."""

from __future__ import annotations

import click

from tacit.cli.grouped import Command
from tacit.cli.options import json_option
from tacit.cli.overwrite import may_write
from tacit.cli.show import say


@click.command(cls=Command)
@click.argument("model")
@click.option(
    "--to", "kind", type=click.Choice(["npz", "parquet"]), required=True, help="File format."
)
@click.option("--out", required=True, metavar="FILE", help="File to write.")
@click.option("--overwrite", is_flag=True, help="Replace the file in --out.")
@click.option(
    "--similarities",
    is_flag=True,
    help="Pairs of items and how alike they are, instead of vectors.",
)
@json_option
def export(
    model: str, kind: str, out: str, overwrite: bool, similarities: bool, as_json: bool
) -> None:
    """Write the item arrays of MODEL, one row an item with its id and title. They are
    public already."""
    from tacit.errors import SettingError
    from tacit.model.export import export_arrays, export_pairs
    from tacit.model.model import load

    if out.endswith((".npz", ".parquet")) and not out.endswith(f".{kind}"):
        raise SettingError(
            f"--out {out} does not end as --to {kind} does", remedy=f"name a .{kind} file"
        )
    may_write(out, overwrite)
    fitted = load(model)
    noun, count = "items", len(fitted.shared.catalogue)
    if similarities:
        noun, count = "pairs", export_pairs(fitted, out, kind)
    else:
        export_arrays(fitted, out, kind)
    if as_json:
        from tacit.cli.show import print_json

        print_json({"out": out, "format": kind, noun: count})
    else:
        say(f"{count:,} {noun} written to {out}")
