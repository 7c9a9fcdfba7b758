"""`tacit export`: the published arrays for other systems."""

from __future__ import annotations

import click


@click.command()
@click.argument("model")
@click.option("--to", "kind", type=click.Choice(["npz", "parquet"]), required=True, help="File format.")
@click.option("--out", required=True, metavar="FILE", help="File to write.")
def export(model: str, kind: str, out: str) -> None:
    """Write the item arrays of MODEL, one row an item with its id and title. They are public already."""
    from tacit.model.export import export_arrays
    from tacit.model.model import load

    export_arrays(load(model), out, kind)
    click.echo(f"written to {out}")
