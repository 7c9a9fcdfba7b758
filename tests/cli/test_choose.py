"""`tacit choose` and the forecast of `tacit plan`, as they are typed."""

from __future__ import annotations

import json

SHAPED = ("--users", 6000, "--items", 2000, "--each", 80)
THREE = ["careful", "balanced", "accurate"]


def test_the_command_writes_a_page_and_prints_json(tacit, tmp_path):
    page = tmp_path / "page.html"
    more = ("--rmse", 0.92, "--report", page, "--json")
    got = tacit("choose", *SHAPED, *more)
    assert got.status == 0, got.err
    found = json.loads(got.out)
    assert [one["name"] for one in found["candidates"]] == THREE
    assert all(one["ten_releases"] > one["epsilon"] for one in found["candidates"])
    assert found["others"][0]["source"]
    assert page.read_text().startswith("<!doctype html>")


def test_the_command_speaks(tacit):
    got = tacit("choose", *SHAPED, "--rmse", 0.92, "--plot")
    assert got.status == 0, got.err
    for words in ("careful", "a coin is right 50 times", "●", "nothing was spent"):
        assert words in got.out


def test_private_ratings_are_refused_unless_booked(tacit, tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("user,item,rating\na,x,4\nb,y,2\n")
    got = tacit("choose", *SHAPED, "--range", "--ratings", ratings)
    assert got.status == 2
    assert "--owner-only" in got.err
    got = tacit("choose", *SHAPED, "--rmse", 0.9, "--ratings", ratings)
    assert got.status == 2
    assert "reads no ratings" in got.err


def test_one_goal_must_be_given(tacit):
    got = tacit("choose", *SHAPED)
    assert got.status == 2
    assert "--rmse" in got.err


def test_a_plan_forecasts_a_row_and_draws_it(tacit, tmp_path):
    picture = tmp_path / "cost.svg"
    more = ("--row", ".5,2", "--spread", 1.04, "--plot", picture, "--json")
    got = tacit("plan", "--epsilon", 1, *SHAPED, *more)
    assert got.status == 0, got.err
    found = json.loads(got.out)
    row = found["forecast"]["row"]
    assert [line["epsilon"] for line in row] == [0.5, 1, 2]
    assert all(line["cost"]["low"] < line["cost"]["high"] for line in row)
    assert found["expected"]["own_mean"] == 1.04
    assert picture.read_text().lstrip().startswith("<?xml")
    got = tacit("plan", "--epsilon", 1, *SHAPED, "--plot")
    assert "●" in got.out
    assert "RMSE lost" in got.out


def test_a_row_that_is_none_is_refused(tacit):
    got = tacit("plan", "--epsilon", 1, *SHAPED, "--row", "much")
    assert got.status == 2
    assert "--row" in got.err
