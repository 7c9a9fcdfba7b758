"""The number of trials: right at the stated law, wrong at another; candidates are uniform."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from tacit.errors import Failure
from tacit.ledger.account.event import Gaussian, TuningEvent
from tacit.noise import fresh
from tacit.noise.release import Charge, draw_trials
from tacit.noise.selection import trials
from tacit.testing.sampler import THRESHOLD, fits, pmf_cdf

N = 10_000
LAWS = [
    (Fraction(1), Fraction(1, 10)),
    (Fraction(0), Fraction(1, 12)),
    (Fraction(1, 2), Fraction(1, 12)),
    (Fraction(-1, 2), Fraction(1, 8)),
]


def pmf(eta: Fraction, gamma: float) -> np.ndarray:
    """P(k), k = 1..3000, by the paper's formula."""
    logs, running = [], 0.0
    for k in range(1, 3001):
        if k > 1:
            running += log((k - 1 + float(eta)) / k)
        logs.append(k * log(1 - gamma) + running)
    return np.exp(np.array(logs) - max(logs))


@pytest.mark.parametrize(("eta", "gamma"), LAWS)
def test_the_number_of_trials_has_its_law(eta, gamma):
    bits = fresh()
    drawn = np.array([trials(eta, gamma, bits) for _ in range(N)])
    assert drawn.min() == 1
    spread = 3.0 / float(gamma)
    right = pmf_cdf(pmf(eta, float(gamma)), 1)
    assert fits(drawn, right, spread)
    for factor in (0.5, 2.0):
        wrong = pmf_cdf(pmf(eta, float(gamma) * factor), 1)
        assert not fits(drawn, wrong, spread)


def event(**more) -> TuningEvent:
    return TuningEvent(name="t", gamma=(1, 5), candidates=4, rho=0.1, **more)


def test_every_candidate_is_drawn_as_often():
    from scipy.stats import chi2

    drawn = np.concatenate([draw_trials("t", Charge([event()])) for _ in range(4000)])
    counts = np.bincount(drawn, minlength=4)
    expected = len(drawn) / 4
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert chi2.sf(statistic, 3) > THRESHOLD
    assert abs(len(drawn) / 4000 - 5) < 6 * (20 / 4000) ** 0.5


def test_trials_are_drawn_once_from_what_was_paid():
    charge = Charge([event()])
    draw_trials("t", charge)
    with pytest.raises(Failure, match="already drawn"):
        draw_trials("t", charge)
    other = Gaussian(name="t", sensitivity=1, sigma=20, draws=1)
    with pytest.raises(Failure, match="no selection"):
        draw_trials("t", Charge([other]))
