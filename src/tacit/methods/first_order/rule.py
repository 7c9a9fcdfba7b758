"""Rules that divide a budget over the first-order rounds: from people, budget and settings,
never from ratings."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from tacit.rounds.plan import Budget

GLOBAL_MEAN_NEED = 30.0
"""People x mu at which the level deserves the whole budget; its share falls with the square."""
GLOBAL_MEAN_LEAST, GLOBAL_MEAN_MOST = 0.03, 0.9
"""Bounds of that share."""
WEIGHTS_SHARE, ITEM_BIAS_SHARE = 0.22, 0.73
"""Of what the level leaves: item weights, and all sweeps of item sums."""
CHOICE_SHARE = 0.05
"""Of the same: how widely people differ. These were set on another split of ML-1M than
those of docs/results/bayes.md."""


def strength(budget: Budget | None) -> float:
    """mu of the Gaussian rounds that this budget pays for; for pure ones the epsilon that
    acts about alike; infinite without noise."""
    from tacit.ledger.account.calibrate import gaussian_mu

    if budget is None:
        return inf
    if is_pure(budget):
        return budget.epsilon / 2
    return gaussian_mu(budget.epsilon, budget.delta)


def is_pure(budget: Budget | None) -> bool:
    """Whether a budget asks for pure mechanisms, so that bounds are of L1."""
    return budget is not None and budget.delta == 0


def global_mean_share(people: float, mu: float, need: float = GLOBAL_MEAN_NEED) -> float:
    """Budget share at which the global mean has a standard error of a few hundredths."""
    return float(np.clip((need / (people * mu)) ** 2, GLOBAL_MEAN_LEAST, GLOBAL_MEAN_MOST))


@dataclass(frozen=True)
class BaselineShares:
    """How `bias` divides its budget; the parts add up to 1."""

    level: float
    weights: float
    sweep: float
    """Of each sweep of item sums."""
    choice: float


def baseline_shares(people: float, mu: float, sweeps: int) -> BaselineShares:
    """The rule of `bias`, for so many sweeps of item sums."""
    level = global_mean_share(people, mu)
    after_level = 1 - level
    return BaselineShares(
        level=level,
        weights=WEIGHTS_SHARE * after_level,
        sweep=ITEM_BIAS_SHARE * after_level / sweeps,
        choice=CHOICE_SHARE * after_level,
    )
