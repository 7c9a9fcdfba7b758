"""Section 6: the weighted non-negative factorization, which the authors name as future work."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.papers.hua2015.figures.runs import MEAN, NONE, base_key, work
from tacit.papers.machine.experiment import (
    Experiment,
    Finding,
    Key,
    Panel,
    PaperTable,
    Results,
    Verdict,
    Wanted,
)

WEIGHTED = "weighted nonnegative"
EPSILONS = (NONE, 0.15, 0.8)
MODELS = {"plain": "plain MF", WEIGHTED: "weighted non-negative MF"}


def keys(request: Wanted) -> Iterable[Key]:
    """Both factorizations in S1, with and without noise."""
    for data in request.data:
        for seed in request.splits:
            for model in MODELS:
                for epsilon in EPSILONS:
                    yield base_key(data, MEAN, seed, model=model) | {
                        "scheme": "S1",
                        "epsilon": epsilon,
                    }


def draw(results: Results) -> Iterable[Panel]:
    """Nothing: a table."""
    return ()


def tables(results: Results) -> Iterable[PaperTable]:
    """Mean errors on training pairs and held back."""
    for data in results.asked.data:
        rows: list[tuple[object, ...]] = []
        for model, name in MODELS.items():
            for epsilon in EPSILONS:
                same = {"data": data, "model": model, "epsilon": epsilon}
                measured = [results.mean(f"{side}@100", **same) for side in ("train", "held")]
                cells = ("-" if e is None else f"{e:.3f}" for e in measured)
                rows.append((name, f"{epsilon:g}" if epsilon else "none", *cells))
        yield PaperTable(
            f"S1 on {data}: mean |error|", ("model", "epsilon", "train", "held back"), tuple(rows)
        )


def judge(results: Results) -> Verdict:
    """On training pairs, as the paper measures, without noise."""
    data = results.asked.data[0]
    gain = {}
    for metric in ("train", "held"):
        plain_error, wnmf_error = (
            results.mean(f"{metric}@100", data=data, model=model, epsilon=NONE) for model in MODELS
        )
        if plain_error is None or wnmf_error is None:
            return Verdict("not run", "a run ran away")
        gain[metric] = plain_error - wnmf_error
    reason = (
        f"on {data} without noise WNMF changes the mean error by {-gain['train']:+.3f} on "
        f"training pairs and by {-gain['held']:+.3f} on held-back ones. It is named as future "
        "work; how it is made private is not printed: here by multiplicative updates with eta "
        "in them"
    )
    if gain["train"] > 0 and gain["held"] > 0:
        return Verdict("holds", reason, gain)
    if gain["train"] > 0:
        reason = f"on training pairs, as the paper measures errors. {reason}"
        return Verdict("holds in one reading", reason, gain)
    return Verdict("does not hold", reason, gain)


FUTURE = Experiment(
    figure="section 6",
    title="weighted non-negative factorization",
    data=("ml-100k", "netflix-100"),
    split="90/10; errors on the training pairs as in the paper",
    parameters="S1, d 50, lambda .001, 100 iterations; nothing else is printed",
    keys=keys,
    work=work,
    draw=draw,
    tables=tables,
    findings=(
        Finding(
            "WNMF",
            "According to our experiments, such mechanism may significantly improve the "
            "precision of MF.",
            "section 6",
            judge,
        ),
    ),
)
