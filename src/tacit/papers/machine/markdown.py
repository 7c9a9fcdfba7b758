"""The results page of a reproduction as Markdown, for `docs/results/`: nothing in it is
written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tacit.papers.machine.experiment import PaperTable
from tacit.papers.machine.page import heading
from tacit.papers.machine.record import origin

if TYPE_CHECKING:
    from tacit.papers.machine.experiment import Paper
    from tacit.papers.machine.run import Done

WIDTH = 118
"""Of a line of text; tables are as wide as they are."""


def markdown(paper: Paper, figures: Sequence[Done], run_record: dict[str, Any]) -> str:
    """The page. Raw numbers are beside it, in `PAPER.json`."""
    lines = [
        f"# {paper.name}: reproduced",
        "",
        _filled(paper.title + "."),
        "",
        _filled(
            f"{origin(run_record, '`')}; raw numbers in "
            f"[{paper.name}.json]({paper.name}.json). "
            "Nothing on this page is written by hand: see [reproduce](../reproduce.md)."
        ),
        "",
        _filled(_scope(figures)),
        "",
        *_summary(figures),
    ]
    for entry in figures:
        lines += _figure(entry)
    if paper.readings:
        lines += ["## How the text was read", ""]
        lines += [_filled(f"- {entry}", "  ") for entry in paper.readings]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _scope(figures: Sequence[Done]) -> str:
    """What the verdicts are about, and how far they carry."""
    quick = any(figure.results and figure.results.asked.quick for figure in figures)
    warning = "**A quick run: fewer values and one seed, not to judge by.** " if quick else ""
    return warning + (
        "These verdicts are about accuracy. Whether the noise keeps what the paper promises is "
        "another question, answered under [claims](claims.md)."
    )


def _summary(figures: Sequence[Done]) -> Iterable[str]:
    yield "| finding | figure | verdict |"
    yield "|---|---|---|"
    for figure in figures:
        for finding, verdict in figure.verdicts:
            yield (f"| {_cell(finding.name)} | {figure.experiment.figure} | *{verdict.outcome}* |")
    yield ""


def _figure(figure: Done) -> list[str]:
    experiment = figure.experiment
    lines = [f"## {heading(experiment)}", ""]
    data = ", ".join(figure.results.asked.data)
    nothing = "invented" if experiment.invented else "none of it"
    facts = f"Data: {data or nothing}. Split: {experiment.split}. "
    if any("seed" in row.key for row in figure.results.rows):
        facts += f"{_seeds(figure)}. "
    if experiment.parameters:
        facts += f"Settings: {experiment.parameters}. "
    if figure.missing:
        facts += f"Not run on: {', '.join(figure.missing)}. "
    lines += [_filled(facts.strip()), ""]
    for table in experiment.terminal_tables(figure.results):
        lines += [*_table(table), ""]
    for quote in figure.results.failures():
        lines += [_filled(f"**{quote}.**"), ""]
    for finding, verdict in figure.verdicts:
        quote = f'- **{verdict.outcome}**: "{finding.words}" ({finding.where}). '
        lines.append(_filled(quote + _sentence(verdict.reason), "  "))
    return [*lines, ""]


def _seeds(figure: Done) -> str:
    """`3 seeds`, or of each data set where they differ."""
    count = len(figure.results.asked.splits)
    if figure.seeds:
        return "Seeds: " + ", ".join(f"{name} {seeds}" for name, seeds in figure.seeds.items())
    return f"{count} seed{'s' if count > 1 else ''}"


def _table(table: PaperTable) -> Iterable[str]:
    yield f"{table.title}:"
    yield ""
    yield f"| {' | '.join(_cell(name) for name in table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    for row in table.rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|")


def _sentence(text: str) -> str:
    return text if text.endswith((".", ")")) else text + "."


def _filled(text: str, indent: str = "") -> str:
    return fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
