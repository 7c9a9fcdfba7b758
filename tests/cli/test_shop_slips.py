"""What the owner of a small shop gets wrong, and what she is told before it costs her."""

from __future__ import annotations

import warnings

import pytest

import tacit as api
from tacit.evaluation.report.story import _change

LIKES = "--method popularity --epsilon 1 --users 30 --out m".split()
SCALE = ("--scale", "1,5")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"C{u};A{i};{1 + (u * i) % 5}" for u in range(30) for i in range(8) if (u + i) % 3]
    head = "customer_no;article_no;satisfaction"
    (tmp_path / "sat.csv").write_text("\n".join([head, *rows]) + "\n")
    bought = [row.rsplit(";", 1)[0] for row in rows]
    head = "customer_no;article_no"
    (tmp_path / "buy.csv").write_text("\n".join([head, *bought]) + "\n")
    goods = [f"A{i};Ware {i};{'ab'[i % 2]}" for i in range(8)]
    head = "article_no;name;category"
    (tmp_path / "goods.csv").write_text("\n".join([head, *goods]) + "\n")
    (tmp_path / "mine.csv").write_text("item;rating\nA1;5\nA2;2\n")
    return tmp_path


@pytest.fixture
def of_purchases(shop, tacit):
    done = tacit("fit", "buy.csv", "--positive", "--items", "goods.csv", *LIKES)
    assert done.status == 0, done.err
    return done


@pytest.fixture
def of_high_ratings(shop, tacit):
    rated = ("--positive", 4, *SCALE, "--columns", "rating=satisfaction")
    done = tacit("fit", "sat.csv", *rated, "--items", "goods.csv", *LIKES)
    assert done.status == 0, done.err
    return done


def test_a_threshold_without_ratings_is_refused_and_begins_no_ledger(shop, tacit):
    done = tacit("fit", "sat.csv", "--positive", 4, *LIKES)
    assert done.status != 0
    assert "not read: `satisfaction`" in done.err
    assert "--columns rating=NAME --scale LOW,HIGH" in done.err
    assert "is begun" not in done.err
    assert not (shop / "m").exists()
    with pytest.raises(api.TacitError, match="no column is read as the"):
        api.read("sat.csv", positive=4)


def test_a_new_ledger_is_told_by_a_fit_that_is_charged(of_purchases):
    assert of_purchases.err.count("a new ledger is begun") == 1


def test_a_fit_that_is_refused_late_begins_no_ledger(shop, tacit):
    done = tacit("fit", "buy.csv", "--positive", *LIKES, "--method", "bias")
    assert done.status != 0
    assert "is begun" not in done.err


def test_own_ratings_of_a_model_without_ratings_are_told(of_purchases, tacit):
    told = tacit("recommend", "m", "--ratings", "mine.csv").err
    assert "all 2 rows count as likes, the rating column is not used" in told
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        api.load("m").recommend({"A1": 5, "A2": 2})
    kinds = [each.category for each in heard if "count as" in str(each.message)]
    assert kinds == [api.TacitNotice]
    words = ("--out", "l.csv", "--columns", "rating=satisfaction")
    told = tacit("recommend", "m", "--people", "sat.csv", *words)
    assert told.status == 0, told.err
    assert "all rows count as likes" in told.err
    plain = tacit("recommend", "m", "--people", "buy.csv", "--out", "k.csv")
    assert "count as likes" not in plain.err


def test_own_ratings_below_the_threshold_are_told(of_high_ratings, tacit):
    told = tacit("recommend", "m", "--ratings", "mine.csv").err
    assert "1 of 2 ratings are below 4: they are no likes" in told
    words = ("--out", "l.csv", "--columns", "rating=satisfaction")
    told = tacit("recommend", "m", "--people", "sat.csv", *words).err
    assert "are below 4: they are no likes and are left out" in told


def test_recommend_takes_the_names_of_columns(of_high_ratings, shop, tacit):
    (shop / "own.csv").write_text("ware;marks\nA1;5\nA2;2\nA1;1\n")
    named = ("--columns", "item=ware,rating=marks")
    told = tacit("recommend", "m", "--ratings", "own.csv", *named)
    assert told.status == 0, told.err
    assert "'A1' is in lines 2 and 4: the later counts" in told.err
    lost = tacit("recommend", "m", "--ratings", "own.csv", "--columns", "item=x")
    assert "there is no column 'x' for item" in lost.err
    alone = tacit("recommend", "m", "--columns", "item=ware")
    assert "--columns is for the file of --ratings or --people" in alone.err


def test_a_short_or_empty_list_says_why(of_purchases, shop, tacit):
    told = tacit("recommend", "m", "-n", 1000).err
    assert "these are all items of this model" in told
    (shop / "only.txt").write_text("A1\n")
    words = ("--ratings", "mine.csv", "--only", "only.txt")
    told = tacit("recommend", "m", *words).err
    assert "nothing is left: all items that --only lists are rated" in told


def test_plan_takes_the_item_column(shop, tacit):
    goods = (shop / "goods.csv").read_text().replace("article_no", "ware")
    (shop / "goods.csv").write_text(goods)
    named = ("--items", "goods.csv", "--columns", "item=ware", "--users", 500)
    done = tacit("plan", *named, "--epsilon", 1)
    assert done.status == 0, done.err
    assert "the scale from 1 to 5" in done.out
    rated = (*named, "--columns", "rating=x")
    refused = tacit("plan", *rated, "--epsilon", 1, "--no-forecast")
    assert "--columns names columns of a catalogue here" in refused.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "fit sat.csv --columns rating=satisfied --scale 1,5",
            "there is no column 'satisfied' for rating",
        ),
        ("fit sat.csv --columns satisfaction=rating --scale 1,5", "--columns rating=satisfaction"),
        ("fit goods.csv --items sat.csv --scale 1,5", "are the two files swapped?"),
        ("fit buy.csv --positive --without C1", "put the ids into a file"),
    ],
)
def test_slips_are_named(shop, tacit, line, told):
    done = tacit(*line.split(), "--epsilon", 1, "--out", "m")
    assert done.status != 0
    assert told in done.err


def test_values_without_their_option_are_named(tacit):
    assert "--epsilon 3" in tacit("ledger", "cap", 3).err
    assert "--ratings my.csv" in tacit("recommend", "m", "my.csv").err


def test_no_cell_of_a_file_without_a_header_is_told(shop, tacit):
    (shop / "bare.csv").write_text("Ada,Mops,gut\nEva,Igel,gut\n")
    named = ("--columns", "rating=note", *SCALE)
    done = tacit("fit", "bare.csv", *named, "--epsilon", 1, "--out", "m")
    assert done.status != 0
    assert "there is no column 'note'" in done.err
    assert "Ada" not in done.err


@pytest.mark.parametrize(("users", "far"), [(3, True), (300, True), (25, False)])
def test_a_number_of_people_that_is_far_off_is_told(shop, tacit, users, far):
    words = ["--positive", "--items", "goods.csv", *LIKES, "--users", users]
    told = tacit("fit", "buy.csv", *words).err
    said = f"--users says {users} and 30 people are in the table"
    assert (said in told) is far
    assert ("never privacy; for the owner only" in told) is far


def test_a_tag_for_each_item_is_told(shop, tacit):
    words = ["--positive", "--items", "goods.csv", *LIKES]
    told = tacit("fit", "buy.csv", *words, "--columns", "tags=name").err
    assert "8 tags for 8 items" in told


def test_what_people_pay_has_no_sign():
    assert _change(-0.1, "recall@20") == "loses 10.0 points of recall"
    assert _change(0.1, "recall@20") == "gains 10.0 points of recall"
    assert _change(-0.1, "rmse") == "saves 0.100 points of error"
