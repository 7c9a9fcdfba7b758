"""Figures 3 to 9 of Shin et al., and the readings of the learning rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tacit.papers.machine.experiment import (
    Curve,
    Experiment,
    Finding,
    Panel,
    PaperTable,
    Results,
)
from tacit.papers.shin2018.figures import verdicts
from tacit.papers.shin2018.figures.fits import (
    ERRORS,
    HUA,
    HUA_ROUNDS,
    ITERATIONS,
    OURS,
    PLAIN,
    RATES,
    K,
    epsilon_keys,
    iteration_keys,
    rate_keys,
    work,
)

Draw = Callable[[Results], Iterable[Panel]]
MOVIES = ("ml-100k", "ml-1m", "ml-20m")
DATING = ("libimseti",)
SPLIT = "10 folds, as many of them as seeds (section 5)"
SETTINGS = (
    "k 10, d 15 (LibimSeTi 20), lambda 1e-8, f_k = k squared, q a tenth of the items "
    "(printed: 2,700 of 26,744); gamma 1/t for items and .1/t for people, averaged over her "
    "own ratings: only O(1/t) is printed. Hua et al.: S2 with 10 rounds, and with 100 as they "
    "print"
)
LOST = "The paper's curve is not in the text at hand; its words are the findings below."
DATING_EPSILONS = (0.1, 0.2, 0.4, 0.8, 1.6)
DATING_OURS = (3.4278, 3.4074, 3.4027, 3.4011, 3.4010)
DATING_HUA = (4.5249, 3.3563, 2.9978, 2.8980, 2.8735)
DATING_PLAIN = 2.8634
"""The table of figure 4."""
K_OURS = (2.960, 1.697, 1.500, 1.409, 1.381, 1.372)
K_PLAIN = (1.269, 1.204, 1.187, 1.173, 1.161, 1.145)
"""The table of figure 9: epsilon .1, ML-20M."""


def by_epsilon(results: Results, metric: str, y: str) -> Iterable[Panel]:
    """GD-DR and Hua et al. over epsilon."""
    for data in results.asked.data:
        subset = results.select(data=data)
        feature_interactions = [Curve.of("GD-DR", subset.along("epsilon", metric, model=OURS))]
        for k in HUA_ROUNDS:
            series = subset.along("epsilon", metric, model=HUA, k=k)
            if series.x:
                feature_interactions.append(Curve.of(f"Hua et al., {k} rounds", series))
        level = subset.mean(metric, model=PLAIN, k=K)
        if level is not None:
            over = subset.along("epsilon", metric, model=OURS)
            feature_interactions.append(Curve.level(PLAIN, level, over))
        note = LOST
        if data == "libimseti" and metric == "rmse":
            note = "Open marks: the table of figure 4."
            feature_interactions += [
                Curve("GD-DR, paper", DATING_EPSILONS, DATING_OURS, style="paper"),
                Curve("Hua, paper", DATING_EPSILONS, DATING_HUA, style="paper"),
            ]
        yield Panel(data, "epsilon", y, tuple(feature_interactions), log_x=True, note=note)


def draw_rmse(results: Results) -> Iterable[Panel]:
    """Figures 3 and 4."""
    return by_epsilon(results, "rmse", "RMSE")


def draw_fscore(results: Results) -> Iterable[Panel]:
    """Figures 7 and 8."""
    return by_epsilon(results, "fscore", "F-score of 10")


def draw_cdf(results: Results) -> Iterable[Panel]:
    """Figures 5 and 6: one curve an epsilon."""
    for data in results.asked.data:
        subset = results.select(data=data, model=OURS)
        epsilons = sorted({row.key["epsilon"] for row in subset.rows})
        feature_interactions = []
        for epsilon in epsilons:
            rows = subset.select(epsilon=epsilon).rows
            y = [
                sum(row.values["cdf"][at] for row in rows) / len(rows) for at in range(len(ERRORS))
            ]
            feature_interactions.append(Curve(f"epsilon {epsilon:g}", ERRORS, y))
        yield Panel(
            data,
            "error of a rating",
            "share of at most this",
            tuple(feature_interactions[:6]),
            note=LOST,
        )


def draw_k(results: Results) -> Iterable[Panel]:
    """Figure 9, with the paper's table."""
    for data in results.asked.data:
        subset = results.select(data=data)
        same = {"model": OURS}
        corrected = subset.only(lambda row: "correction" not in row.key)
        yield Panel(
            f"{data}, epsilon .1",
            "iterations k",
            "RMSE",
            (
                Curve.of("GD-DR", corrected.along("k", "rmse", **same)),
                Curve.of(
                    "GD-DR, no correction", subset.along("k", "rmse", correction="one", **same)
                ),
                Curve.of(PLAIN, corrected.along("k", "rmse", model=PLAIN)),
                Curve("GD-DR, paper (ML-20M)", ITERATIONS, K_OURS, style="paper"),
                Curve("non-private GD, paper (ML-20M)", ITERATIONS, K_PLAIN, style="paper"),
            ),
            log_x=True,
            note="Open marks: the table of figure 9, on 20 million ratings.",
        )


def rate_tables(results: Results) -> Iterable[PaperTable]:
    """RMSE of each reading of gamma_t."""
    rows = []
    for name in RATES:
        subset = results.select(rates=name)
        errors = [
            subset.mean("rmse", model=OURS, epsilon=0.1),
            subset.mean("rmse", model=OURS, epsilon=1.6),
            subset.mean("rmse", model=PLAIN),
        ]
        rows.append((name, *("" if n is None else f"{n:.3f}" for n in errors)))
    yield PaperTable(
        "Readings of the learning rate, k 10",
        ("gamma_t", "epsilon .1", "epsilon 1.6", PLAIN),
        tuple(rows),
    )


def epsilon_figure(
    figure: str, title: str, dating: bool, draw: Draw, *findings: Finding
) -> Experiment:
    """One of the figures over epsilon: their cells are shared."""
    return Experiment(
        figure=figure,
        title=title,
        data=DATING if dating else MOVIES,
        split=SPLIT,
        parameters=SETTINGS,
        keys=epsilon_keys,
        work=work,
        draw=draw,
        cells="fits",
        findings=findings,
    )


BETTER = Finding(
    "better than Hua below .4",
    "the prediction performance of our algorithm is much better than Hua et al.'s method "
    "when the privacy budget epsilon is very small and quite competitive when epsilon >= 0.4",
    "section 5.2, figures 3 and 4",
    verdicts.better_than_hua,
)
FLAT = Finding(
    "flat from .2 on",
    "the performance of our algorithm is not significantly improved as epsilon increases "
    "from 0.2 to 1.6",
    "section 5.2, figures 3 and 4",
    verdicts.flat,
)
BIAS = Finding(
    "a bias remains",
    "the estimation error is dominated by the bias. In that case, there is no more improvement "
    "no matter how large epsilon is.",
    "section 4.2, of large epsilon and the correction factor",
    verdicts.bias_remains,
)
LISTS = Finding(
    "F-score grows with epsilon",
    "For MovieLens dataset, F-score gets larger as epsilon increases",
    "section 5.2, figure 7",
    verdicts.lists_grow,
)
DATING_LISTS = Finding(
    "F-score hardly changes",
    "for LibimSeTi dataset, F-scores of private GD-DR are almost the same over epsilon",
    "section 5.2, figure 8",
    verdicts.lists_stay,
)
CDF = Finding(
    "errors shrink with epsilon",
    "the prediction errors for MovieLens dataset decrease faster than those for LibimiSeTi "
    "dataset as epsilon increases",
    "section 5.2, figures 5 and 6",
    verdicts.errors_shrink,
)
FIGURES = (
    epsilon_figure("3", "RMSE by epsilon, films", False, draw_rmse, BETTER, FLAT, BIAS),
    epsilon_figure("4", "RMSE by epsilon, LibimSeTi", True, draw_rmse, BETTER, FLAT),
    epsilon_figure("5", "distribution of errors, films", False, draw_cdf, CDF),
    epsilon_figure("6", "distribution of errors, LibimSeTi", True, draw_cdf, CDF),
    epsilon_figure("7", "F-score by epsilon, films", False, draw_fscore, LISTS),
    epsilon_figure("8", "F-score by epsilon, LibimSeTi", True, draw_fscore, DATING_LISTS),
    Experiment(
        figure="9",
        title="RMSE by iterations",
        data=MOVIES,
        split=SPLIT,
        parameters=SETTINGS,
        keys=iteration_keys,
        work=work,
        draw=draw_k,
        cells="fits",
        findings=(
            Finding(
                "RMSE falls with k",
                "RMSE decreases as iteration goes when epsilon = 0.1.",
                "section 5.2, figure 9: 2.960 at k = 1 to 1.372 at 50",
                verdicts.falls_with_k,
            ),
            Finding(
                "without correction it grows",
                "Without the correction factor, for fixed epsilon, RMSE grows as the number "
                "k of iterations increases.",
                "section 5.2",
                verdicts.grows_without,
            ),
        ),
    ),
    Experiment(
        figure="rates",
        title="the readings of the learning rate",
        data=MOVIES[:2],
        split=SPLIT,
        parameters="gamma_t = O(1/t) is all that is printed; n for M in equation 4 (section "
        "3), or her own number of ratings",
        keys=rate_keys,
        work=work,
        draw=lambda results: (),
        tables=rate_tables,
        cells="fits",
        findings=(
            Finding(
                "the rate",
                "We set a learning rate gamma_t to O(1/t) at iteration t.",
                "section 5.1; figure 9 has 1.409 at epsilon .1 and 1.173 without privacy",
                verdicts.rates,
            ),
        ),
    ),
)
