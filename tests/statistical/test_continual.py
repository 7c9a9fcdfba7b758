"""The noise of a calendar: independent from week to week, of the scale that was paid for, and
on running sums of the covariance that the proof says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tacit.ledger.account.event import Gaussian
from tacit.noise.continual import Weeks
from tacit.rounds.calendar import Calendar

CALENDAR = Calendar(6)
NUMBERS, SIGMA = 20_000, 4_000.0
EVENT = Gaussian(name="a/b", sensitivity=1.0, sigma=SIGMA, draws=6 * NUMBERS)
TOO_FAR = 10.0
"""Standard errors: chance about 1e-23."""


@pytest.fixture(scope="module")
def drawn() -> np.ndarray:
    """Noise alone, weeks x numbers: what is released of the very same sums, less what the
    sums are mixed to."""
    rng = np.random.default_rng(0)
    sums = [rng.integers(-500, 500, (NUMBERS, 1)) for _ in range(6)]
    found = []
    for week in range(1, 7):
        weeks = Weeks({"a/b": EVENT}, CALENDAR, week)
        noisy = weeks.noised("a/b", sums[:week])
        c = CALENDAR.coefficients
        exact = sum(c[week - 1 - s] * sums[s] for s in range(week))
        found.append((noisy - exact)[:, 0])
    return np.array(found)


def test_every_week_has_the_scale_that_was_paid_for(
    drawn: np.ndarray, fits: Callable[..., bool], cdfs: dict[str, Callable]
) -> None:
    all_weeks = drawn.ravel()
    assert fits(all_weeks, cdfs["gaussian"](SIGMA), SIGMA)
    for wrong in (0.7, 1.3):
        assert not fits(all_weeks, cdfs["gaussian"](wrong * SIGMA), SIGMA)


def far(found: np.ndarray, expected: np.ndarray) -> float:
    """How many standard errors a covariance lies from the expected one, at worst."""
    spread = np.outer(np.diag(expected), np.diag(expected)) + expected**2
    error: float = np.abs(found - expected) / np.sqrt(spread / NUMBERS)
    return float(np.max(error))


def test_running_sums_have_the_covariance_of_the_proof(drawn: np.ndarray) -> None:
    b = CALENDAR.rows
    turned = np.array([[b[t - s] if s <= t else 0.0 for s in range(6)] for t in range(6)])
    weeks = Weeks({"a/b": EVENT}, CALENDAR, 6)
    estimates = []
    for week in range(1, 7):
        parts = [each[:, None] for each in drawn[:week]]
        value, sd = weeks.estimate("a/b", parts)
        estimates.append(value[:, 0])
        assert sd == pytest.approx(SIGMA * np.linalg.norm(b[:week]))
    found = np.cov(np.array(estimates), bias=True)
    expected = SIGMA**2 * turned @ turned.T
    assert far(found, expected) < TOO_FAR
    # The test itself is tested: other covariances are told apart.
    assert far(found, 1.3**2 * expected) > TOO_FAR
    assert far(found, 0.7**2 * expected) > TOO_FAR
    assert far(found, np.diag(np.diag(expected))) > TOO_FAR


def test_weeks_are_independent(drawn: np.ndarray) -> None:
    assert far(np.cov(drawn, bias=True), SIGMA**2 * np.eye(6)) < TOO_FAR
