"""Figure 2 (SVD++ beside SVD) and figure 3 (beside PSGD and PALS of Berlioz et al.), by
epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tacit.evaluation.reproduce.experiment import (
    Curve,
    Experiment,
    Finding,
    Key,
    Panel,
    Results,
    Verdict,
    Wanted,
)
from tacit.evaluation.reproduce.xian2017.fits import (
    DATA,
    EIGHTY,
    TENFOLD,
    crossed,
    epsilons,
    error,
    on_set,
    work,
)

PAIRS = (("DPSS", "DPSS++"), ("DPSAObj", "DPSAObj++"), ("DPSAOut", "DPSAOut++"))
OURS = ("DPSS++", "DPSAObj++", "DPSAOut++")
OTHERS = ("PSGD", "PALS")
LARGE = 20.0
NOTHING = 0.001
"""A smaller change of RMSE is none: seeds differ by as much."""
RIVALS = (
    "PSGD and PALS are of another paper, and their shares of epsilon and clamps are not "
    "printed in this one: those here are ours"
)
SETTINGS = "as in figure 1"
SPLIT = "80/20 by seed; on small sets ten folds too"


def plus_keys(asked: Wanted) -> Iterable[Key]:
    """All six."""
    return crossed(asked, [name for pair in PAIRS for name in pair])


def other_keys(asked: Wanted) -> Iterable[Key]:
    """Three of ours and two of theirs."""
    return crossed(asked, (*OURS, *OTHERS))


def draw_plus(results: Results) -> Iterable[Panel]:
    """One chart for each algorithm, so that small gains show."""
    for data in results.asked.data:
        for pair in PAIRS:
            yield from _panels(results, data, pair, f"{pair[0]} on {data}")


def draw_other(results: Results) -> Iterable[Panel]:
    """All in one."""
    for data in results.asked.data:
        yield from _panels(results, data, (*OURS, *OTHERS), data)


def _panels(results: Results, data: str, names: Sequence[str], title: str) -> Iterable[Panel]:
    for split in (EIGHTY, TENFOLD):
        same = {"data": data, "split": split}
        if not results.where(**same):
            continue
        curves = (
            Curve.of(name, results.along("epsilon", "rmse", name=name, **same)) for name in names
        )
        yield Panel(f"{title}, {split}", "epsilon", "RMSE", tuple(curves), log_x=True)


def judge_plus(results: Results) -> Verdict:
    """Mean gain of the implicit term over all epsilons."""
    budgets = epsilons(results.asked)
    gain = {
        better: sum(error(results, plain, each) - error(results, better, each) for each in budgets)
        / len(budgets)
        for plain, better in PAIRS
    }
    words = ", ".join(f"{name} {each:+.4f}" for name, each in gain.items())
    said = f"mean gain over SVD on {on_set(results)}: {words}"
    if all(each > NOTHING for each in gain.values()):
        return Verdict("holds", said, gain)
    seen = [name for name, each in gain.items() if each > NOTHING]
    if seen:
        said += f". It is seen for {', '.join(seen)}; a smaller gain than {NOTHING} is none"
    said += (
        ". The implicit term of formula 4, as printed, is one number a person, the same in "
        "every factor, and no step changes it"
    )
    return Verdict("does not hold", said, gain)


def judge_objective(results: Results) -> Verdict:
    """Objective perturbation of SVD++ against all others above .01."""
    names = [name for pair in PAIRS for name in pair if "Obj" not in name]
    gain = min(
        min(error(results, name, each) for name in names) - error(results, "DPSAObj++", each)
        for each in epsilons(results.asked)
        if each > 0.01
    )
    said = f"least gain over the best of the others {gain:+.3f} on {on_set(results)}"
    return Verdict("holds" if gain > 0 else "does not hold", said)


def judge_other(results: Results) -> Verdict:
    """Each of ours against its own of theirs."""
    rivals = {"DPSS++": "PSGD", "DPSAObj++": "PALS", "DPSAOut++": "PALS"}
    gain = {
        name: min(
            error(results, rival, each) - error(results, name, each)
            for each in epsilons(results.asked)
        )
        for name, rival in rivals.items()
    }
    words = ", ".join(f"{name} over {rivals[name]} {each:+.3f}" for name, each in gain.items())
    said = (
        f"least gain over all epsilons on {on_set(results)}: {words}. {RIVALS}. The mean and "
        "biases of the printed algorithms have no noise, those of PSGD and PALS pay for theirs"
    )
    if all(each > 0 for each in gain.values()):
        return Verdict("holds", said, gain)
    usual = ", ".join(
        f"{name} over {rivals[name]} "
        f"{error(results, rivals[name], 1.0) - error(results, name, 1.0):+.3f}"
        for name in rivals
    )
    said += f". At epsilon 1 the gains are {usual}"
    return Verdict("does not hold", said, gain)


def judge_large(results: Results) -> Verdict:
    """PSGD and PALS at 20 against each of ours there."""
    found = {name: error(results, name, LARGE) for name in OTHERS}
    ours = {name: error(results, name, LARGE) for name in OURS}
    words = ", ".join(f"{name} {each:.3f}" for name, each in (found | ours).items())
    said = f"at epsilon 20 on {on_set(results)}: {words}. {RIVALS}"
    best = min(found.values())
    behind = [name for name, each in ours.items() if each >= best]
    if not behind:
        return Verdict("holds", said, found)
    if min(ours.values()) < best:
        said = (
            f"against the best of the three. {said}. {' and '.join(behind)} have more than "
            "the better of their two"
        )
        return Verdict("holds in one reading", said, found)
    return Verdict("does not hold", said, found)


PLUS = Experiment(
    figure="2",
    title="SVD++ beside SVD",
    data=DATA,
    split=SPLIT,
    parameters=SETTINGS,
    keys=plus_keys,
    work=work,
    draw=draw_plus,
    findings=(
        Finding(
            "SVD++ above SVD",
            "it can be seen that SVD++ provides a slightly higher advantage over SVD when "
            "using the three DP protection algorithms",
            "5.3.1, figure 2",
            judge_plus,
        ),
        Finding(
            "objective is optimal",
            "Overall, the RMSE of ALS with objective perturbation is optimal, especially when "
            "epsilon > 0.01.",
            "5.3.1, figure 2",
            judge_objective,
        ),
    ),
)
COMPARED = Experiment(
    figure="3",
    title="beside PSGD and PALS",
    data=DATA,
    split=SPLIT,
    parameters=SETTINGS + "; those of PSGD and PALS are not printed but for p_max and q_max",
    keys=other_keys,
    work=work,
    draw=draw_other,
    findings=(
        Finding(
            "above PSGD and PALS",
            "our algorithms not only omit the preprocessing steps but also obtain better "
            "prediction accuracies on the two test datasets.",
            "5.3.1, figure 3",
            judge_other,
        ),
        Finding(
            "still behind at 20",
            "their algorithms cannot achieve better prediction accuracy when the value of "
            "epsilon is larger (up to 20).",
            "5.3.1, figure 3",
            judge_large,
        ),
    ),
)
