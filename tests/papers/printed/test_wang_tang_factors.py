"""DPPS-MF of the program is what a second implementation computes, over whole runs, with the
same draws and without noise."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import GradientMF, LangevinMF
from tacit.engine import printed as engine
from tacit.fitting.run import trial
from tacit.rounds.printed import trimmed
from tacit.rounds.round import Block

from . import wang_tang_factors as paper
from .runs import invented, predictions

PEOPLE, ITEMS, RANK, STEPS, TAU = 40, 30, 3, 25, 14
SETTINGS = {
    "factors": RANK,
    "epochs": STEPS,
    "rate": 1e-3,
    "ridge": 0.3,
    "temperature": 0.02,
    "falling": 0.4,
    "most": TAU,
}
PLAIN = {"steps": STEPS, "eta": 1e-3, "decay": 0.3, "rho": 0.02, "xi": 0.4, "tau": TAU}
DRAWS = STEPS * (2 * PEOPLE + ITEMS) * RANK


@pytest.fixture(scope="module")
def data():
    return invented(PEOPLE, ITEMS)


def sides():
    """The start that the program draws from its seed."""
    rng = np.random.default_rng(0)
    own = rng.standard_normal((PEOPLE, RANK)) * 0.1
    return own, rng.standard_normal((ITEMS, RANK)) * 0.1


def chosen(data):
    _, ratings = data
    block = Block(np.arange(PEOPLE), ratings.ptr, ratings.item, ratings.value)
    cut = trimmed(block, 0, TAU, 0)
    out = np.zeros((PEOPLE, ITEMS), bool)
    out[np.repeat(np.arange(PEOPLE), np.diff(cut.ptr)), cut.item] = True
    return out


def tape(turn):
    """Unit normal numbers of a step: items first, then people."""
    numbers = np.random.default_rng(9).normal(size=DRAWS)
    step = np.array_split(numbers, STEPS)[turn - 1]
    items, own = step[: ITEMS * RANK], step[ITEMS * RANK :]
    return (items.reshape(ITEMS, RANK), own[: PEOPLE * RANK].reshape(PEOPLE, RANK))


def silent(turn):
    return 0.0, 0.0


def agree(model, data, noise, *, epsilon, people, times="ratings", raw=True):
    own, items, baseline, person = paper.chain(
        data[0],
        *sides(),
        noise,
        epsilon=epsilon,
        chosen=chosen(data),
        times=times,
        raw=raw,
        **PLAIN,
    )
    expected = paper.trained(own, items, baseline, person)
    if people == "folded":
        expected = paper.folded(data[0], items, baseline, PLAIN["decay"])
    found = predictions(model, data[1])
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("epsilon", [2.0, 20.0])
@pytest.mark.parametrize(
    "more",
    [{}, {"times": "one"}, {"biases": "none"}, {"people": "folded"}],
    ids=["printed", "plain sum", "no biases", "folded"],
)
def test_the_chain_with_the_same_draws(data, monkeypatch, epsilon, more):
    numbers = np.random.default_rng(9).normal(size=DRAWS)

    def handed(name, charge, draws):
        assert draws == DRAWS
        return numbers * charge.draw(name).scale

    monkeypatch.setattr(engine, "handed", handed)
    method = LangevinMF(calibration="paper", epsilon=epsilon, **SETTINGS, **more)
    model = trial(method, data[1], users=PEOPLE)
    agree(
        model,
        data,
        tape,
        epsilon=epsilon,
        people=more.get("people", "trained"),
        times=more.get("times", "ratings"),
        raw=more.get("biases", "raw") == "raw",
    )


def test_the_chain_without_noise(data):
    method = LangevinMF(calibration="paper", epsilon=20.0, **SETTINGS)
    model = trial(method, data[1], users=PEOPLE, noise_off=True)
    agree(model, data, silent, epsilon=20.0, people="trained")


def test_epsilon_moves_the_chain(data):
    """Its first step is the printed one, whatever epsilon is."""
    few, many = (
        predictions(
            trial(
                LangevinMF(calibration="paper", epsilon=e, **SETTINGS),
                data[1],
                users=PEOPLE,
                noise_off=True,
            ),
            data[1],
        )
        for e in (1.0, 50.0)
    )
    assert np.abs(few - many).max() > 0.1


def test_a_statement_tells_the_constants_of_the_chain(data):
    method = LangevinMF(calibration="paper", epsilon=1.0)
    model = trial(method, data[1], users=PEOPLE)
    for line in ("rate = 8e-06", "epochs = 300", "most = 200"):
        assert line in model.statement.settings


def test_the_printed_values_of_the_baseline_can_be_set(data):
    """Section 5.1 prints two learning rates and two ridges of DPSGD-MF."""

    def model(**more):
        return trial(GradientMF(calibration="paper", epsilon=20.0, **more), data[1], noise_off=True)

    usual, other = model(), model(rate=8e-4, ridge=0.2)
    for line in ("rate = 0.0006", "ridge = 0.02"):
        assert line in usual.statement.settings
    for line in ("rate = 0.0008", "ridge = 0.2"):
        assert line in other.statement.settings
    assert predictions(model(rate=6e-4, ridge=0.02), data[1]) == pytest.approx(
        predictions(usual, data[1]), abs=0
    )
    assert np.abs(predictions(other, data[1]) - predictions(usual, data[1])).max() > 0
    sound = GradientMF(epsilon=1.0)
    assert set(sound.settings.model_dump()) == {"factors", "epochs"}
