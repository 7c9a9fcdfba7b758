"""Figures 1 to 6: distributions of |error| by epsilon and by iterations, for the three
schemes on the two data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from tacit.papers.hua2015.figures.runs import (
    CHOSEN,
    DYNAMIC,
    EPSILONS,
    GRID,
    ITERATIONS,
    MEAN,
    NONE,
    QUICK_DYNAMIC,
    QUICK_EPSILONS,
    READINGS,
    SCALED,
    SOLVED,
    THIN,
    base_key,
    format_change,
    increase,
    work,
)
from tacit.papers.machine.experiment import (
    Curve,
    Experiment,
    Finding,
    Key,
    Panel,
    PaperTable,
    Results,
    Verdict,
    Wanted,
)

CELLS = "runs"
"""All figures share them."""
LEVELS = (0.2, 0.5, 1.0, 1.5, 2.0)
S3_READINGS = (MEAN, SCALED)
SEEDS = 0.02
"""What mean errors of two seeds may differ by."""


def budgets(request: Wanted) -> tuple[float, ...]:
    """Of all figures."""
    return QUICK_EPSILONS if request.quick else EPSILONS


def scheme_keys(request: Wanted, scheme: str) -> Iterable[Key]:
    """A scheme at every epsilon and its baseline, by reading and seed. Readings that do not
    learn are run once, and S3's second reading on one seed."""
    for data in request.data:
        for seed in request.splits:
            for reading in CHOSEN:
                short = {"short": True} if request.quick else {}
                yield base_key(data, reading, seed, **short)
                if scheme == "S3":
                    yield from dynamic_keys(request, data, reading, seed)
                    continue
                if scheme == "S2" and reading == SOLVED:
                    continue
                for epsilon in budgets(request):
                    yield base_key(data, reading, seed, **short) | {
                        "scheme": scheme,
                        "epsilon": epsilon,
                    }
        for reading in READINGS:
            if reading not in CHOSEN and not request.quick:
                if reading == THIN and scheme == "S1":
                    continue
                yield base_key(data, reading, 0)
                rounds = {"rounds": DYNAMIC} if scheme == "S3" else {}
                if scheme == "S3" and reading != THIN:
                    continue
                for epsilon in (0.15, 0.8) if reading == THIN else (0.15,):
                    yield base_key(data, reading, 0, **rounds) | {
                        "scheme": scheme,
                        "epsilon": epsilon,
                    }


def dynamic_keys(request: Wanted, data: str, reading: str, seed: int) -> Iterable[Key]:
    """S3 with and without noise."""
    if reading not in S3_READINGS or (reading == SCALED and seed):
        return
    rounds = QUICK_DYNAMIC if request.quick else DYNAMIC
    epsilons: tuple[float, ...] = (*budgets(request), NONE)
    if reading == SCALED:
        epsilons = (0.8, NONE)
    for epsilon in epsilons:
        yield base_key(data, reading, seed, rounds=rounds) | {"scheme": "S3", "epsilon": epsilon}


def mean_cdf(results: Results, iteration: int, **same: object) -> list[float]:
    """Over seeds; empty where every run ran away."""
    cdfs = [
        row.values[f"cdf@{iteration}"]
        for row in results.select(**same).rows
        if f"cdf@{iteration}" in row.values
    ]
    return [float(x) for x in np.mean(cdfs, axis=0)] if cdfs else []


def draw_for(scheme: str) -> Callable[[Results], Iterable[Panel]]:
    """The charts of a scheme: by epsilon at the end, by iterations at one epsilon."""

    def draw(results: Results) -> Iterable[Panel]:
        readings = S3_READINGS if scheme == "S3" else CHOSEN
        for data in results.asked.data:
            for reading in readings:
                same = {"data": data, "reading": reading}
                if results.select(scheme=scheme, **same):
                    yield by_epsilon(results, scheme, same)
            same = {"data": data, "reading": MEAN}
            if results.select(scheme=scheme, **same):
                yield by_iterations(results, scheme, same)

    return draw


def by_epsilon(results: Results, scheme: str, same: dict[str, str]) -> Panel:
    """One curve an epsilon, and the baseline."""
    base = mean_cdf(results, 100, scheme="plain", **same)
    feature_interactions = [Curve("baseline", GRID[: len(base)], base)]
    epsilons = sorted({row.key["epsilon"] for row in results.select(scheme=scheme, **same).rows})
    away = []
    for epsilon in epsilons:
        cdf = mean_cdf(results, 100, scheme=scheme, epsilon=epsilon, **same)
        name = f"epsilon {epsilon:g}" if epsilon else f"{scheme} without noise"
        if cdf:
            feature_interactions.append(Curve(name, GRID[: len(cdf)], cdf))
        else:
            away.append(name)
    note = f"Ran away: {', '.join(away)}." if away else ""
    return Panel(
        f"{scheme} on {same['data']}, {same['reading']}",
        "|error|",
        "share of training pairs",
        tuple(feature_interactions),
        note=note,
    )


def by_iterations(results: Results, scheme: str, same: dict[str, str]) -> Panel:
    """At epsilon .15 (S3: .8), and the baseline at its end."""
    epsilon = 0.8 if scheme == "S3" else 0.15
    iterations = (10, 50, 100) if scheme == "S3" else ITERATIONS
    feature_interactions = []
    for iteration in iterations:
        cdf = mean_cdf(results, iteration, scheme=scheme, epsilon=epsilon, **same)
        unit = " % of the rounds" if scheme == "S3" else " iterations"
        feature_interactions.append(Curve(f"{iteration}{unit}", GRID[: len(cdf)], cdf))
    base = mean_cdf(results, 100, scheme="plain", **same)
    feature_interactions.append(Curve("baseline", GRID[: len(base)], base))
    return Panel(
        f"{scheme} on {same['data']} by iterations, epsilon {epsilon:g}",
        "|error|",
        "share of training pairs",
        tuple(feature_interactions),
    )


def tables_for(scheme: str) -> Callable[[Results], Iterable[PaperTable]]:
    """Means, increases and the distribution at some errors."""

    def tables(results: Results) -> Iterable[PaperTable]:
        for data in results.asked.data:
            rows: list[tuple[object, ...]] = []
            for reading in READINGS:
                for kind in ("plain", scheme):
                    same = {"data": data, "reading": reading, "scheme": kind}
                    epsilons = {r.key["epsilon"] for r in results.select(**same).rows}
                    rows += [_row(results, same, epsilon) for epsilon in sorted(epsilons)]
            yield PaperTable(
                f"{scheme} on {data}: mean |error|",
                (
                    "run",
                    "epsilon",
                    "train",
                    "increase",
                    "held back",
                    "train, raw",
                    *(f"<= {level:g}" for level in LEVELS),
                ),
                tuple(rows),
            )

    return tables


def _row(results: Results, same: dict[str, str], epsilon: float) -> tuple[object, ...]:
    run = f"{same['scheme']}, {same['reading']}"
    name = f"{epsilon:g}" if epsilon else "none"
    train = results.mean("train@100", epsilon=epsilon, **same)
    if train is None:
        return (run, name, "ran away", *[None] * (3 + len(LEVELS)))
    held = results.mean("held@100", epsilon=epsilon, **same)
    raw = results.mean("train_raw@100", epsilon=epsilon, **same)
    cdf = mean_cdf(results, 100, epsilon=epsilon, **same)
    at = [cdf[GRID.index(level)] for level in LEVELS]
    return (
        run,
        name,
        f"{train:.3f}",
        format_change(increase(results, epsilon=epsilon, **same)),
        f"{held:.3f}",
        f"{raw:.4g}",
        *(f"{number:.2f}" for number in at),
    )


def rising(scheme: str, data: str) -> Callable[[Results], Verdict]:
    """Whether the mean error falls with iterations and with epsilon, by reading."""

    def judge(results: Results) -> Verdict:
        good, clauses = [], []
        for reading in (MEAN, SCALED):
            same = {"data": data, "reading": reading, "scheme": scheme}
            by = [
                results.mean("train@100", epsilon=epsilon, **same)
                for epsilon in budgets(results.asked)
            ]
            along = [
                results.mean(f"train@{iteration}", epsilon=0.15, **same)
                for iteration in (ITERATIONS if not results.asked.quick else (100,))
            ]
            by_words = " ".join("ran away" if e is None else f"{e:.2f}" for e in by)
            along_words = " ".join("ran away" if e is None else f"{e:.2f}" for e in along)
            clauses.append(
                f"{reading}: mean |error| by epsilon {by_words}; by iterations at .15 {along_words}"
            )
            if _falls(by) and _falls(along):
                good.append(reading)
        text = "; ".join(clauses)
        return verdict_of(good, (MEAN, SCALED), f"{text}. {READ}")

    return judge


def _falls(values: list[float | None]) -> bool:
    """Step by step, but for what seeds differ by."""
    measured = [error for error in values if error is not None]
    return len(measured) == len(values) and all(
        later <= earlier + SEEDS for earlier, later in pairwise(measured)
    )


READ = "What the printed gain multiplies is not printed: these are readings of it (below)"


def verdict_of(good: list[str], tried: Iterable[str], reason: str) -> Verdict:
    """Holds in all readings that were tried, in some, or in none."""
    if len(good) == len(tuple(tried)):
        return Verdict("holds", reason)
    if good:
        return Verdict("holds in one reading", f"{', '.join(good)}. {reason}")
    return Verdict("does not hold", reason)


SAID = {"S1": "", "S2": "; said of S1, to whose results those of S2 are very close"}
"""Where the sentence is another scheme's."""


def _figure(number: str, scheme: str, data: str) -> Experiment:
    findings: tuple[Finding, ...] = ()
    if scheme != "S3":
        findings = (
            Finding(
                f"{scheme} on {data}",
                "the precision increases with the iteration number and the privacy budget epsilon",
                f"section 5, figure {number}{SAID[scheme]}",
                rising(scheme, data),
            ),
        )
    return Experiment(
        figure=number,
        title=f"CDF of prediction errors in {scheme}, {data}",
        data=(data,),
        split="90/10; errors on the training pairs as in the paper",
        parameters="printed: gamma 2^-5, lambda = mu = .001, d 50, 100 iterations (S3 10,000, "
        "join .005, leave .01, at most 100 people a round, Netflix 1,000)",
        keys=lambda request: scheme_keys(request, scheme),
        work=work,
        draw=draw_for(scheme),
        tables=tables_for(scheme),
        findings=findings,
        cells=CELLS,
    )


CURVES = tuple(
    _figure(number, scheme, data)
    for number, scheme, data in (
        ("1", "S1", "netflix-100"),
        ("2", "S1", "ml-100k"),
        ("3", "S2", "netflix-100"),
        ("4", "S2", "ml-100k"),
        ("5", "S3", "netflix-100"),
        ("6", "S3", "ml-100k"),
    )
)
