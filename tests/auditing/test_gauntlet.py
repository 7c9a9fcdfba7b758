"""Published attacks: what is not private falls, what Tacit certifies stands, and each attack
notices what it is made for."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.auditing.gauntlet.drawing import by_work, on_grid, porous, repeats
from tacit.auditing.gauntlet.exhibit import Exhibit, Skipped
from tacit.auditing.gauntlet.game import chance_of, epsilon_of, guess
from tacit.auditing.gauntlet.run import ATTACKS, fallen, is_sound, run, targets
from tacit.auditing.verdict import NEVER, Target
from tacit.methods import METHODS, find


def test_a_twin_falls_to_six_attacks_and_more() -> None:
    cells = run(["bias"], ["none"], mistake=0.05)
    assert len({each.attack for each in fallen(cells)}) >= 6


@pytest.mark.parametrize("method", ["bias", "svd-gradient"])
def test_nothing_certified_falls(method: str) -> None:
    cells = run([method], ["sound"], mistake=NEVER)
    assert is_sound(cells)
    assert len(cells) == len(ATTACKS)


@pytest.mark.parametrize("method", ["svd-gradient", "pnbm-sgd"])
def test_a_paper_with_raw_means_falls_to_them(method: str) -> None:
    cells = run([method], ["paper"], attacks=["raw means"])
    assert [each.attack for each in fallen(cells)] == ["raw means"]


def test_a_paper_with_noisy_averages_does_not() -> None:
    cells = run(["mf-input-sgd"], ["paper"], attacks=["raw means"], mistake=NEVER)
    assert not fallen(cells)


def test_a_server_that_chooses_the_state_breaks_printed_profiles() -> None:
    cells = run(["mf-federated"], ["paper", "none"], attacks=["chosen state"])
    assert len(fallen(cells)) == 2


def test_the_same_server_learns_nothing_from_clipped_devices() -> None:
    cells = run(["mf-federated", "one-bit"], ["sound"], attacks=["chosen state"], mistake=NEVER)
    assert is_sound(cells)


def test_where_an_attack_does_not_apply_it_says_why() -> None:
    target = Target("svd-gradient", "value", "none", 1.0)
    cell = ATTACKS["existence"](Exhibit(target))
    assert isinstance(cell, Skipped)
    assert "public" in cell.why


def test_every_method_has_a_row_at_each_of_its_calibrations() -> None:
    rows = list(targets(tuple(METHODS), ("sound", "paper", "none")))
    assert len(rows) == sum(len(find(name).calibrations) for name in METHODS)
    assert len(ATTACKS) == 13


def test_float_noise_is_noticed_and_integers_are_not() -> None:
    rng = np.random.default_rng(0)
    floats = porous(lambda count: rng.laplace(0, 1, count), NEVER)
    assert floats.epsilon > 2
    assert porous(on_grid("laplace"), NEVER).epsilon == 0


def test_a_generator_that_repeats_after_a_fork_is_noticed() -> None:
    import os

    assert repeats(lambda: bytes(32))
    assert not repeats(lambda: os.urandom(32))


def test_work_that_grows_with_the_noise_is_noticed() -> None:
    rng = np.random.default_rng(1)
    noise = np.abs(rng.normal(size=2000))
    assert by_work(noise.round(1), noise, NEVER).epsilon > 2
    assert by_work(rng.random(2000), noise, NEVER).epsilon == 0


def test_guesses_prove_what_binomial_tails_say() -> None:
    assert chance_of(0.0, 10, 10, 10, 0.0) == pytest.approx(2.0**-10)
    proven = epsilon_of(40, 40, 40, 0.0, 1e-3)
    assert chance_of(proven, 40, 40, 40, 0.0) <= 1e-3
    assert chance_of(proven + 1e-4, 40, 40, 40, 0.0) > 1e-3
    assert chance_of(1.0, 40, 40, 40, 1e-6) > chance_of(1.0, 40, 40, 40, 0.0)


def test_guessing_at_random_proves_nothing() -> None:
    rng = np.random.default_rng(2)
    coins = rng.random(400) < 0.5
    won = guess(rng.random(400), coins, delta=1e-6, mistake=NEVER)
    assert won.epsilon == 0
    assert guess(coins * 1.0, coins, delta=0.0, mistake=NEVER).epsilon > 2
