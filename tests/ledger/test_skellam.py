"""The price of noise in shares against the law itself: exact divergences of the Skellam
law, by summing it up."""

from __future__ import annotations

from functools import lru_cache
from math import exp, sqrt

import numpy as np
import pytest
from scipy.special import ive

from tacit.ledger.account.account import epsilon
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import Skellam

CASES = [
    (v, s)
    for v in (1.0, 4.0, 25.0, 400.0, 1e4, 1e6)
    for s in sorted({max(1, round(sqrt(v) * m)) for m in (0.01, 0.1, 0.5, 1, 3)})
]
ORDERS = (2, 3, 4, 8, 16, 32, 64)


@lru_cache(maxsize=8)
def log_law(variance: float, reach: int) -> np.ndarray:
    """log of exp(-v) I_k(v) for k = -reach..reach; ratios I_k/I_(k-1) by the downward
    recurrence, which is stable."""
    ratio, last = (np.empty(reach), variance / (reach + 1 + sqrt((reach + 1) ** 2 + variance**2)))
    for k in range(reach, 0, -1):
        last = 1 / (2 * k / variance + last)
        ratio[k - 1] = last
    half = np.log(ive(0, variance)) + np.concatenate([[0.0], np.cumsum(np.log(ratio))])
    return np.concatenate([half[:0:-1], half])


def shifted(variance: float, shift: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """log P(k - shift) and log P(k), as far as anything of that order lies."""
    law = log_law(variance, int(max(ORDERS) * shift + 45 * sqrt(variance) + 200))
    return law[:-shift], law[shift:]


def divergence(variance: float, shift: int, order: int) -> float:
    """The Renyi divergence of the law moved by `shift` from the law."""
    p, q = shifted(variance, shift, order)
    terms = order * p + (1 - order) * q
    return float(terms.max() + np.log(np.exp(terms - terms.max()).sum())) / (order - 1)


def event(variance: float, shift: int) -> Skellam:
    return Skellam(name="x", sensitivity=shift, l1=shift, variance=variance, draws=1)


def test_the_law_that_is_summed_is_one() -> None:
    for variance in (1.0, 400.0, 1e6):
        law = np.exp(log_law(variance, int(45 * sqrt(variance) + 200)))
        places = np.arange(len(law)) - len(law) // 2
        assert law.sum() == pytest.approx(1, abs=1e-9)
        assert (law * places**2).sum() == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize(("variance", "shift"), CASES)
def test_the_price_is_never_below_the_exact_divergence(variance, shift) -> None:
    slope = cost((event(variance, shift),)).renyi
    for order in ORDERS:
        assert divergence(variance, shift, order) <= order / 2 * slope * (1 + 1e-9)


def test_nine_tenths_of_the_price_would_be_caught() -> None:
    slope = cost((event(1e4, 100),)).renyi
    assert divergence(1e4, 100, 2) > 0.9 * slope


def test_divergences_add_over_coordinates() -> None:
    """A move of (s, t) costs what its coordinates cost: L2 adds in squares and L1 as it is."""
    both = Skellam(name="x", sensitivity=sqrt(30**2 + 40**2), l1=70, variance=1e4, draws=2)
    exact = divergence(1e4, 30, 8) + divergence(1e4, 40, 8)
    assert 0.95 * 4 * cost((both,)).renyi < exact <= 4 * cost((both,)).renyi


@pytest.mark.parametrize(("variance", "shift"), [(400.0, 20), (1e4, 50), (1e6, 3000)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_what_is_stated_covers_the_exact_privacy_loss(variance, shift, delta) -> None:
    """The exact delta at the stated epsilon, from the whole privacy loss distribution of
    one coordinate."""
    stated = epsilon([event(variance, shift)], delta)
    p, q = shifted(variance, shift, 2)
    assert np.maximum(np.exp(p) - exp(stated) * np.exp(q), 0).sum() <= delta
    assert np.maximum(np.exp(p) - exp(0.6 * stated) * np.exp(q), 0).sum() > delta  # and not by far
