"""The report: one page that a product manager can read, with everything that a statistician
asks for. NOT PRIVATE, and it says so on every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.evaluation.report import pictures
from tacit.evaluation.report.charts import picture
from tacit.evaluation.report.pictures import UNITS, three
from tacit.evaluation.report.story import (
    NAMES,
    band_words,
    cost_cards,
    first_words,
    growth_words,
    how_words,
    list_words,
    metric_columns,
    payer_words,
    table_rows,
    units_compared,
    whose_words,
)
from tacit.evaluation.tables import EVERY
from tacit.ledger.statement.words import as_likes
from tacit.page import escaped, page, paragraph, table

if TYPE_CHECKING:
    from tacit.evaluation.arms import Arm
    from tacit.evaluation.invented import InventedPerson
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


def report(evaluation: Evaluation, command: str = "") -> str:
    """The whole page. Equal numbers and an equal command give equal bytes."""
    feature_interactions = bool(pictures.series(evaluation))
    sections = [("", cost_cards(evaluation))]
    if feature_interactions:
        sections.append(("Accuracy against privacy", _curve(evaluation)))
        sections.append(("Who pays", _payers(evaluation)))
        if evaluation.metric == "rmse":
            sections.append(("How far predictions miss", _misses(evaluation)))
        sections.append(("What people would see", lists_section(evaluation)))
    sections.append(("All numbers", _numbers(evaluation)))
    sections.append(("How this was measured", _protocol(evaluation, command)))
    return page(
        TITLE,
        sections,
        lead=first_words(evaluation),
        notice=_adapt_text(evaluation, NOTICE),
        footer=f"Tacit {evaluation.facts['version']} · data {evaluation.facts['data_digest']} · "
        "NOT PRIVATE, for the owner only",
    )


def _adapt_text(evaluation: Evaluation, text: str) -> str:
    """The text; likes are called likes."""
    return text if evaluation.metric == "rmse" else as_likes(text)


def _curve(evaluation: Evaluation) -> str:
    metric = evaluation.metric
    out = paragraph(_adapt_text(evaluation, growth_words(evaluation)))
    second_metric = "recall@20" if metric == "rmse" else "ndcg@20"
    several = pictures.units(evaluation)
    for unit in several:
        if len(several) > 1:
            out += f"<h3>Protecting {escaped(UNITS.get(unit, unit))}</h3>"
        out += picture(
            f"curve-{unit}",
            pictures.curve(evaluation, metric, unit),
            description=f"{metric} against epsilon; the numbers are in the table below",
            caption=band_words(evaluation),
            narrow=TALL,
        )
        if any(cell[second_metric] is not None for cell in evaluation.cells):
            out += picture(
                f"lists-{unit}",
                pictures.curve(evaluation, second_metric, unit),
                description=f"{second_metric} against epsilon",
                caption=CAPTIONS[second_metric],
                narrow=TALL,
            )
    return out


def _payers(evaluation: Evaluation) -> str:
    metric = evaluation.metric
    out = paragraph(_adapt_text(evaluation, payer_words(evaluation)))
    label = "ratings a person has given"
    fifths = "Fifths of people, from those with the fewest ratings to those with the most."
    out += picture(
        "activity",
        pictures.payers(evaluation, metric, "by_activity"),
        description=_adapt_text(evaluation, f"{metric} by how many {label}"),
        caption=_adapt_text(evaluation, fifths),
        narrow=TALL,
    )
    out += picture(
        "popularity",
        pictures.payers(evaluation, metric, "by_popularity"),
        description=_adapt_text(evaluation, f"{metric} by how often an item was rated"),
        caption=_adapt_text(
            evaluation, "Fifths of items. What few people rated is where noise weighs most."
        ),
        narrow=TALL,
    )
    if any("over_twin" in spread for spread in _spreads(evaluation)):
        out += picture(
            "spread",
            pictures.spread(evaluation, metric),
            description="what privacy costs each tenth of people",
            caption="Each person's figure beside the same person's without privacy. Below 0: "
            "privacy's noise happened to help.",
            narrow=TALL,
        )
    return out


def _spreads(evaluation: Evaluation) -> list[dict[str, object]]:
    return [cell["spread"].get(evaluation.metric, {}) for cell in evaluation.cells]


def _misses(evaluation: Evaluation) -> str:
    whose = whose_words(evaluation)
    return (paragraph(whose) if whose else "") + picture(
        "misses",
        pictures.misses(evaluation),
        description="the share of predictions within a distance of the true rating",
        caption="Read upwards from a distance: so many of 100 predictions are at least that good.",
    )


def _numbers(evaluation: Evaluation) -> str:
    out = _tables(evaluation, metric_columns(evaluation, FIRST))
    out += "".join(map(paragraph, list_words(evaluation)))
    other_metrics = [name for name in metric_columns(evaluation, EVERY) if name not in FIRST]
    other_tables = _tables(evaluation, other_metrics)
    note = paragraph(
        "± is one standard deviation over runs; beside the twin it is half the 95 % interval.",
        "quiet",
    )
    details = f"<details><summary>All other metrics</summary>{other_tables}</details>"
    return out + note + details


def _tables(evaluation: Evaluation, metrics: list[str]) -> str:
    """One for each unit."""
    out = ""
    several = units_compared(evaluation)
    for unit in several:
        heads, lines = table_rows(evaluation, metrics, unit)
        if len(several) > 1:
            out += f"<h3>Protecting {escaped(UNITS.get(unit, unit))}</h3>"
        out += table([NAMES.get(head, head) for head in heads], lines)
    return out


def _protocol(evaluation: Evaluation, command: str) -> str:
    out = "".join(
        paragraph(_adapt_text(evaluation, sentence)) for sentence in how_words(evaluation)
    )
    if command:
        out += paragraph("To repeat it:") + f"<pre>{_unbroken(command)}</pre>"
    return out


def _unbroken(command: str) -> str:
    """A command whose lines break before an option, never after its dashes."""
    return " ".join(
        f"<span>{escaped(word)}</span>" if word.startswith("-") else escaped(word)
        for word in command.split(" ")
    )


# What three invented people would be shown at three budgets, beside the list without
# privacy.


def lists_section(evaluation: Evaluation) -> str:
    """A table for each invented person: a column a budget, the last without privacy."""
    arms = _arms(evaluation)
    people = evaluation.swept.task.people
    if not arms or not people:
        return paragraph("There is nothing to show.")
    noun = "ratings" if evaluation.metric == "rmse" else "likes"
    out = paragraph(
        f"{whose_words(evaluation)}Three invented people, nobody's real {noun}. A marked title is "
        "also on the list without privacy."
    )
    for index, person in enumerate(people):
        out += _person_section(evaluation, person, index, arms)
    return out


def _arms(evaluation: Evaluation) -> list[Arm]:
    """Three budgets of the first private line, then its twin."""
    arms = evaluation.swept.task.arms
    private = [arm for arm in arms if arm.is_private]
    if not private:
        return []
    first_private = private[0]
    mine = [
        arm
        for arm in private
        if (arm.method, arm.unit, arm.calibration, arm.settings)
        == (
            first_private.method,
            first_private.unit,
            first_private.calibration,
            first_private.settings,
        )
    ]
    mine.sort(key=lambda arm: arm.epsilon or 0.0)
    cells = [{"epsilon": arm.epsilon, "arm": arm} for arm in mine]
    picked: list[Arm] = [cell["arm"] for cell in three(cells)]
    from tacit.evaluation.tables import twin_of

    twin = twin_of(first_private, arms)
    return [*picked, twin] if twin is not None else picked


def _person_section(
    evaluation: Evaluation, person: InventedPerson, index: int, arms: list[Arm]
) -> str:
    lists = [evaluation.swept.example_lists(arm)[index] for arm in arms]
    twin = set(lists[-1]) if arms[-1].epsilon is None else set()
    heads = [
        "without privacy" if arm.epsilon is None else f"epsilon {arm.epsilon:g}" for arm in arms
    ]
    columns = "".join(f'<th scope="col">{escaped(head)}</th>' for head in heads)
    rows = []
    private = [arm.epsilon is not None for arm in arms]
    for rank in range(max(len(ranked) for ranked in lists)):
        cells = "".join(
            f"<td>{_title(evaluation, ranked, rank, twin if mine else set())}</td>"
            for ranked, mine in zip(lists, private, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    rated_text = _rated(evaluation, person)
    return (
        f"<article><h3>Somebody who {escaped(person.name)}</h3>"
        f'<p class="quiet">{escaped(rated_text)}</p>'
        f'<div class="scroll"><table class="even"><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></article>"
    )


def _rated(evaluation: Evaluation, person: InventedPerson) -> str:
    """All that the list is made from: what was rated low moves it as much as the rest."""
    rated = list(zip(person.items, person.values, strict=True))
    high = [_label(evaluation, row) for row, value in rated if value > 0]
    low = [_label(evaluation, row) for row, value in rated if value <= 0]
    if evaluation.metric != "rmse":  # what is not liked says nothing
        return f"Liked: {', '.join(high)}."
    text = f"Rated high: {', '.join(high)}."
    return f"{text} Rated low: {', '.join(low)}." if low else text


def _title(evaluation: Evaluation, rows: list[int], rank: int, twin: set[int]) -> str:
    if rank >= len(rows):
        return ""
    label = escaped(_label(evaluation, rows[rank]))
    return f"<mark>{label}</mark>" if rows[rank] in twin else label


def _label(evaluation: Evaluation, row: int) -> str:
    from tacit.data.catalogue import Catalogue
    from tacit.model.person.ratings import label

    task = evaluation.swept.task
    return label(task.items or Catalogue(task.ratings.items), row)
