"""What choices imply: planted coefficients are found, noise alone gives next to nothing, and
whatever is released has an answer."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.methods.refine.implicit import BELIEVED, MOST_BELIEVED, believed, coefficients, leanings
from tacit.methods.refine.user_factors import Axes
from tacit.methods.refine.variety import pack

KEPT, PEOPLE = 4, 5000
SHOWN = np.array([0.9, 0.7, 0.4, 0.2])
EVERY = np.ones(KEPT, bool)
LARGEST = 1e13
"""Beyond any sum of 64-bit integers."""


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def released(rng, truth, sd):
    """Sums of h s' and hh' over people whose tastes are truth'h and chance, as they are
    noised."""
    lean = rng.normal(0, [1.0, 0.7, 0.5, 0.3], (PEOPLE, KEPT))
    user_factors = lean @ truth + rng.normal(size=(PEOPLE, KEPT))
    chance = rng.normal(size=(PEOPLE, KEPT)) * np.sqrt(SHOWN * (1 - SHOWN))
    told = SHOWN * user_factors + chance
    products, squares = lean.T @ told, pack(lean.T @ lean)
    return (
        products + rng.normal(0, sd, products.shape),
        squares + rng.normal(0, sd, squares.shape),
    )


def axes(kept=KEPT, there=KEPT):
    """Axes of taste of which the first are there."""
    shown = np.ones(kept)
    shown[:there] = SHOWN[:there]
    return Axes(np.eye(KEPT, kept) * (np.arange(kept) < there), shown)


@pytest.mark.parametrize(("sd", "off"), [(0.0, 0.12), (5.0, 0.12), (60.0, 0.2)])
def test_planted_coefficients_are_found(rng, sd, off):
    truth = rng.normal(0, 0.3, (KEPT, KEPT))
    products, squares = released(rng, truth, sd)
    found = coefficients(products, squares, sd, axes(), EVERY)
    assert np.abs(found - truth)[:2, :2].max() < off
    assert np.corrcoef(found.ravel(), truth.ravel())[0, 1] > 0.8


def test_noise_alone_gives_next_to_nothing(rng):
    sizes = []
    for _ in range(30):
        products, squares = released(rng, np.zeros((KEPT, KEPT)), 60.0)
        found = coefficients(products, squares, 60.0, axes(), EVERY)
        sizes.append(np.abs(found).max())
    assert np.median(sizes) == 0
    assert max(sizes) < 0.05


def test_noise_that_hides_everything_gives_next_to_nothing(rng):
    truth = rng.normal(0, 0.3, (KEPT, KEPT))
    sizes = []
    for _ in range(30):
        products, squares = released(rng, truth, 1e5)
        found = coefficients(products, squares, 1e5, axes(), EVERY)
        sizes.append(np.abs(found).max())
    assert np.median(sizes) == 0
    assert max(sizes) < 0.05


@pytest.mark.parametrize("sd", [0.0, 5.0])
def test_axes_that_are_not_there_get_nothing_and_change_nothing(rng, sd):
    products, squares = released(rng, np.eye(KEPT), sd)
    found = coefficients(products, squares, sd, axes(there=2), EVERY)
    assert found[:, :2].any()
    assert not found[:, 2:].any()
    other = products * (np.arange(KEPT) < 2)
    same = coefficients(other, squares, sd, axes(there=2), EVERY)
    assert (same == found).all()


@pytest.mark.parametrize("sd", [0.0, 5.0])
def test_directions_that_are_not_there_get_nothing_and_change_nothing(rng, sd):
    """Their products and squares are noise alone, and would turn those that are there."""
    there = np.arange(KEPT) < 2
    products, _ = released(rng, np.eye(KEPT), sd)
    squares = np.diag([5000.0, 2500.0, 4e5, 4e5])
    found = coefficients(products, pack(squares), sd, axes(), there)
    assert found[:2].any()
    assert not found[2:].any()
    squares[2:] = squares[:, 2:] = 0.0
    same = coefficients(products, pack(squares), sd, axes(), there)
    assert (same == found).all()


def test_without_directions_or_axes_there_is_nothing(rng):
    products, squares = released(rng, np.eye(KEPT), 1.0)
    nowhere = np.zeros(KEPT, bool)
    assert not coefficients(products, squares, 1.0, axes(), nowhere).any()
    nothing = coefficients(products, squares, 1.0, axes(there=0), EVERY)
    assert nothing.shape == (KEPT, KEPT)
    assert not nothing.any()


def test_whatever_is_released_has_a_finite_answer(rng):
    for size in (0.0, 1e-300, 1e-9, 1.0, 1e6, LARGEST):
        for other in (0.0, 1e-9, 1.0, LARGEST):
            for sd in (0.0, 1e-9, 1.0, 1e6):
                products = rng.normal(0, size, (KEPT, KEPT))
                squares = pack(-other * np.eye(KEPT)) + rng.normal(0, other, KEPT * (KEPT + 1) // 2)
                for there in (KEPT, 2, 0):
                    found = coefficients(products, squares, sd, axes(there=there), EVERY)
                    assert np.isfinite(found).all()
                for agreed in (-size, size):
                    for whole in (-other, other):
                        told = believed(agreed, whole, sd)
                        assert 0 <= told <= MOST_BELIEVED


def test_right_coefficients_are_believed_and_wrong_ones_less():
    sure, size = 1.0, 1e4
    assert believed(size, size, sure) == pytest.approx(1.0, abs=0.01)
    # Three times too large: ratings agree with a third of them.
    assert believed(size / 3, size, sure) == pytest.approx(1 / 3, abs=0.01)
    assert believed(-size, size, sure) == 0
    assert believed(5 * size, size, sure) == MOST_BELIEVED
    # Few people by themselves are no proof, even without noise.
    assert BELIEVED < believed(1.0, 1.0, 0.0) < 0.7


@pytest.mark.parametrize("agreed", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("size", [-3.0, 0.0, 0.03])
def test_in_the_noise_coefficients_are_believed_half(agreed, size):
    sd = 1e5
    told = believed(agreed * sd**0.5, size * sd**0.5, sd)
    assert told == pytest.approx(BELIEVED, abs=0.15)


def test_directions_have_variance_one_beside_what_is_usual(rng):
    weight = rng.uniform(1, 60, 200)
    item_factors = rng.normal(0.3, [1.0, 0.5, 0.2, 0.1, 0.05], (200, 5))
    found = leanings(item_factors, weight, 3)
    share = weight / weight.sum()
    assert found.usual == pytest.approx(share @ item_factors)
    assert found.present.all()
    rows = found.rows
    assert (rows.T * share) @ rows == pytest.approx(np.eye(3), abs=1e-9)
    apart = item_factors - found.usual
    assert rows == pytest.approx(apart @ found.turn)
    # The level is no direction of choice, and those that vary most come first.
    assert not found.turn[0].any()
    assert np.abs(found.turn[1:]).argmax(axis=0).tolist() == [0, 1, 2]


def test_there_are_no_more_directions_than_loadings_vary_in(rng):
    item_factors = rng.normal(size=(200, 3))
    item_factors[:, 2] = 0.7
    found = leanings(item_factors, np.ones(200), 6)
    assert found.present.tolist() == [True, *[False] * 5]
    assert not found.rows[:, 1:].any()
    alone = leanings(item_factors[:1], np.ones(1), 2)
    assert not alone.present.any()
    assert not leanings(item_factors, np.zeros(200), 2).present.any()
