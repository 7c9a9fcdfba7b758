"""`tacit demo`: the one-minute tour."""

from __future__ import annotations

import click

from tacit.cli.options import json_option
from tacit.cli.show import say

MINE = {
    "The Godfather": 5.0,
    "Pulp Fiction": 5.0,
    "Goodfellas": 5.0,
    "Alien": 4.0,
    "Blade Runner": 4.0,
    "Titanic": 2.0,
    "The Notebook": 1.0,
}


@click.command()
@click.option(
    "--epsilon",
    type=float,
    default=1.0,
    show_default=True,
    help="The budget of the demonstration.",
)
@json_option
def demo(epsilon: float, as_json: bool) -> None:
    """Fit on the embedded synthetic sample, recommend for an invented person, print the promise."""
    import tempfile
    from pathlib import Path

    from tacit.cli.show import print_json, print_lines, progress
    from tacit.data.sample import sample, sample_catalogue
    from tacit.fitting.run import fit
    from tacit.methods import DEFAULT, find

    items, ratings = sample_catalogue(), sample()
    data = (
        f"{len(items)} real films, {ratings.n_users:,} invented people, "
        f"{len(ratings):,} made-up ratings"
    )
    if not as_json:
        say(f"1. The data: {data}.")
    with tempfile.TemporaryDirectory() as folder:
        method = find(DEFAULT)(
            epsilon=epsilon,
            population="demo",
            purpose="demonstration",
            ledger=str(Path(folder) / "ledger.sqlite"),
        )
        with progress("fit") as bar:
            model = fit(method, ratings, items=items, users=2000, progress=bar)
    lines = model.recommend(MINE, 8)
    if as_json:
        listed = [line.__dict__ for line in lines]
        print_json(
            {
                "data": data,
                "recommendations": listed,
                "statement": model.statement.to_facts(),
            }
        )
        return
    say(
        f"2. The model: `{method.name}`, fitted at epsilon {epsilon:g} for a whole "
        "person. It may be published.\n"
    )
    say(
        "3. A person's own list, computed on that person's side from the published model "
        "and these ratings:"
    )
    say(
        "   "
        + ", ".join(f"{title} {rating:g}" for title, rating in MINE.items())
        + "\n"
    )
    print_lines(lines)
    say("\n4. The promise:\n")
    say(str(model.statement))
    say(
        "\nNext: `tacit fit RATINGS --epsilon 1 --out MODEL` with your own table; `tacit "
        "--help` lists the rest."
    )
