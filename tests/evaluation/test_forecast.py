"""Forecasts behave as costs do, and hold for populations that the model is not shown."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import tacit
from tacit.errors import SettingError
from tacit.evaluation import cost as model
from tacit.evaluation.cost import NineInTen, PublicShape
from tacit.evaluation.forecast import forecast
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.ledger.account.odds import odds_times

CELLS = sorted(model._stored()["surfaces"])


def asked(cell: str, people: int = 6000, **more) -> PublicShape:
    method, unit = cell.split()
    return PublicShape(method, unit, people, 2000, 80.0, **more)


def lost(cell: str, at: NineInTen) -> float:
    return 1 - at.middle if cell.startswith("ease") else at.middle


@pytest.mark.parametrize("cell", CELLS)
def test_privacy_costs_less_with_more_budget(cell):
    row = [model.cost(asked(cell), gaussian_mu(epsilon, 1e-6)) for epsilon in (0.5, 2.0, 20.0)]
    assert all(at.low < at.middle < at.high for at in row)
    first, second, third = (lost(cell, at) for at in row)
    assert first > second > third


@pytest.mark.parametrize("cell", ["bias user", "bias rating"])
def test_privacy_costs_less_with_more_people(cell):
    """Where enough was run to say so; elsewhere an interval widens instead."""
    mu = gaussian_mu(1.0, 1e-6)
    few, many = (model.cost(asked(cell, people=people), mu) for people in (2000, 60_000))
    assert many.middle < few.middle


def test_far_from_what_was_run_it_is_less_sure():
    mu = gaussian_mu(1.0, 1e-6)
    near = model.error(asked("bayes user"), mu)
    far = model.error(asked("bayes user", people=50_000_000), mu)
    assert far.width > near.width


@pytest.mark.parametrize("cell", CELLS)
def test_a_set_left_out_lies_inside(cell):
    """With the scales that are stored, and all runs of one set left out together."""
    told = model._cost_model(*cell.split(), "cost")
    mean, sd = told.surface.left_out(told.sets)
    inside = []
    for row in np.flatnonzero((told.budgets > 0.12) & (told.budgets < 3.3)):
        at = told.base[row] + mean[row]
        ends = told.around(told.surface.places[row], at, sd[row])
        found = model.as_read(cell.split()[0], "cost", ends)
        seen = np.full(3, told.base[row] + told.surface.values[row])
        got = model.as_read(cell.split()[0], "cost", seen).middle
        inside.append(got in found)
    assert np.mean(inside) >= 0.85


def test_a_spread_makes_the_error_surer():
    mu = gaussian_mu(2.0, 1e-6)
    bare = model.error(asked("bayes user"), mu)
    told = model.error(asked("bayes user"), mu, spread=1.04)
    assert told.width < 0.8 * bare.width
    assert told.middle < 1.04


def test_nobody_saying_the_number_of_ratings_makes_it_less_sure():
    shape = asked("bayes user")
    known = forecast(shape, delta=1e-6, per_user=30.0)
    unknown = forecast(shape, delta=1e-6)
    for one, other in zip(known.lines, unknown.lines, strict=True):
        assert other.cost.low <= one.cost.low
        assert one.cost.high <= other.cost.high


def test_points_are_those_of_the_declared_scale():
    narrow = forecast(asked("bias user"), delta=1e-6, per_user=50.0)
    wide = forecast(asked("bias user"), delta=1e-6, per_user=50.0, scale=(0.0, 10.0))
    first, second = narrow.lines[0], wide.lines[0]
    assert second.cost.middle == pytest.approx(2.5 * first.cost.middle)
    assert second.error.high == pytest.approx(2.5 * first.error.high)


def test_the_door_answers_with_facts_a_frame_a_picture_and_a_table():
    found = tacit.plan("bias", epsilon=3.0, users=5000, items=800, each=40, row=(0.5, 1, 2))
    frame = found.frame()
    assert frame["epsilon"].to_list() == [0.5, 1.0, 2.0, 3.0]
    assert (frame["cost_low"] < frame["cost"]).all()
    assert found.facts["forecast"]["model"] == model.NAME
    assert found.facts["outlay"]["rounds"] == 6
    assert found.facts["attacker"]["odds_times"] == pytest.approx(odds_times(3.0, 1e-6), rel=1e-6)
    heard = [one["items_above"] for one in found.facts["releases"]]
    assert heard[0] is None
    assert 0 < heard[1] <= 800
    assert len(found.plot().axes) == 1
    assert "<table>" in found._repr_html_()
    json.dumps(found.facts)


@pytest.mark.parametrize(
    "options", [{"delta": 0.0}, {"settings": {"sweeps": 1}}, {"calibration": "none"}]
)
def test_where_nothing_was_fitted_there_is_no_forecast(options):
    """It is tried on one invented population instead."""
    told = dict(options)
    told |= told.pop("settings", {})
    if told.get("calibration") != "none":
        told["epsilon"] = 2.0
    else:
        told["epsilon"] = None
    found = tacit.plan("bias", users=200, items=50, **told)
    assert found.forecast is None
    with pytest.raises(SettingError, match="no forecast"):
        found.frame()


@pytest.mark.skipif("TACIT_FULL" not in os.environ, reason="judged size")
def test_a_fresh_population_lies_inside():
    """A shape and a nature that no stored run has, fitted and compared with its twin."""
    from tacit.data.splits import per_rating
    from tacit.evaluation.invent import Shape, draw_nature, invent
    from tacit.evaluation.sweep import measure
    from tacit.fitting.run import trial

    inside = []
    for seed in range(4):
        nature = draw_nature(np.random.default_rng(77_000 + seed))
        shape = Shape(2500 + 700 * seed, 600 + 200 * seed, 40)
        ratings, _ = invent(shape, nature, seed)
        split = per_rating(ratings, 0.1, seed)
        people = PublicShape("bayes", "user", shape.people, shape.items, 40.0)
        twin = trial(tacit.Bayes(calibration="none"), split.train)
        base = measure(twin, split, lists=False)["rmse"]
        for epsilon in (0.5, 2.0, 5.0, 20.0):
            made = tacit.Bayes(epsilon=epsilon, delta=1e-6)
            private = trial(made, split.train, users=shape.people)
            got = measure(private, split, lists=False)["rmse"] - base
            mu = gaussian_mu(epsilon, 1e-6)
            inside.append(got in model.cost(people, mu))
    assert np.mean(inside) >= 0.75
