"""The closed form in `math` alone, against arbitrary precision."""

from __future__ import annotations

from math import inf

import mpmath  # type: ignore[import-untyped]
import pytest
from scipy.stats import norm

from tacit.ledger.account.gaussian import delta_at, epsilon_at, log_delta, mills


def exact_log_delta(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(400):
        mu_, epsilon_ = mpmath.mpf(mu), mpmath.mpf(epsilon)

        def below(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        delta = below(mu_ / 2 - epsilon_ / mu_) - mpmath.exp(epsilon_) * below(
            -mu_ / 2 - epsilon_ / mu_
        )
        return mpmath.log(delta)


@pytest.mark.parametrize("x", [0.0, 0.5, 3.999, 4.0, 7.0, 30.0, 1e3])
def test_the_mills_ratio_is_right(x: float) -> None:
    with mpmath.workdps(60):
        right = mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2 / mpmath.npdf(mpmath.mpf(x))
    assert mills(x) == pytest.approx(float(right), rel=1e-14)


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.0275, 0.237, 1.0, 3.24, 20.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 3.0, 6.0, 12.0])
def test_delta_is_right_and_rounded_up(mu: float, share: float) -> None:
    epsilon = mu * mu / 2 + share * mu
    right = float(exact_log_delta(mu, epsilon))
    assert right <= log_delta(mu, epsilon) <= right + 1e-6


@pytest.mark.parametrize("epsilon", [-3.0, -0.1, 0.0, 0.2])
def test_delta_is_right_left_of_the_middle(epsilon: float) -> None:
    assert log_delta(2.0, epsilon) == pytest.approx(float(exact_log_delta(2.0, epsilon)), abs=1e-12)


def test_delta_agrees_with_scipy() -> None:
    mu, epsilon = 0.7, 1.3
    plain = norm.cdf(mu / 2 - epsilon / mu) - 2.718281828459045**epsilon * norm.cdf(
        -mu / 2 - epsilon / mu
    )
    assert delta_at(mu, epsilon) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("mu", [1e-4, 0.0275, 0.237, 3.24, 50.0, 1e3])
@pytest.mark.parametrize("delta", [1e-1, 1e-6, 1e-12, 1e-300])
def test_epsilon_inverts_delta_on_the_safe_side(mu: float, delta: float) -> None:
    epsilon = epsilon_at(mu, delta)
    if epsilon > 0:
        assert delta_at(mu, epsilon) <= delta * (1 + 1e-12)
        assert delta_at(mu, epsilon * (1 - 1e-9)) > delta * (1 - 1e-6)


def test_no_noise_needed_and_none_enough() -> None:
    assert epsilon_at(0.0, 1e-6) == 0
    assert epsilon_at(1.0, 0.0) == inf
    assert delta_at(0.0, 0.5) == 0
    assert delta_at(1e-3, 50.0) > 0  # never exactly nothing
