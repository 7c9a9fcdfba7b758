"""What three invented people would be shown at three budgets, beside the list without
privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.evaluation.report.pictures import three
from tacit.evaluation.report.story import whose_words
from tacit.page import escaped, paragraph

if TYPE_CHECKING:
    from tacit.evaluation.arms import Arm
    from tacit.evaluation.invented import InventedPerson
    from tacit.evaluation.result import Evaluation


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
    from tacit.model.person.names import label

    task = evaluation.swept.task
    return label(task.items or Catalogue(task.ratings.items), row)
