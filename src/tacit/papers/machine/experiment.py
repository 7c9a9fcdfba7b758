"""What a paper's figure or table is here: an experiment, declared as data.

An experiment names its data, its split and its cells (`keys`), one module-level function
that makes the numbers of one cell (`work`), what is drawn of them (`draw`) and the findings
that they speak to. A finding is a sentence of the paper and a `judge`, which looks at the
numbers and says whether it holds. Nothing here is private: results are compared with raw
held-back ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from tacit.papers.machine.sources import Sources

Key = dict[str, Any]
"""What makes a cell of an experiment: JSON-able, and the same whenever it is asked for."""
Values = dict[str, Any]
"""What a cell gives: JSON-able."""
Outcome = Literal["holds", "holds in one reading", "does not hold", "not run"]
Style = Literal["ours", "paper", "line"]
T = TypeVar("T")
FAILED = "failed"
"""What a cell has instead of numbers if it could not be computed: the reason."""


@dataclass(frozen=True)
class Wanted:
    """What an experiment is to be run on."""

    data: tuple[str, ...]
    """The data sets that it wants and that are there, in its order; or the embedded
    sample alone."""
    seeds: int = 3
    quick: bool = False
    """Fewer values and one seed: to see that it runs, not to judge by."""

    @property
    def splits(self) -> range:
        """The seeds of splits and of initial factors, one run each."""
        return range(1 if self.quick else self.seeds)


@dataclass(frozen=True)
class Row:
    """One finished cell."""

    key: Key
    values: Values


@dataclass(frozen=True)
class Series:
    """Means over seeds along one parameter."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    sd: tuple[float, ...]

    def at(self, x: float) -> float | None:
        """The mean at this value, if it was run."""
        for index, point in enumerate(self.x):
            if abs(point - x) <= 1e-9 * max(1.0, abs(x)):
                return self.y[index]
        return None


@dataclass(frozen=True)
class Results:
    """The finished cells of one experiment, and those that failed."""

    rows: tuple[Row, ...]
    asked: Wanted
    failed: tuple[Row, ...] = ()
    """Cells without numbers; their values name the reason (`FAILED`)."""
    missed: list[Row] = field(default_factory=list, compare=False, repr=False)
    """Failed cells whose numbers somebody asked for and nothing stood in for: what a judge
    says without them is no verdict."""

    @classmethod
    def of(cls, rows: Iterable[Row], asked: Wanted) -> Results:
        """All cells of an experiment, finished or not."""
        cells = tuple(rows)
        finished = tuple(row for row in cells if FAILED not in row.values)
        return cls(finished, asked, tuple(row for row in cells if FAILED in row.values))

    def only(self, wanted: Callable[[Row], bool]) -> Results:
        """The cells that are wanted."""
        return replace(
            self,
            rows=tuple(filter(wanted, self.rows)),
            failed=tuple(filter(wanted, self.failed)),
        )

    def select(self, **same: Any) -> Results:
        """Only the cells whose keys have these values."""
        matches = self.only(
            lambda row: all(row.key.get(name) == value for name, value in same.items())
        )
        if not matches.rows:
            self.missed.extend(matches.failed)
        return matches

    def values(self, metric: str, **same: Any) -> list[float]:
        """This number of every such cell that has it."""
        numbers = (row.values.get(metric) for row in self.select(**same).rows)
        return [float(number) for number in numbers if number is not None]

    def mean(self, metric: str, **same: Any) -> float | None:
        """Over all such cells; None if there is none."""
        numbers = self.values(metric, **same)
        return float(np.mean(numbers)) if numbers else None

    def along(self, parameter: str, metric: str, **same: Any) -> Series:
        """Means over all other keys (seeds) at every value of a parameter, which is in the
        keys, or among what cells give (a day, a count)."""
        by: dict[float, list[float]] = {}
        matches = self.select(**same)
        for row in matches.rows:
            value = row.values.get(metric)
            at = row.key.get(parameter, row.values.get(parameter))
            if at is not None and value is not None:
                by.setdefault(float(at), []).append(value)
        self.missed.extend(row for row in matches.failed if row.key.get(parameter) not in by)
        x = sorted(by)
        return Series(
            tuple(x),
            tuple(float(np.mean(by[point])) for point in x),
            tuple(float(np.std(by[point], ddof=1)) if len(by[point]) > 1 else 0.0 for point in x),
        )

    def failures(self) -> list[str]:
        """Each reason for which cells failed, with how many of all and the first of them."""
        by: dict[str, list[Row]] = {}
        for row in self.failed:
            by.setdefault(str(row.values[FAILED]), []).append(row)
        total = len(self.rows) + len(self.failed)
        return [
            f"{len(rows)} of {total} cells failed: {reason} ({named(rows[0].key)}"
            f"{f', and {len(rows) - 1} more' if len(rows) > 1 else ''})"
            for reason, rows in by.items()
        ]

    def __bool__(self) -> bool:
        return bool(self.rows)


def named(key: Key) -> str:
    """A cell in words: `data sample, model DPSGD-MF, rate 0.0006`."""
    return ", ".join(f"{name} {value}" for name, value in key.items())


@dataclass(frozen=True)
class Curve:
    """One line of a chart."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    sd: Sequence[float] = ()
    style: Style = "ours"
    """`ours`: our curve; `paper`: points that the text prints; `line`: a level to compare
    with, such as a baseline."""

    @classmethod
    def of(cls, label: str, series: Series, style: Style = "ours") -> Curve:
        """The curve of a series."""
        return cls(label, series.x, series.y, series.sd, style)

    @classmethod
    def level(cls, label: str, height: float, over: Series) -> Curve:
        """A level across the whole chart."""
        ends = (min(over.x, default=0.0), max(over.x, default=1.0))
        return cls(label, ends, (height, height), style="line")


@dataclass(frozen=True)
class Panel:
    """One chart, and what the paper says of it where its figure survives only in words."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    note: str = ""
    most: float | None = None
    """Where the chart ends above, if a curve would squeeze all others; tables do not end."""
    right: tuple[Curve, ...] = ()
    """Curves on a scale of their own, on the right."""
    y_right: str = ""


@dataclass(frozen=True)
class PaperTable:
    """Columns and rows; None is an empty place."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Verdict:
    """Whether a finding was seen here."""

    outcome: Outcome
    reason: str
    """Which reading, or what was tried and how large the effect is; no setting that the
    paper does not print is left unsaid."""
    numbers: Mapping[str, float] = field(default_factory=dict)


NOT_RUN = Verdict("not run", "no cell of it was run")


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper that numbers can speak to."""

    name: str
    """Short, unique in its paper."""
    words: str
    """As printed, or closely after it."""
    where: str
    """Section, figure or table."""
    judge: Callable[[Results], Verdict]
    """From all cells of the experiment."""

    def verdict(self, results: Results) -> Verdict:
        """The judgement; *not run* without a single cell, or without one that it rests on."""
        if not results:
            return NOT_RUN
        results.missed.clear()
        try:
            verdict = self.judge(results)
        except Exception:
            if not results.failed:
                raise
            return Verdict("not run", f"it cannot be judged: {'; '.join(results.failures())}")
        if results.missed:
            row = results.missed[0]
            return Verdict(
                "not run",
                f"the cell {named(row.key)}, which it needs, failed: {row.values[FAILED]}",
            )
        if results.failed and verdict.outcome != "not run":
            return replace(verdict, reason=f"{verdict.reason}. {'; '.join(results.failures())}")
        return verdict


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of a paper."""

    figure: str
    """What `--figure` names: "1", "2", "table 2", "noise"."""
    title: str
    data: tuple[str, ...]
    """Data sets that it is run on where they are there (`sources.SETS`); the first is the
    usual one, which the embedded sample stands for if nothing is given."""
    split: str
    """In words."""
    keys: Callable[[Wanted], Iterable[Key]]
    """The cells. A key names its data set as `data` if `work` needs one."""
    work: Callable[[Sources, Key], Values]
    """One cell; a function of a module, so that other processes find it."""
    draw: Callable[[Results], Iterable[Panel]]
    findings: tuple[Finding, ...] = ()
    tables: Callable[[Results], Iterable[PaperTable]] | None = None
    """Beside or instead of charts; those of the charts unless given."""
    parameters: str = ""
    """In words: what is printed, and what had to be chosen."""
    invented: bool = False
    """Needs no data set."""
    cells: str = ""
    """Figures with the same word here share their cells: what one has run, the others
    read."""

    def panels(self, results: Results) -> list[Panel]:
        """Its charts."""
        return _as_far(self.draw(results), results) if results else []

    def non_charts(self, results: Results) -> list[PaperTable]:
        """Its tables that are no charts."""
        if self.tables is None or not results:
            return []
        return _as_far(self.tables(results), results)

    def terminal_tables(self, results: Results) -> list[PaperTable]:
        """What the terminal shows."""
        if self.tables is not None:
            return self.non_charts(results)
        return [of_panel(panel) for panel in self.panels(results)]


@dataclass(frozen=True)
class Paper:
    """One paper: what `tacit reproduce NAME` runs."""

    name: str
    title: str
    """Authors, title, place and year."""
    experiments: tuple[Experiment, ...]
    readings: tuple[str, ...] = ()
    """What its text leaves open and how it was read."""

    def select_experiments(self, figures: Sequence[str]) -> tuple[Experiment, ...]:
        """Those of the named figures, in the paper's order; all unless some are named."""
        from tacit.errors import SettingError

        figure_names = {experiment.figure for experiment in self.experiments}
        for figure in figures:
            if figure not in figure_names:
                raise SettingError(
                    f"{self.name} has no figure {figure!r}",
                    remedy=f"its figures are: {', '.join(sorted(figure_names))}",
                )
        return tuple(
            experiment
            for experiment in self.experiments
            if not figures or experiment.figure in figures
        )


def _as_far(parts: Iterable[T], results: Results) -> list[T]:
    """All of them; those before the first that needs a cell which failed."""
    finished = list[T]()
    try:
        for part in parts:
            finished.append(part)
    except Exception:
        if not results.failed:
            raise
    return finished


def of_panel(panel: Panel) -> PaperTable:
    """The numbers of a chart: one row a curve, one column a value of x."""
    across = sorted({x for curve in panel.curves if curve.style != "line" for x in curve.x})
    rows: list[tuple[object, ...]] = []
    for curve in (*panel.curves, *panel.right):
        y_at = dict(zip(curve.x, curve.y, strict=True))
        # A level is the same everywhere between its two ends.
        level = curve.y[0] if curve.style == "line" and len(curve.y) else None
        numbers = (y_at.get(x, level) for x in across)
        rows.append((curve.label, *(None if n is None else f"{n:.4f}" for n in numbers)))
    return PaperTable(
        f"{panel.title} ({panel.y} by {panel.x})",
        (panel.x, *(f"{x:g}" for x in across)),
        tuple(rows),
    )
