"""The program's printed forms of Wang & Tang are what a second implementation computes, over
whole runs, with the same draws and without noise."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import CosineKNN, NeighborhoodLangevin, NeighborhoodSGD, PearsonKNN
from tacit.fitting.run import trial
from tacit.rounds.printed import trimmed
from tacit.rounds.round import Block

from . import wang_tang as paper
from .runs import Tape, handing, invented, predictions

PEOPLE, ITEMS, LEAST, NEAR = 40, 30, 12, 9
FIRST = np.random.default_rng(0).uniform(-0.1, 0.1, (ITEMS, ITEMS))
"""The start that the program draws from its seed: uniform in +-.1."""
SGD = {"rounds": 4, "rate": 0.05, "decay": 0.02, "rescale": 5.0, "floor": 2.0, "least": LEAST}
PLAIN_SGD = {"rounds": 4, "eta": 0.05, "decay": 0.02, "beta": 5.0, "floor": 2.0, "least": LEAST}
LANGEVIN = {
    "rounds": 45,
    "rate": 2e-3,
    "decay": 0.3,
    "temperature": 0.01,
    "falling": 0.4,
    "most": 14,
    "least": LEAST,
}
PLAIN_LANGEVIN = {
    "rounds": 45,
    "eta": 2e-3,
    "decay": 0.3,
    "rho": 0.01,
    "xi": 0.4,
    "tau": 14,
    "least": LEAST,
}


@pytest.fixture(scope="module")
def data():
    return invented(PEOPLE, ITEMS)


def published(model):
    """The published similarities as a matrix."""
    out = np.zeros((ITEMS, ITEMS))
    for item in range(ITEMS):
        out[item] = model.personal.similar(item)
    return out


def chosen(data, most):
    """Which ratings the program keeps of people with more than `most`."""
    _, ratings = data
    block = Block(np.arange(PEOPLE), ratings.ptr, ratings.item, ratings.value)
    cut = trimmed(block, 0, most, 0)
    out = np.zeros((PEOPLE, ITEMS), bool)
    out[np.repeat(np.arange(PEOPLE), np.diff(cut.ptr)), cut.item] = True
    return out


def agree(model, data, learned, mean, floor):
    """Published neighbours and all predictions; models are in single precision."""
    matrix, ratings = data
    near = paper.most_similar(learned, NEAR)
    assert published(model) == pytest.approx(near, rel=1e-6, abs=1e-6)
    expected = paper.predicted(matrix, near, mean, floor)
    assert predictions(model, ratings) == pytest.approx(expected, abs=1e-6)


def sgd(data, monkeypatch, tape, **more):
    method = NeighborhoodSGD(calibration="paper", epsilon=30.0, neighbours=NEAR, **SGD | more)
    with handing(monkeypatch, tape):
        return trial(method, data[1])


def langevin(data, monkeypatch, tape, **more):
    method = NeighborhoodLangevin(
        calibration="paper", epsilon=30.0, neighbours=NEAR, **LANGEVIN | more
    )
    with handing(monkeypatch, tape):
        return trial(method, data[1])


@pytest.mark.parametrize("paranoid", ["left-out", "kept"])
def test_algorithm_1_with_the_same_draws(data, monkeypatch, paranoid):
    tape = Tape("laplace", (ITEMS, ITEMS))
    model = sgd(data, monkeypatch, tape, paranoid=paranoid)
    assert tape.handed == SGD["rounds"]
    reach = paper.PHI if paranoid == "left-out" else np.inf
    learned, mean = paper.descent(data[0], FIRST, tape, epsilon=30.0, reach=reach, **PLAIN_SGD)
    agree(model, data, learned, mean, SGD["floor"])


def test_algorithm_1_without_noise(data):
    method = NeighborhoodSGD(calibration="paper", epsilon=30.0, neighbours=NEAR, **SGD)
    model = trial(method, data[1], noise_off=True)
    learned, mean = paper.descent(data[0], FIRST, None, epsilon=30.0, **PLAIN_SGD)
    agree(model, data, learned, mean, SGD["floor"])


def test_algorithm_1_as_the_authors_published_it(data, monkeypatch):
    tape = Tape("laplace", (ITEMS, ITEMS))
    model = sgd(data, monkeypatch, tape, reading="code")
    learned, mean = paper.published_descent(data[0], FIRST, tape, epsilon=30.0, **PLAIN_SGD)
    agree(model, data, learned, mean, SGD["floor"])


@pytest.mark.parametrize("start", ["cosine", "pearson"])
def test_algorithm_1_from_similarities_of_the_ratings(data, monkeypatch, start):
    tape = Tape("laplace", (ITEMS, ITEMS))
    model = sgd(data, monkeypatch, tape, start=start)
    used = paper.kept(data[0], LEAST)
    first, _ = paper.alike(used, start == "pearson")
    learned, mean = paper.descent(data[0], first, tape, epsilon=30.0, **PLAIN_SGD)
    agree(model, data, learned, mean, SGD["floor"])


@pytest.mark.parametrize("times", ["ratings", "one"])
@pytest.mark.parametrize("epsilon", [3.0, 30.0])
def test_algorithm_2_with_the_same_draws(data, monkeypatch, times, epsilon):
    tape = Tape("gaussian", (ITEMS, ITEMS))
    method = NeighborhoodLangevin(
        calibration="paper", epsilon=epsilon, neighbours=NEAR, times=times, **LANGEVIN
    )
    with handing(monkeypatch, tape):
        model = trial(method, data[1])
    learned, mean = paper.sampling(
        data[0],
        FIRST,
        tape,
        epsilon=epsilon,
        chosen=chosen(data, 14),
        times=times,
        **PLAIN_LANGEVIN,
    )
    agree(model, data, learned, mean, 1e-9)


def test_algorithm_2_without_noise(data):
    method = NeighborhoodLangevin(calibration="paper", epsilon=30.0, neighbours=NEAR, **LANGEVIN)
    model = trial(method, data[1], noise_off=True)
    learned, mean = paper.sampling(
        data[0], FIRST, None, epsilon=30.0, chosen=chosen(data, 14), **PLAIN_LANGEVIN
    )
    agree(model, data, learned, mean, 1e-9)


def test_algorithm_2_as_the_authors_published_it(data, monkeypatch):
    tape = Tape("gaussian", (ITEMS, ITEMS))
    model = langevin(data, monkeypatch, tape, reading="code")
    learned, mean = paper.published_sampling(
        data[0], FIRST, tape, epsilon=30.0, chosen=chosen(data, 14), **PLAIN_LANGEVIN
    )
    agree(model, data, learned, mean, 1e-9)


def test_kept_ratings_are_drawn_at_random():
    """Not the first ones; the same in every step."""
    ptr = np.array([0, 300])
    block = Block(np.arange(1), ptr, np.arange(300, dtype=np.uint32), np.zeros(300))
    kept = trimmed(block, 20, 200, 0).item
    assert len(kept) == 200
    assert np.array_equal(kept, trimmed(block, 20, 200, 0).item)
    assert 80 < kept[kept >= 200].size + 34 < 134  # 67 expected, sd 4.7


@pytest.mark.parametrize(("method", "pearson"), [(PearsonKNN, True), (CosineKNN, False)])
@pytest.mark.parametrize("nearest", ["size", "largest"])
def test_pcc_and_cos_are_equation_2_with_n_neighbours(data, method, pearson, nearest):
    made = method(calibration="none", neighbours=NEAR, nearest=nearest)
    model = trial(made, data[1])
    similar, mean = paper.alike(data[0], pearson)
    near = paper.most_similar(similar, NEAR, by_size=nearest == "size")
    expected = paper.predicted(data[0], near, mean, 1e-9)
    assert predictions(model, data[1]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("method", "asked", "used"),
    [
        (NeighborhoodSGD, {}, {"rate": 0.4, "rounds": 10, "start": "random"}),
        (NeighborhoodSGD, {"neighbours": 900}, {"neighbours": ITEMS - 1}),
        (NeighborhoodLangevin, {"rounds": 2}, {"rate": 8e-6, "most": 200}),
    ],
)
def test_a_statement_tells_what_was_used(data, method, asked, used):
    model = trial(method(calibration="paper", epsilon=1.0, **asked), data[1])
    for name, value in used.items():
        assert f"{name} = {value}" in model.statement.settings
        assert model.shared.settings[name] == value
