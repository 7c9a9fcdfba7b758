"""How results look: tables that align, numbers with units, a bar on a terminal and none in
a pipe.

All that a command prints goes through here, and so through the filter of `tacit.redaction`: no
title, id or name of a stranger's file acts on a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tacit import errors
from tacit.cli.lines import fitted
from tacit.redaction import json_text, one_line, several_lines

if TYPE_CHECKING:
    from tacit.rounds.options import Progress

TEXT = ("item", "title", "method", "purpose", "because you rated", "because you liked")
"""Columns that stay to the left, whatever they hold: an id may look like a number."""
EVERYBODY = "(well liked by everybody)"
POPULAR = "(popular with everybody)"
"""Reasons that are nobody's own."""
WORD = 16
"""A longer word may be broken where a table is narrow."""
GAP = 2
"""Blanks between two columns."""
PIPED = 160
"""Columns of a table that nobody's terminal limits."""


def say(text: str = "", *, err: bool = False) -> None:
    """Lines of our own, which may hold words of others."""
    stream = sys.stderr if err else sys.stdout
    click.echo(fitted(several_lines(text), stream), err=err)


@contextmanager
def after_writing(what: str) -> Iterator[None]:
    """What is printed inside tells of something that is written already: if the output refuses
    it, the error says so."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise errors.Failure(
            f"the output cannot be written: {errors.reason(error)}; {what}",
            remedy="nothing needs to be repeated",
        ) from None


def print_json(value: object) -> None:
    """The answer of a command for another program."""
    click.echo(json_text(value))


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None
) -> None:
    """Numbers (and headers of number columns) to the right, text to the left. What a
    terminal has no room for stands below, under the names of the rows."""
    from rich.console import Console

    texts = [["–" if cell is None else one_line(str(cell)) for cell in row] for row in rows]
    right = [
        bool(rows) and name not in TEXT and all(_numeric(row[i]) for row in rows)
        for i, name in enumerate(columns)
    ]
    widths = [
        needs(name, [row[i] for row in texts], numeric=right[i]) for i, name in enumerate(columns)
    ]
    on_terminal = sys.stdout.isatty()
    wide = max(PIPED, sum(widths) + GAP * len(widths))
    console = Console(width=None if on_terminal else wide, highlight=False)
    for index, group in enumerate(parts(widths, right, console.width)):
        if index:
            click.echo()
        grid = _grid([(columns[i], right[i], widths[i]) for i in group], title)
        for row in texts:
            grid.add_row(*(_text(row[i]) for i in group))
        title = None
        if on_terminal:
            console.print(grid)
            continue
        with console.capture() as capture:
            console.print(grid)
        lines = capture.get().splitlines()
        click.echo("\n".join(line.rstrip() for line in lines))


def _grid(columns: Sequence[tuple[str, bool, int]], title: str | None) -> Any:
    """An empty table of such columns: name, whether to the right, least width."""
    from rich.table import Table

    grid = Table(
        box=None,
        pad_edge=False,
        title=None if title is None else _text(one_line(title)),
        title_justify="left",
        title_style="bold",
        header_style="bold",
    )
    for name, numeric, width in columns:
        grid.add_column(
            name, justify="right" if numeric else "left", overflow="fold", min_width=width
        )
    return grid


def _text(text: str) -> Any:
    from rich.text import Text

    return Text(text)


def _numeric(cell: object) -> bool:
    if cell is None or isinstance(cell, int | float):
        return True
    if cell in ("–", "twin"):  # of a column of budgets
        return True
    try:
        return bool(
            [float(part) for part in str(cell).replace(",", "").removesuffix("%").split("±")]
        )
    except ValueError:
        return False


@contextmanager
def progress(title: str) -> Iterator[Progress | None]:
    """A bar on a terminal; nothing when piped."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=None)

        def report(completed: int, total: int, stage: str) -> None:
            bar.update(task, completed=completed, total=total, description=f"{title}: {stage}")

        yield report


@contextmanager
def counted_progress(title: str) -> Iterator[Callable[..., None] | None]:
    """A bar that is told (done, total, seconds left) and says how long it may take."""
    with progress(title) as bar:
        if bar is None:
            yield None
            return

        def report(completed: int, total: int, seconds: float | None) -> None:
            message = f"{completed} of {total}"
            if seconds is not None:
                message += f", {duration(seconds)} left"
            bar(completed, total, message)

        yield report


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def stars(value: float, error: float | None = None) -> str:
    """A rating with its error, if it has one."""
    return f"{value:.2f}" if error is None else f"{value:.2f} ± {error:.2f}"


def fact(name: str, value: Any) -> None:
    """A name and a value on one line, aligned with the lines around it."""
    say(f"{name:<22}{one_line(str(value))}")


def print_lines(lines: Sequence[Any], *, rated: bool = True, low: Collection[str] = ()) -> None:
    """A list of recommendations, with expected ratings where the model has any, and reasons
    where there are any. `low` are items that the person did not like."""

    def value(line: Any) -> str:
        return stars(line.rating, line.error) if rated else f"{line.score:.3f}"

    columns = ["", "item", "expected" if rated else "score"]
    rows = [
        [rank, line.title, value(line), reason(line, rated=rated, low=low)]
        for rank, line in enumerate(lines, 1)
    ]
    if any(line.because for line in lines):
        columns.append("because you rated" if rated else "because you liked")
    table(columns, [row[: len(columns)] for row in rows])


def reason(line: Any, *, rated: bool = True, low: Collection[str] = ()) -> str:
    """The own ratings that moved an item most, and by how much; everybody's liking where it
    is that alone."""
    if not line.moved:
        return EVERYBODY if rated else POPULAR
    reasons = [
        f"{name}{' (rated low)' if name in low else ''} {points:+.2f}"
        for name, points in line.moved
    ]
    if line.everybody > max(points for _, points in line.moved):
        reasons.append(f"rated high by many {line.everybody:+.2f}")
    return ", ".join(reasons)


# Layout of tables: minimal widths, and which columns stay together in a narrow terminal.


def needs(name: str, cells: Sequence[str], *, numeric: bool) -> int:
    """The width in which no number and no word of a column is broken."""
    texts = [name] if numeric else [name, *cells]
    lengths = [len(word) for text in texts for word in text.split()]
    longest = min(max([0, *lengths]), WORD)
    return max([longest, *map(len, cells)]) if numeric else longest


def parts(widths: Sequence[int], right: Sequence[bool], room: int) -> list[list[int]]:
    """Columns that stand together: all where there is room, else several groups that each
    begin with what the rows are called."""
    every = list(range(len(widths)))
    named = right.index(True) + 1 if True in right else 0
    keys = every[:named] if sum(widths[:named]) + GAP * named < room / 2 else every[:1]
    if _wide(every, widths) <= room or len(keys) == len(every):
        return [every]
    groups = [list(keys)]
    for column in every[len(keys) :]:
        group = groups[-1]
        if len(group) > len(keys) and _wide([*group, column], widths) > room:
            groups.append(list(keys))
        groups[-1].append(column)
    return groups


def _wide(columns: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[i] for i in columns) + GAP * (len(columns) - 1)
