"""`choose` names epsilons that its own forecast says are enough, and refuses what would
look at private ratings for nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest

import tacit
from tacit.data.splits import per_rating
from tacit.errors import SettingError
from tacit.evaluation.choose import CHANCES, LARGEST, solve
from tacit.evaluation.cost import PublicShape
from tacit.evaluation.forecast import forecast
from tacit.evaluation.overlap import Overlaps, _shared, overlaps
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.ledger.account.gaussian import epsilon_at
from tacit.ledger.account.odds import odds_times
from tacit.ledger.account.rounded import percent

SHAPE = PublicShape("bayes", "user", 6000, 2000, 80.0)


@pytest.fixture(scope="module")
def told():
    return forecast(SHAPE, delta=1e-6, per_user=80.0, spread=1.04)


def test_the_goal_is_met_with_the_chances_that_are_told(told):
    middle = told.at(3.0).error.middle
    found = solve(told, middle)
    assert found.met
    epsilons = [one.epsilon for one in found.candidates]
    assert all(a <= b for a, b in pairwise(epsilons))
    for one, wanted in zip(found.candidates, CHANCES, strict=True):
        assert one.chance >= wanted or one.epsilon == LARGEST
    balanced = found.candidates[1]
    assert balanced.epsilon == pytest.approx(3.0, rel=0.15)
    assert balanced.expected == told.at(balanced.epsilon).error


def test_a_goal_out_of_reach_is_said_to_be(told):
    found = solve(told, 0.3)
    assert not found.met
    assert all(one.chance < 0.5 for one in found.candidates)
    assert "No epsilon" in found.page()


def test_a_large_epsilon_is_called_a_promise_on_paper(told):
    found = solve(told, 0.3)
    assert "on paper" not in found.page()
    *others, last = found.candidates
    found = replace(found, candidates=(*others, replace(last, epsilon=20.0)))
    page = found.page()
    assert "a promise on paper" in page
    assert page.count('class="card warn"') == 1


def test_what_the_twin_reaches_is_the_base_of_the_cost(told):
    found = solve(told, 0.9, twin=0.85)
    one = found.candidates[1]
    cost = told.at(one.epsilon).cost
    assert one.expected.middle == pytest.approx(0.85 + cost.middle)
    assert one.expected.high == pytest.approx(0.85 + cost.high)


def test_what_an_attacker_gains_follows_from_epsilon_and_delta(told):
    for one in solve(told, 0.93).candidates:
        mu = gaussian_mu(one.epsilon, 1e-6)
        assert one.odds_times == odds_times(one.epsilon, 1e-6)
        assert one.ten == pytest.approx(epsilon_at(sqrt(10) * mu, 1e-6))
        assert 0.5 < one.best_guess < 1
        assert f"{percent(one.best_guess)} times in a hundred" in one.words


def test_lists_are_compared_place_by_place_in_any_order():
    left = np.array([[1, 2, 3, 4], [5, 6, -1, -1]], dtype=np.int32)
    right = np.array([[4, 9, 1, 8], [6, 5, -1, -1]], dtype=np.int32)
    assert _shared(left, right) == pytest.approx((0.5 + 1.0) / 2)


def test_an_overlap_is_crossed_between_two_epsilons():
    found = Overlaps((0.5, 2.0, 8.0), (0.1, 0.5, 0.7))
    assert found.crossing(0.5) == 2.0
    assert found.crossing(0.3) == pytest.approx(1.0, rel=0.02)
    assert found.crossing(0.8) is None
    assert found.crossing(0.05) == 0.5


def test_lists_agree_more_with_less_noise():
    ratings = per_rating(tacit.sample(), 0.1).train

    def make(epsilon):
        if epsilon is None:
            return tacit.Bias(calibration="none")
        return tacit.Bias(epsilon=epsilon)

    found = overlaps(make, ratings, row=(0.1, 200.0), runs=2)
    assert found.shared[0] + 0.2 < found.shared[1] <= 1


def test_the_door_answers_with_a_frame_a_picture_and_a_page():
    found = tacit.choose(rmse=0.92, users=6000, items=2000, each=80)
    assert found.frame()["name"].to_list() == ["careful", "balanced", "accurate"]
    assert len(found.plot().axes) == 1
    page = found.page()
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "US Census Bureau" in page
    assert found.page() == page


def test_recall_is_for_lists_and_rmse_for_ratings():
    found = tacit.choose(recall=0.1, users=60_000, items=1000, each=30)
    assert found.forecast.method == "ease"
    with pytest.raises(SettingError, match="judged by"):
        tacit.choose("ease", rmse=0.9, users=600, items=100, positive=4)
    with pytest.raises(SettingError, match="not clear"):
        tacit.choose(users=600, items=100)
