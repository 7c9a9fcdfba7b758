"""Kriging finds a surface that was planted, and is unsure where nothing was measured."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from tacit.evaluation.kriging import Scales, Surface, fit_scales, unlikeliness

GROUPS, EACH = 40, 5


def planted(peculiar: float = 0.3):
    """A curve along the first column, a plane along the second, and groups that err together."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(GROUPS), EACH)
    place = np.column_stack([rng.uniform(-2, 2, GROUPS * EACH), rng.normal(size=GROUPS)[group]])
    value = np.tanh(place[:, 0]) + 0.5 * place[:, 1]
    value += peculiar * rng.normal(size=GROUPS)[group]
    value += 0.02 * rng.normal(size=len(value))
    return place, value, group


@pytest.fixture(scope="module")
def surface() -> Surface:
    points = planted()
    return Surface(*points, fit_scales(*points))


def test_the_slope_of_the_likelihood_is_its_slope() -> None:
    points = planted()
    start = Scales((1.0, 2.0), 0.7, 0.4, 1.2, 0.1).packed()
    off = check_grad(
        lambda logs: unlikeliness(logs, *points)[0],
        lambda logs: unlikeliness(logs, *points)[1],
        start,
    )
    slope = np.linalg.norm(unlikeliness(start, *points)[1])
    assert off < 1e-4 * slope


def test_what_was_planted_is_found(surface: Surface) -> None:
    asked = np.array([[-1.5, 0.0], [0.0, 1.0], [1.5, -1.0]])
    mean, sd = surface.at(asked)
    wanted = np.tanh(asked[:, 0]) + 0.5 * asked[:, 1]
    assert np.abs(mean - wanted).max() < 0.2
    assert surface.scales.peculiar == pytest.approx(0.3, abs=0.12)
    assert (sd > 0.2).all()


def test_leaving_a_group_out_is_kriging_from_the_others(surface: Surface) -> None:
    mean, sd = surface.left_out()
    gone = surface.groups == 7
    rest = Surface(
        surface.places[~gone], surface.values[~gone], surface.groups[~gone], surface.scales
    )
    other, spread = rest.at(surface.places[gone])
    assert mean[gone] == pytest.approx(other, abs=1e-2)
    assert sd[gone] == pytest.approx(spread, abs=1e-6)


def test_intervals_hold_for_groups_left_out(surface: Surface) -> None:
    mean, sd = surface.left_out()
    inside = np.abs(surface.values - mean) <= 1.645 * sd
    assert 0.8 < inside.mean() < 1.0


def test_far_away_it_is_less_sure(surface: Surface) -> None:
    _, near = surface.at(np.array([[0.0, 0.0]]))
    _, far = surface.at(np.array([[12.0, 9.0]]))
    assert far[0] > 2 * near[0]
