"""Likes are called likes, and no rating is shown that nobody gave."""

from __future__ import annotations

import json
import re

import pytest

RATED = re.compile(r"\b[Rr]at(ing|ings|ed)\b")


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    """A hundred people in two crowds, who play what their crowd plays."""
    path = tmp_path_factory.mktemp("plays") / "plays.csv"
    rows = [f"u{u},i{(u % 2) * 10 + (u + k * k) % 10}" for u in range(100) for k in range(4)]
    path.write_text("user,item\n" + "\n".join(sorted(set(rows))) + "\n")
    (path.parent / "mine.csv").write_text("item\ni1\ni2\n")
    return path


@pytest.fixture(params=["ease", "popularity"])
def model(request, tacit, plays, tmp_path, tacit_home):
    place = tmp_path / "model"
    method = ("--method", request.param, "--epsilon", 20, "--users", 100)
    seen = tacit("fit", plays, "--positive", *method, "--out", place)
    assert seen.status == 0, seen.err
    assert not RATED.search(seen.err + seen.out), seen
    return place


def test_a_list_of_likes_shows_no_rating(tacit, model, plays):
    mine = plays.parent / "mine.csv"
    seen = tacit("recommend", model, "--ratings", mine)
    assert seen.status == 0
    assert "±" not in seen.out
    assert "expected" not in seen.out
    facts = json.loads(tacit("recommend", model, "--json").out)
    assert {line["rating"] for line in facts["recommendations"]} == {None}


def test_python_shows_none_either(model):
    import tacit

    found = tacit.load(model)
    told = found.recommend(["i1"], 3)
    assert not RATED.search(str(told))
    assert not RATED.search(told._repr_html_())
    assert found.predict(["i1"], ["i2"])[0].rating is None
    why = found.explain(["i1"], "i2")
    assert why.rating is None
    assert "None" not in str(why)


def test_everyones_lists_expect_no_rating(tacit, model, plays, tmp_path):
    out = tmp_path / "lists.csv"
    seen = tacit("recommend", model, "--people", plays, "--out", out)
    assert seen.status == 0, seen.err
    header, first = out.read_text().splitlines()[:2]
    at = header.split(",").index("expected")
    assert first.split(",")[at] == ""


def test_popularity_is_moved_by_nobodys_likes(tacit, model, plays):
    mine = plays.parent / "mine.csv"
    seen = tacit("recommend", model, "--ratings", mine, "--explain", "i3")
    moved = re.findall(r"[+-]\d\.\d\d", seen.out)
    if json.loads((model / "model.json").read_text())["method"] == "popularity":
        assert set(moved) == {"+0.00"}
    assert "expected" not in seen.out


def test_a_plan_for_likes_speaks_of_likes(tacit, tacit_home):
    shape = ("--epsilon", 1, "--users", 500, "--items", 20, "--positive")
    seen = tacit("plan", *shape)
    assert seen.status == 0
    above = seen.out.split("How the budget is spent")[0]
    assert not RATED.search(above), above
    assert "Recall@20 is the share" in above


def test_a_method_of_ratings_is_told_what_it_learns(tacit, table, tmp_path, tacit_home):
    seen = tacit(
        *("fit", table, "--scale", "1,5", "--positive", 4, "--users", 30),
        *("--method", "bias", "--epsilon", 1, "--out", tmp_path / "m"),
    )
    assert seen.status == 0
    assert "not what is liked" in seen.err.replace("\n", " ")
