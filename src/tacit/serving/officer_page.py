"""The officer's page: written here whole, without script."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor, log10
from typing import Any

from tacit.serving.shelf import STYLE, Served
from tacit.serving.statements import page

UNITS = {"user": "whole people", "rating": "single ratings", "value": "values of ratings"}
WIDTH, HEIGHT = 720, 260
LEFT, RIGHT = 56, 16
TOP, BOTTOM = 14, 34
MARKS = 5


def officer_page(
    populations: Sequence[Mapping[str, Any]],
    served: Sequence[Served],
    audits: Sequence[Mapping[str, Any]] = (),
) -> str:
    """All of it."""
    about = (
        '<p class="faint">From the book, replayed and checked. For the owner: it has times and '
        'purposes. Take it with you as <a href="officer.csv">csv</a> or '
        '<a href="officer.json">json</a>.</p>'
    )
    parts = [
        "<h1>Privacy budget</h1>",
        about,
        _models(served),
        _audits(audits),
        *(_population(population) for population in populations),
    ]
    if not populations:
        parts.append("<p>The book is empty: nothing was ever charged to it.</p>")
    return page("Tacit: privacy budget", "".join(parts), STYLE)


def _models(served: Sequence[Served]) -> str:
    rows = [
        (
            f'<a href="models/{_text(model.name)}/statement.html">{_text(model.name)}</a>',
            _text(model.facts["method"]),
            _text(model.facts["promise"]["certified"]),
            _number(model.facts["promise"].get("epsilon")),
            _number(model.facts["promise"].get("delta")),
            _text(model.facts["promise"]["unit"]),
        )
        for model in served
    ]
    heads = ("model and statement", "method", "promise", "epsilon", "delta", "unit")
    return "<h2>Models that are served</h2>" + _table(heads, rows)


def _audits(audits: Sequence[Mapping[str, Any]]) -> str:
    """What attacks reached of each claim."""
    title = "<h2>Audits</h2>"
    if not audits:
        return (
            f"{title}<p>No audit lies beside a model. Make one with "
            "<code>tacit audit MODEL --out MODEL/audit.json</code>.</p>"
        )
    heads = ("model", "method", "unit", "attack", "claimed", "proven", "measured", "verdict")
    rows = [
        (
            _text(row["model"]),
            _text(row["method"]),
            _text(row["unit"]),
            _text(row["attack"]),
            _number(row["claimed"]),
            _number(row["proven"]),
            _number(row["measured"]),
            _text(row["verdict"]),
        )
        for row in audits
    ]
    bars = [
        (f"{row['model']}: {row['method']} ({row['unit']})", row["measured"])
        for row in audits
        if row["measured"] is not None
    ]
    chart = cost_chart("Epsilon that an attack measured", bars) if bars else ""
    note = (
        '<p class="faint">Measured is what an attack surely reached, never more than what is '
        "true; a claim stands while it is not above.</p>"
    )
    figure = f"<figure>{chart}</figure>" if chart else ""
    return title + _table(heads, rows) + figure + note


def _population(facts: Mapping[str, Any]) -> str:
    name = html.escape(facts["population"])
    rows = facts["entries"]
    parts = [f"<h2>Population <code>{name}</code></h2>"]
    for total in facts["spent"]:
        parts.append(_total(total))
        parts.append(_over_time(total, rows))
    parts.append("<h3>What each model cost</h3>")
    parts.append(_costs(rows))
    heads = (
        "#",
        "time",
        "entry",
        "unit",
        "method",
        "epsilon",
        "delta",
        "spent so far",
        "served as",
    )
    listed = [
        (
            str(row["number"]),
            _text(row["time"][:19].replace("T", " ")),
            _text(row["entry"]),
            _text(row["unit"]),
            _text(row["method"] or row["purpose"]),
            _number(row["epsilon"]),
            _number(row["delta"]),
            _number(row["spent"]),
            _text(row["served_as"]),
        )
        for row in rows
    ]
    parts.append("<h3>Entries</h3>" + _table(heads, listed))
    return "".join(parts)


def _total(total: Mapping[str, Any]) -> str:
    about = UNITS[total["unit"]]
    text = f"epsilon {total['epsilon']:.4g} at delta {total['delta']:g}, {total['entries']} charged"
    if total["cap"] is None:
        text += "; no cap is set"
    else:
        text += f"; the cap is {total['cap']:.4g}, and {total['left']:.4g} is left"
    if total["unbounded"]:
        text += f"; {total['unbounded']} entries that nothing bounds are not in the sum"
    return f"<h3>Spent on {about}</h3><p>{html.escape(text)}.</p>"


def _over_time(total: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    of_unit = [row for row in rows if row["unit"] == total["unit"] and row["spent"] is not None]
    if not of_unit:
        return ""
    start = _seconds(of_unit[0]["time"])
    steps = [Step(start, 0.0), *(Step(_seconds(r["time"]), r["spent"]) for r in of_unit)]
    caps = [Step(_seconds(row["time"]), row["cap"]) for row in of_unit if row["cap"] is not None]
    title = f"Epsilon spent on {UNITS[total['unit']]} over time"
    chart = spent_chart(title, steps, caps, [of_unit[0]["time"][:10], of_unit[-1]["time"][:10]])
    note = "Composed over all entries so far" + ("; dashed, the cap." if caps else ".")
    return f"<figure>{chart}<figcaption>{note}</figcaption></figure>"


def _costs(rows: Sequence[Mapping[str, Any]]) -> str:
    fits = [row for row in rows if row["entry"] == "reserve" and row["epsilon"] is not None]
    if not fits:
        return "<p>No model was paid for yet.</p>"
    bars = [(f"#{row['number']} {row['method']} ({row['unit']})", row["epsilon"]) for row in fits]
    return f"<figure>{cost_chart('Epsilon of each model', bars)}</figure>"


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def _text(value: Any) -> str:
    return html.escape("" if value is None else str(value))


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{top}</tr>{body}</table></div>'


# Charts as plain SVG: no script, no inline style; the style sheet gives them their colours.


@dataclass(frozen=True)
class Step:
    """From this moment on, this much."""

    when: float
    """Seconds since 1970."""
    amount: float


@dataclass(frozen=True)
class _Frame:
    first: float
    last: float
    most: float

    def across(self, when: float) -> float:
        share = (when - self.first) / max(self.last - self.first, 1e-9)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, amount: float) -> float:
        return HEIGHT - BOTTOM - amount / self.most * (HEIGHT - TOP - BOTTOM)


def spent_chart(
    title: str, steps: Sequence[Step], caps: Sequence[Step], days: Sequence[str]
) -> str:
    """Epsilon over time as steps, and the caps that held. `days` are words for the two ends."""
    times = [step.when for step in (*steps, *caps)]
    highest = max([step.amount for step in (*steps, *caps)], default=1.0) or 1.0
    frame = _Frame(min(times), max(max(times), min(times) + 1), _round_up(highest))
    parts = [*_axis(frame), _ends(days), _line("spent", frame, steps)]
    if caps:
        parts.append(_line("cap", frame, caps))
    return _svg(title, HEIGHT, parts)


def cost_chart(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """One bar for each model: what it cost."""
    row = 26
    height = TOP + row * max(len(bars), 1) + 8
    highest = max([amount for _, amount in bars], default=1.0) or 1.0
    label = 240
    parts = list[str]()
    for index, (name, amount) in enumerate(bars):
        top = TOP + row * index
        width = max(amount / highest * (WIDTH - label - 90), 1)
        parts.append(f'<text x="{label - 8}" y="{top + 15}" text-anchor="end">{_cut(name)}</text>')
        parts.append(
            f'<rect class="bar" x="{label}" y="{top + 3}" width="{width:.1f}" height="16"/>'
        )
        parts.append(f'<text x="{label + width + 6:.1f}" y="{top + 15}">{amount:.4g}</text>')
    return _svg(title, height, parts)


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    safe_title = html.escape(title, quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img" '
        f'aria-label="{safe_title}"><title>{safe_title}</title>{"".join(parts)}</svg>'
    )


def _axis(frame: _Frame) -> list[str]:
    parts = list[str]()
    for mark in range(MARKS + 1):
        amount = frame.most * mark / MARKS
        y = frame.up(amount)
        parts.append(f'<path class="axis" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{amount:g}</text>')
    return parts


def _ends(days: Sequence[str]) -> str:
    y = HEIGHT - 10
    return (
        f'<text x="{LEFT}" y="{y}">{html.escape(days[0])}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{y}" text-anchor="end">{html.escape(days[-1])}</text>'
    )


def _line(kind: str, frame: _Frame, steps: Sequence[Step]) -> str:
    path = list[str]()
    for step in steps:
        x, y = frame.across(step.when), frame.up(step.amount)
        path.append(f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}")
    return f'<path class="{kind}" d="{"".join(path)}H{WIDTH - RIGHT}"/>'


def _round_up(amount: float) -> float:
    """To 1, 2 or 5 times a power of ten."""
    power = 10 ** floor(log10(amount))
    return float(
        next(step * power for step in (1, 2, 5, 10) if step >= ceil(amount / power * 10) / 10)
    )


def _cut(name: str) -> str:
    return html.escape(name if len(name) <= 34 else name[:33] + "…")
