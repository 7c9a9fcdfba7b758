"""From cells to the lines of a table: means over runs, intervals, the twin beside each, who
pays, and how errors are spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.arms import NOISE_OFF, Arm
from tacit.evaluation.lists import alike
from tacit.evaluation.measured import LONGEST, PLACES, Measured, Sums
from tacit.evaluation.prepared import FIFTHS

Floats = NDArray[np.float64]
Line = dict[str, Any]
COVERAGE = tuple(f"coverage@{length}" for length in PLACES)
ALIKE = (f"overlap@{LONGEST}", f"f_twin@{LONGEST}")
SPREAD = ("rmse", "mae", "recall@20", "ndcg@20")
"""Metrics whose spread over people is told."""
HIGHER_IS_BETTER = ("recall", "precision", "f@", "ndcg", "map", "mrr", "hit")
EVERY = (
    "rmse",
    "mae",
    *(
        f"{name}@{length}"
        for length in PLACES
        for name in ("recall", "ndcg", "precision", "hit", "f", "map", "mrr")
    ),
    *ALIKE,
    *COVERAGE,
    *(f"novelty@{length}" for length in PLACES),
    *(f"popularity_lift@{length}" for length in PLACES),
    "inside50",
    "inside80",
    "inside95",
)
"""All metrics, in the order of a table."""
LEVEL = 0.95
MANY = 200.0
"""Degrees of freedom from which the expansion is right to ten digits."""


def better_when_higher(name: str) -> bool:
    """Whether more of a metric is better."""
    return name.startswith(HIGHER_IS_BETTER)


def line(
    head: Mapping[str, Any], runs: Sequence[Measured], twin: Sequence[Measured] | None = None
) -> Line:
    """One cell of the output: the head, then every metric as mean, standard deviation over
    runs and interval, then the twin beside it and who pays."""
    sums = [dict(run.sums) for run in runs]
    twin_sums = None if twin is None else [dict(run.sums) for run in twin]
    if twin is not None:
        for run_sums, run, twin_run in zip(sums, runs, twin, strict=True):
            run_sums |= _likeness(run, twin_run)
    out: Line = dict(head) | {"runs": len(runs)}
    for name in EVERY:
        if name in COVERAGE:
            values = [run.numbers.get(name) for run in runs]
            out |= _summary(name, values, None)
            continue
        of_runs = [run_sums.get(name) for run_sums in sums]
        values = [None if metric_sums is None else metric_sums.value() for metric_sums in of_runs]
        out |= _summary(name, values, interval(of_runs))
    if twin_sums is not None:
        out["over_twin"] = _over(sums, twin_sums)
    out["spread"] = _spread(sums, twin_sums)
    out["by_activity"] = by_activity(runs)
    out["by_popularity"] = by_popularity(runs)
    out["error_cdf"] = error_cdf(runs)
    return out


def _summary(name: str, values: Sequence[float | None], interval: Interval | None) -> Line:
    measured = [value for value in values if value is not None]
    complete = len(measured) == len(values)
    several = complete and len(measured) > 1
    return {
        name: float(np.mean(measured)) if complete and measured else None,
        f"{name}_sd": float(np.std(measured, ddof=1)) if several else None,
        f"{name}_low": None if interval is None else interval.low,
        f"{name}_high": None if interval is None else interval.high,
    }


def _likeness(run: Measured, twin: Measured) -> dict[str, Sums]:
    """How alike the lists of two models are."""
    if "lists" not in run.arrays or "lists" not in twin.arrays:
        return {}
    row = run.arrays["listed"]
    scores = alike(run.arrays["lists"], twin.arrays["lists"], LONGEST)
    ones = np.ones(len(row))
    return {name: Sums(row, values, ones) for name, values in zip(ALIKE, scores, strict=True)}


def _over(sums: Sequence[Mapping[str, Sums]], twin: Sequence[Mapping[str, Sums]]) -> dict[str, Any]:
    """Each metric minus the twin's, on the same people of the same splits."""
    out = {}
    for name in EVERY:
        difference = paired([run.get(name) for run in sums], [run.get(name) for run in twin])
        if difference is not None:
            out[name] = {"mean": difference.mean, "low": difference.low, "high": difference.high}
    return out


def per_person(
    runs: Sequence[Mapping[str, Sums]], name: str
) -> tuple[NDArray[np.int64], Floats] | None:
    """A metric of each person over all runs: who, and how much."""
    if not runs or any(name not in run for run in runs):
        return None
    row = np.concatenate([run[name].row for run in runs]).astype(np.int64)
    total = np.concatenate([run[name].total for run in runs])
    count = np.concatenate([run[name].count for run in runs])
    finite = np.isfinite(total) & (count > 0)
    row = row[finite]
    total = total[finite]
    count = count[finite]
    if not len(row):
        return None
    added = np.bincount(row, total)
    counts = np.bincount(row, count)
    user_rows = np.flatnonzero(counts > 0)
    value = added[user_rows] / counts[user_rows]
    return user_rows, np.sqrt(value) if runs[0][name].root else value


def _spread(
    sums: Sequence[Mapping[str, Sums]], twin: Sequence[Mapping[str, Sums]] | None
) -> dict[str, Any]:
    """Deciles over people and the mean of the worst tenth; also of what privacy costs each
    person, beside the twin."""
    out = {}
    for name in SPREAD:
        person_values = per_person(sums, name)
        if person_values is None:
            continue
        out[name] = _deciles(person_values[1], better_when_higher(name))
        twin_values = None if twin is None else per_person(twin, name)
        if twin_values is not None and np.array_equal(person_values[0], twin_values[0]):
            out[name] |= {
                "over_twin": _deciles(person_values[1] - twin_values[1], better_when_higher(name))
            }
    return out


def _deciles(values: Floats, higher: bool) -> dict[str, Any]:
    worst = np.sort(values)
    tenth = max(len(worst) // 10, 1)
    part = worst[:tenth] if higher else worst[-tenth:]
    return {
        "deciles": _between(worst, np.arange(1, 10) / 10).tolist(),
        "worst_tenth": float(part.mean()),
    }


def _between(ordered: Floats, shares: Floats) -> Floats:
    """`np.quantile` of values in order, to the last bit."""
    position = (len(ordered) - 1) * shares
    below = np.floor(position).astype(np.int64)
    low = ordered[below]
    high = ordered[np.minimum(below + 1, len(ordered) - 1)]
    part, step = position - below, high - low
    return np.where(part >= 0.5, high - step * (1 - part), low + step * part)


def by_activity(runs: Sequence[Measured]) -> dict[str, Any]:
    """Fifths of people by how many own ratings they have, fewest first."""
    out: dict[str, Any] = {}
    for names, counts_key in (
        (("rmse", "mae"), "given"),
        (("recall@20", "ndcg@20"), "listed_given"),
    ):
        metrics = [name for name in names if all(name in r.sums for r in runs)]
        if not (metrics and runs):
            continue
        fifths = [_fifths(run.arrays[counts_key]) for run in runs]
        for name in metrics:
            parts = [
                _over_fifths(run.sums[name], groups)
                for run, groups in zip(runs, fifths, strict=True)
            ]
            out[name] = np.mean(parts, axis=0).tolist()
    rated_run = next((run for run in runs if "given" in run.arrays), None)
    if rated_run is not None:
        ratings = rated_run.arrays["given"]
        out["ratings"] = [float(np.median(ratings[part])) for part in _fifths(ratings) if len(part)]
    return out


def _fifths(counts: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Places of each fifth of people, fewest ratings first."""
    if counts.max(initial=0) < 2**15:
        counts = counts.astype(np.int16)  # which numpy orders without comparing
    return np.array_split(np.argsort(counts, kind="stable"), FIFTHS)


def _over_fifths(sums: Sums, fifths: list[NDArray[np.int64]]) -> list[float]:
    out = []
    for part in fifths:
        total, count = sums.total[part], sums.count[part]
        finite = np.isfinite(total)
        ratio = total[finite].sum() / max(count[finite].sum(), 1e-12)
        out.append(float(np.sqrt(ratio) if sums.root else ratio))
    return out


def by_popularity(runs: Sequence[Measured]) -> dict[str, Any]:
    """Fifths of items by their ratings in what was trained on, fewest first. A fifth that was
    never asked about is null."""
    out: dict[str, Any] = {}
    if runs and all("fifth_errors" in run.arrays for run in runs):
        errors = np.sum([run.arrays["fifth_errors"] for run in runs], axis=0)
        counts = errors[0]
        out["ratings"] = (counts / len(runs)).tolist()
        out["rmse"] = _ratio(errors[1], counts, root=True)
        out["mae"] = _ratio(errors[2], counts)
    for length in PLACES:
        name = f"fifth_found@{length}"
        if runs and all(name in run.arrays for run in runs):
            tallies = np.sum([run.arrays[name] for run in runs], axis=0)
            out[f"recall@{length}"] = _ratio(tallies[1], tallies[0])
            out[f"places@{length}"] = _ratio(tallies[2], np.full(FIFTHS, tallies[2].sum()))
    return out


def _ratio(total: NDArray[Any], count: NDArray[Any], *, root: bool = False) -> list[float | None]:
    values = total / np.maximum(count, 1e-12)
    values = np.sqrt(values) if root else values
    return [
        float(value) if number > 0 else None for value, number in zip(values, count, strict=True)
    ]


def error_cdf(runs: Sequence[Measured]) -> list[float] | None:
    """The share of held-back ratings missed by at most each step of the scale."""
    if not runs or any("cdf" not in run.arrays for run in runs):
        return None
    counts = np.sum([run.arrays["cdf"] for run in runs], axis=0)
    return [float(count) / max(int(counts[-1]), 1) for count in counts]


def twin_of(arm: Arm, arms: Sequence[Arm]) -> Arm | None:
    """What an arm is compared with: its twin, or for a printed form itself with its noise
    off. What stands beside others has none."""
    if arm.calibration in ("none", NOISE_OFF):
        return None
    twin_calibration = NOISE_OFF if arm.calibration == "paper" else "none"
    same = [
        candidate
        for candidate in arms
        if candidate.calibration == twin_calibration
        and candidate.method == arm.method
        and candidate.settings == arm.settings
    ]
    exact = [candidate for candidate in same if candidate.unit == arm.unit]
    return next(iter(exact or same), None)


# How sure a mean is: 95 % intervals over people and over runs, paired where two models were
# judged on the same people of the same splits.
#
# Two things vary. Other people could have been asked: a person moves a metric by its derivative
# in her (`Sums.pull`), averaged over the runs that she is in, and the squares of these add up.
# And the split and the privacy noise could have been drawn otherwise: that is the variance of
# the runs' values, over their number. The two are added, which counts the draw of held-back
# ratings twice and so errs on the wide side. The degrees of freedom are Welch's.
#
# | case | result |
# |---|---|
# | one run | people alone: the noise was drawn once, and the interval cannot know how it varies |
# | a metric that a run does not have | None |
# | fewer than two people | None |


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
