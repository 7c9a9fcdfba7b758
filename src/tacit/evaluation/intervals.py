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

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.measured import Sums

Floats = NDArray[np.float64]

LEVEL = 0.95


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
    runs: Sequence[Sums | None], others: Sequence[Sums | None] | None
) -> Interval | None:
    """Of the difference between two models' metric, run by run; `others` None for the
    metric itself."""
    values: list[float] = []
    rows: list[NDArray[np.int64]] = []
    pulls: list[Floats] = []
    for place, run in enumerate(runs):
        other = None if others is None else others[place]
        if run is None or (others is not None and other is None):
            return None
        value = run.value()
        less = 0.0 if other is None else other.value()
        if value is None or less is None:
            return None
        values.append(value - less)
        rows.append(run.row.astype(np.int64))
        pulls.append(run.pull())
        if other is not None:
            rows.append(other.row.astype(np.int64))
            pulls.append(-other.pull())
    if not values:
        return None
    row, pull = np.concatenate(rows), np.concatenate(pulls)
    return _around(values, row, pull, twice=others is not None)


def _around(
    values: list[float], row: NDArray[np.int64], pull: Floats, *, twice: bool
) -> Interval:
    """`twice`: a person may stand in a run more than once."""
    runs = len(values)
    mean = float(np.mean(values))
    each, people = pull, len(row)
    if runs > 1 or twice:
        each = np.bincount(row, pull) / runs
        people = int((np.bincount(row) > 0).sum())
    if people < 2:
        return Interval(mean)
    over_people = float(each @ each)
    over_runs = float(np.var(values, ddof=1)) / runs if runs > 1 else 0.0
    whole = over_people + over_runs
    reach = _reach(over_people, people, over_runs, runs) * sqrt(whole)
    return Interval(mean, mean - reach, mean + reach)


def _reach(
    over_people: float, people: int, over_runs: float, runs: int
) -> float:
    """Standard errors to each side: Student's, with Welch's degrees of freedom."""
    from scipy.special import stdtrit  # not scipy.stats: half a second to load

    parts = over_people**2 / (people - 1)
    if runs > 1:
        parts += over_runs**2 / (runs - 1)
    whole = (over_people + over_runs) ** 2
    freedom = whole / parts if parts > 0 else float(people - 1)
    return float(stdtrit(freedom, 0.5 + LEVEL / 2))
