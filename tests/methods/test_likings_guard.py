"""Whether the covariance of `bayes` is worth its share: what is hoped of it, from released
numbers."""

from __future__ import annotations

import pytest

from tacit.methods.bayes.rounds import SIGNAL, hoped_of_factor


def test_nothing_is_hoped_of_a_factor_that_noise_hides() -> None:
    assert hoped_of_factor(0.05, 30.0) == 0.0


def test_the_more_a_factor_stands_out_the_more_is_hoped() -> None:
    hoped = [hoped_of_factor(ratio, 30.0) for ratio in (0.5, 0.8, 1.0, 2.0, 9.0)]
    assert hoped == sorted(hoped)
    assert hoped[0] > 0.0
    assert hoped[-1] < 1.2 * SIGNAL


@pytest.mark.parametrize("ratio", [0.8, 3.0])
def test_people_of_few_ratings_gain_less(ratio: float) -> None:
    assert hoped_of_factor(ratio, 3.0) < 0.5 * hoped_of_factor(ratio, 100.0)
