"""The results page of a reproduction as Markdown, for `docs/results/`: nothing in it is
written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tacit.evaluation.reproduce.experiment import PaperTable
from tacit.evaluation.reproduce.page import heading
from tacit.evaluation.reproduce.record import origin

if TYPE_CHECKING:
    from tacit.evaluation.reproduce.experiment import Paper
    from tacit.evaluation.reproduce.run import Done

WIDTH = 118
"""Of a line of text; tables are as wide as they are."""


def markdown(paper: Paper, done: Sequence[Done], made: dict[str, Any]) -> str:
    """The page. Raw numbers are beside it, in `PAPER.json`."""
    lines = [
        f"# {paper.name}: reproduced",
        "",
        _filled(paper.title + "."),
        "",
        _filled(
            f"{origin(made, '`')}; raw numbers in "
            f"[{paper.name}.json]({paper.name}.json). "
            "Nothing on this page is written by hand: see [reproduce](../reproduce.md)."
        ),
        "",
        _filled(_scope(done)),
        "",
        *_summary(done),
    ]
    for each in done:
        lines += _figure(each)
    if paper.readings:
        lines += ["## How the text was read", ""]
        lines += [_filled(f"- {each}", "  ") for each in paper.readings]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _scope(done: Sequence[Done]) -> str:
    """What the verdicts are about, and how far they carry."""
    quick = any(each.results and each.results.asked.quick for each in done)
    said = "**A quick run: fewer values and one seed, not to judge by.** " if quick else ""
    return said + (
        "These verdicts are about accuracy. Whether the noise keeps what the paper promises is "
        "another question, answered under [claims](claims.md)."
    )


def _summary(done: Sequence[Done]) -> Iterable[str]:
    yield "| finding | figure | verdict |"
    yield "|---|---|---|"
    for each in done:
        for finding, verdict in each.verdicts:
            yield (f"| {_cell(finding.name)} | {each.experiment.figure} | *{verdict.outcome}* |")
    yield ""


def _figure(done: Done) -> list[str]:
    experiment = done.experiment
    lines = [f"## {heading(experiment)}", ""]
    data = ", ".join(done.results.asked.data)
    nothing = "invented" if experiment.invented else "none of it"
    facts = f"Data: {data or nothing}. Split: {experiment.split}. "
    if any("seed" in row.key for row in done.results.rows):
        facts += f"{_seeds(done)}. "
    if experiment.parameters:
        facts += f"Settings: {experiment.parameters}. "
    if done.missing:
        facts += f"Not run on: {', '.join(done.missing)}. "
    lines += [_filled(facts.strip()), ""]
    for shown in experiment.shown(done.results):
        lines += [*_table(shown), ""]
    for words in done.results.failures():
        lines += [_filled(f"**{words}.**"), ""]
    for finding, verdict in done.verdicts:
        words = f'- **{verdict.outcome}**: "{finding.words}" ({finding.where}). '
        lines.append(_filled(words + _ended(verdict.reason), "  "))
    return [*lines, ""]


def _seeds(done: Done) -> str:
    """`3 seeds`, or of each data set where they differ."""
    count = len(done.results.asked.splits)
    if done.seeds:
        return "Seeds: " + ", ".join(f"{name} {each}" for name, each in done.seeds.items())
    return f"{count} seed{'s' if count > 1 else ''}"


def _table(shown: PaperTable) -> Iterable[str]:
    yield f"{shown.title}:"
    yield ""
    yield f"| {' | '.join(_cell(name) for name in shown.columns)} |"
    yield f"|{'---|' * len(shown.columns)}"
    for row in shown.rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|")


def _ended(text: str) -> str:
    return text if text.endswith((".", ")")) else text + "."


def _filled(text: str, indent: str = "") -> str:
    return fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
