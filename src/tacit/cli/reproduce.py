"""`tacit reproduce`: a paper's experiments, its figures beside ours, a verdict each."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.atomic_write import open_atomic
from tacit.cli.grouped import Command
from tacit.cli.no_effect import refuse_no_effect
from tacit.cli.options import json_option, ledger_options, note
from tacit.cli.overwrite import may_write
from tacit.cli.show import print_json, progress, say, table

if TYPE_CHECKING:
    from tacit.papers.machine.experiment import Paper
    from tacit.papers.machine.run import Done

PATHS = {"--data": "DIR", "--out": "DIR", "--from": "FILE"}
"""Options that name a place of this machine, and what a command is shown with instead."""


@click.command(cls=Command)
@click.argument("paper", metavar="PAPER")
@click.option(
    "--figure",
    "figures",
    metavar="N,M",
    default="",
    help="Only these figures or tables; all unless said.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder with the data sets (ml-100k/, ml-1m/, netflix-100/), or one of them; the "
    "embedded sample unless given.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Fewer values, one seed and a small sample, under a minute: to see that it runs.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the page, the raw numbers and finished cells go; reproduce-PAPER unless said.",
)
@click.option(
    "--overwrite", is_flag=True, help="Replace a page that is there; finished cells are used again."
)
@click.option(
    "--seeds",
    default=3,
    show_default=True,
    type=click.IntRange(1, 100),
    help="Splits and initial factors.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Cells run at once; one a core unless said, one in a quick run on the sample.",
)
@click.option(
    "--from",
    "records",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    help="Run nothing: draw and judge the numbers.json of a run again; of several runs "
    "together if given more than once.",
)
@click.option(
    "--owner-only", is_flag=True, help="Allow it on a capped book: the page stays with the owner."
)
@ledger_options
@json_option
def reproduce(
    paper: str,
    figures: str,
    data: Path | None,
    quick: bool,
    out: Path | None,
    overwrite: bool,
    seeds: int,
    processes: int | None,
    records: tuple[Path, ...],
    owner_only: bool,
    ledger: str | None,
    population: str,
    as_json: bool,
) -> None:
    """Run the experiments of PAPER (mcsherry2009, hua2015, wang-tang, xian2017, shin2018)
    again and judge its findings. NOT PRIVATE: for the owner only."""
    from tacit.papers.machine.again import judge_again
    from tacit.papers.machine.record import record
    from tacit.papers.machine.run import run_paper
    from tacit.papers.machine.sources import look
    from tacit.papers.registry import find

    refuse_no_effect()
    selected = find(paper)
    sources = look(data, quick=quick)
    figure_names = [name.strip() for name in figures.split(",") if name.strip()]
    selected.select_experiments(figure_names)
    folder = out or Path(f"reproduce-{selected.name}")
    if folder.exists():
        may_write(str(folder / "index.html"), overwrite)
    if records:
        outcomes, numbers = _judge_records(selected, records, figure_names)
        folder.mkdir(parents=True, exist_ok=True)
        _write_and_print(folder, selected, outcomes, numbers, as_json)
        return
    if data is None:
        note(
            "no --data: the embedded sample of invented people stands in, and verdicts on "
            "it say little"
        )
    else:
        from tacit.fitting.publish import book_evaluation

        book_evaluation(ledger, population, owner_only=owner_only)
    # A quick run on the sample is over before other processes have started.
    usual = 1 if quick and data is None else os.cpu_count() or 1
    with progress(f"reproduce {selected.name}") as bar:
        outcomes = run_paper(
            selected,
            sources,
            figures=figure_names,
            seeds=seeds,
            quick=quick,
            folder=folder / "cells",
            processes=processes or usual,
            progress=bar,
        )
    # Judged from the record, so that a page says what its numbers say, to the last digit.
    numbers = record(selected, outcomes, _command())
    outcomes = judge_again(selected, [numbers])
    numbers = record(selected, outcomes, _command())
    _write_and_print(folder, selected, outcomes, numbers, as_json)


def _judge_records(
    paper: Paper, files: tuple[Path, ...], figures: list[str]
) -> tuple[list[Done], dict[str, Any]]:
    """What finished runs say now."""
    from tacit.papers.machine.again import judge_again, read, runs_of
    from tacit.papers.machine.record import record

    runs = [read(path, paper) for path in files]
    outcomes = judge_again(paper, runs, figures)
    return outcomes, record(paper, outcomes, _command(), runs=runs_of(runs))


def _write_and_print(
    folder: Path, paper: Paper, outcomes: list[Done], numbers: dict[str, Any], as_json: bool
) -> None:
    """Files, and the terminal."""
    _write(folder, paper, outcomes, numbers)
    if as_json:
        print_json(numbers)
    else:
        _print(paper, outcomes)
        say(f"page: {folder / 'index.html'}; raw numbers: {folder / 'numbers.json'}")
    failed = sum(len(outcome.results.failed) for outcome in outcomes)
    if failed:
        total = failed + sum(len(outcome.results.rows) for outcome in outcomes)
        note(
            f"{failed} of {total} cells failed; the rest is on the page. The same command "
            "with --overwrite tries those again, and no other"
        )
        raise SystemExit(1)


def _command() -> str:
    """As it was typed, without the folders of this machine."""
    arguments = []
    placeholder = ""
    for argument in sys.argv[1:]:
        arguments.append(placeholder or argument)
        placeholder = PATHS.get(argument, "")
        option = argument.split("=")[0]
        if option in PATHS and "=" in argument:
            arguments[-1] = f"{option}={PATHS[option]}"
    return shlex.join(["tacit", *arguments])


def _write(folder: Path, paper: Paper, outcomes: list[Done], numbers: dict[str, Any]) -> None:
    """The page and the numbers, for the owner's eyes."""
    from tacit.papers.machine.markdown import markdown
    from tacit.papers.machine.page import page_of
    from tacit.papers.machine.record import text

    files = {
        "numbers.json": text(numbers),
        "index.html": page_of(paper, outcomes, numbers),
        "results.md": markdown(paper, outcomes, numbers),
    }
    for name, content in files.items():
        with open_atomic(folder / name, private=True) as file:
            file.write(content.encode())


def _print(paper: Paper, outcomes: list[Done]) -> None:
    from tacit.papers.machine.page import heading

    say(paper.title)
    say("NOT PRIVATE: compared with raw held-back ratings, for the owner only")
    if any(outcome.results and outcome.results.asked.quick for outcome in outcomes):
        say("A quick run: fewer values and one seed, not to judge by.")
    for outcome in outcomes:
        experiment = outcome.experiment
        say()
        say(heading(experiment))
        for figure_table in experiment.terminal_tables(outcome.results):
            table(figure_table.columns, figure_table.rows, title=figure_table.title)
            say()
        for sentence in outcome.results.failures():
            say(f"  FAILED: {sentence}")
        for finding, verdict in outcome.verdicts:
            say(f"  {verdict.outcome.upper()}: {finding.words} ({finding.where})")
            say(f"    {verdict.reason}")
