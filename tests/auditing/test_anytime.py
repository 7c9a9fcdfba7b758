"""Evidence that may be looked at whenever one likes."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from tacit.auditing.anytime import RunsSoFar, stake, until
from tacit.auditing.guesses import Guessed, guess

MISTAKE = 0.05


def one_run(rng, mu, people=100):
    coins = rng.random(people) < 0.5
    scores = (coins - 0.5) * mu + rng.standard_normal(people)
    return guess(scores, coins, round(0.55 * people))


def test_a_stake_is_a_fair_bet():
    """Midpoints of many small steps: the integral over all chances is 1."""
    chances = (np.arange(200_000) + 0.5) / 200_000
    mean = np.mean([exp(stake(chance)) for chance in chances])
    assert mean == pytest.approx(1, abs=0.01)
    assert stake(0.0) == np.inf


def test_looking_after_every_run_refutes_the_truth_no_more_often():
    rng = np.random.default_rng(1)
    mu, trials = 0.6, 150
    wrongly = 0
    for _ in range(trials):
        runs = (one_run(rng, mu) for _ in range(8))
        *_, last = until(runs, mu, MISTAKE)
        wrongly += last.refutes(mu, MISTAKE)
    assert wrongly <= trials * MISTAKE + 6 * (trials * MISTAKE) ** 0.5


def test_half_the_noise_is_refuted_before_the_runs_are_used_up():
    rng = np.random.default_rng(2)
    mu = 0.6
    looks = list(until((one_run(rng, 2 * mu) for _ in range(60)), mu, 1e-6))
    assert looks[-1].refutes(mu, 1e-6)
    assert len(looks[-1].runs) < 60
    assert mu < looks[-1].least_mu(1e-6) < 2 * mu


def test_nothing_seen_proves_nothing():
    assert RunsSoFar().least_mu(MISTAKE) == 0
    assert not RunsSoFar().refutes(0.0, MISTAKE)
    chance = RunsSoFar([Guessed(10, 5, 3)])
    assert chance.least_mu(MISTAKE) == 0
