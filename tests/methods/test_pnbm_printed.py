"""Wang & Tang as printed: constants, noise and what is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import NeighborhoodLangevin, NeighborhoodSGD, sample, sample_catalogue
from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.fitting.run import fit, trial
from tacit.methods.base import Public
from tacit.papers.wang_tang import printed
from tacit.rounds.plan import Budget
from tacit.rounds.printed import trimmed
from tacit.rounds.round import Block


def catalogue(items):
    return Catalogue([str(i) for i in range(items)])


def test_at_epsilon_4b_algorithm_2_is_plain_langevin_dynamics():
    rng = np.random.default_rng(0)
    value, slope, noise = rng.normal(size=(3, 5, 4))
    pull = 0.02 * value
    got = printed.langevin_step(value, slope, pull, share=1.0, step=0.01, noise=noise)
    assert got == pytest.approx(value - 0.01 / 2 * (slope + pull) + noise, rel=1e-14)


def test_printed_constants():
    assert [printed.error_limit(t) for t in (1, 2)] == [2.0, 1.5]
    assert printed.printed_sensitivity(1, 10.0) == pytest.approx(2 * 2.0 * 4 / 10)
    assert printed.loss_bound(200) == 16 * 200
    part, total = printed.inclusion(np.array([3.0, 1.0]), 0.5)
    assert total == 4
    assert part == pytest.approx([0.75 * 0.25, 0.25 * 0.75])


def test_people_of_twenty_ratings_are_left_out_and_busy_ones_cut():
    counts = [20, 21, 300]
    ptr = np.cumsum([0, *counts])
    item = np.concatenate([np.arange(n) for n in counts]).astype(np.uint32)
    block = trimmed(Block(np.arange(3), ptr, item, np.zeros(len(item))), 20, 200, 0)
    assert np.diff(block.ptr).tolist() == [0, 21, 200]


@pytest.mark.fresh_noise
@pytest.mark.parametrize(
    ("method", "unit", "noise"),
    [(NeighborhoodSGD, "rating", "laplace"), (NeighborhoodLangevin, "user", "gaussian")],
)
def test_a_printed_fit_is_claimed_and_not_certified(method, unit, noise, tmp_path):
    made = method(
        epsilon=4.0, calibration="paper", neighbours=20, rounds=3, ledger=str(tmp_path / "book")
    )
    model = fit(made, sample(people=150, ratings=6000, seed=1), items=sample_catalogue())
    statement = model.statement
    assert (statement.certified, statement.unit) == ("claimed", unit)
    assert statement.claimed_epsilon == pytest.approx(4.0)
    assert [event.noise for event in statement.events[-3:]] == [noise] * 3
    with pytest.raises(SettingError, match="claims the unit"):
        trial(
            method(epsilon=4.0, calibration="paper", unit="value"),
            sample(people=50, ratings=600, seed=1),
        )


def test_printed_noise_has_the_printed_scale():
    made = NeighborhoodSGD(epsilon=2.0, calibration="paper", rounds=4, floor=10.0, batch=0.5)
    plan = made.plan(
        Public(Schema(1, 5), Catalogue(["a", "b", "c"]), "rating", "paper", Budget(2.0, 0.0))
    )
    for turn, round_ in enumerate(plan.rounds[1:], 1):
        wanted = 0.5 * 4 * 2 * (0.5 + 3 / (turn + 1)) * 4 / 10 / 2.0
        assert round_.parts[0].printed.claim.scale == pytest.approx(wanted)
