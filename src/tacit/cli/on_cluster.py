"""`tacit evaluate --engine spark`: the table of a comparison that ran on a cluster."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tacit.cli.options import note, read_data
from tacit.cli.show import counted, print_json, say, table

if TYPE_CHECKING:
    from tacit.evaluation.door import AskedEvaluation


def evaluate_on_cluster(
    asked: AskedEvaluation, ratings: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Compare on the cluster; the twin is fitted in one piece, on one machine, and left out."""
    from tacit.evaluation.cluster import check, compare
    from tacit.evaluation.door import AskedEvaluation
    from tacit.fitting.publish import book_evaluation
    from tacit.methods import find

    check(asked.how, likes=options["positive"] is not None)
    alone = AskedEvaluation(replace(asked.grid, twin=False), asked.how, reference=False)
    alone.check(options["users"], likes=False)
    note("left out: twins and baselines, which need one machine")
    for words in alone.left_out:
        note(f"left out: {words}")
    data, items = read_data(ratings, options)
    with counted("evaluate") as bar:
        found = compare(
            data,
            alone.arms,
            asked.how,
            items=items,
            ready=partial(
                book_evaluation,
                options["ledger"],
                options["population"],
                owner_only=options["owner_only"],
            ),
            progress=bar,
        )
    if as_json:
        print_json(found.to_json())
        return
    say("NOT PRIVATE: compared with raw held-back ratings, for the owner only")
    heads = ["method", "unit", "epsilon", "rmse", "mae", "runs"]
    rows = [
        [
            cell["method"],
            cell["unit"],
            f"{cell['epsilon']:g}",
            f"{cell['rmse']:.4f}",
            f"{cell['mae']:.4f}",
            cell["runs"],
        ]
        for cell in found.cells
    ]
    table(heads, rows)
    for name in dict.fromkeys(cell["method"] for cell in found.cells):
        advice = find(name).better_list
        if advice:
            say(f"{advice}.")
