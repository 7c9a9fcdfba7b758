"""The picture of a forecast: what privacy costs against epsilon, with the band that holds nine
data sets in ten. For a page, for a notebook, and in letters for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.evaluation.report.charts import COLOURS, SERIES, Draw, bare_log
from tacit.page import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.evaluation.forecast import Forecast, ForecastLine

ROWS = 12
"""Height of the picture in letters."""
COLUMN = 9
"""Letters an epsilon."""

FINE = 40
"""Steps of the curve."""

Marks = Sequence[tuple[str, float]]
"""Candidates that are marked on the curve: a name and an epsilon."""


def labels(forecast: Forecast) -> tuple[str, str]:
    """What the vertical axis shows, long and short."""
    if forecast.metric == "rmse":
        return "RMSE above the same model without privacy", "RMSE lost"
    return "recall, as a share of that without privacy", "share of recall kept"


def draw_costs(forecast: Forecast, marks: Marks = ()) -> Draw:
    """A curve of the middle, the band around it, and the candidates on it."""

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        row = [line.epsilon for line in forecast.lines]
        fine = _between(row, marks)
        lines = [forecast.at(epsilon) for epsilon in fine]
        axes.fill_between(
            fine,
            [line.cost.low for line in lines],
            [line.cost.high for line in lines],
            color=SERIES[0],
            alpha=0.18,
            linewidth=0,
            label="nine data sets in ten",
        )
        middle = [line.cost.middle for line in lines]
        axes.plot(fine, middle, color=SERIES[0], label="middle")
        _mark(axes, forecast, marks)
        bare_log(axes, row[::2] if narrow and len(row) > 5 else row)
        axes.set_xlabel("epsilon: less private to the right")
        axes.set_ylabel(labels(forecast)[1])
        if forecast.metric == "rmse":
            axes.axhline(0, color=COLOURS["edge"], linewidth=1)
        # Costs are high on the left and shares low there: the other corner is free.
        if forecast.metric == "rmse":
            axes.legend(loc="upper right")
        else:
            axes.legend(loc="lower right")

    return draw


def _between(row: list[float], marks: Marks) -> list[float]:
    """A fine row from the first epsilon to the last, so that the curve is smooth."""
    ends = [*row, *(epsilon for _, epsilon in marks)]
    ratio = (max(ends) / min(ends)) ** (1 / FINE)
    return [min(ends) * ratio**step for step in range(FINE + 1)]


def _mark(axes: Axes, forecast: Forecast, marks: Marks) -> None:
    for index, (name, epsilon) in enumerate(marks):
        at = forecast.at(epsilon).cost
        colour = SERIES[(index + 1) % len(SERIES)]
        axes.plot([epsilon, epsilon], [at.low, at.high], color=colour, linewidth=3)
        axes.plot([epsilon], [at.middle], color=colour, marker="D")
        axes.annotate(
            name,
            (epsilon, at.high),
            textcoords="offset points",
            xytext=(0, 6),
            ha="center",
            fontsize=9,
            color=colour,
        )


def cost_table(forecast: Forecast) -> str:
    """The same as a table of HTML."""
    return table(("epsilon", *headings(forecast)), [cells(line) for line in forecast.lines])


def headings(forecast: Forecast) -> tuple[str, ...]:
    """Of the columns after epsilon."""
    short = labels(forecast)[1]
    metric = "RMSE" if forecast.metric == "rmse" else forecast.metric
    return f"{short}, from", "middle", "to", f"{metric}, from", "to"


def cells(line: ForecastLine) -> tuple[str, ...]:
    """One line of the table."""
    numbers = (line.cost.low, line.cost.middle, line.cost.high, line.error.low, line.error.high)
    return (f"{line.epsilon:g}", *(f"{number:.3f}" for number in numbers))


def in_letters(forecast: Forecast) -> str:
    """The picture for a terminal: bars from the low to the high end, a dot at the middle."""
    lines = forecast.lines
    top = max(line.cost.high for line in lines)
    floor = min(0.0, min(line.cost.low for line in lines))
    step = (top - floor) / (ROWS - 1) or 1.0
    text_lines = [f"  {labels(forecast)[0]}; bars hold nine data sets in ten"]
    for number in range(ROWS - 1, -1, -1):
        at = floor + number * step
        marks = "".join(_letter(line, at, step).center(COLUMN) for line in lines)
        text_lines.append(f"{at:8.3f} ┤{marks}".rstrip())
    text_lines.append(" " * 9 + "└" + "─" * (COLUMN * len(lines)))
    named = "".join(f"{line.epsilon:g}".center(COLUMN) for line in lines)
    text_lines.append(f"{'epsilon':>9} {named}".rstrip())
    return "\n".join(text_lines)


def _letter(line: ForecastLine, at: float, step: float) -> str:
    half = step / 2
    if abs(line.cost.middle - at) <= half:
        return "●"
    inside = line.cost.low - half <= at <= line.cost.high + half
    return "│" if inside else " "
