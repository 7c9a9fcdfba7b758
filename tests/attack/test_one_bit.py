"""The bit-frequency audit (all-max against all-min): what the bits of a whole fit reveal,
counted on what was sent."""

from __future__ import annotations

from math import atanh, log

import numpy as np
import pytest

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine.printed import PrintedSimulate as Simulate
from tacit.methods.base import Public
from tacit.noise.device import log_ratio
from tacit.noise.release import Charge
from tacit.rounds.plan import Budget

PEOPLE = 100_000
ROUNDS = 4
EPSILON = 2.0
SD = 2 / np.sqrt(PEOPLE)
"""Of the estimated log-ratio of one round."""


def everyone_gives(stars):
    names = [str(i) for i in range(PEOPLE)]
    ptr = np.arange(PEOPLE + 1, dtype=np.int64)
    return Ratings(
        Schema(1, 5),
        names,
        ["a"],
        ptr,
        np.zeros(PEOPLE, np.uint32),
        np.full(PEOPLE, stars, np.float32),
    )


def measured(cls, calibration, stars):
    """Mean bit of every round when all people give `stars`, whose gradient is at the end of
    its range."""
    method = cls(
        epsilon=EPSILON,
        delta=0.0,
        calibration=calibration,
        form="descent",
        rank=1,
        rounds=ROUNDS,
        rate=1e-9,
        own_rate=1e-9,
        **({} if calibration == "paper" else {"each": ROUNDS}),
    )
    ratings = everyone_gives(stars)
    budget = Budget(EPSILON, 0.0)
    public = Public(ratings.schema, Catalogue(["a"]), "user", calibration, budget)
    plan = method.plan(public)
    events = plan.events(budget)
    engine = Simulate(ratings)
    state = method.first_state(public)
    means = []
    for round_ in plan.rounds:
        got = engine.run(round_, state, Charge([events[f"{round_.name}/{round_.parts[0].name}"]]))
        (released,) = got.values()
        factor = 1 / np.tanh(log_ratio(events[f"{round_.name}/{round_.parts[0].name}"]) / 2)
        means.append(float(released.value.sum()) / factor / PEOPLE)
        state = round_.absorb(state, got)
    return np.array(means)


def log_ratios(cls, calibration):
    """log(P[+ | all 1] / P[+ | all 5]) of every round, from the frequency of the bits."""
    high, low = measured(cls, calibration, 1.0), measured(cls, calibration, 5.0)
    return np.log((1 + high) / (1 + low))


@pytest.mark.parametrize("cls", [tacit.OneBitMF, tacit.ProjectedOneBitMF])
def test_each_bit_reveals_epsilon_over_k_and_all_of_them_epsilon(cls):
    found = log_ratios(cls, "sound")
    assert len(found) == ROUNDS
    if cls is tacit.OneBitMF:  # a projected gradient need not reach the end of its range
        assert np.abs(found - EPSILON / ROUNDS).max() < 10 * SD
        assert abs(found.sum() - EPSILON) < 10 * SD * np.sqrt(ROUNDS)
    assert found.sum() < EPSILON + 10 * SD * np.sqrt(ROUNDS)


def test_the_audit_catches_the_round_too_many_of_the_paper():
    found = log_ratios(tacit.OneBitMF, "paper")
    assert len(found) == ROUNDS + 1
    assert found.sum() > EPSILON + 20 * SD * np.sqrt(ROUNDS)
    assert found.sum() == pytest.approx(
        EPSILON * (ROUNDS + 1) / ROUNDS, abs=10 * SD * np.sqrt(ROUNDS + 1)
    )


def test_the_audit_would_notice_a_ratio_a_third_too_large():
    assert EPSILON / ROUNDS * 0.3 > 20 * SD
    assert log(3) == pytest.approx(2 * atanh(0.5))  # a mean bit of 1/2 is a ratio of 3
