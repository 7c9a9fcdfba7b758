"""What a device draws: the law of a choice, exactly, whatever the record claims."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from tacit.errors import Failure
from tacit.ledger.account.event import Gaussian, RandomizedChoice, Response, Selection, Unbounded
from tacit.noise.device import choice_bound, choose, log_ratio, own_noise, respond, unbiased


def choice(epsilon=2.0, choices=6, favoured=2):
    return RandomizedChoice(name="r/c", epsilon=epsilon, choices=choices, favoured=favoured)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 4.0, 8.0])
@pytest.mark.parametrize(("choices", "favoured"), [(2, 1), (6, 2), (128, 9)])
def test_no_answer_is_more_than_e_to_the_epsilon_likelier(epsilon, choices, favoured):
    truly = Fraction(choice_bound(epsilon, choices, favoured), 1 << 63)
    ratio = (truly / favoured) / ((1 - truly) / (choices - favoured))
    assert ratio >= 1
    assert float(ratio) <= exp(epsilon) * (1 + 1e-15)
    assert float(ratio) > exp(epsilon) * (1 - 1e-9)


def test_answers_follow_their_law():
    draws = 200_000
    said = np.bincount(choose(choice(), np.tile([1.0, 4.0], (draws, 1))), minlength=6) / draws
    truly = 2 / (2 + 4 * exp(-2.0))
    law = np.where(np.isin(np.arange(6), [1, 4]), truly / 2, (1 - truly) / 4)
    assert np.abs(said - law).max() < 9 * np.sqrt(0.25 / draws)
    assert (
        np.abs(said - law[::-1][[1, 0, 2, 3, 5, 4]]).max() > 0.05
    )  # the test tells a wrong law apart


def test_a_choice_of_two_is_randomized_response():
    draws = 200_000
    said = choose(choice(1.0, 2, 1), np.zeros((draws, 1)))
    assert said.mean() == pytest.approx(1 / (1 + exp(1.0)), abs=9 * np.sqrt(0.25 / draws))


@pytest.mark.parametrize("row", [[1.0, 1.0], [-1.0, 3.0], [2.0, 6.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_row_that_is_not_two_answers_counts_as_the_first(row):
    said = np.bincount(choose(choice(8.0), np.tile(row, (2000, 1))), minlength=6)
    assert said[:2].sum() > 1900
    assert said[:2].min() > 700


def test_a_bit_is_unbiased_once_multiplied():
    event = Response(name="r/b", epsilon=1.5, reports=1)
    got = respond(event, np.full(200_000, 0.3)) * unbiased(event)
    assert got.mean() == pytest.approx(0.3, abs=9 * unbiased(event) / np.sqrt(200_000))


def test_a_printed_bit_has_the_printed_ratio():
    event = Unbounded(name="r/b", claimed_epsilon=0.1, reason="a test", noise="response", scale=0.1)
    assert log_ratio(event) == 0.1


def test_other_events_are_no_reports():
    with pytest.raises(Failure, match="no randomized response"):
        log_ratio(Gaussian(name="r/g", sensitivity=1, sigma=16, draws=1))
    with pytest.raises(Failure, match="no noise"):
        own_noise(Selection(name="r/s", sensitivity=1, epsilon=1, candidates=2), 1, 1)


def test_the_noise_of_many_devices_is_the_sum_of_theirs():
    event = Gaussian(name="r/g", sensitivity=1, sigma=50, draws=2000)
    noise, sd = own_noise(event, 30, 2000)
    assert sd == pytest.approx(50 * np.sqrt(30))
    assert noise.std() == pytest.approx(sd, rel=0.3)
