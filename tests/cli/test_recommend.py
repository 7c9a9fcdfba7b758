"""Lists and reasons: for anybody, for somebody, and for everybody at once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import tacit as library
from tacit.methods import find

FILMS = 12


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Twins: few people teach them."""
    folder = tmp_path_factory.mktemp("lists")
    people = library.sample(400)
    items = library.sample_catalogue()
    made = {
        "tastes": library.Bayes(calibration="none"),
        "bias": library.Bias(calibration="none"),
        "popularity": library.Popularity(calibration="none"),
    }
    for name, method in made.items():
        method.fit(people, items=items).save(folder / name)
    return folder


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("item,rating\nThe Godfather,5\nPulp Fiction,5\nTitanic,1\n")
    return path


@pytest.mark.parametrize("name", ["tastes", "bias", "popularity"])
def test_without_ratings_there_is_an_answer(tacit, models, name):
    seen = tacit("recommend", models / name, "-n", 3)
    assert seen.status == 0, seen.err
    assert "everybody's list" in seen.err
    assert len(seen.out.strip().splitlines()) == 4


def test_reasons_say_how_much(tacit, models, mine):
    seen = tacit("recommend", models / "tastes", "--ratings", mine, "-n", 5)
    assert seen.status == 0
    assert "because you rated" in seen.out
    assert "+0." in seen.out
    told = json.loads(tacit("recommend", models / "tastes", "--ratings", mine, "--json").out)
    line = told["recommendations"][0]
    assert list(line["moved"]) == line["because"]


def test_a_model_without_tastes_says_so(tacit, models, mine):
    seen = tacit("recommend", models / "popularity", "--ratings", mine)
    assert "has learned no tastes" in seen.err
    assert (
        "has learned no tastes" not in tacit("recommend", models / "tastes", "--ratings", mine).err
    )


def test_everybodys_liking_is_named_when_it_is_the_reason():
    from tacit.cli.show import EVERYBODY, POPULAR, reason
    from tacit.model.person.results import Recommendation, Share

    alone = Recommendation("a", "A", 4.0, 1.0, 4.0)
    moved = Recommendation("a", "A", 4.0, 1.0, 4.0, ("B",), (Share("B", 0.251),))
    assert reason(alone) == EVERYBODY
    assert reason(alone, rated=False) == POPULAR
    assert reason(moved) == "B +0.25"
    many = replace(moved, everybody=0.4)
    assert reason(many) == "B +0.25, rated high by many +0.40"
    few = replace(moved, everybody=0.1)
    assert reason(few) == "B +0.25"


def test_liking_by_many_is_of_everybody_and_not_of_oneself(models):
    model = library.load(models / "tastes")
    one = model.recommend({"Alien": 5.0}, 700)
    other = {line.item: line for line in model.recommend({"Heat": 1.0}, 700)}
    for line in one[:20]:
        if line.item in other:
            assert line.everybody == other[line.item].everybody
    assert any(line.everybody > 0 for line in one)
    assert any(line.everybody < 0 for line in one)


def test_one_item_is_explained_by_ratings_and_tastes(tacit, models, mine):
    args = ("recommend", models / "tastes", "--ratings", mine)
    seen = tacit(*args, "--explain", "Goodfellas")
    assert seen.status == 0, seen.err
    for words in ("everybody would be told", "Titanic", "Crime", "expected for you"):
        assert words in seen.out
    told = json.loads(tacit(*args, "--explain", "Goodfellas", "--json").out)
    moved = told["baseline"] + sum(told["own"].values())
    assert moved == pytest.approx(told["rating"])
    missing = tacit(*args, "--explain", "Godfellas")
    assert missing.status == 2
    assert "did you mean 'Goodfellas'" in missing.err


@pytest.mark.parametrize("name", ["tastes", "bias", "popularity"])
def test_explore_orders_every_model_by_something(models, name):
    model = library.load(models / name)
    explored = model.recommend({"Alien": 5.0}, FILMS, by="explore")
    scores = [line.score for line in explored]
    assert len(set(scores)) > FILMS // 2
    assert scores == sorted(scores, reverse=True)


def test_explore_orders_likes_too(tmp_path):
    import polars as pl

    table = pl.DataFrame(
        {
            "user": [f"u{u}" for u in range(60) for _ in range(5)],
            "item": [f"i{(u * k) % 17}" for u in range(60) for k in range(5)],
        }
    )
    model = find("ease")(calibration="none").fit(table, positive=True)
    own = {"i1": 1.0, "i4": 1.0}
    plain = [line.item for line in model.recommend(own, 8)]
    explored = [line.item for line in model.recommend(own, 8, by="explore")]
    assert explored != plain
    assert explored != sorted(explored, key=lambda item: int(item[1:]))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--out", "x.csv"), "--out is for --people"),
        (("--scale", "1,5"), "--scale is for --people"),
        (("--people", "MINE"), "--people needs --out"),
        (("--people", "MINE", "--out", "x.csv", "--ratings", "MINE"), "give one of them"),
        (("--people", "MINE", "--out", "MINE"), "--overwrite"),
    ],
    ids=str,
)
def test_options_that_would_be_passed_over_are_refused(tacit, models, mine, args, says):
    args = [mine if each == "MINE" else each for each in args]
    seen = tacit("recommend", models / "bias", *args)
    assert seen.status == 2
    assert says in seen.err
