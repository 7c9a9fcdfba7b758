"""The officer's page: written here whole, without script."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tacit.serving.charts import Step, cost_chart, spent_chart
from tacit.serving.shelf import STYLE, Served
from tacit.serving.statements import page

UNITS = {"user": "whole people", "rating": "single ratings", "value": "values of ratings"}


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
