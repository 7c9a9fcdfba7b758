"""What the numbers mean, in sentences for somebody who is not a specialist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.evaluation.report.pictures import UNITS, best_baseline, series
from tacit.ledger.account.odds import but_for, odds_times
from tacit.ledger.account.rounded import up
from tacit.model.person.results import in_columns
from tacit.notices import localize
from tacit.page import card, cards, paragraph, table

if TYPE_CHECKING:
    from tacit.evaluation.result import Evaluation
    from tacit.evaluation.tables import Line

NEAR = 0.25
"""Of the scale's half width: a prediction this close is called close."""
LISTED = "recall@20"
"""How good a list is, where lists are compared in words."""
NAMES = {
    "rmse": "error (RMSE)",
    "mae": "mean miss (MAE)",
    "recall@20": "found in 20",
    "ndcg@20": "nDCG@20",
    "overlap@30": "as non-private",
}
"""For people; the metric's own name where there is none."""


def first_words(evaluation: Evaluation) -> str:
    """Who was asked, and what was compared."""
    facts = evaluation.facts
    methods = _listed(list(dict.fromkeys(c["method"] for c in evaluation.cells)))
    noun = "ratings" if evaluation.metric == "rmse" else "likes"
    return (
        f"{methods} on {facts['ratings']:,} {noun} of {facts['items']:,} items by "
        f"{facts['people']:,} people: what accuracy is lost when the model keeps to a limit "
        "on what it reveals about any one of them."
    )


def cost_cards(evaluation: Evaluation) -> str:
    """Three figures to see first: the cost at each of three budgets, or the accuracy."""
    from tacit.evaluation.report.pictures import three

    lines = series(evaluation)
    if not lines:
        return cards(_accuracy(cell, evaluation.metric) for cell in evaluation.cells[:3])
    name, cells, twin = lines[0]
    return cards(_cost(name, cell, twin, evaluation.metric) for cell in three(cells))


def _accuracy(cell: Line, metric: str) -> str:
    value = cell[metric]
    text = "–" if value is None else f"{value:.3f}"
    return card(text, f"{metric} of {cell['method']}, without privacy")


def _cost(name: str, cell: Line, twin: Line | None, metric: str) -> str:
    budget = f"{name} at epsilon {cell['epsilon']:g}"
    value = cell[metric]
    if value is None:
        return card("–", f"{budget}: nothing is known")
    if twin is None or not twin.get(metric):
        return card(f"{value:.3f}", f"{metric}, {budget}")
    change = 100 * (value / twin[metric] - 1)
    less = "less" if change < 0 else "more"
    noun = "error" if metric == "rmse" else "found in lists"
    return card(
        f"{abs(change):.1f} % {less}",
        f"{noun} than without privacy: {budget} ({value:.3f} against {twin[metric]:.3f})",
    )


def band_words(evaluation: Evaluation) -> str:
    """What the band of a curve is."""
    over = "people and over draws of noise"
    if evaluation.cells[0]["runs"] == 1:
        over = "people; noise was drawn once, so how it varies is not in it"
    return (
        f"The band is a 95 % interval over {over}. Dashed: the same model without privacy. "
        "Dotted: the best answer without any model."
    )


def growth_words(evaluation: Evaluation) -> str:
    """What is bought by a larger budget, with numbers."""
    _, cells, twin = series(evaluation)[0]
    metric = evaluation.metric
    measured = [cell for cell in cells if cell[metric] is not None]
    if not measured:
        return "Nothing is known about this method on these ratings."
    sentences = [whose_words(evaluation) + _error_words(measured[0], evaluation)]
    if len(measured) > 1:
        sentences.append(_error_words(measured[-1], evaluation))
    if twin is not None and twin[metric] is not None:
        sentences.append(
            f"Without any privacy it would be {_format_metric(twin[metric], metric)}"
            f"{_close_words(twin, evaluation)}."
        )
    plain = best_baseline(evaluation, metric)
    if plain is not None:
        sentences.append(
            f"Without any model ({plain['baseline']}) it is "
            f"{_format_metric(plain[metric], metric)}."
        )
    best = evaluation.reference
    if best is not None and best is not twin and best[metric] is not None:
        sentences.append(
            f"The best non-private model that was run, {best['method']}, has "
            f"{_format_metric(best[metric], metric)}."
        )
    return " ".join(sentences)


def _format_metric(value: float, metric: str) -> str:
    return f"{value:.3f}" if metric == "rmse" else f"{100 * value:.1f} %"


def _error_words(cell: Line, evaluation: Evaluation) -> str:
    value = cell[evaluation.metric]
    budget = f"At epsilon {cell['epsilon']:g}"
    if evaluation.metric == "rmse":
        return (
            f"{budget} a prediction is off by {value:.3f} points (root mean square)"
            f"{_close_words(cell, evaluation)}."
        )
    return f"{budget} a list of 20 finds {100 * value:.1f} % of what people go on to like."


def _close_words(cell: Line, evaluation: Evaluation) -> str:
    """`; 62 of 100 are within half a point`."""
    shares = cell["error_cdf"]
    if shares is None or evaluation.metric != "rmse":
        return ""
    low, high = evaluation.facts["scale"]
    step = round(NEAR / 2 * (len(shares) - 1))
    near = (high - low) * step / (len(shares) - 1)
    return f"; {100 * shares[step]:.0f} of 100 are within {near:g} points"


def whose_words(evaluation: Evaluation) -> str:
    """Which of several lines a section is about."""
    lines = series(evaluation)
    if len(lines) < 2:
        return ""
    return f"Of the models compared, this is about {lines[0][0]}. "


def payer_words(evaluation: Evaluation) -> str:
    """Whom the noise hits, at the smallest budget."""
    _, cells, twin = series(evaluation)[0]
    cell = cells[0]
    metric = evaluation.metric
    mine = cell["by_activity"].get(metric)
    theirs = None if twin is None else twin["by_activity"].get(metric)
    opening = (
        "Noise is the same for everybody; what it does is not: it weighs most on items that "
        "few rated."
    )
    sentences = [whose_words(evaluation) + opening]
    if mine is not None and theirs is not None:
        few_change, many_change = mine[0] - theirs[0], mine[-1] - theirs[-1]
        sentences.append(
            f"At epsilon {cell['epsilon']:g} the fifth of people with the fewest ratings "
            f"{_change(few_change, metric)}, the fifth with the most "
            f"{_change(many_change, metric)}. "
            f"{_why(few_change, many_change, metric)}"
        )
    tenth = cell["spread"].get(metric, {})
    twin_spread = {} if twin is None else twin["spread"].get(metric, {})
    if tenth and twin_spread:
        sentences.append(
            f"For the tenth of people whom it serves worst the {_named(metric)} is "
            f"{tenth['worst_tenth']:.3f}, and {twin_spread['worst_tenth']:.3f} without privacy."
        )
    return " ".join(sentences)


def _why(few_change: float, many_change: float, metric: str) -> str:
    """Why those with few ratings, or those with many, pay more."""
    worse = few_change > many_change if metric == "rmse" else few_change < many_change
    if worse:
        return "Who rated little leans most on what the model learned from others."
    return (
        "Who rated much has more to lose: without privacy the model would know their tastes best."
    )


def _named(metric: str) -> str:
    return "error" if metric == "rmse" else "recall"


def _change(change: float, metric: str) -> str:
    """What privacy does to people, without a sign to read twice."""
    if metric == "rmse":
        verb = "pays" if change >= 0 else "saves"
        return f"{verb} {abs(change):.3f} points of error"
    verb = "loses" if change <= 0 else "gains"
    return f"{verb} {100 * abs(change):.1f} points of recall"


def how_words(evaluation: Evaluation) -> list[str]:
    """What a reader must know to trust the numbers."""
    facts = evaluation.facts
    runs = evaluation.cells[0]["runs"]
    held = _split_words(str(facts["split"]))
    opening = (
        f"Ratings were held back ({held}), models were fitted on "
        f"the rest with fresh noise, and asked about what was held back; {_times(runs)}. "
        "Every method saw the same splits."
    )
    sentences = [opening]
    if facts["lets_the_future_in"]:
        sentences.append(
            "A random split lets a model learn from ratings that came later than those it is "
            "asked about, which flatters every method. In use it will be less accurate; "
            "--split time asks as life does."
        )
    if facts["by_day"]:
        sentences.append(
            "Each question was asked on the day of its rating, as somebody asks who wants "
            "something to watch today; bayes and bias make use of it, others do not."
        )
    private = [cell for cell in evaluation.cells if cell["epsilon"] is not None]
    if private:
        units = _listed(
            [
                UNITS.get(str(unit), str(unit))
                for unit in dict.fromkeys(cell["unit"] for cell in private)
            ]
        )
        budgets = sorted({(float(cell["epsilon"]), float(cell["delta"])) for cell in private})
        sentences.append(
            f"What is protected: {units}. Whoever sees the model may change their odds about "
            f"it by a factor of at most {_odds_words(budgets)}, "
            f"{but_for(max(delta for _, delta in budgets))}."
        )
    if any(cell["calibration"] == "paper" for cell in evaluation.cells):
        sentences.append(
            "Rows named paper follow a publication as printed: their promise is claimed and "
            "not certified."
        )
    lists = f"Lists were made for at most {facts['listed']:,} people of each split."
    if evaluation.metric == "rmse":
        lists += " Liked means a rating in the upper quarter of the scale."
    sentences.append(lists)
    return sentences


def _odds_words(budgets: list[tuple[float, float]]) -> str:
    """`1.2 (epsilon 0.1) and 2.8 (epsilon 1)`: never less than they are."""
    factors = [odds_times(epsilon, delta) for epsilon, delta in budgets]
    return _listed(
        [
            f"{float(up(factor, 2)):,.{int(factor < 10)}f} (epsilon {epsilon:g})"
            for factor, (epsilon, _) in zip(factors, budgets, strict=True)
        ]
    )


def _split_words(split: str) -> str:
    descriptions = {
        "time": "the latest tenth of all, one cut of time for everybody",
        "date": "the latest tenth of all, one cut of time for everybody",
        "probe": "a third of each person's nine latest",
        "people": "a part of the ratings of people who took no part in training",
    }
    if split in descriptions:
        return descriptions[split]
    if "/" in split:
        return f"a random {split.split('/')[1]} of 100"
    return f"from {split} on" if split[:1].isdigit() and "-" in split else split


def _times(runs: int) -> str:
    return "once" if runs == 1 else f"{runs} times over"


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


# The lines of a table, and what they mean in plain words.


def metric_columns(evaluation: Evaluation, metrics: Sequence[str]) -> list[str]:
    """Of these metrics, those that any line has."""
    lines = (*evaluation.cells, *evaluation.baselines)
    return [name for name in metrics if any(line.get(name) is not None for line in lines)]


def units_compared(evaluation: Evaluation) -> list[str]:
    """Whom the cells protect, in their order."""
    return list(dict.fromkeys(str(cell["unit"]) for cell in evaluation.cells))


def table_rows(
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
    metrics = metric_columns(evaluation, tuple(NAMES))
    tables = [table(*table_rows(evaluation, metrics, unit)) for unit in units_compared(evaluation)]
    return "".join([*tables, *map(paragraph, list_words(evaluation))])


def plain_table(evaluation: Evaluation) -> str:
    """The same in plain characters."""
    metrics = metric_columns(evaluation, tuple(NAMES))
    tables = []
    for unit in units_compared(evaluation):
        heads, lines = table_rows(evaluation, metrics, unit)
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
