"""The pictures of the report: accuracy against epsilon, who pays, and how far predictions
miss. Each returns a drawing for `charts.picture`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.evaluation.arms import NOISE_OFF
from tacit.evaluation.report.charts import COLOURS, MARKERS, SERIES, Draw, bare_log
from tacit.evaluation.tables import better_when_higher
from tacit.ledger.statement.words import as_likes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.evaluation.result import Evaluation
    from tacit.evaluation.tables import Line

UNITS = {"user": "a whole person", "rating": "one rating", "value": "one rating's value"}
AXES = {
    "rmse": "error of a prediction (RMSE)",
    "mae": "mean miss of a prediction (MAE)",
    "recall@20": "found among 20 (recall@20)",
    "ndcg@20": "nDCG@20",
}
MOST = len(SERIES)
"""Lines in one picture; more could not be told apart."""


def units(evaluation: Evaluation) -> list[str]:
    """Whom private cells protect, in their order."""
    private = (cell for cell in evaluation.cells if cell["epsilon"] is not None)
    return list(dict.fromkeys(str(cell["unit"]) for cell in private))


def series(
    evaluation: Evaluation, unit: str | None = None
) -> list[tuple[str, list[Line], Line | None]]:
    """One line a method, calibration and swept setting of a unit (the first unless said):
    its name, its cells by rising epsilon, and its twin."""
    shown_unit = unit or next(iter(units(evaluation)), None)
    groups: dict[tuple[str, str, str, str], list[Line]] = {}
    twins: dict[tuple[str, str, str], Line] = {}
    for cell in evaluation.cells:
        if cell["unit"] != shown_unit:
            continue
        settings = _settings(cell)
        if cell["calibration"] == "none":
            twins[cell["method"], "sound", settings] = cell
        elif cell["calibration"] == NOISE_OFF:
            twins[cell["method"], "paper", settings] = cell
        elif cell["epsilon"] is not None:
            key = (cell["method"], cell["unit"], cell["calibration"], settings)
            groups.setdefault(key, []).append(cell)
    calibrations = {key[2] for key in groups}
    out = []
    for key, cells in groups.items():
        method = key[0]
        name = method
        if len(calibrations) > 1:
            name += f", {key[2]}"
        if key[3]:
            name += f", {key[3]}"
        cells = sorted(cells, key=lambda cell: float(cell["epsilon"]))
        out.append((name, cells, twins.get((method, key[2], key[3]))))
    return out[:MOST]


def _settings(cell: Line) -> str:
    return ", ".join(f"{k}={v}" for k, v in cell["settings"].items())


def curve(evaluation: Evaluation, metric: str, unit: str | None = None) -> Draw:
    """Accuracy against epsilon with 95 % bands, the twins as dashed lines, and the best that
    can be said without a recommender as a dotted one."""

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        lines = series(evaluation, unit)
        budgets = sorted({float(cell["epsilon"]) for _, cells, _ in lines for cell in cells})
        for index, (name, cells, twin) in enumerate(lines):
            _one_curve(axes, index, name, cells, twin, metric)
        bare_log(axes, budgets)
        if len(budgets) > 1:
            axes.set_xlim(budgets[0] / 1.35, budgets[-1] * 1.35)
        _plain_line(axes, evaluation, metric, budgets)
        axes.set_xlabel("epsilon: stricter privacy on the left")
        axes.set_title(AXES.get(metric, metric))
        _legend(figure, narrow)

    return draw


def _one_curve(
    axes: Axes, index: int, name: str, cells: list[Line], twin: Line | None, metric: str
) -> None:
    measured = [cell for cell in cells if cell[metric] is not None]
    x = [float(cell["epsilon"]) for cell in measured]
    y = [cell[metric] for cell in measured]
    colour = SERIES[index % MOST]
    marker = MARKERS[index % MOST]
    axes.plot(x, y, color=colour, marker=marker, label=name)
    ends = [(cell[f"{metric}_low"], cell[f"{metric}_high"]) for cell in measured]
    if ends and not any(None in pair for pair in ends):
        # Two runs say little of how noise varies: the band may reach where no metric does.
        low = [max(pair[0], 0.0) for pair in ends]
        high = [pair[1] for pair in ends]
        axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0)
    if twin is not None and twin[metric] is not None:
        axes.axhline(
            twin[metric],
            color=colour,
            linestyle=(0, (5, 3)),
            linewidth=1.5,
            label=f"{name}, without privacy",
        )


def _plain_line(axes: Axes, evaluation: Evaluation, metric: str, budgets: list[float]) -> None:
    """The best baseline: a model that does not beat it is of no use."""
    best = best_baseline(evaluation, metric)
    if best is None or not budgets:
        return
    axes.axhline(
        best[metric],
        color=COLOURS["faint"],
        linestyle=":",
        linewidth=1.5,
        label=f"no model: {best['baseline']}",
    )


def best_baseline(evaluation: Evaluation, metric: str) -> Line | None:
    """The most accurate of the simple answers."""
    measured = [baseline for baseline in evaluation.baselines if baseline[metric] is not None]
    sign = -1 if better_when_higher(metric) else 1
    return min(measured, key=lambda baseline: sign * float(baseline[metric]), default=None)


def payers(evaluation: Evaluation, metric: str, by: str) -> Draw:
    """The metric by fifths of people or of items, one line an epsilon, the twin dashed."""

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        _, cells, twin = series(evaluation)[0]
        budget_cells = three(cells)
        for index, cell in enumerate(budget_cells):
            values = cell[by].get(metric)
            if values is None:
                continue
            axes.plot(
                range(len(values)),
                _numbers(values),
                color=SERIES[index],
                marker=MARKERS[index],
                label=f"epsilon {cell['epsilon']:g}",
            )
        if twin is not None and twin[by].get(metric) is not None:
            values = twin[by][metric]
            axes.plot(
                range(len(values)),
                _numbers(values),
                color=COLOURS["ink"],
                linestyle=(0, (5, 3)),
                linewidth=1.5,
                label="without privacy",
            )
        axes.set_xticks(range(5), fifth_labels(budget_cells[0], by, narrow))
        axes.set_xlim(-0.25, 4.25)
        label = (
            "ratings that a person has given"
            if by == "by_activity"
            else "fifths of items, from least to most rated"
        )
        axes.set_xlabel(label if metric == "rmse" else as_likes(label))
        whose = "people" if by == "by_activity" else "items"
        axes.set_title(f"{AXES.get(metric, metric)}, by fifths of {whose}")
        _legend(figure, narrow)

    return draw


def fifth_labels(cell: Line, by: str, narrow: bool) -> list[str]:
    """What each fifth is, as short as the picture is narrow."""
    medians = cell[by].get("ratings") if by == "by_activity" else None
    if medians is not None and len(medians) == 5:
        start = "" if narrow else "about "
        return [f"{start}{median:.0f}" for median in medians]
    names = ("least", "", "middle", "", "most")
    return list(names)


def _numbers(values: list[Any]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def misses(evaluation: Evaluation) -> Draw:
    """The share of predictions within a distance of the truth, one line an epsilon."""

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        _, cells, twin = series(evaluation)[0]
        low, high = evaluation.facts["scale"]
        at = [(high - low) * step for step in evaluation.facts["error_at"]]
        for index, cell in enumerate(three(cells)):
            if cell["error_cdf"] is not None:
                axes.plot(
                    at,
                    [100 * share for share in cell["error_cdf"]],
                    color=SERIES[index],
                    label=f"epsilon {cell['epsilon']:g}",
                )
        if twin is not None and twin["error_cdf"] is not None:
            axes.plot(
                at,
                [100 * share for share in twin["error_cdf"]],
                color=COLOURS["ink"],
                linestyle=(0, (5, 3)),
                linewidth=1.5,
                label="without privacy",
            )
        axes.set_xlim(0, (high - low) / 2)
        axes.set_ylim(0, 102)
        axes.set_xlabel("points that a prediction is off by, at most")
        axes.set_title("share of predictions, in per cent")
        _legend(figure, narrow)

    return draw


def spread(evaluation: Evaluation, metric: str) -> Draw:
    """What privacy costs from the luckiest to the unluckiest person: deciles of each
    person's metric minus the twin's."""

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        _, cells, _ = series(evaluation)[0]
        higher = better_when_higher(metric)
        for index, cell in enumerate(three(cells)):
            over = cell["spread"].get(metric, {}).get("over_twin")
            if over is not None:
                axes.plot(
                    range(10, 100, 10),
                    _ordered_losses(over["deciles"], higher),
                    color=SERIES[index],
                    marker=MARKERS[index],
                    label=f"epsilon {cell['epsilon']:g}",
                )
        axes.axhline(0, color=COLOURS["edge"], linewidth=1)
        axes.set_xticks(range(10, 100, 20 if narrow else 10))
        axes.set_xlabel("people, from those who pay least to most, in per cent")
        less = "less" if higher else "more"
        axes.set_title(f"{AXES.get(metric, metric)}: {less} than without privacy")
        _legend(figure, narrow)

    return draw


def _ordered_losses(deciles: list[float], higher: bool) -> list[float]:
    """What people pay, from those who pay least: of what is better when higher, what they
    miss."""
    return [-value for value in reversed(deciles)] if higher else deciles


def three(cells: list[Line]) -> list[Line]:
    """The smallest, the middle and the largest budget."""
    if len(cells) <= 3:
        return cells
    return [cells[0], cells[len(cells) // 2], cells[-1]]


def _legend(figure: Figure, narrow: bool) -> None:
    """Beside the picture, below it on a phone: it hides nothing."""
    if narrow:
        figure.legend(loc="outside lower center")
    else:
        figure.legend(loc="outside right upper")
