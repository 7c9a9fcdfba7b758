"""What a number of right guesses proves: the statistics of the audit are themselves tested. A
true curve is refuted no more often than was said, and a planted violation is refuted."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from tacit.auditing.guesses import (
    GaussianCurve,
    Guessed,
    PureCurve,
    chance_independent,
    chance_pure,
    guess,
    interval,
    is_possible,
    least_epsilon,
    least_mu,
    least_mu_any,
)

MISTAKE = 0.05


def scored(rng, people, mu):
    """Coins, and scores that tell them apart by mu."""
    coins = rng.random(people) < 0.5
    return (coins - 0.5) * mu + rng.standard_normal(people), coins


@pytest.mark.parametrize("mu", [0.2, 1.0, 2.5])
@pytest.mark.parametrize("share", [0.05, 0.55, 1.0])
def test_a_true_curve_is_refuted_no_more_often_than_was_said(mu, share):
    rng = np.random.default_rng(3)
    people, runs = 200, 1500
    made = round(share * people)
    refuting = [
        right
        for right in range(made + 1)
        if chance_independent(Guessed(people, made, right), mu) < MISTAKE
    ]
    least = min(refuting, default=made + 1)
    wrongly = sum(guess(*scored(rng, people, mu), made).right >= least for _ in range(runs))
    # 6 standard deviations above what is allowed: a chance of 1e-9.
    assert wrongly / runs <= MISTAKE + 6 * (MISTAKE / runs) ** 0.5
    # And it is not merely cautious, where so many guesses can be refuted at all.
    assert wrongly > 0 or made < 20 or mu > 2


def test_the_chance_is_the_one_that_simulation_finds():
    rng = np.random.default_rng(4)
    people, made, mu = 60, 20, 0.8
    right = np.array([guess(*scored(rng, people, mu), made).right for _ in range(20_000)])
    for least in (12, 15, 18):
        found = chance_independent(Guessed(people, made, least), mu)
        assert found == pytest.approx((right >= least).mean(), abs=0.02)


def test_half_the_noise_is_refuted_and_the_noise_that_was_claimed_is_not():
    rng = np.random.default_rng(5)
    mu = 0.5
    honest = guess(*scored(rng, 4000, mu), 2200)
    planted = guess(*scored(rng, 4000, 2 * mu), 2200)
    assert chance_independent(planted, mu) < 1e-9
    assert chance_independent(honest, mu) > 1e-9
    assert mu < least_mu(planted, MISTAKE) < 2 * mu * 1.1


def test_no_dependence_fools_the_bound_that_assumes_none():
    """A mechanism that tells all or nothing, everybody at once: with chance p everybody is
    told apart by a large epsilon, else not at all. Its curve is that of one person, and
    many right guesses come together far more often than under independence."""
    large, chance = 2.0, 0.05

    class Mixed:
        def least(self, right: float) -> float:
            told = PureCurve(large)
            # The least over how an event of chance `right` is shared out.
            parts = np.linspace(0, 1, 2001)
            best = min(
                chance * told.least(x) + max(0.0, right - chance * x)
                for x in parts
                if right - chance * x <= 1 - chance + 1e-12
            )
            return float(best)

    people = made = 300
    accuracy = exp(large) / (1 + exp(large))
    seen = Guessed(people, made, int(accuracy * made) - 12)
    assert is_possible(seen, Mixed(), 0.9 * chance)
    # As if everybody's noise were her own, the same number would refute it.
    mean = chance * accuracy + (1 - chance) / 2
    own = chance_pure(seen, np.log(mean / (1 - mean)))
    assert own < 1e-9


def test_the_bound_that_assumes_nothing_never_proves_more_than_is_true():
    rng = np.random.default_rng(6)
    mu = 1.0
    above = 0
    for _ in range(200):
        found = guess(*scored(rng, 600, mu), 30)
        above += least_mu_any(found, MISTAKE) > mu
    assert above <= 10 + 6 * 10**0.5


def test_pure_guesses_are_binomial():
    rng = np.random.default_rng(7)
    epsilon, people = 1.0, 2000
    coins = rng.random(people) < 0.5
    kept = rng.random(people) < 1 / (1 + exp(-epsilon))
    scores = np.where(kept == coins, 1.0, -1.0)
    found = guess(scores, coins, people)
    assert 0.8 * epsilon < least_epsilon(found, MISTAKE) < 1.1 * epsilon
    assert least_epsilon(Guessed(100, 100, 50), MISTAKE) == 0


def test_nothing_is_proven_by_nothing():
    assert chance_independent(Guessed(10, 5, 0), 1.0) == 1
    assert least_mu(Guessed(10, 5, 0), MISTAKE) == 0
    assert least_mu_any(Guessed(10, 5, 0), MISTAKE) == 0
    coins = np.array([True, False])
    assert guess(np.zeros(2), coins, 2).right == 0


def test_the_interval_of_clopper_and_pearson():
    # Known values: 10 of 100 at 95 %.
    low, high = interval(10, 100, 0.05)
    assert (low, high) == pytest.approx((0.04900, 0.17622), abs=1e-4)
    assert interval(0, 10, 0.05)[0] == 0
    assert interval(10, 10, 0.05)[1] == 1


@pytest.mark.parametrize("curve", [GaussianCurve(0.7), PureCurve(1.3)])
def test_a_curve_and_its_inverse(curve):
    for wrong in (1e-6, 0.01, 0.3, 0.9):
        assert curve.least(curve.most(wrong)) == pytest.approx(wrong)
