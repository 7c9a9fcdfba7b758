"""How much a report tells: the formula against simulation, and the choice by rule."""

from __future__ import annotations

from math import sqrt, tanh

import numpy as np
import pytest

from tacit.ledger.account.event import RandomizedChoice
from tacit.methods.refine.reports import best_report, gain
from tacit.noise.device import choose


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_one_bit_tells_the_sign_of_one_product(epsilon):
    assert gain(epsilon, 2, 1) == pytest.approx(sqrt(2 / np.pi) * tanh(epsilon / 2), rel=1e-4)


@pytest.mark.parametrize(("choices", "favoured"), [(2, 1), (16, 1), (64, 4)])
def test_the_gain_is_what_answers_have_on_average(choices, favoured):
    people, epsilon = 40_000, 3.0
    scores = np.random.default_rng(0).standard_normal((people, choices // 2))
    order = np.argsort(-np.abs(scores), axis=1)[:, :favoured]
    rows = np.arange(people)[:, None]
    said = choose(
        RandomizedChoice(name="r/c", epsilon=epsilon, choices=choices, favoured=favoured),
        2.0 * order + (scores[rows, order] < 0),
    )
    told = scores[np.arange(people), said // 2] * (1 - 2 * (said % 2))
    assert told.mean() == pytest.approx(
        gain(epsilon, choices, favoured), abs=8 * told.std() / sqrt(people)
    )


def test_the_rule_takes_few_bits_where_they_are_as_good():
    assert best_report(0.5, 7).choices == 2
    assert best_report(4.0, 7).choices > 8
    assert best_report(8.0, 1).choices == 2


def test_a_report_with_more_budget_tells_more():
    gains = [best_report(epsilon, 7).gain for epsilon in (0.1, 0.5, 1, 2, 4, 8)]
    assert gains == sorted(gains)


def test_one_whole_answer_beats_two_halves():
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        assert best_report(epsilon, 7).gain ** 2 > 1.5 * best_report(epsilon / 2, 7).gain ** 2
