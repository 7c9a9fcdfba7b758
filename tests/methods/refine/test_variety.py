"""How tastes vary: noise alone changes little, what varies more is widened, and chance in
ratings is not taken for taste."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.user_factors import typical_axes
from tacit.methods.refine.variety import Raters, _spread, expected, pack, retaste, unpack

PEOPLE, ITEMS, COLUMNS = 2000, 200, 5
GROUPS = np.array([0, 1, 1, 1, 1])


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def item_factors(rng):
    return rng.normal(0, [0.4, 0.25, 0.25, 0.25, 0.25], (ITEMS, COLUMNS))


@pytest.fixture
def raters(rng):
    return Raters(rng.exponential(1, ITEMS), 15.0, np.full(ITEMS, 1 / 0.75))


def axes_of(item_factors, raters):
    return typical_axes(item_factors, raters.precision, raters.weight, raters.count, COLUMNS)


def moments(rng, item_factors, raters, axes, user_factors, noise=0.75):
    """Packed moments of people whose tastes have the covariance `user_factors`."""
    total = np.zeros((COLUMNS, COLUMNS))
    chance = raters.weight / raters.weight.sum()
    for _ in range(PEOPLE):
        each = int(np.clip(15 * np.exp(0.8 * rng.normal()), 1, 100))
        rows = item_factors[rng.choice(ITEMS, each, replace=False, p=chance)]
        taste = rng.multivariate_normal(np.zeros(COLUMNS), user_factors)
        value = rows @ taste + noise**0.5 * rng.normal(size=each)
        unknown = np.linalg.inv(np.eye(COLUMNS) + rows.T @ rows / 0.75)
        mean = unknown @ rows.T @ value / 0.75
        total += np.outer(mean, mean) + unknown - np.eye(COLUMNS)
    return pack(axes.vectors.T @ total @ axes.vectors)


def widths(better, item_factors):
    """How many times as much each column varies."""
    whole = np.linalg.lstsq(item_factors, better, rcond=None)[0]
    return np.diag(whole @ whole.T)


def test_packing_keeps_the_norm_and_can_be_undone(rng):
    matrix = rng.normal(size=(4, 4))
    matrix = matrix + matrix.T
    assert np.linalg.norm(pack(matrix)) == pytest.approx(np.linalg.norm(matrix))
    assert unpack(pack(matrix), 4) == pytest.approx(matrix)


def test_what_is_expected_is_linear_in_the_change(rng, item_factors, raters):
    """The map of turns, by the plain product for each invented person."""
    axes = np.linalg.qr(rng.normal(size=(COLUMNS, 3)))[0]
    change = rng.normal(size=(3, 3))
    change = change + change.T
    total = np.zeros((3, 3))
    drawn = raters.ratings()
    for items in drawn:
        rows = item_factors[items]
        told = rows.T @ rows / 0.75
        shown = axes.T @ np.linalg.solve(np.eye(COLUMNS) + told, told) @ axes
        total += shown @ change @ shown.T
    found = expected(item_factors, GROUPS, axes, raters).turns @ pack(change)
    assert found == pytest.approx(pack(total / len(drawn)))


def test_noise_alone_leaves_tastes_nearly_as_they_are(rng, item_factors, raters):
    axes = axes_of(item_factors, raters)
    noise = rng.normal(0, 1000.0, COLUMNS * (COLUMNS + 1) // 2)
    better = retaste(item_factors, GROUPS, axes, raters, noise, 1000.0, PEOPLE)
    assert widths(better, item_factors) == pytest.approx(1, abs=0.25)


def test_a_direction_that_varies_more_is_raised_alone(rng, item_factors, raters):
    axes = axes_of(item_factors, raters)
    seen = moments(rng, item_factors, raters, axes, np.diag([1, 4.0, 1, 1, 1]))
    better = retaste(item_factors, GROUPS, axes, raters, seen, 1e-3, PEOPLE)
    found = widths(better, item_factors)
    assert found[1] == pytest.approx(4, abs=1)
    assert found[[0, 2, 3, 4]] == pytest.approx(1, abs=0.4)


def test_less_chance_is_not_taken_for_narrow_tastes(rng, item_factors, raters):
    """Ratings have less chance in them than the model says: without a term for it, tastes
    that ratings hardly show would come out at nothing."""
    axes = axes_of(item_factors, raters)
    seen = moments(rng, item_factors, raters, axes, np.eye(COLUMNS), noise=0.68)
    better = retaste(item_factors, GROUPS, axes, raters, seen, 1e-3, PEOPLE)
    assert widths(better, item_factors) == pytest.approx(1, abs=0.4)


def test_moments_with_next_to_no_noise_turn_nothing() -> None:
    fixed = 1e9 * np.ones((4, 2))
    spread, pull = _spread(np.ones(4), fixed, np.eye(4), np.full(4, 1e-12))
    assert spread == 0.0
    assert not pull.any()
