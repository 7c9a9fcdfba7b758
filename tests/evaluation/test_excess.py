"""What noise costs in closed form: as shrinkage of drawn effects gives it, and no more."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tacit.evaluation.excess import ERROR, NATURE, RESIDUAL, Loud, excess
from tacit.evaluation.invent import popularity

SHAPE = (2000, 150, 30.0)


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_it_is_what_the_best_shrinkage_of_noisy_sums_loses(unit):
    people, items, each = SHAPE
    rng = np.random.default_rng(4)
    chance = popularity(items, NATURE)
    rated = people * each * chance
    whole = each if unit == "user" else 1.0
    mu, lost = 0.05, []
    for noise in (0.0, 10**0.4 * whole / mu**2):
        variance = RESIDUAL / rated + noise / rated**2
        item_bias = rng.normal(0, NATURE.effect, (4000, items))
        told = item_bias + rng.normal(size=item_bias.shape) * np.sqrt(variance)
        pulled = told * NATURE.effect**2 / (NATURE.effect**2 + variance)
        lost.append(((pulled - item_bias) ** 2 @ chance).mean())
    simulated = sqrt(ERROR**2 + lost[1] - lost[0]) - ERROR
    told = excess(unit, people, items, each, mu, Loud(0.4))
    assert told == pytest.approx(simulated, rel=0.03)


@pytest.mark.parametrize("loud", [Loud(0.3), Loud(0.3, 3.0, -0.2)])
def test_it_falls_with_budget_and_people_to_nothing(loud):
    people, items, each = SHAPE
    row = [excess("user", people * k, items, each, 0.3 * k, loud) for k in (1, 3, 10, 1e6)]
    assert row == sorted(row, reverse=True)
    assert row[0] > 0.003
    assert row[-1] < 1e-6


def test_tastes_cost_more_where_people_tell_more_of_them():
    bare, user_factors = Loud(0.3), Loud(0.3, 5.0)
    more = [
        excess("user", 2000, 800, each, 1.0, user_factors)
        - excess("user", 2000, 800, each, 1.0, bare)
        for each in (3.0, 20.0, 100.0)
    ]
    assert more == sorted(more)
