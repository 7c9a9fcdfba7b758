"""Distinguishing games: the truth is not refuted, and a lie is."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import tacit
from tacit.auditing.devices import play_devices
from tacit.auditing.games import gaussian_ratio, laplace_ratio, most_epsilon, play
from tacit.auditing.verdict import NEVER
from tacit.auditing.walk import walk
from tacit.data.catalogue import Catalogue
from tacit.methods import find
from tacit.noise import device

RUNS = 20_000


def laplace_scores(rng, scale):
    """Runs on 0 and on 1, by the ratio of the densities of Laplace noise of scale 1."""
    one = rng.laplace(0, scale, (RUNS, 1)), rng.laplace(1, scale, (RUNS, 1))
    ends = np.zeros(1), np.ones(1)
    return [laplace_ratio(seen, ends[0], ends[1], scale) for seen in one]


def test_laplace_noise_costs_what_it_says_and_half_of_it_more():
    rng = np.random.default_rng(1)
    honest = play(*laplace_scores(rng, 1.0), delta=0.0, mistake=NEVER)
    planted = play(*laplace_scores(rng, 0.5), delta=0.0, mistake=NEVER)
    assert 0.75 < honest.epsilon <= 1
    assert planted.epsilon > 1


def test_the_threshold_is_chosen_apart():
    """Nothing to tell, looked at through 200 thresholds: nothing is proven."""
    rng = np.random.default_rng(2)
    wrong = sum(
        play(rng.standard_normal(100), rng.standard_normal(100), delta=0.0, mistake=0.05).epsilon
        > 0
        for _ in range(60)
    )
    assert wrong <= 3 + 6 * 3**0.5


def test_what_a_game_can_prove_at_best():
    assert most_epsilon(10_000, 0.05) == pytest.approx(7.2, abs=0.1)
    always = play(np.ones(10_000), np.zeros(10_000), delta=0.0, mistake=0.05)
    assert always.epsilon == pytest.approx(most_epsilon(10_000, 0.05))


def test_gaussian_ratios_are_those_of_the_densities():
    seen = np.array([[0.3, -1.0], [2.0, 0.0]])
    first, second = np.array([1.0, 0.0]), np.array([0.0, 0.5])

    def log_density(at):
        return -((seen - at) ** 2).sum(axis=1) / (2 * 1.7**2)

    assert gaussian_ratio(seen, first, second, 1.7) == pytest.approx(
        log_density(first) - log_density(second)
    )


@pytest.fixture(scope="module")
def people():
    return tacit.sample(60)


def devices_game(people, name):
    method = find(name)(epsilon=1.0, delta=1e-6, unit="user", threads=1)
    items = Catalogue(list(people.items))
    walked = walk(method, people, items, users=people.n_users)
    return play_devices(walked, delta=1e-6, mistake=NEVER, quick=False)


def test_a_device_says_as_much_as_it_pays_for(people):
    got = devices_game(people, "one-bit")
    assert 0.8 < got.won.epsilon <= 1


def test_a_device_that_says_more_is_caught(people, monkeypatch):
    choose = device.choose

    def louder(event, values, *rest):
        return choose(event.model_copy(update={"epsilon": event.epsilon + log(2)}), values, *rest)

    monkeypatch.setattr("tacit.auditing.devices.choose", louder)
    assert devices_game(people, "one-bit").won.epsilon > 1
    assert exp(1 + log(2)) == pytest.approx(2 * exp(1))


def test_whole_vectors_of_a_device(people):
    got = devices_game(people, "one-bit-naive")
    assert 0 <= got.won.epsilon <= 1
