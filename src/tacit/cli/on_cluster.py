"""`tacit evaluate --engine spark`: the table of a comparison that ran on a cluster."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tacit.cli.options import note, read_data
from tacit.cli.show import counted_progress, print_json, say, table

if TYPE_CHECKING:
    from tacit.evaluation.api import EvaluationRequest


def evaluate_on_cluster(
    request: EvaluationRequest, ratings: str, options: dict[str, Any], *, as_json: bool
) -> None:
    """Compare on the cluster; the twin is fitted in one piece, on one machine, and left out."""
    from tacit.evaluation.api import EvaluationRequest
    from tacit.evaluation.cluster import check, compare
    from tacit.fitting.publish import book_evaluation
    from tacit.methods import find

    check(request.how, likes=options["positive"] is not None)
    cluster_request = EvaluationRequest(
        replace(request.grid, twin=False), request.how, reference=False
    )
    cluster_request.check(options["users"], likes=False)
    note("left out: twins and baselines, which need one machine")
    for reason in cluster_request.left_out:
        note(f"left out: {reason}")
    data, items = read_data(ratings, options)
    with counted_progress("evaluate") as bar:
        comparison = compare(
            data,
            cluster_request.arms,
            request.how,
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
        print_json(comparison.to_json())
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
        for cell in comparison.cells
    ]
    table(heads, rows)
    for name in dict.fromkeys(cell["method"] for cell in comparison.cells):
        advice = find(name).better_list
        if advice:
            say(f"{advice}.")
