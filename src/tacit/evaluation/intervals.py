"""How sure a mean is: 95 % intervals over people and over runs, paired where two models were
judged on the same people of the same splits.

Two things vary. Other people could have been asked: a person moves a metric by its derivative
in her (`Sums.pull`), averaged over the runs that she is in, and the squares of these add up.
And the split and the privacy noise could have been drawn otherwise: that is the variance of
the runs' values, over their number. The two are added, which counts the draw of held-back
ratings twice and so errs on the wide side. The degrees of freedom are Welch's.

| case | result |
|---|---|
| one run | people alone: the noise was drawn once, and the interval cannot know how it varies |
| a metric that a run does not have | None |
| fewer than two people | None |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.measured import Sums

Floats = NDArray[np.float64]

LEVEL = 0.95
MANY = 200.0
"""Degrees of freedom from which the expansion is right to ten digits."""


@dataclass(frozen=True)
class Interval:
    """A mean over runs and its 95 % interval."""

    mean: float
    low: float | None = None
    high: float | None = None


def interval(runs: Sequence[Sums | None]) -> Interval | None:
    """Of one model's metric."""
    return paired(runs, None)


def paired(
    runs: Sequence[Sums | None], other_runs: Sequence[Sums | None] | None
) -> Interval | None:
    """Of the difference between two models' metric, run by run; `other_runs` None for the
    metric itself."""
    values: list[float] = []
    rows: list[NDArray[np.integer[Any]]] = []
    pulls: list[Floats] = []
    for index, run in enumerate(runs):
        other_run = None if other_runs is None else other_runs[index]
        if run is None or (other_runs is not None and other_run is None):
            return None
        value = run.value()
        less = 0.0 if other_run is None else other_run.value()
        if value is None or less is None:
            return None
        values.append(value - less)
        rows.append(run.row)
        pulls.append(run.pull())
        if other_run is not None:
            rows.append(other_run.row)
            pulls.append(-other_run.pull())
    if not values:
        return None
    if len(rows) == 1:  # where everybody stands once
        return _around(values, pulls[0], len(rows[0]))
    row, pull = np.concatenate(rows), np.concatenate(pulls)
    person_pulls = np.bincount(row, pull) / len(values)
    return _around(values, person_pulls, int((np.bincount(row) > 0).sum()))


def _around(values: list[float], person_pulls: Floats, people: int) -> Interval:
    """`person_pulls` is how far a person moves the mean."""
    runs = len(values)
    mean = float(np.mean(values))
    if people < 2:
        return Interval(mean)
    over_people = float(person_pulls @ person_pulls)
    over_runs = float(np.var(values, ddof=1)) / runs if runs > 1 else 0.0
    variance = over_people + over_runs
    reach = _reach(over_people, people, over_runs, runs) * sqrt(variance)
    return Interval(mean, mean - reach, mean + reach)


def _reach(over_people: float, people: int, over_runs: float, runs: int) -> float:
    """Standard errors to each side: Student's, with Welch's degrees of freedom."""
    parts = over_people**2 / (people - 1)
    if runs > 1:
        parts += over_runs**2 / (runs - 1)
    squared_variance = (over_people + over_runs) ** 2
    freedom = squared_variance / parts if parts > 0 else float(people - 1)
    return student(freedom)


def student(freedom: float) -> float:
    """Where Student's law leaves (1 - `LEVEL`) / 2 above. With many degrees of freedom by its
    expansion around the normal one (Abramowitz and Stegun 26.7.5), because to load scipy's takes
    as long as to judge a model."""
    if freedom < MANY:
        from scipy.special import stdtrit  # not scipy.stats: half a second

        return float(stdtrit(freedom, 0.5 + LEVEL / 2))
    x = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / freedom**power for power, term in enumerate(terms, 1))
