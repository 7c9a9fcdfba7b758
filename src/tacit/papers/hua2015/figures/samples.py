"""Several film samples of Netflix: whether the results depend on which films were drawn."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.papers.hua2015.figures.runs import (
    EPSILONS,
    MEAN,
    NONE,
    QUICK_EPSILONS,
    base_key,
    work,
)
from tacit.papers.machine.experiment import (
    Curve,
    Experiment,
    Finding,
    Key,
    Panel,
    Results,
    Verdict,
    Wanted,
)

FILMS = (1, 2, 3, 4)
SAME = 0.05
"""Increases that differ by less are not obviously different."""


def keys(request: Wanted) -> Iterable[Key]:
    """S2 on each sample."""
    films = FILMS[:2] if request.quick else FILMS
    for data in request.data:
        if not data.startswith("netflix"):
            continue
        for sample in films:
            for epsilon in (NONE, *_epsilons(request)):
                scheme = "S2" if epsilon else "plain"
                yield base_key(data, MEAN, 0, films=sample) | {"scheme": scheme, "epsilon": epsilon}


def _epsilons(request: Wanted) -> tuple[float, ...]:
    return QUICK_EPSILONS if request.quick else EPSILONS


def increases(results: Results, films: int) -> list[float]:
    """By epsilon."""
    base = results.mean("train@100", films=films, scheme="plain") or 0.0
    measured = (
        results.mean("train@100", films=films, epsilon=number)
        for number in _epsilons(results.asked)
    )
    return [float("nan") if number is None else number - base for number in measured]


def draw(results: Results) -> Iterable[Panel]:
    """One curve a sample."""
    films = sorted({row.key["films"] for row in results.rows})
    feature_interactions = (
        Curve(f"sample {sample}", _epsilons(results.asked), increases(results, sample))
        for sample in films
    )
    yield Panel(
        "S2 on samples of films",
        "epsilon",
        "mean increase of |error|",
        tuple(feature_interactions),
        log_x=True,
    )


def judge(results: Results) -> Verdict:
    """How far samples are apart, at most."""
    films = sorted({row.key["films"] for row in results.rows})
    by = [increases(results, film) for film in films]
    spread = max(max(film) - min(film) for film in zip(*by, strict=True))
    reason = (
        f"{len(films)} samples in S2, reading {MEAN}, of {_population(results)}: their mean "
        "increases "
        f"are at most {spread:.3f} apart (below {SAME} is no obvious difference: chosen here)"
    )
    return Verdict("holds" if spread < SAME else "does not hold", reason)


def _population(results: Results) -> str:
    """What a sample is drawn from."""
    full_prize = "netflix" in results.asked.data
    return "100 films of the whole Prize" if full_prize else "50 of 100 films"


SAMPLES = Experiment(
    figure="samples",
    title="several samples of films",
    data=("netflix", "netflix-100"),
    split="90/10; errors on the training pairs as in the paper",
    parameters="S2; 100 films at random of the whole Prize, or 50 of 100 where only those are "
    "given",
    keys=keys,
    work=work,
    draw=draw,
    findings=(
        Finding(
            "film samples",
            "We repeated each experiment by selecting different sets of movies, and did not "
            "observe obvious differences among the results.",
            "section 5",
            judge,
        ),
    ),
)
