"""The page of a reproduction: each figure, our curve over the points that the paper prints,
and a verdict for each of its findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tacit.evaluation.report.charts import COLOURS, MARKERS, SERIES, picture
from tacit.evaluation.reproduce.experiment import Curve, Experiment, Panel, Verdict
from tacit.evaluation.reproduce.record import NOTICE, origin
from tacit.page import card, cards, escaped, page, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.evaluation.reproduce.experiment import Finding, Paper
    from tacit.evaluation.reproduce.run import Done

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


def page_of(paper: Paper, done: Sequence[Done], made: dict[str, Any]) -> str:
    """The whole page; `made` is the record whose numbers it shows."""
    sections = [("", _summary(done))]
    sections += [
        (heading(each.experiment), _figure(each, place)) for place, each in enumerate(done)
    ]
    if paper.readings:
        rows = "".join(f"<li>{escaped(each)}</li>" for each in paper.readings)
        sections.append(("How the text was read", f"<ul>{rows}</ul>"))
    footer = f"{origin(made)} · raw numbers in numbers.json"
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


def _summary(done: Sequence[Done]) -> str:
    """How many findings held, and where."""
    counts = dict.fromkeys(KINDS, 0)
    for each in done:
        for _, verdict in each.verdicts:
            counts[verdict.outcome] += 1
    found = [
        card(str(count), outcome, warn=KINDS[outcome] == "bad")
        for outcome, count in counts.items()
        if count
    ]
    failed = sum(len(each.results.failed) for each in done)
    if failed:
        found.append(card(str(failed), "cells failed", warn=True))
    data = sorted({name for each in done for name in each.results.asked.data})
    told = ", ".join(data) if data else "invented ratings"
    return cards(found) + paragraph(f"Run on: {told}.", "quiet")


def _figure(done: Done, place: int) -> str:
    experiment = done.experiment
    parts: list[str] = []
    for number, panel in enumerate(experiment.panels(done.results)):
        parts.append(_panel(panel, f"f{place}-{number}"))
    parts += [
        table(shown.columns, shown.rows, caption=shown.title)
        for shown in experiment.beside(done.results)
    ]
    parts += [paragraph(f"{words}.", "failed") for words in done.results.failures()]
    parts += [_verdict(finding, told) for finding, told in done.verdicts]
    facts = [f"Split: {experiment.split}."]
    if experiment.parameters:
        facts.append(f"Settings: {experiment.parameters}.")
    runs = len(done.results.asked.splits)
    facts.append(f"{runs} seed{'s' if runs > 1 else ''}.")
    if done.results.asked.quick:
        facts.append("A quick run: fewer values, not to judge by.")
    if done.missing:
        facts.append(f"Not run on: {', '.join(done.missing)}.")
    parts.append(paragraph(" ".join(facts), "quiet"))
    return "\n".join(parts)


def _verdict(finding: Finding, told: Verdict) -> str:
    kind = f"verdict {KINDS[told.outcome]}".strip()
    return (
        f'<div class="{kind}"><p><b>{escaped(told.outcome)}</b> '
        f"<q>{escaped(finding.words)}</q> ({escaped(finding.where)})</p>"
        f'<p class="quiet">{escaped(told.reason)}</p></div>'
    )


def _panel(panel: Panel, name: str) -> str:
    """A chart with what it shows in words, for those who cannot see it."""
    told = f"{panel.title}: {panel.y} by {panel.x}. " + _ends(panel.curves)

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        _draw(axes, panel, narrow)

    return picture(name, draw, told=told, caption=panel.note)


def _ends(curves: Iterable[Curve]) -> str:
    """From where to where each curve goes."""
    return " ".join(
        f"{curve.label}: {curve.y[0]:.3g} to {curve.y[-1]:.3g}." for curve in curves if len(curve.y)
    )


def _draw(axes: Axes, panel: Panel, narrow: bool) -> None:
    drawn = 0
    for curve in panel.curves:
        if not len(curve.y):
            continue
        if curve.style == "line":
            _level(axes, curve)
            continue
        colour = SERIES[drawn % len(SERIES)]
        marker = MARKERS[drawn % len(MARKERS)]
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
            drawn += 1
            continue
        _ours(axes, curve, colour, marker)
        drawn += 1
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

    other = axes.twinx()
    other.spines["right"].set_visible(True)
    other.grid(visible=False)
    for curve in panel.right:
        other.plot(
            curve.x, curve.y, color=COLOURS["edge"], linestyle=":", marker="x", label=curve.label
        )
        axes.plot([], [], color=COLOURS["edge"], linestyle=":", marker="x", label=curve.label)
    other.set_ylabel(panel.y_right)
    other.set_ylim(bottom=0)
    other.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _level(axes: Axes, curve: Curve) -> None:
    axes.plot(
        curve.x, curve.y, linestyle="--", linewidth=1.4, color=COLOURS["edge"], label=curve.label
    )


def _log(axes: Axes, panel: Panel) -> None:
    """A logarithmic axis whose ticks are the values that were run."""
    from tacit.evaluation.report.charts import bare_log

    values = sorted({x for curve in panel.curves if curve.style != "line" for x in curve.x})
    few = 8
    step = -(-len(values) // few)
    bare_log(axes, values[::step])


def _legend(axes: Axes, panel: Panel, narrow: bool) -> None:
    every = (*panel.curves, *panel.right)
    shown = [curve for curve in every if len(curve.y)]
    if len(shown) < 2:
        return
    if narrow or panel.right:  # below, clear of either scale
        below = (0.5, -0.22 if narrow else -0.17)
        axes.legend(loc="upper center", bbox_to_anchor=below, ncols=1 if narrow else len(shown))
        return
    if len(shown) >= MANY_CURVES:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return
    axes.legend(loc="best")
