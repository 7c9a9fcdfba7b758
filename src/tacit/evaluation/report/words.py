"""The lines of a table, and what they mean in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.model.person.results import in_columns
from tacit.notices import localize
from tacit.page import paragraph, table

LISTED = "recall@20"
"""How good a list is, where lists are compared in words."""

if TYPE_CHECKING:
    from tacit.evaluation.result import Evaluation
    from tacit.evaluation.tables import Line

NAMES = {
    "rmse": "error (RMSE)",
    "mae": "mean miss (MAE)",
    "recall@20": "found in 20",
    "ndcg@20": "nDCG@20",
    "overlap@30": "as non-private",
}
"""For people; the metric's own name where there is none."""


def columns(evaluation: Evaluation, metrics: Sequence[str]) -> list[str]:
    """Of these metrics, those that any line has."""
    lines = (*evaluation.cells, *evaluation.baselines)
    return [name for name in metrics if any(line.get(name) is not None for line in lines)]


def units(evaluation: Evaluation) -> list[str]:
    """Whom the cells protect, in their order."""
    return list(dict.fromkeys(str(cell["unit"]) for cell in evaluation.cells))


def rows(
    evaluation: Evaluation, metrics: Sequence[str], unit: str
) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows for the table of a unit, because promises to different units are never
    compared line by line: cells, then the reference, then baselines."""
    mine = [cell for cell in evaluation.cells if cell["unit"] == unit]
    swept = sorted({name for cell in mine for name in cell["settings"]})
    heads = ["method", "unit", "calibration", "epsilon", *swept, *metrics]
    heads += [f"{metrics[0]} over twin"] if metrics else []
    heads.append("runs")
    lines = [_row(cell, swept, metrics) for cell in mine]
    reference_listed = any(evaluation.reference is cell for cell in evaluation.cells)
    if evaluation.reference is not None and not reference_listed:
        lines.append(_row(evaluation.reference, swept, metrics))
    for baseline in evaluation.baselines:
        baseline_cell = baseline | {"method": baseline["baseline"], "unit": None}
        baseline_cell |= {"calibration": "baseline", "epsilon": None}
        lines.append(_row(baseline_cell, swept, metrics))
    return heads, lines


def _row(cell: Line, swept: Sequence[str], metrics: Sequence[str]) -> list[Any]:
    settings = cell.get("settings") or {}
    row = [cell["method"], cell["unit"], cell["calibration"], budget(cell)]
    row += [settings.get(name) for name in swept]
    row += [mean_sd(cell, name) for name in metrics]
    if metrics:
        over = cell.get("over_twin", {}).get(metrics[0])
        row.append(None if over is None else signed(over))
    return [*row, cell["runs"]]


def budget(cell: Line) -> str:
    """Epsilon, or why there is none."""
    if cell["epsilon"] is not None:
        return f"{cell['epsilon']:g}"
    return {"none": "twin", "noise off": "noise off"}.get(cell["calibration"], "–")


def mean_sd(cell: Line, name: str) -> str | None:
    """`.9312 ± .0010`; None for a metric that the line does not have."""
    mean, spread = cell.get(name), cell.get(f"{name}_sd")
    if mean is None:
        return None
    return f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread:.4f}"


def signed(over: dict[str, float | None]) -> str:
    """`+0.0312 (0.0290 to 0.0334)`, or without an interval where there is none."""
    mean = over["mean"]
    low = over["low"]
    high = over["high"]
    text = f"{mean:+.4f}"
    if low is None or high is None:
        return text
    return f"{text} ± {(high - low) / 2:.4f}"


def small_table(evaluation: Evaluation) -> str:
    """For a notebook."""
    metrics = columns(evaluation, tuple(NAMES))
    tables = [table(*rows(evaluation, metrics, unit)) for unit in units(evaluation)]
    return "".join([*tables, *map(paragraph, list_words(evaluation))])


def plain_table(evaluation: Evaluation) -> str:
    """The same in plain characters."""
    metrics = columns(evaluation, tuple(NAMES))
    tables = []
    for unit in units(evaluation):
        heads, lines = rows(evaluation, metrics, unit)
        cells = [["–" if entry is None else str(entry) for entry in row] for row in lines]
        tables.append(in_columns(heads, cells))
    return "\n\n".join([*tables, *list_words(evaluation)])


def list_words(evaluation: Evaluation) -> list[str]:
    """What each compared method says of its own lists, and what these rows say of them."""
    from tacit.methods import find

    sentences = []
    for name in dict.fromkeys(str(cell["method"]) for cell in evaluation.cells):
        advice = find(name).better_list
        if advice and evaluation.metric == "rmse":
            sentences += [f"{localize(advice)}.", *_better_here(evaluation, name)]
    return sentences


def _better_here(evaluation: Evaluation, name: str) -> list[str]:
    """Which private methods found more in their lists than this one, at the same unit and
    epsilon."""
    best: dict[tuple[str, float], dict[str, float]] = {}
    for cell in evaluation.cells:
        if cell["epsilon"] is not None and cell[LISTED] is not None:
            best_scores = best.setdefault((cell["unit"], cell["epsilon"]), {})
            best_scores[cell["method"]] = max(cell[LISTED], best_scores.get(cell["method"], 0.0))
    sentences = []
    for (unit, epsilon), best_scores in best.items():
        mine = best_scores.pop(name, None)
        better = [
            f"{rival} {value:.4f}" for rival, value in best_scores.items() if value > (mine or 0.0)
        ]
        if mine is not None and better:
            sentences.append(
                f"Here, at epsilon {epsilon:g} and unit {unit}: {LISTED} {mine:.4f} for {name}, "
                f"{', '.join(better)}."
            )
    return sentences


def reference_words(evaluation: Evaluation) -> str:
    """The best non-private line, in a sentence."""
    best = evaluation.reference
    assert best is not None
    name = evaluation.metric
    value = best.get(name)
    text = "unknown" if value is None else f"{value:.4f}"
    return f"best non-private reference: {best['method']} ({best['unit']}), {name} {text}"
