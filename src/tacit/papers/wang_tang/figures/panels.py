"""Figures 3 to 6 of Wang & Tang."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from tacit.papers.machine.experiment import Curve, Experiment, Finding, Panel, Results, Series
from tacit.papers.wang_tang.figures import verdicts
from tacit.papers.wang_tang.figures.fits import (
    BASES,
    LONG,
    NEAR,
    STEPS,
    TAU,
    both_keys,
    chain_keys,
    sgd_keys,
    size_keys,
    work,
)

DATA = ("ml-100k", "ml-1m")
SPLIT = "5 folds, as many of them as seeds (section 5)"
LOST = "The figure is not in the text at hand; its words are the findings below."
DESCENT = (
    "eta .4, K 10, lambda .005, beta 10, C 10, N 500: values of section 5.1, those of the "
    "authors' published program; first similarities uniform in +-.1 and all ratings in each "
    "step, which the paper does not print. N of PCC and COS is 900 (ML-1M: 1300)"
)
CHAIN = (
    f"eta_1 8e-6, lambda .02, rho .006, xi .3, tau 200, N 500 (section 5.1); {STEPS} steps, "
    f"and {LONG} once: K is not printed. DPPS-MF: eta_1 8e-6, lambda .05, rho 6e-4, d 10, "
    "300 steps. On ML-1M and in a quick run PNBM has 20 steps"
)
PNBM = {
    "DPSGD-PNBM, printed": {"model": "DPSGD-PNBM", "reading": "printed"},
    "DPSGD-PNBM, code": {"model": "DPSGD-PNBM", "reading": "code"},
}
CHAINS = {
    "DPPS-PNBM, printed": {"model": "DPPS-PNBM", "reading": "printed"},
    "DPPS-PNBM, code": {"model": "DPPS-PNBM", "reading": "code"},
}
FACTORS = {"DPSGD-MF": {"model": "DPSGD-MF"}}
CHAIN_FACTORS = {
    "DPPS-MF, with biases": {"model": "DPPS-MF", "biases": "raw"},
    "DPPS-MF, without": {"model": "DPPS-MF", "biases": "none"},
}


def usual(results: Results) -> Results:
    """Without the long chains, which have a verdict of their own, and noise off."""
    return results.only(
        lambda row: row.key.get("steps") != LONG and row.key.get("epsilon", 0) is not None
    )


def by_epsilon(
    results: Results, variants: Mapping[str, Mapping[str, str]], over: float = 1.0
) -> Iterable[Panel]:
    """One chart a data set: curves over epsilon, PCC and COS as levels."""
    for data in results.asked.data:
        subset = usual(results.select(data=data))
        feature_interactions = []
        for label, same in variants.items():
            series = subset.along("epsilon", "rmse", **same)
            scaled = tuple(x / over for x in series.x)
            feature_interactions.append(Curve(label, scaled, series.y, series.sd))
        across = Series(tuple(x for curve in feature_interactions for x in curve.x), (), ())
        for name in BASES:
            level = subset.mean("rmse", model=name)
            if level is not None:
                feature_interactions.append(Curve.level(f"{name} {level:.3f}", level, across))
        axis = "epsilon" if over == 1.0 else "epsilon / 200"
        yield Panel(data, axis, "RMSE", tuple(feature_interactions), log_x=True, note=LOST)


def draw3(results: Results) -> Iterable[Panel]:
    """DPSGD."""
    return by_epsilon(results, {**PNBM, **FACTORS})


def draw4(results: Results) -> Iterable[Panel]:
    """DPPS."""
    return by_epsilon(results, {**CHAINS, **CHAIN_FACTORS}, TAU)


def draw5(results: Results) -> Iterable[Panel]:
    """Over the number of neighbours."""
    variants = {**PNBM, **CHAINS, **{name: {"model": name} for name in BASES}}
    for data in results.asked.data:
        subset = usual(results.select(data=data))
        feature_interactions = []
        for label, same in variants.items():
            rows = subset.select(**same).rows
            if rows:
                errors = [subset.mean(f"n{n}", **same) or 0.0 for n in NEAR]
                feature_interactions.append(Curve(label, [float(n) for n in NEAR], errors))
        yield Panel(
            f"{data}, epsilon 1 (1 x 200)",
            "neighbours N",
            "RMSE",
            tuple(feature_interactions),
            log_x=True,
            note=LOST,
        )


def draw6(results: Results) -> Iterable[Panel]:
    """Both, at the rating level (DPPS: on average)."""
    for data in results.asked.data:
        subset = usual(results.select(data=data))
        feature_interactions = [
            Curve.of(label, subset.along("epsilon", "rmse", **same)) for label, same in PNBM.items()
        ]
        for label, same in CHAINS.items():
            series = subset.along("epsilon", "rmse", **same)
            scaled = tuple(x / TAU for x in series.x)
            feature_interactions.append(Curve(label, scaled, series.y, series.sd))
        yield Panel(
            data,
            "epsilon of a rating (DPPS: of a person, over 200)",
            "RMSE",
            tuple(feature_interactions),
            log_x=True,
            note=LOST,
        )


fits = partial(Experiment, data=DATA, split=SPLIT, work=work, cells="fits")
"""A figure made of fits on the paper's data."""
FIGURE3 = fits(
    figure="3",
    title="DPSGD-PNBM, DPSGD-MF, PCC and COS",
    parameters=DESCENT,
    keys=sgd_keys,
    draw=draw3,
    findings=(
        Finding(
            "DPSGD-PNBM beats PCC and COS",
            "DPSGD-PNBM maintains a promising accuracy when epsilon >= 1, and is better "
            "than non-private PCC and COS.",
            "section 5.2, figure 3",
            verdicts.better_sgd,
        ),
        Finding(
            "DPSGD-PNBM beats PCC and COS at 20",
            "DPSGD-PNBM ... is better than non-private PCC and COS.",
            "section 5.2, figure 3; judged at epsilon 20 alone",
            verdicts.better_at_20,
        ),
        Finding(
            "DPSGD-MF at 20",
            "When epsilon >= 20, DPSGD-MF does not lose much accuracy, and it is better "
            "than non-private PCC and COS.",
            "section 5.2, figure 3",
            verdicts.factors_large,
        ),
        Finding(
            "DPSGD-MF drops quickly",
            "However, the accuracy drops quickly ... when the privacy loss epsilon is reduced. "
            "... In the contrast, DPSGD-PNBM maintains a promising accuracy when epsilon >= 1",
            "section 5.2, figure 3",
            verdicts.factors_small,
        ),
    ),
)
FIGURE4 = fits(
    figure="4",
    title="DPPS-PNBM, DPPS-MF, PCC and COS",
    parameters=CHAIN,
    keys=chain_keys,
    draw=draw4,
    findings=(
        Finding(
            "DPPS-PNBM beats PCC and COS",
            "the accuracy performance is better than the non-private PCC and COS",
            "section 5.2, figure 4; said of epsilon >= 0.1 x 200",
            verdicts.better_chain,
        ),
        Finding(
            "DPPS-PNBM accurate",
            "Both DPPS-PNBM and DPPS-MF allow accurate estimations when epsilon >= 0.1 x 200.",
            "section 5.2, figure 4; judged for DPPS-PNBM",
            verdicts.chains_accurate,
        ),
        Finding(
            "convergence",
            "In our comparison, we assume delta -> 0.",
            "section 5.2",
            verdicts.longer_chains,
        ),
    ),
)
FIGURE5 = fits(
    figure="5",
    title="accuracy by the number of neighbours",
    parameters=f"epsilon 1 (DPPS: 1 x 200); {DESCENT}",
    keys=size_keys,
    draw=draw5,
    findings=(
        Finding(
            "less sensitive to N",
            "The accuracy of both DPSGD-PNBM and DPPS-PNBM is less sensitive than PCC and "
            "COS, when neighbor size is changed.",
            "section 5.2, figure 5",
            verdicts.sizes_flat,
        ),
        Finding(
            "best at a smaller N",
            "Both DPSGD-PNBM and DPPS-PNBM reach their best accuracy with a smaller neighbor size.",
            "section 5.2, figure 5",
            verdicts.sizes_small,
        ),
    ),
)
FIGURE6 = fits(
    figure="6",
    title="DPSGD-PNBM and DPPS-PNBM",
    parameters=f"{DESCENT}. {CHAIN}",
    keys=both_keys,
    draw=draw6,
    findings=(
        Finding(
            "DPPS more accurate",
            "With the same privacy guarantee, DPPS-PNBM seems to be more accurate.",
            "section 5.2, figure 6",
            verdicts.chain_better,
        ),
    ),
)
