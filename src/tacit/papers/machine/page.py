"""The page of a reproduction: each figure, our curve over the points that the paper prints,
and a verdict for each of its findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tacit.evaluation.report.charts import COLOURS, MARKERS, SERIES, picture
from tacit.page import card, cards, escaped, page, paragraph, table
from tacit.papers.machine.experiment import Curve, Experiment, Panel, Verdict
from tacit.papers.machine.record import NOTICE, origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.papers.machine.experiment import Finding, Paper
    from tacit.papers.machine.run import Done

STYLE = """
.verdict { border-left: 4px solid var(--edge); padding: .1rem 0 .1rem .9rem; margin: 0 0 1rem; }
.verdict.good { border-color: var(--accent); }
.verdict.bad { border-color: var(--warn); }
.verdict b { font-variant: small-caps; letter-spacing: .02em; }
.verdict.good b { color: var(--accent); }
.verdict.bad b { color: var(--warn); }
.verdict q { font-style: italic; }
.verdict p { margin: 0 0 .3rem; }
.failed { border-left: 4px solid var(--warn); padding-left: .9rem; }
.scroll { margin: 0 0 1.2rem; }
caption { text-align: left; color: var(--soft); padding: .3rem 0; }
"""
KINDS = {"holds": "good", "holds in one reading": "good", "does not hold": "bad", "not run": ""}
MANY_CURVES = 4
"""From here on a legend stands beside the chart, or below it on a phone."""


def page_of(paper: Paper, figures: Sequence[Done], run_record: dict[str, Any]) -> str:
    """The whole page; `run_record` is the record whose numbers it shows."""
    sections = [("", _summary(figures))]
    sections += [
        (heading(entry.experiment), _figure(entry, index)) for index, entry in enumerate(figures)
    ]
    if paper.readings:
        rows = "".join(f"<li>{escaped(entry)}</li>" for entry in paper.readings)
        sections.append(("How the text was read", f"<ul>{rows}</ul>"))
    footer = f"{origin(run_record)} · raw numbers in numbers.json"
    return page(
        paper.title,
        sections,
        lead="What the paper reports, run again.",
        notice=NOTICE,
        footer=footer,
        style=STYLE,
    )


def heading(experiment: Experiment) -> str:
    """`Figure 1: RMSE by theta`; `4.1` is a section."""
    figure = experiment.figure
    named = figure.capitalize()
    if figure[:1].isdigit():
        named = f"Section {figure}" if "." in figure else f"Figure {figure}"
    return f"{named}: {experiment.title}"


def _summary(figures: Sequence[Done]) -> str:
    """How many findings held, and where."""
    counts = dict.fromkeys(KINDS, 0)
    for figure in figures:
        for _, verdict in figure.verdicts:
            counts[verdict.outcome] += 1
    summary_cards = [
        card(str(count), outcome, warn=KINDS[outcome] == "bad")
        for outcome, count in counts.items()
        if count
    ]
    failed = sum(len(figure.results.failed) for figure in figures)
    if failed:
        summary_cards.append(card(str(failed), "cells failed", warn=True))
    data = sorted({name for figure in figures for name in figure.results.asked.data})
    data_names = ", ".join(data) if data else "invented ratings"
    return cards(summary_cards) + paragraph(f"Run on: {data_names}.", "quiet")


def _figure(figure: Done, index: int) -> str:
    experiment = figure.experiment
    parts: list[str] = []
    for number, panel in enumerate(experiment.panels(figure.results)):
        parts.append(_panel(panel, f"f{index}-{number}"))
    parts += [
        table(paper_table.columns, paper_table.rows, caption=paper_table.title)
        for paper_table in experiment.non_charts(figure.results)
    ]
    parts += [paragraph(f"{failure}.", "failed") for failure in figure.results.failures()]
    parts += [_verdict(finding, verdict) for finding, verdict in figure.verdicts]
    facts = [f"Split: {experiment.split}."]
    if experiment.parameters:
        facts.append(f"Settings: {experiment.parameters}.")
    runs = len(figure.results.asked.splits)
    facts.append(f"{runs} seed{'s' if runs > 1 else ''}.")
    if figure.results.asked.quick:
        facts.append("A quick run: fewer values, not to judge by.")
    if figure.missing:
        facts.append(f"Not run on: {', '.join(figure.missing)}.")
    parts.append(paragraph(" ".join(facts), "quiet"))
    return "\n".join(parts)


def _verdict(finding: Finding, verdict: Verdict) -> str:
    kind = f"verdict {KINDS[verdict.outcome]}".strip()
    return (
        f'<div class="{kind}"><p><b>{escaped(verdict.outcome)}</b> '
        f"<q>{escaped(finding.words)}</q> ({escaped(finding.where)})</p>"
        f'<p class="quiet">{escaped(verdict.reason)}</p></div>'
    )


def _panel(panel: Panel, name: str) -> str:
    """A chart with what it shows in words, for those who cannot see it."""
    description = f"{panel.title}: {panel.y} by {panel.x}. " + _ends(panel.curves)

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        _draw(axes, panel, narrow)

    return picture(name, draw, description=description, caption=panel.note)


def _ends(feature_interactions: Iterable[Curve]) -> str:
    """From where to where each curve goes."""
    return " ".join(
        f"{curve.label}: {curve.y[0]:.3g} to {curve.y[-1]:.3g}."
        for curve in feature_interactions
        if len(curve.y)
    )


def _draw(axes: Axes, panel: Panel, narrow: bool) -> None:
    series_index = 0
    for curve in panel.curves:
        if not len(curve.y):
            continue
        if curve.style == "line":
            _level(axes, curve)
            continue
        colour = SERIES[series_index % len(SERIES)]
        marker = MARKERS[series_index % len(MARKERS)]
        if curve.style == "paper":
            axes.plot(
                curve.x,
                curve.y,
                linestyle="none",
                marker=marker,
                markersize=9,
                markerfacecolor="none",
                markeredgewidth=1.6,
                color=COLOURS["ink"],
                label=curve.label,
            )
            series_index += 1
            continue
        _ours(axes, curve, colour, marker)
        series_index += 1
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.log_x:
        _log(axes, panel)
    if panel.log_y:
        axes.set_yscale("log")
    if panel.most is not None:
        axes.set_ylim(top=panel.most)
    if panel.right:
        _right(axes, panel)
    _legend(axes, panel, narrow)


def _ours(axes: Axes, curve: Curve, colour: str, marker: str) -> None:
    axes.plot(curve.x, curve.y, marker=marker, color=colour, label=curve.label)
    if len(curve.sd) == len(curve.y) and any(curve.sd):
        low = [y - s for y, s in zip(curve.y, curve.sd, strict=True)]
        high = [y + s for y, s in zip(curve.y, curve.sd, strict=True)]
        axes.fill_between(list(curve.x), low, high, color=colour, alpha=0.15, linewidth=0)


def _right(axes: Axes, panel: Panel) -> None:
    """The second scale: pale, so that nobody reads it on the first."""
    from matplotlib.ticker import StrMethodFormatter

    right_axes = axes.twinx()
    right_axes.spines["right"].set_visible(True)
    right_axes.grid(visible=False)
    for curve in panel.right:
        right_axes.plot(
            curve.x, curve.y, color=COLOURS["edge"], linestyle=":", marker="x", label=curve.label
        )
        axes.plot([], [], color=COLOURS["edge"], linestyle=":", marker="x", label=curve.label)
    right_axes.set_ylabel(panel.y_right)
    right_axes.set_ylim(bottom=0)
    right_axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _level(axes: Axes, curve: Curve) -> None:
    axes.plot(
        curve.x, curve.y, linestyle="--", linewidth=1.4, color=COLOURS["edge"], label=curve.label
    )


def _log(axes: Axes, panel: Panel) -> None:
    """A logarithmic axis whose ticks are the values that were run."""
    from tacit.evaluation.report.charts import bare_log

    values = sorted({x for curve in panel.curves if curve.style != "line" for x in curve.x})
    tick_limit = 8
    step = -(-len(values) // tick_limit)
    bare_log(axes, values[::step])


def _legend(axes: Axes, panel: Panel, narrow: bool) -> None:
    every = (*panel.curves, *panel.right)
    drawn_curves = [curve for curve in every if len(curve.y)]
    if len(drawn_curves) < 2:
        return
    if narrow or panel.right:  # below, clear of either scale
        below = (0.5, -0.22 if narrow else -0.17)
        axes.legend(
            loc="upper center", bbox_to_anchor=below, ncols=1 if narrow else len(drawn_curves)
        )
        return
    if len(drawn_curves) >= MANY_CURVES:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return
    axes.legend(loc="best")
