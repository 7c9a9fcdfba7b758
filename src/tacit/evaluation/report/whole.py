"""The report: one page that a product manager can read, with everything that a statistician
asks for. NOT PRIVATE, and it says so on every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.evaluation.report import pictures
from tacit.evaluation.report.charts import picture
from tacit.evaluation.report.pictures import UNITS
from tacit.evaluation.report.shown import lists_section
from tacit.evaluation.report.story import (
    band_words,
    cost_cards,
    first_words,
    growth_words,
    how_words,
    payer_words,
    whose_words,
)
from tacit.evaluation.report.words import NAMES, columns, list_words, rows, units
from tacit.evaluation.tables import EVERY
from tacit.ledger.statement.words import as_likes
from tacit.page import escaped, page, paragraph, table

if TYPE_CHECKING:
    from tacit.evaluation.result import Evaluation

NOTICE = (
    "NOT PRIVATE: these figures compare models with raw ratings. For the owner of the data "
    "only; do not publish."
)
TITLE = "What privacy costs here"
FIRST = ("rmse", "recall@20", "overlap@30")
"""Metrics of the first table."""
CAPTIONS = {
    "recall@20": "Of what people later liked, the share that is among the first 20 of a list. "
    "Higher is better.",
    "ndcg@20": "The same, with earlier places of a list counting more. Higher is better.",
}
TALL = (3.7, 4.3)
"""A phone's picture with its legend below."""


def report(found: Evaluation, command: str = "") -> str:
    """The whole page. Equal numbers and an equal command give equal bytes."""
    curves = bool(pictures.series(found))
    sections = [("", cost_cards(found))]
    if curves:
        sections.append(("Accuracy against privacy", _curve(found)))
        sections.append(("Who pays", _who(found)))
        if found.metric == "rmse":
            sections.append(("How far predictions miss", _misses(found)))
        sections.append(("What people would see", lists_section(found)))
    sections.append(("All numbers", _numbers(found)))
    sections.append(("How this was measured", _how(found, command)))
    return page(
        TITLE,
        sections,
        lead=first_words(found),
        notice=_said(found, NOTICE),
        footer=f"Tacit {found.facts['version']} · data {found.facts['data_digest']} · "
        "NOT PRIVATE, for the owner only",
    )


def _said(found: Evaluation, text: str) -> str:
    """The text; likes are called likes."""
    return text if found.metric == "rmse" else as_likes(text)


def _curve(found: Evaluation) -> str:
    metric = found.metric
    out = paragraph(_said(found, growth_words(found)))
    other = "recall@20" if metric == "rmse" else "ndcg@20"
    several = pictures.units(found)
    for unit in several:
        if len(several) > 1:
            out += f"<h3>Protecting {escaped(UNITS.get(unit, unit))}</h3>"
        out += picture(
            f"curve-{unit}",
            pictures.curve(found, metric, unit),
            told=f"{metric} against epsilon; the numbers are in the table below",
            caption=band_words(found),
            narrow=TALL,
        )
        if any(cell[other] is not None for cell in found.cells):
            out += picture(
                f"lists-{unit}",
                pictures.curve(found, other, unit),
                told=f"{other} against epsilon",
                caption=CAPTIONS[other],
                narrow=TALL,
            )
    return out


def _who(found: Evaluation) -> str:
    metric = found.metric
    out = paragraph(_said(found, payer_words(found)))
    given = "ratings a person has given"
    fifths = "Fifths of people, from those with the fewest ratings to those with the most."
    out += picture(
        "activity",
        pictures.payers(found, metric, "by_activity"),
        told=_said(found, f"{metric} by how many {given}"),
        caption=_said(found, fifths),
        narrow=TALL,
    )
    out += picture(
        "popularity",
        pictures.payers(found, metric, "by_popularity"),
        told=_said(found, f"{metric} by how often an item was rated"),
        caption=_said(found, "Fifths of items. What few people rated is where noise weighs most."),
        narrow=TALL,
    )
    if any("over_twin" in each for each in _spreads(found)):
        out += picture(
            "spread",
            pictures.spread(found, metric),
            told="what privacy costs each tenth of people",
            caption="Each person's figure beside the same person's without privacy. Below 0: "
            "privacy's noise happened to help.",
            narrow=TALL,
        )
    return out


def _spreads(found: Evaluation) -> list[dict[str, object]]:
    return [cell["spread"].get(found.metric, {}) for cell in found.cells]


def _misses(found: Evaluation) -> str:
    whose = whose_words(found)
    return (paragraph(whose) if whose else "") + picture(
        "misses",
        pictures.misses(found),
        told="the share of predictions within a distance of the true rating",
        caption="Read upwards from a distance: so many of 100 predictions are at least that good.",
    )


def _numbers(found: Evaluation) -> str:
    out = _tables(found, columns(found, FIRST))
    out += "".join(map(paragraph, list_words(found)))
    rest = [name for name in columns(found, EVERY) if name not in FIRST]
    whole = _tables(found, rest)
    words = paragraph(
        "± is one standard deviation over runs; beside the twin it is half the 95 % interval.",
        "quiet",
    )
    more = f"<details><summary>All other metrics</summary>{whole}</details>"
    return out + words + more


def _tables(found: Evaluation, metrics: list[str]) -> str:
    """One for each unit."""
    out = ""
    several = units(found)
    for unit in several:
        heads, lines = rows(found, metrics, unit)
        if len(several) > 1:
            out += f"<h3>Protecting {escaped(UNITS.get(unit, unit))}</h3>"
        out += table([NAMES.get(head, head) for head in heads], lines)
    return out


def _how(found: Evaluation, command: str) -> str:
    out = "".join(paragraph(_said(found, words)) for words in how_words(found))
    if command:
        out += paragraph("To repeat it:") + f"<pre>{_unbroken(command)}</pre>"
    return out


def _unbroken(command: str) -> str:
    """A command whose lines break before an option, never after its dashes."""
    return " ".join(
        f"<span>{escaped(word)}</span>" if word.startswith("-") else escaped(word)
        for word in command.split(" ")
    )
